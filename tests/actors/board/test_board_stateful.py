"""The board compared with a naive board at every commit of lists, deltas, gaps and withdrawals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from math import inf
from random import Random

import msgspec

from actors.board.board import Applied, Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Book, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Removal, SourceMatchId
from tests.support.builders.boards import START
from tests.support.builders.messages import batch, match
from tests.support.oracles.naive_board import NaiveBook, Row, Shown
from tests.support.time.virtual import WALL_0

LIVES, STEPS = 150, 60
RULES = BoardRules(expire_after_kickoff_s=3600.0, in_play_max_age_s=20.0)
BOOKMAKER_IDS = (BookmakerId("birch"), BookmakerId("alder"))
PRICES = (*((2.0, 3.5, 4.0),) * 5, (2.1, 3.5, 4.0), (2.0, 3.4, 4.0), (2.0, 3.5, 3.9))
IDS = {"m": 600, "B": -1800, "~": -3600, "10": None, "9": 600}
"""Ids of matches, in no order, and the usual kick-off of each in seconds from the start."""
MANY = IDS | {f"m{number}": 600 for number in range(400)}
"""So many that they are several chunks."""
AGES = (*(0.0,) * 6, 2.0, 30.0)  # 30 s is as long as a list holds
SHIFTS = (0.0, 0.0, 3600.0, -3600.0)


class Life:
    """Applies the same random steps to both boards; `seen` counts what happened.

    Time passes only between commits, as for the aggregator.
    """

    def __init__(self, seed: int, ids: Mapping[str, int | None] = IDS) -> None:
        self.random, self.ids = Random(seed), ids
        self.now = Instant(0.0, WALL_0)
        self.serial = 0
        self.seen = Counter[str]()
        self.naive = {
            bookmaker: NaiveBook(RULES.expire_after_kickoff_s, RULES.in_play_max_age_s)
            for bookmaker in BOOKMAKER_IDS
        }
        self.before = deepcopy(self.naive)
        self.touched: set[BookmakerId] = set()
        self.moved: set[BookmakerId] = set()
        self.snapshot = Snapshot.empty(1000, BOOKMAKER_IDS)
        self.board = Board(self.snapshot, RULES)

    def act(self) -> None:
        """Take one step."""
        steps = (self._list, self._delta, self._confirmation, self._withdrawal, self._commit, self._pass)
        (step,) = self.random.choices(steps, (6, 4, 3, 1, 4, 2))
        step()

    def _list(self) -> None:
        self._take(self._drawn(self._matches(len(self.ids))))

    def _delta(self) -> None:
        matches = self._matches(2)
        others = self.ids.keys() - {listed.source_match_id for listed in matches}
        gone = self.random.sample(sorted(others), self.random.randrange(3))
        removals = tuple(Removal(SourceMatchId(name), "withdrawn") for name in gone)
        self._take(msgspec.structs.replace(self._drawn(matches), complete=False, removals=removals))

    def _confirmation(self) -> None:
        self._take(msgspec.structs.replace(self._drawn([]), complete=False))

    def _withdrawal(self) -> None:
        """Withdraw a list as its source does, with any id and age, or as after a poison batch."""
        drawn = self._drawn([])
        if self.random.random() < 0.5:
            change = msgspec.structs.replace(drawn, complete=False, withdrawn=True)
            assert Applied(Verdict.WITHDRAWN) == run_now(self.board.apply(change, self.now))
        else:
            run_now(self.board.withdraw(drawn.bookmaker, drawn.scope))
        self.naive[drawn.bookmaker].withdraw(drawn.scope)
        self._note(drawn.bookmaker)

    def _pass(self) -> None:
        """Advance the clocks, the wall clock by any amount, and remove what is overdue."""
        self._commit()
        seconds, shift = self.random.choice((1.0, 14.0, 15.0, 30.0)), self.random.choice(SHIFTS)
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

    def _drawn(self, matches: list[Match]) -> Batch:
        """Return a complete list of these matches, with a random age."""
        self.serial += 1
        age = self.random.choice(AGES)
        return batch(
            matches,
            bookmaker=self.random.choice(BOOKMAKER_IDS),
            scope=self.random.choice("sst"),
            list_id=self.random.choice(("list-1", "list-1", "list-1", "list-2")),
            received_mono=self.now.mono - age,
            received_at=self.now.wall - age + self.serial / 1000,
            is_image=self.ids is MANY,  # a polled list that loses many matches would be suspect
        )

    def _matches(self, most: int) -> list[Match]:
        """Draw matches; a match often has the same fields as before."""
        names = self.random.sample([*self.ids], self.random.randint(0, most))
        return [self._match(name, at) for at, name in enumerate(names)]

    def _match(self, name: str, at: int) -> Match:
        """Draw a match; the source's own times are all different."""
        random = self.random
        after = self.ids[name] if random.random() < 0.8 else random.choice((None, -3600, -1800, 600))
        own_time = random.choice((None, None, WALL_0 - 1e6 + self.serial + at / 10, WALL_0 + 1e6 + at))
        return match(
            name,
            home=random.choice(("Home", "Home", "Home", "", "Other")),
            away=random.choice(("Away",) * 9 + ("Other",)),
            league=random.choice(("League",) * 9 + (None,)),
            prices=random.choice(PRICES),
            start_time=_from_start(after),
            source_time=own_time,
            latest_start=_from_start(random.choice((None, -1800, 600, 900))),
            in_play=random.choice((None, False, True)),
        )

    def _take(self, change: Batch) -> None:
        expected = self.naive[change.bookmaker].take(change, self.now)

        assert expected == run_now(self.board.apply(change, self.now)).verdict
        self.seen[expected] += 1
        if expected in {"accepted", "confirmed", "late"}:  # a late list may end an older list
            self._note(change.bookmaker)
        rows = self.naive[change.bookmaker].rows
        if any(listed.source_match_id not in rows for listed in change.matches):
            self.moved.add(change.bookmaker)  # a match was set and removed in one turn

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
        assert [_hidden(row.match) for _, row in sorted(naive.rows.items())] == [
            _hidden(entry.match) for entry in entries_of(book.chunks)
        ]
        assert (version if self._changes(bookmaker, is_v2=False) else old.v1_version) == book.v1_version
        assert (version if self._changes(bookmaker, is_v2=True) else old.v2_version) == book.v2_version
        assert bool(naive.deadlines()) == book.is_serving
        assert naive.lists.keys() == book.lists.keys()
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


def _from_start(seconds: int | None) -> int | None:
    return None if seconds is None else int(WALL_0) + seconds


def _hidden(match: Match) -> tuple[object, ...]:
    """Return the fields that no list shows and that make no version."""
    return match.latest_start, match.in_play


def _shown(bookmaker: BookmakerId, book: Book, *, is_v2: bool) -> list[Shown]:
    return [
        (entry.id.removeprefix(f"{bookmaker}_"), *Row(entry.scope, entry.match, 0.0).content, entry.updated)
        for entry in entries_of(book.chunks)
        if entry.is_named or not is_v2
    ]


def test_board_equals_a_naive_board() -> None:
    """Content, order, `updated`, versions per view, serving, deadlines and sharing equal the oracle's."""
    seen = Counter[str]()
    for seed in range(LIVES):
        life = Life(seed, MANY if seed % 50 == 0 else IDS)
        for _ in range(STEPS):
            life.act()
        seen += life.seen

    assert {"accepted", "confirmed", "late", "outdated", "unfounded"} == seen.keys()
