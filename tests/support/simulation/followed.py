"""The boards of all kinds of market that a replica publishes, checked at each version by simple code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.markets.market import Kind
from actors.matches.model import FixtureChanges, fixtures_of
from tests.support.oracles.naive_markets import check_changes, check_fixtures, homes_of


class FollowedBoards:
    """Checks the published boards; `broken` is the first rule that was broken.

    `checked` counts versions, `sides` events without 1X2 prices, `begun` handicaps of matches that may have
    begun, and `others` the versions in which 1X2 did not change.
    """

    def __init__(self, boards: Mapping[Kind, Published]) -> None:
        self.broken: str | None = None
        self.checked = self.sides = self.begun = self.others = 0
        self._old: dict[Kind, Snapshot] = {}
        self._new: dict[Kind, Snapshot] = {}
        self._last = [*boards][-1]
        for kind, board in boards.items():
            board.follow(partial(self._take, kind, board))

    def _take(self, kind: Kind, board: Published, snapshot: Snapshot) -> None:
        self._old[kind], self._new[kind] = board.newest, snapshot
        if kind is self._last and self.broken is None:
            try:
                self._check()
            except AssertionError as error:  # an error of a follower would crash the actor
                self.broken = f"version {snapshot.version}: {error}"

    def _check(self) -> None:
        new, old = dict(self._new), dict(self._old)
        assert 1 == len({(board.epoch, board.version) for board in new.values()}), (
            "not all are of a version"
        )
        main, main_before = new.pop(Kind.ONE_X_TWO), old.pop(Kind.ONE_X_TWO)
        self._check_unmoved(main_before, main)
        if main.version == main_before.version:
            return
        state = fixtures_of(main)
        roster = state.terms.roster
        homes = homes_of(state, new, roster)
        for kind, board in new.items():
            check_fixtures(kind, board, state, homes, roster)
            check_changes(old[kind], board, homes, state)
        self.checked += 1
        self.sides += len(homes.keys() - state.by_event.keys())
        self.begun += any(fixture.has_begun for fixture in fixtures_of(new[Kind.ASIAN_HANDICAP]))

    def _check_unmoved(self, old: Snapshot, new: Snapshot) -> None:
        """Check that no view of 1X2 has another version if nothing in it changed."""
        changes = new.fixture_changes
        if new.differences or (isinstance(changes, FixtureChanges) and changes.views):
            return
        self.others += new.version != old.version
        for name, book in new.books.items():
            before = old.books[name]
            assert (before.v1_version, before.v2_version) == (book.v1_version, book.v2_version)
        assert fixtures_of(old).versions == fixtures_of(new).versions
