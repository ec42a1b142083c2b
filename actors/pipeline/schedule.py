"""Schedules the requests of a polled source: the due times of its plan, delayed by failures.

Pure, and outlives its actor. When two targets have failed and no target has answered since, the peer is in
trouble: then one request is sent at a time. A target that fails while other targets answer is lost.

In a cluster another process may take over at any time. So this process first publishes a state in which a
request counts as sent (`tell`), and sends it only after that (`permit`): the successor neither asks too
early nor forgets spent budget. Catalogues need no permission, because their content is not published.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from random import Random

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError
from actors.core.messages import Scope
from actors.runtime.backoff import MIN_CAP_S, Backoff
from actors.source_api.plan import Plan, Target

MAX_IN_FLIGHT = 4  # requests at a time to a peer that answers
APART_S = 0.01  # least time between two changes of a plan's scopes
TROUBLED = 2  # this many failed targets mean trouble; also the requests at a time until the peer answers
SOON_S = 1.0  # targets due within this time are reported as asked
MAX_TOLD = 16  # targets reported as asked at a time, so that a take-over misses few lists
UNTOLD_S = 0.2  # seconds between two checks whether a due target is permitted


class ScheduleState(Struct, frozen=True):
    """A schedule for another process: the seconds until targets are due, and the plan's budget."""

    dues: dict[Scope, float]
    budget: bytes = b""


@dataclass(slots=True)
class _Row:
    due_mono: float
    backoff: Backoff
    is_failing: bool = False
    has_answered: bool = False
    preface: bytes = b""  # the target's preface at the last request


