"""When each target of a polled source is asked next: its plan, delayed by failures.

Pure, and outlives its actor, so that a restart neither repeats a round nor forgets a delay. Every
target has its own backoff. When two of them have failed and none has answered since, it is the peer
that is in trouble, and a gate lets one request through at a time. A target that goes on failing while
others answer is lost, and no longer counts towards that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from random import Random

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError
from actors.core.messages import Scope
from actors.runtime.backoff import MIN_CAP_S, Backoff
from actors.source_api.plan import Plan, Target

MAX_IN_FLIGHT = 4
"""Requests under way to a peer that answers, so that one slow answer does not hold up the others.

Of one that has not answered yet, or failed last, so many are asked as tell that it is in trouble.
"""

TROUBLED = 2


@dataclass(slots=True)
class _Row:
    due_mono: float
    backoff: Backoff
    is_asked: bool = False
    is_failing: bool = False
    has_answered: bool = False


class Schedule:
    """Due times by scope. All moments are Instants of one clock; nothing here waits."""

    def __init__(self, plan: Plan, random: Random) -> None:
        self.plan = plan
        self._random = random
        self._rows: dict[Scope, _Row] = {}
        self._gate = Backoff(MIN_CAP_S, random)
        self._gate_mono = -inf
        self._troubled: set[Scope] = set()
        self._lost: set[Scope] = set()
        self._is_answering = False

    @property
    def is_troubled(self) -> bool:
        """Whether the peer itself seems to be in trouble, not only one target."""
        return len(self._troubled) >= max(min(TROUBLED, len(self._rows) - len(self._lost)), 1)

    def restart(self, now: Instant) -> None:
        """Note that requests under way have gone with their actor: they are due again."""
        for row in self._rows.values():
            if row.is_asked:
                row.is_asked, row.due_mono = False, now.mono

    def next(self, now: Instant) -> tuple[Target, float] | None:
        """Return the target that comes next and the seconds until then; None while none can be asked."""
        targets = self.plan.targets()
        self._keep_rows(targets, now)
        asked = sum(row.is_asked for row in self._rows.values())
        if asked >= self._most_in_flight():
            return None
        waits = [
            (self._wait_s(target, row, now), row.due_mono, order)
            for order, target in enumerate(targets)
            if not (row := self._rows[target.scope]).is_asked
        ]
        if not waits:
            return None
        wait_s, _, order = min(waits)
        return targets[order], wait_s

    def begin(self, target: Target, now: Instant) -> None:
        """Note that `target` is being asked."""
        self._rows[target.scope].is_asked = True
        self.plan.on_asked(target, now)

    def succeeded(self, target: Target, now: Instant) -> None:
        """Note that `target` has answered, in a way that can be read."""
        self._lost |= self._troubled  # what fails while others answer says nothing of the peer
        self._lost.discard(target.scope)
        self._troubled.clear()
        self._is_answering = True
        self._gate_mono = -inf
        self._gate.succeeded(now.mono)
        if (row := self._rows.get(target.scope)) is not None:
            row.backoff.succeeded(now.mono)
            row.is_asked = row.is_failing = False
            row.has_answered = True
            row.due_mono = now.mono + self.interval_s(target, now)

    def failed(self, target: Target, error: SourceError, now: Instant) -> None:
        """Note that `target` has not."""
        if target.scope in self._rows and target.scope not in self._lost:
            self._troubled.add(target.scope)
            self._is_answering = False
        asked_for_s = (error.retry_after_s or 0.0) if isinstance(error, TransportError) else 0.0
        least_s = max(asked_for_s, self.plan.on_failed(target, error, now))
        # A catalogue changes once a day, but until there is one nothing goes on.
        cap_s = MIN_CAP_S if target.is_catalogue else max(MIN_CAP_S, self.interval_s(target, now) / 3)
        if (row := self._rows.get(target.scope)) is not None:
            row.backoff.cap_s = cap_s
            row.is_asked, row.is_failing = False, True
            row.due_mono = now.mono + max(row.backoff.failed(now.mono), least_s)
        if len(self._troubled) >= TROUBLED:
            gate_s = max(self._gate.failed(now.mono), asked_for_s)
            self._gate_mono = max(self._gate_mono, now.mono + gate_s)

    def hasten(self, scopes: set[Scope], delay_s: float, now: Instant) -> None:
        """Bring those forward to at most `delay_s` from now, unless they are failing.

        What has never answered comes when the plan says: nobody can have lost it.
        """
        for scope in scopes & set(self._rows):
            row = self._rows[scope]
            if row.has_answered and not row.is_failing:
                row.due_mono = min(row.due_mono, now.mono + delay_s)

    def due_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until `target` is asked, as far as it can be said."""
        row = self._rows.get(target.scope)
        return 0.0 if row is None else self._wait_s(target, row, now)

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the plan's seconds between two polls."""
        return self.plan.interval_s(target, now)

    def _most_in_flight(self) -> int:
        if self.is_troubled:
            return 1
        return MAX_IN_FLIGHT if self._is_answering else TROUBLED

    def _wait_s(self, target: Target, row: _Row, now: Instant) -> float:
        left_s = max(row.due_mono, self._gate_mono) - now.mono
        return max(left_s, self.plan.wait_s(target, now), 0.0)

    def _keep_rows(self, targets: tuple[Target, ...], now: Instant) -> None:
        """Open a row for what is new and close those of what is gone."""
        scopes = {target.scope for target in targets}
        if scopes == self._rows.keys():
            return
        for target in targets:
            if target.scope not in self._rows:
                due_mono = now.mono + self.plan.first_delay_s(target, now)
                self._rows[target.scope] = _Row(due_mono, Backoff(MIN_CAP_S, self._random))
        for scope in self._rows.keys() - scopes:
            del self._rows[scope]
            self._troubled.discard(scope)
            self._lost.discard(scope)
