"""The board compared with a naive one at every commit, after any lists, deltas, gaps and withdrawals."""

from __future__ import annotations

from copy import deepcopy
from math import inf

import msgspec
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Removal, Scope, SourceMatchId
from tests.support.builders.boards import START
from tests.support.builders.messages import batch, match
from tests.support.oracles.naive_board import NaiveBook, Row, Shown
from tests.support.time.virtual import WALL_0

RULES = BoardRules(expire_after_kickoff_s=3600.0, in_play_max_age_s=20.0)
STALE_AFTER_S = 30.0
BOOKMAKER_IDS = (BookmakerId("birch"), BookmakerId("alder"), BookmakerId("cedar"))
SOURCE_TIME = 1.0  # stands for a source's own time, made different for each match

IDS = st.sampled_from(("m", "B", "~", "10", "9"))
MATCHES = st.builds(
    match,
    IDS,
    home=st.sampled_from(("Home", "", "Other")),
    prices=st.sampled_from(((2.0, 3.5, 4.0), (2.1, 3.4, 3.9))),
    start_time=st.sampled_from([None, *(int(WALL_0) + start for start in (-3600, -1800, 600))]),
    source_time=st.sampled_from((None, SOURCE_TIME)),
    latest_start=st.sampled_from([None, *(int(WALL_0) + start for start in (-1800, 600, 900))]),
)
ABOUT = {
    "bookmaker": st.sampled_from(BOOKMAKER_IDS),
    "scope": st.sampled_from(("s", "t")),
    "list_id": st.sampled_from(("list-1", "list-1", "list-2")),
}
MATCH_LISTS = st.lists(MATCHES, max_size=5, unique_by=lambda listed: listed.source_match_id)
COMPLETE_LISTS = st.builds(batch, MATCH_LISTS, **ABOUT)
CONFIRMATIONS = st.builds(batch, complete=st.just(value=False), **ABOUT)
DELTAS = st.builds(
    lambda change, gone: msgspec.structs.replace(change, complete=False, removals=_removals(change, gone)),
    COMPLETE_LISTS,
    st.sets(IDS, max_size=3),
)
SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    stateful_step_count=30,
    phases=(Phase.generate, Phase.shrink),
    report_multiple_bugs=False,
)
AGES = st.sampled_from((0.0, 0.0, 0.0, 2.0, STALE_AFTER_S))


def _removals(change: Batch, gone: set[str]) -> tuple[Removal, ...]:
    names = gone - {listed.source_match_id for listed in change.matches}
    return tuple(Removal(SourceMatchId(name), "withdrawn") for name in sorted(names))


