"""The plan of a source's polls. Pure: `pipeline/schedule.py` delays requests after failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.errors import SourceError
from actors.core.messages import Scope
from actors.source_api.options import PolledOptions


class Target(Struct, frozen=True):
    """An address to poll, and the scope of its answer; a catalogue's answer is for the plan alone.

    With a `body`, JSON, it is a POST. The payload is `preface` and the answer: what a decoder must know
    of earlier answers is in it, so that a recorded payload can be read by itself.
    """

    scope: Scope
    url: str
    is_catalogue: bool = False
    body: bytes = b""
    preface: bytes = b""


class CatalogueList(Struct, frozen=True):
    """A list that follows from catalogues alone, as the body of a payload of its scope.

    It holds for `holds_s` from `since_mono` (monotonic seconds), when its catalogue was asked for.
    """

    scope: Scope
    body: bytes
    since_mono: float
    holds_s: float


class Plan:
    """Asks for every target once each `poll_interval_s`; subclasses override what differs.

    Each source has one, which outlives its actor. Scopes of targets are unique.
    """

    def __init__(self, options: PolledOptions, targets: tuple[Target, ...]) -> None:
        self._options = options
        self._targets = targets

    def targets(self) -> tuple[Target, ...]:
        """Return what is to be polled; it may change after any answer."""
        return self._targets

    def first_delay_s(self, target: Target, now: Instant) -> float:
        """Return the seconds before `target`, new in `targets()`, is asked for the first time."""
        del target, now
        return 0.0

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds from an answer of `target`, received at `now`, to the next request."""
        del target, now
        return self._options.poll_interval_s

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds for which `target` must not be asked even if it is due."""
        del target, now
        return 0.0

    def on_asked(self, target: Target, now: Instant) -> None:
        """Note that `target` is being asked."""

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """Note that an answer came, with those of its headers that the kind names."""

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Note that no readable answer came; return the least seconds until a retry."""
        del target, error, now
        return 0.0

    def asks_otherwise(self, target: Target) -> bool:
        """Return whether the last failure is no failure of `target`: what was refused is left out next."""
        del target
        return False

    def take_refusals(self) -> tuple[str, ...]:
        """Return what is said of things that the peer refuses for good, each once."""
        return ()

    def known_mono(self, target: Target) -> float:
        """Return as of when (monotonic seconds) that is known on which the prices of `target` stand.

        They are confirmed no later than that, as with a list that says which matches have not begun.
        """
        del target
        return inf

    def on_learnt(self, target: Target, content: Any, now: Instant) -> None:
        """Take the decoded content of a new answer. Raises: PayloadError if it contradicts earlier ones."""

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the lists that the last answer of a catalogue made by itself, each once."""
        return ()

    def checks(self) -> tuple[Target, ...]:
        """Return the catalogues that only a probe asks for: they say whether the options fit the venue."""
        return ()

    def quota(self) -> Mapping[str, float | None] | None:
        """Return a budget for the probes, None without a budget."""
        return None

    def carried(self, soon: Sequence[Target], now: Instant) -> bytes:
        """Return what another process needs to go on with the budget; empty without a budget.

        Times are durations before `now`. Those targets count as asked: they may be, before this is
        returned again.
        """
        del soon, now
        return b""

    def resume(self, carried: bytes, now: Instant) -> None:
        """Go on with the budget of another process; if it is empty, with nothing left of this period."""

    def facts(self) -> Mapping[str, object]:
        """Return what is logged when the plan is made; empty when it is plain."""
        return {}

    def describe(self) -> list[str]:
        """Return lines for an operator: what is asked how often, and how fresh that is."""
        interval_s, stale_s = self._options.poll_interval_s, self._options.staleness_s
        lines = [f"every {interval_s:g} s, stale after {stale_s:g} s"]
        if stale_s <= interval_s:
            lines.append(f"warning: its lists are withdrawn between polls (every {interval_s:g} s)")
        return lines


# `(options, bookmaker keys) -> Plan`; raises ValueError, saying why, for options that cannot work.
PlanMaker = Callable[[Any, tuple[str, ...]], Plan]


def every(targets: Callable[[Any], tuple[Target, ...]]) -> PlanMaker:
    """Return the plan of a kind that takes its targets from its options alone."""

    def make(options: PolledOptions, keys: tuple[str, ...]) -> Plan:
        del keys
        return Plan(options, targets(options))

    return make
