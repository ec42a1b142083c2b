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
    """An address to poll, and the scope of its answer; only the plan uses a catalogue's answer.

    With a `body` (JSON) it is a POST. The payload is `preface` plus the answer: the preface contains the
    data of earlier answers that the decoder needs, so that a recorded payload can be read by itself.
    """

    scope: Scope
    url: str
    is_catalogue: bool = False
    body: bytes = b""
    preface: bytes = b""


class CatalogueList(Struct, frozen=True):
    """A list that the plan made from catalogues alone; `body` has the form of a payload of its scope.

    It is valid for `holds_s` from the request for its catalogue, `since_mono` (monotonic seconds).
    """

    scope: Scope
    body: bytes
    since_mono: float
    holds_s: float


class Plan:
    """Asks for every target each `poll_interval_s`; subclasses override the methods that differ.

    Each source has one plan, which outlives its actor. Scopes of targets are unique.
    """

    def __init__(self, options: PolledOptions, targets: tuple[Target, ...]) -> None:
        self._options = options
        self._targets = targets

    def targets(self) -> tuple[Target, ...]:
        """Return the targets to poll; the targets may change after any answer."""
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
        """Note that `target` is asked now."""

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """Note an answer, with those of its headers that the kind names."""

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Note a failure, or an unreadable answer; return the least seconds until a retry."""
        del target, error, now
        return 0.0

    def asks_otherwise(self, target: Target) -> bool:
        """Return whether the last failure of `target` is no fault: the next call omits the refused part."""
        del target
        return False

    def take_refusals(self) -> tuple[str, ...]:
        """Return an error for each thing that the peer refuses permanently, each once."""
        return ()

    def known_mono(self, target: Target) -> float:
        """Return the time (monotonic seconds) of the older answers that the prices of `target` depend on.

        An example is the list that says which matches have not begun. Prices count as no newer than that.
        """
        del target
        return inf

    def on_learnt(self, target: Target, content: Any, now: Instant) -> None:
        """Take the decoded content of a new answer. Raises: PayloadError if it contradicts the earlier."""

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the lists that the plan made from the last answer of a catalogue, each once."""
        return ()

    def checks(self) -> tuple[Target, ...]:
        """Return the catalogues that only a probe asks for, to check the options against the venue."""
        return ()

    def quota(self) -> Mapping[str, float | None] | None:
        """Return a budget for the probes, None without a budget."""
        return None

    def carried(self, soon: Sequence[Target], now: Instant) -> bytes:
        """Return the state of the budget for another process; empty without a budget.

        Times are durations before `now`. The targets in `soon` count as asked: they may be asked before the
        next call.
        """
        del soon, now
        return b""

    def resume(self, carried: bytes, now: Instant) -> None:
        """Continue the budget of another process; empty `carried` means that this period's is spent."""

    def facts(self) -> Mapping[str, object]:
        """Return values to log about the plan; empty if its intervals are fixed."""
        return {}

    def describe(self) -> list[str]:
        """Return lines for an operator: each target, how often it is asked, and how fresh its answer is."""
        interval_s, stale_s = self._options.poll_interval_s, self._options.staleness_s
        lines = [f"every {interval_s:g} s, stale after {stale_s:g} s"]
        if stale_s <= interval_s:
            lines.append(f"warning: its lists are withdrawn between polls (every {interval_s:g} s)")
        return lines


# `(options, bookmaker keys) -> Plan`; raises ValueError, with the reason, for options that cannot work.
PlanMaker = Callable[[Any, tuple[str, ...]], Plan]


def every(targets: Callable[[Any], tuple[Target, ...]]) -> PlanMaker:
    """Return the plan of a kind whose targets depend on its options alone."""

    def make(options: PolledOptions, keys: tuple[str, ...]) -> Plan:
        del keys
        return Plan(options, targets(options))

    return make
