"""When a rule fires: the definition of a transition, and the states of a rule's subjects. Pure.

A rule has *subjects*: for `price` and `value` each outcome of each entry, for `move` each outcome of each
fixture, for `surebet` and `kickoff` each fixture, for `source` each source, for `link` one. At each version
a subject inside the rule's filters has a *reading*: a value, or none, and the prices that the value is made
of. The condition *holds* at a version whose value reaches the threshold. It *does not hold* at a version
without a value, or with one beyond the threshold by the hysteresis. Between both it stays as it was, but a
wait ends there. All versions belong to one life (run) of the service.

A **transition** of a rule and its subject is the first moment T with all of these:

1. The condition held at each version from version V on, up to T, and T is `for_s` after V (with 0 it is V).
2. Before V, at a version U, it did not hold. Between U and V there was no transition, and nothing noted.
3. From U to V the subject was always inside the filters, with the same *basis*.
4. After the first such U, up to V, at least one price that the value at V is made of changed.

The version of the transition is the newest at T. The basis is what may not change meanwhile: for `surebet`
and `value` the fixture's entries, and how surely each is linked. A price alone has no basis. A change of
the basis, or a subject that comes inside, begins anew. A condition that holds then, or begins to hold
without point 4, is *noted*, and has to end before a transition. So none of these is a transition: a start,
a first price, a price that is back, a bookmaker that comes or goes, a source gone dark or back, a link made
or ended, a surebet back at unchanged prices. For `move` there is no basis, because only commits that
change no basis move its value (`path.py`).

After a transition, the first version at which the condition does not hold, or the subject is not inside,
is its *end*. Rules whose condition can end report it. A transition less than `cooldown_s` after the last
reported transition of the same subject is not reported, and neither is its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from heapq import heappop, heappush
from math import inf

from msgspec import Struct

from actors.alerts.alert import State
from actors.alerts.rules.rule import Limit


class Moment(Struct, frozen=True, gc=False):
    """A commit, or a moment after it: its place in the order of commits, its version, and the times."""

    order: int
    version: int
    mono: float
    wall: float


class Reading(Struct, frozen=True, gc=False):
    """The value of a subject, and the order of the last commit that changed a price it is made of."""

    value: float | None
    changed: float = inf


class _Phase(Enum):
    OFF = auto()  # the condition did not hold
    WAITING = auto()  # the condition holds, but not for long enough
    NOTED = auto()  # the condition holds, without a transition
    FIRED = auto()  # the condition holds after a transition


class _Subject(Struct, frozen=True, gc=False):
    """The phase of a subject; while off, since which commit; while waiting, until when (monotonic)."""

    phase: _Phase
    since: int = 0
    due: float = 0.0


_NOTED, _FIRED = _Subject(_Phase.NOTED), _Subject(_Phase.FIRED)


class Transitions:
    """The states of a rule's subjects; methods return the state to report, None for nothing."""

    def __init__(self, limit: Limit, for_s: float = 0.0, cooldown_s: float = 0.0) -> None:
        self._limit, self._for_s, self._cooldown_s = limit, for_s, cooldown_s
        self._subjects: dict[str, _Subject] = {}
        self._waits: list[tuple[float, str]] = []
        self._told_mono: dict[str, float] = {}
        self._most_told = 1024

    def __contains__(self, subject: str) -> bool:
        """Return whether a subject is inside the filters."""
        return subject in self._subjects

    def is_open(self, subject: str) -> bool:
        """Return whether a subject waits or has fired, so that something may still be reported about it."""
        known = self._subjects.get(subject)
        return known is not None and known.phase in {_Phase.WAITING, _Phase.FIRED}

    def ignores(self, subject: str, value: float | None) -> bool:
        """Return whether a reading with the same basis as before changes nothing and needs no report."""
        known = self._subjects.get(subject)
        return known is not None and known.phase is _Phase.OFF and not self._limit.holds(value)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the subjects inside the filters."""
        return iter(list(self._subjects))

    def read(self, subject: str, reading: Reading, now: Moment, *, is_same: bool = True) -> State | None:
        """Take the reading of a commit; `is_same` says whether it has the basis of the reading before."""
        known = self._subjects.get(subject)
        if known is None or not is_same:
            return self._begin(subject, reading, now, known)
        holds, is_off = self._limit.holds(reading.value), self._limit.is_off(reading.value)
        match known.phase:
            case _Phase.OFF if holds:
                return self._rise(subject, reading, known, now)
            case _Phase.WAITING if not holds:
                self._subjects[subject] = _Subject(_Phase.OFF, known.since)
            case _Phase.NOTED if is_off:
                self._subjects[subject] = _Subject(_Phase.OFF, now.order)
            case _Phase.FIRED if is_off:
                self._subjects[subject] = _Subject(_Phase.OFF, now.order)
                return State.RESOLVED
        return None

    def leave(self, subject: str) -> State | None:
        """Forget a subject that is no longer inside the filters."""
        known = self._subjects.pop(subject, None)
        return State.RESOLVED if known is _FIRED else None

    def due(
        self, now: float, value_at: Callable[[str, float], float | None] | None = None
    ) -> Iterator[tuple[str, float]]:
        """Yield the subjects whose wait ended up to `now` (monotonic), each with that time, to be reported.

        `value_at`, for values that fall without a commit, returns the value of a subject at a time.
        """
        while self._waits and self._waits[0][0] <= now:
            at, subject = heappop(self._waits)
            known = self._subjects.get(subject)
            if known is None or known.phase is not _Phase.WAITING or known.due != at:
                continue
            if value_at is not None and not self._limit.holds(value_at(subject, at)):
                self._subjects[subject] = _Subject(_Phase.OFF, known.since)
            elif self._fire(subject, at) is not None:
                yield subject, at

    @property
    def next_due(self) -> float:
        """The monotonic second at which a wait may end; infinity if nothing waits."""
        return self._waits[0][0] if self._waits else inf

    def _begin(self, subject: str, reading: Reading, now: Moment, known: _Subject | None) -> State | None:
        """Note a condition that holds at a start, with a first reading, or with another basis."""
        if self._limit.is_off(reading.value):
            self._subjects[subject] = _Subject(_Phase.OFF, now.order)
            return State.RESOLVED if known is _FIRED else None
        self._subjects[subject] = _FIRED if known is _FIRED else _NOTED
        return None

    def _rise(self, subject: str, reading: Reading, known: _Subject, now: Moment) -> State | None:
        if reading.changed <= known.since:
            self._subjects[subject] = _NOTED
            return None
        if not self._for_s:
            return self._fire(subject, now.mono)
        due = now.mono + self._for_s
        self._subjects[subject] = _Subject(_Phase.WAITING, known.since, due)
        heappush(self._waits, (due, subject))
        return None

    def _fire(self, subject: str, mono: float) -> State | None:
        if mono - self._told_mono.get(subject, -inf) < self._cooldown_s:
            self._subjects[subject] = _NOTED
            return None
        self._subjects[subject] = _FIRED
        if self._cooldown_s:
            self._told_mono[subject] = mono
            self._forget_cool(mono)
        return State.FIRING

    def _forget_cool(self, mono: float) -> None:
        if len(self._told_mono) > self._most_told:
            kept = {name: at for name, at in self._told_mono.items() if mono - at < self._cooldown_s}
            self._told_mono, self._most_told = kept, 2 * len(kept) + 1024
