"""Plug-ins: kinds of source from other packages, wrapped so that they return nothing but exact values.

A plug-in may return values of any type, whatever its annotations say. Its kind is wrapped once, when it is
loaded, so that no other module has to check them. An extract that is none cannot be read, like a broken
payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, SourceError
from actors.core.exact import NotExactError, exact_extract, seconds, text
from actors.core.messages import Extract, Scope
from actors.source_api.kinds import Kind, Machine, PolledKind, TickingKind
from actors.source_api.plan import Target
from actors.source_api.stream import Reaction, StreamKind

MAX_INTERVAL_S = 1e9
"""The longest interval of a plan: the lists of a longer one would be shown for ever."""


def with_exact_values(kind: Kind) -> Kind:
    """Return the kind with its plan, machine, session and extracts wrapped."""
    match kind:
        case PolledKind(plan=plan, extract=extract):
            return msgspec.structs.replace(
                kind,
                plan=lambda options, keys: _ExactPlan(plan(options, keys)),
                extract=lambda content, key, options: _exact_result(extract(content, key, options)),
            )
        case TickingKind(start=start):
            return msgspec.structs.replace(
                kind, start=lambda options, keys, now: _ExactMachine(start(options, keys, now))
            )
        case StreamKind(session=session, historic=historic):
            return msgspec.structs.replace(
                kind,
                session=lambda options: _ExactSession(session(options)),
                historic=lambda options: _ExactSession(historic(options)),
            )


def _exact_result(steps: Sliced[object]) -> Sliced[Extract]:
    return (yield from _exact((yield from steps)))


def _exact(given: object) -> Sliced[Extract]:
    try:
        return (yield from exact_extract(given))
    except NotExactError as error:
        raise PayloadError(f"what the plug-in read from it {error}") from error


class _Wrapper:
    """Has the attributes of `inner` but for those that a subclass overrides."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _ExactPlan(_Wrapper):
    def targets(self) -> tuple[Target, ...]:
        return tuple(
            Target(Scope(text(one.scope)), text(one.url), bool(one.is_catalogue))
            for one in self._inner.targets()
        )

    def first_delay_s(self, target: Target, now: Instant) -> float:
        return seconds(self._inner.first_delay_s(target, now), "first_delay_s")

    def interval_s(self, target: Target, now: Instant) -> float:
        interval_s = seconds(self._inner.interval_s(target, now), "interval_s")
        if interval_s > MAX_INTERVAL_S:
            raise NotExactError(f"interval_s was {interval_s}, must be at most {MAX_INTERVAL_S:g}")
        return interval_s

    def wait_s(self, target: Target, now: Instant) -> float:
        return seconds(self._inner.wait_s(target, now), "wait_s")

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        return seconds(self._inner.on_failed(target, error, now), "on_failed")


class _ExactMachine:
    def __init__(self, machine: Machine) -> None:
        self.scope = Scope(text(machine.scope))
        self._machine = machine

    @property
    def interval_s(self) -> float:
        return seconds(self._machine.interval_s, "interval_s")

    def image(self) -> Sliced[Mapping[str, Extract]]:
        return _exact_by_key(self._machine.image())

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        return _exact_by_key(self._machine.advance(now))


def _exact_by_key(steps: Sliced[Mapping[str, Extract]]) -> Sliced[Mapping[str, Extract]]:
    exact: dict[str, Extract] = {}
    for key, extract in (yield from steps).items():
        exact[key] = yield from exact_extract(extract)
    return exact


class _ExactSession(_Wrapper):
    def receive(self, line: bytes) -> Sliced[Reaction]:
        reaction: Reaction = yield from self._inner.receive(line)
        image, changes = reaction.image, reaction.changes
        if image is not None:
            image = yield from _exact(image)
        if changes is not None:
            changes = yield from _exact(changes)
        return msgspec.structs.replace(reaction, image=image, changes=changes)

    def name(self, names: Mapping[str, Any]) -> Extract:
        return run_now(exact_extract(self._inner.name(names)))
