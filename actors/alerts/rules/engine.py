"""The actor of the rules: follows the boards and the log's transitions, and offers alerts.

It never delays a commit: a follower of each board notes what the commit changed, and the actor takes that
later, in slices. If too much waits, if a board does not follow the one before, or after a crash, it
compares the present boards with what it knew. That ends what does not hold any more, and fires nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from typing import Final

import anyio
from msgspec.structs import replace

from actors.alerts.alert import Alert
from actors.alerts.rules.rule import LinkRule, MatchRule, Rule, SourceRule
from actors.alerts.rules.transitions import Moment
from actors.alerts.rules.troubles import KINDS, TroubleRule, Troubles
from actors.alerts.rules.watcher import Commit, Watcher
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import FixtureChanges
from actors.runtime.facts import Transition, followed

MOST_WAITING: Final = 50_000
"""Changes of fixtures that may wait; with more the boards are compared."""
LONGEST_S: Final = 30.0
"""The longest wait for a kick-off, because the clock may be set."""


class RuleEngine:
    """Follows `boards`, by kind of market, for `rules`; outlives each run of its actor.

    `names` are the bookmakers' display names, `was_up` says whether a source has answered in this life of
    the service. `offer` gets each alert, and must not wait.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        boards: Mapping[Kind, Published],
        *,
        names: Mapping[BookmakerId, str],
        was_up: Callable[[str], bool],
        offer: Callable[[Alert], None],
        clock: Clock,
    ) -> None:
        self._known = [*rules]
        of_matches, of_log = _parted(self._known)
        self._boards, self._clock = boards, clock
        self._watcher = Watcher(of_matches, names, offer)
        self._troubles = Troubles(of_log, was_up, offer)
        self._commits: deque[Commit] = deque()
        self._facts: deque[Transition] = deque()
        self._rules: list[Rule] | None = None
        self._waiting = self._order = 0
        self._is_behind = True
        self._last: dict[Kind, tuple[str, int]] = {}
        self._taken: dict[Kind, Snapshot] = {}
        self._wake = asyncio.Event()
        for kind, board in boards.items():
            self._last[kind] = _place(board.newest)
            board.follow(partial(self.note, kind))

    @property
    def waiting(self) -> int:
        """The changes that the actor has not taken yet."""
        return self._waiting

    def replace(self, rules: Iterable[Rule]) -> None:
        """Take other rules at the next turn of the actor; nothing if they are the same."""
        new = [*rules]
        if new != self._known:
            self._known = self._rules = new
            self._wake.set()

    def note(self, kind: Kind, snapshot: Snapshot) -> None:
        """Note a snapshot that is about to be published; never waits."""
        if _place(self._boards[kind].newest) != self._last[kind]:
            self._is_behind = True
        self._last[kind] = _place(snapshot)
        changes = snapshot.fixture_changes
        if not isinstance(changes, FixtureChanges) or not changes.changes:
            return
        self._order += 1
        now = Moment(self._order, snapshot.version, self._clock.now().mono, snapshot.made_at)
        self._waiting += len(changes.changes)
        if self._waiting > MOST_WAITING:
            self._is_behind = True
        if self._is_behind:
            self._forget_waiting()
        else:
            board = replace(snapshot, differences={}, fixture_changes=None)
            self._commits.append(Commit(kind, changes.changes, board, now))
        self._wake.set()

    async def run(self) -> None:
        """Run for ever; a new run compares the boards first."""
        self._is_behind = True
        loop = asyncio.get_running_loop()

        def hear(fact: Transition) -> None:
            if fact.kind in KINDS:
                self._facts.append(fact)
                loop.call_soon_threadsafe(self._wake.set)

        with followed(hear):
            while True:
                self._wake.clear()
                await self._turn()
                with anyio.move_on_after(self._left_s()):
                    await self._wake.wait()

    async def _turn(self) -> None:
        """Take all that waits, then let time pass."""
        if any(_place(board.newest) != self._last[kind] for kind, board in self._boards.items()):
            self._is_behind = True
        if self._is_behind:
            await self._catch_up()
        while self._commits:
            commit = self._commits.popleft()
            self._waiting -= len(commit.changes)
            self._taken[commit.kind] = commit.board
            await run_sliced(self._watcher.take(commit))
        if self._rules is not None and not self._is_behind:
            await self._take_rules(self._rules)
        while self._facts:
            self._troubles.take(self._facts.popleft(), self._now())
        if not (self._commits or self._is_behind):
            now = self._clock.now()
            self._watcher.pass_time(now.mono, now.wall)
            self._troubles.pass_time(now.mono)

    async def _catch_up(self) -> None:
        """Compare the present boards with what is known."""
        self._is_behind = False
        self._forget_waiting()
        self._taken = {kind: board.newest for kind, board in self._boards.items()}
        self._last = {kind: _place(snapshot) for kind, snapshot in self._taken.items()}
        await run_sliced(self._watcher.compare(self._taken, self._now()))

    async def _take_rules(self, rules: list[Rule]) -> None:
        self._rules = None
        of_matches, of_log = _parted(rules)
        self._troubles.replace(of_log)
        await run_sliced(self._watcher.replace(of_matches, self._taken, self._now()))

    def _forget_waiting(self) -> None:
        self._commits.clear()
        self._waiting = 0

    def _now(self) -> Moment:
        self._order += 1
        now, version = self._clock.now(), max(version for _, version in self._last.values())
        return Moment(self._order, version, now.mono, now.wall)

    def _left_s(self) -> float:
        """Return the seconds until something may happen without a commit."""
        if self._commits or self._facts or self._is_behind:
            return 0.0
        now, (mono, wall) = self._clock.now(), self._watcher.next_due()
        left_s = min(mono, self._troubles.next_due()) - now.mono
        return max(min(left_s, min(wall - now.wall, LONGEST_S) if wall < inf else inf), 0.0)


def _parted(rules: Iterable[Rule]) -> tuple[list[MatchRule], list[TroubleRule]]:
    """Return the rules that follow the boards, and those that follow the log."""
    of_matches, of_log = list[MatchRule](), list[TroubleRule]()
    for rule in rules:
        if isinstance(rule, SourceRule | LinkRule):
            of_log.append(rule)
        else:
            of_matches.append(rule)
    return of_matches, of_log


def _place(snapshot: Snapshot) -> tuple[str, int]:
    return snapshot.epoch, snapshot.version