class Schedule:
    """Due times by scope; nothing here waits."""

    def __init__(self, plan: Plan, random: Random) -> None:
        self.plan = plan
        self._random = random
        self._rows: dict[Scope, _Row] = {}
        self._changed_mono = -inf
        self._asked: set[Scope] = set()  # requests in flight, also for scopes that the plan dropped
        self._gate = Backoff(MIN_CAP_S, random)
        self._gate_mono = -inf
        self._troubled: set[Scope] = set()
        self._lost: set[Scope] = set()
        self._is_answering = False
        self._dues_mono: dict[Scope, float] = {}  # from another process, for targets to come
        self._told: set[Scope] = set()
        self._permitted: dict[Scope, float] | None = None  # end of each permission; None outside a cluster

    @property
    def is_troubled(self) -> bool:
        """Whether the peer itself seems to be in trouble, not only single targets."""
        return len(self._troubled) >= max(min(TROUBLED, len(self._rows) - len(self._lost)), 1)

    def restart(self, now: Instant) -> None:
        """Make the requests that ended with the last actor due again."""
        for scope in self._asked & self._rows.keys():
            self._rows[scope].due_mono = now.mono
        self._asked.clear()

    def share(self) -> None:
        """From now on ask only targets that were reported by `tell` and permitted."""
        self._permitted = {}

    def tell(self, now: Instant) -> ScheduleState:
        """Return the state for another process; requests that may be sent soon count as sent."""
        rows = [
            (self._wait_s(target, self._rows[target.scope], now), order, target)
            for order, target in enumerate(self.plan.targets())
            if target.scope in self._rows and not target.is_catalogue
        ]
        may_be_asked = {scope for scope, until in (self._permitted or {}).items() if now.mono < until}
        soon = [
            target.scope
            for wait_s, _, target in sorted(rows)
            if wait_s <= SOON_S and target.scope not in self._asked
        ]
        self._told = may_be_asked | {*soon[:MAX_TOLD]}
        asked = self._asked | self._told
        dues = {
            target.scope: self.plan.interval_s(target, now) if target.scope in asked else wait_s
            for wait_s, _, target in rows
        }
        unknown = {scope: max(at - now.mono, 0.0) for scope, at in self._dues_mono.items()}
        told = [target for _, _, target in rows if target.scope in self._told]
        return ScheduleState(unknown | dues, self.plan.carried(told, now))

    def permit(self, until_mono: float) -> None:
        """Permit the targets of the last `tell` that were not asked since, until `until_mono`."""
        self._permitted = dict.fromkeys(self._told, until_mono)

    def resume(self, told: ScheduleState, now: Instant) -> None:
        """Continue from the state of another process; an empty `told` means that the budget is unknown."""
        self._asked.clear()
        self._told.clear()
        self._dues_mono = {scope: now.mono + wait_s for scope, wait_s in told.dues.items()}
        for scope in self._dues_mono.keys() & self._rows.keys():
            self._rows[scope].due_mono = self._dues_mono[scope]
        self.plan.resume(told.budget, now)

    def next(self, now: Instant) -> tuple[Target, float] | None:
        """Return the next target and the seconds until it is due; None while no target can be asked."""
        targets = self.plan.targets()
        self._keep_rows(targets, now)
        most = MAX_IN_FLIGHT if self._is_answering else TROUBLED
        if len(self._asked) >= (1 if self.is_troubled else most):
            return None
        waits = [
            (self._permitted_wait_s(target, now), self._rows[target.scope].due_mono, order)
            for order, target in enumerate(targets)
            if target.scope not in self._asked
        ]
        if not waits:
            return None
        wait_s, _, order = min(waits)
        return targets[order], wait_s

    def begin(self, target: Target, now: Instant) -> None:
        """Note that `target` is being asked."""
        self._asked.add(target.scope)
        self._told.discard(target.scope)
        if self._permitted is not None:
            self._permitted.pop(target.scope, None)
        self._rows[target.scope].preface = target.preface
        self.plan.on_asked(target, now)

    def succeeded(self, target: Target, now: Instant) -> None:
        """Note a readable answer of `target`."""
        self._asked.discard(target.scope)
        self._lost |= self._troubled  # a target that fails while others answer says nothing about the peer
        self._lost.discard(target.scope)
        self._troubled.clear()
        self._is_answering = True
        self._gate_mono = -inf
        self._gate.succeeded(now.mono)
        if (row := self._rows.get(target.scope)) is not None:
            row.backoff.succeeded(now.mono)
            row.is_failing = False
            row.has_answered = True
            row.due_mono = now.mono + self.plan.interval_s(target, now)

    def failed(self, target: Target, error: SourceError, now: Instant) -> None:
        """Note that `target` gave no readable answer."""
        self._asked.discard(target.scope)
        if target.scope in self._rows and target.scope not in self._lost:
            self._troubled.add(target.scope)
            self._is_answering = False
        asked_for_s = (error.retry_after_s or 0.0) if isinstance(error, TransportError) else 0.0
        least_s = max(asked_for_s, self.plan.on_failed(target, error, now))
        # A catalogue has a long interval, but without it no list can be polled.
        cap_s = MIN_CAP_S if target.is_catalogue else max(MIN_CAP_S, self.plan.interval_s(target, now) / 3)
        if (row := self._rows.get(target.scope)) is not None:
            row.backoff.cap_s = cap_s
            row.is_failing = True
            row.due_mono = now.mono + max(row.backoff.failed(now.mono), least_s)
        if len(self._troubled) >= TROUBLED:
            gate_s = max(self._gate.failed(now.mono), asked_for_s)
            self._gate_mono = max(self._gate_mono, now.mono + gate_s)

    def hasten(self, scopes: set[Scope], delay_s: float, now: Instant) -> None:
        """Bring the next poll of these scopes forward, to at most `delay_s` from now.

        A scope that is failing, or has never answered, keeps its time.
        """
        for scope in scopes & set(self._rows):
            row = self._rows[scope]
            if row.has_answered and not row.is_failing:
                row.due_mono = min(row.due_mono, now.mono + delay_s)

    def due_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until `target` is due; 0 if it is not scheduled yet."""
        row = self._rows.get(target.scope)
        return 0.0 if row is None else self._wait_s(target, row, now)

    def _permitted_wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until a target is due, or until its permission is checked again."""
        wait_s = self._wait_s(target, self._rows[target.scope], now)
        if self._permitted is None or target.is_catalogue:
            return wait_s
        is_permitted = now.mono < self._permitted.get(target.scope, -inf)
        return wait_s if is_permitted else max(wait_s, UNTOLD_S)

    def _wait_s(self, target: Target, row: _Row, now: Instant) -> float:
        # The plan has learnt more since the last request, so that its answer is obsolete: ask immediately.
        is_old = row.has_answered and not row.is_failing and row.preface != target.preface
        left_s = max(now.mono if is_old else row.due_mono, self._gate_mono) - now.mono
        return max(left_s, self.plan.wait_s(target, now), 0.0)

    def _keep_rows(self, targets: tuple[Target, ...], now: Instant) -> None:
        scopes = {target.scope for target in targets}
        if scopes == self._rows.keys():
            return
        new = [target for target in targets if target.scope not in self._rows]
        if new:  # a plan that changes its scopes each time must not be polled without a pause
            self._changed_mono = max(now.mono, self._changed_mono + APART_S)
        for target in new:
            known_mono = self._dues_mono.pop(target.scope, None)
            due_mono = now.mono + self.plan.first_delay_s(target, now) if known_mono is None else known_mono
            due_mono = max(due_mono, self._changed_mono)
            self._rows[target.scope] = _Row(due_mono, Backoff(MIN_CAP_S, self._random))
        for scope in self._rows.keys() - scopes:
            del self._rows[scope]
            self._troubled.discard(scope)
            self._lost.discard(scope)
