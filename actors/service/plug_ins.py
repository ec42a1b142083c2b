"""Kinds that other packages bring, made safe to run beside our own.

What a plug-in hands over may be of any type, whatever its annotations say. Its kind is wrapped once, when
it is loaded, so that everything behind it deals with exact values. An extract that is none cannot be
read, like a broken payload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, SourceError
from actors.core.exact import NotExactError, exact_extract, seconds, text
from actors.core.messages import Extract, Scope
from actors.source_api.kinds import Kind, Machine, PolledKind, TickingKind
from actors.source_api.plan import Plan, PlanMaker, Target
from actors.source_api.stream import Reaction, Session

MAX_INTERVAL_S = 1e9
"""The longest interval of a plan: the lists of a longer one would be shown for ever."""


def with_exact_values(kind: Kind) -> Kind:
    """Return the kind, handing over nothing but values of exact types."""
    match kind:
        case PolledKind():
            plan, extract = _plan_of(kind.plan), _extract_of(kind.extract)
            return msgspec.structs.replace(kind, plan=plan, extract=extract)
        case TickingKind():
            return msgspec.structs.replace(kind, start=_start_of(kind.start))
        case _:
            session, historic = _session_of(kind.session), _session_of(kind.historic)
            return msgspec.structs.replace(kind, session=session, historic=historic)


def _exact(given: object) -> Sliced[Extract]:
    try:
        return (yield from exact_extract(given))
    except NotExactError as error:
        raise PayloadError(f"what the plug-in read from it {error}") from error


def _extract_of(extract: Callable[[Any, str, Any], Sliced[Extract]]) -> Callable[..., Sliced[Extract]]:
    def exact(content: Any, key: str, options: Any) -> Sliced[Extract]:
        return (yield from _exact((yield from extract(content, key, options))))

    return exact


def _plan_of(plan: PlanMaker) -> Callable[..., Any]:
    return lambda options, keys: _ExactPlan(plan(options, keys))


def _start_of(start: Callable[[Any, tuple[str, ...], Instant], Machine]) -> Callable[..., Any]:
    return lambda options, keys, now: _ExactMachine(start(options, keys, now))


def _session_of(session: Callable[[Any], Session]) -> Callable[[Any], Any]:
    return lambda options: _ExactSession(session(options))


class _ExactPlan:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)

    def targets(self) -> tuple[Target, ...]:
        return tuple(
            Target(Scope(text(one.scope)), text(one.url), bool(one.is_catalogue))
            for one in self._plan.targets()
        )

    def first_delay_s(self, target: Target, now: Instant) -> float:
        return seconds(self._plan.first_delay_s(target, now), "first_delay_s")

    def interval_s(self, target: Target, now: Instant) -> float:
        interval_s = seconds(self._plan.interval_s(target, now), "interval_s")
        if interval_s > MAX_INTERVAL_S:
            raise NotExactError(f"interval_s was {interval_s}, must be at most {MAX_INTERVAL_S:g}")
        return interval_s

    def wait_s(self, target: Target, now: Instant) -> float:
        return seconds(self._plan.wait_s(target, now), "wait_s")

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        return seconds(self._plan.on_failed(target, error, now), "on_failed")


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


class _ExactSession:
    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def receive(self, line: bytes) -> Sliced[Reaction]:
        reaction = yield from self._session.receive(line)
        image, changes = reaction.image, reaction.changes
        if image is not None:
            image = yield from _exact(image)
        if changes is not None:
            changes = yield from _exact(changes)
        return msgspec.structs.replace(reaction, image=image, changes=changes)

    def name(self, names: Mapping[str, Any]) -> Extract:
        return run_now(exact_extract(self._session.name(names)))