class BoardMachine(RuleBasedStateMachine):
    """Applies the same steps to both boards. Time passes only between commits, as for the aggregator."""

    def __init__(self) -> None:
        super().__init__()
        self.now = Instant(0.0, WALL_0)
        self.serial = 0
        self.naive = {
            bookmaker: NaiveBook(RULES.expire_after_kickoff_s, RULES.in_play_max_age_s)
            for bookmaker in BOOKMAKER_IDS
        }
        self.before = deepcopy(self.naive)
        self.touched: set[BookmakerId] = set()
        self.moved: set[BookmakerId] = set()
        self.snapshot = Snapshot.empty(1000, BOOKMAKER_IDS)
        self.board = Board(self.snapshot, RULES)

    @rule(given=COMPLETE_LISTS, age=AGES)
    def complete_list(self, given: Batch, age: float) -> None:
        """Apply a complete list of a scope."""
        self._take(given, age)

    @rule(given=DELTAS, age=AGES)
    def delta(self, given: Batch, age: float) -> None:
        """Apply a delta of a list."""
        self._take(given, age)

    @rule(given=CONFIRMATIONS, age=AGES)
    def confirmation(self, given: Batch, age: float) -> None:
        """Confirm a list."""
        self._take(given, age)

    @rule(bookmaker=ABOUT["bookmaker"], scope=ABOUT["scope"])
    def withdrawal(self, bookmaker: BookmakerId, scope: Scope) -> None:
        """Withdraw a list, as after a poison batch."""
        run_now(self.board.withdraw(bookmaker, scope))
        self.naive[bookmaker].withdraw(scope)
        self._note(bookmaker)

    @rule()
    def commit(self) -> None:
        """Publish what was applied."""
        self._commit()

    @rule(
        seconds=st.sampled_from((1.0, 14.0, 15.0, 30.0)), shift=st.sampled_from((0.0, 0.0, 3600.0, -3600.0))
    )
    def time_passes(self, seconds: float, shift: float) -> None:
        """Advance the clocks, the wall clock by any amount, and remove what is overdue."""
        self._commit()
        self.now = Instant(self.now.mono + seconds, self.now.wall + seconds + shift)
        run_now(self.board.expire(self.now))
        for bookmaker, naive in self.naive.items():
            known = deepcopy(naive)
            naive.go_stale(self.now)
            naive.expire(self.now)
            book = self.snapshot.books[bookmaker]
            is_looked_at = book.in_play_until <= self.now.mono or book.next_start <= self.now.wall
            if naive != known or is_looked_at:
                self._note(bookmaker)
        self._commit()

    def _take(self, made: Batch, age: float) -> None:
        self.serial += 1
        change = msgspec.structs.replace(
            made,
            matches=tuple(self._dated(at, listed) for at, listed in enumerate(made.matches)),
            received_mono=self.now.mono - age,
            received_at=self.now.wall - age + self.serial / 1000,
        )
        expected = self.naive[change.bookmaker].take(change, self.now)

        assert expected == run_now(self.board.apply(change, self.now)).verdict
        if expected in {"accepted", "confirmed", "late"}:  # what comes late may end an older list
            self._note(change.bookmaker)

    def _dated(self, at: int, drawn: Match) -> Match:
        """Return the matches, each with its own source time, so that each new `updated` differs."""
        if drawn.source_time is None:
            return drawn
        return msgspec.structs.replace(drawn, source_time=WALL_0 - 1e6 + self.serial + at / 10)

    def _note(self, bookmaker: BookmakerId) -> None:
        self.touched.add(bookmaker)
        if self.naive[bookmaker].rows != self.before[bookmaker].rows:
            self.moved.add(bookmaker)

    def _commit(self) -> None:
        old, self.snapshot = self.snapshot, run_now(self.board.finish(START))
        self.board = Board(self.snapshot, RULES)
        changes = any(self._changes(bookmaker, is_v2=False) for bookmaker in BOOKMAKER_IDS)

        assert (self.snapshot is old) or self.touched
        assert old.version + changes == self.snapshot.version
        assert BOOKMAKER_IDS == tuple(self.snapshot.books)
        for bookmaker in BOOKMAKER_IDS:
            self._compare(bookmaker, old.books[bookmaker])
        self._compare_deadlines()
        for naive in self.naive.values():
            naive.commit()
        self.before = deepcopy(self.naive)
        self.touched.clear()
        self.moved.clear()

    def _changes(self, bookmaker: BookmakerId, *, is_v2: bool) -> bool:
        return self.before[bookmaker].view(is_v2=is_v2) != self.naive[bookmaker].view(is_v2=is_v2)

    def _compare(self, bookmaker: BookmakerId, old: Book) -> None:
        naive, book = self.naive[bookmaker], self.snapshot.books[bookmaker]
        version, v1, v2 = self.snapshot.version, naive.view(is_v2=False), naive.view(is_v2=True)

        assert (v1, v2) == (_shown(bookmaker, book, is_v2=False), _shown(bookmaker, book, is_v2=True))
        assert (len(v1), len(v2)) == (book.count, book.named)
        assert (version if self._changes(bookmaker, is_v2=False) else old.v1_version) == book.v1_version
        assert (version if self._changes(bookmaker, is_v2=True) else old.v2_version) == book.v2_version
        assert bool(naive.deadlines()) == book.is_serving
        assert (book is old) or bookmaker in self.touched
        for scope, known in book.lists.items():
            if self.snapshot.holds(bookmaker, scope, known.list_id, self.now.wall, RULES.max_matches):
                assert [] == naive.lacks(scope, self.now)
        if bookmaker not in self.moved:
            assert [id(chunk) for chunk in old.chunks] == [id(chunk) for chunk in book.chunks]

    def _compare_deadlines(self) -> None:
        deadlines = [min(naive.deadlines(), default=inf) for naive in self.naive.values()]
        starts = [min(naive.starts(), default=inf) for naive in self.naive.values()]

        assert deadlines == [book.deadline for book in self.snapshot.books.values()]
        assert starts == [book.first_start for book in self.snapshot.books.values()]
        in_play = [min(naive.in_play(self.now), default=inf) for naive in self.naive.values()]
        assert min(starts) == self.snapshot.first_start
        assert self.now.mono < self.snapshot.valid_until <= min(*deadlines, *in_play)
        assert self.now.wall < self.snapshot.next_start
        for naive, book in zip(self.naive.values(), self.snapshot.books.values(), strict=True):
            for start, until in naive.bounds():
                assert book.next_start <= start or book.in_play_until <= until, "nobody would look"


def _shown(bookmaker: BookmakerId, book: Book, *, is_v2: bool) -> list[Shown]:
    return [
        (entry.id.removeprefix(f"{bookmaker}_"), *Row(entry.scope, entry.match, 0.0).content, entry.updated)
        for entry in entries_of(book.chunks)
        if entry.is_named or not is_v2
    ]


def test_board_equals_a_naive_board() -> None:
    """Content, order, `updated`, versions per view, serving, deadlines and sharing equal the oracle's."""
    run_state_machine_as_test(BoardMachine, settings=SETTINGS)
