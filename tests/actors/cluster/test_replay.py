"""What records make of a board, the same for everybody: by replay, and from a checkpoint on the way."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, RemovalReason, Snapshot
from actors.cluster.liveness import MatcherClock
from actors.cluster.outbox import Outbox
from actors.cluster.replay import State, applied, empty, kept, restored, shown
from actors.cluster.store import CollectorId, Position, Restored
from actors.cluster.wire.records import Record, decoded, encoded
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, SourceName
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matches.update import FixtureUpdater
from tests.support.builders.boards import RULES
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

ALDER, BIRCH = BookmakerId("alder"), BookmakerId("birch")
TERMS = FixtureSettings(
    roster_of({ALDER: BookmakerInfo(SourceName("one")), BIRCH: BookmakerInfo(SourceName("two"))})
)
A, B = CollectorId("a"), CollectorId("b")
FIRST = 1000
UPDATER = FixtureUpdater(TERMS)


class _Collector:
    """A collector's own board and outbox, and the log that it writes."""

    def __init__(self, log: list[tuple[Position, bytes]]) -> None:
        self.own = Snapshot.empty(1, (ALDER, BIRCH))
        self.outbox = Outbox(self.own, MatcherClock())
        self.log = log

    def take(self, *batches: Batch) -> None:
        board = Board(self.own, RULES)
        for number in batches:
            run_now(board.apply(number, Instant(number.received_mono, WALL_0)))
        self.own = run_now(board.finish(Instant(0.0, WALL_0)))
        self.outbox.follow(self.own)

    def commit(self) -> None:
        due = run_now(self.outbox.due((ALDER, BIRCH), with_times=True))
        self.outbox.acked(due)
        if due.books:
            last = self.log[-1][0] if self.log else Position(FIRST)
            at = Position(last.version + 1) if due.is_seen else Position(last.version, last.sub + 1)
            self.log.append((at, encoded(Record(A, dict(due.books), at=WALL_0 + len(self.log)))))


def _replayed(log: Iterable[tuple[Position, bytes]], state: State | None = None) -> State:
    state = state or empty(FIRST, TERMS, "e")
    for at, data in log:
        state = run_now(applied(state, at, decoded(data), UPDATER))
    return state


def _entries(snapshot: Snapshot, name: BookmakerId) -> list[Entry]:
    return list(entries_of(snapshot.books[name].chunks))


_prices = st.tuples(*[st.sampled_from([1.5, 2.0, 3.5, 9.0])] * 3)
_matches = st.dictionaries(st.sampled_from([f"m{n}" for n in range(6)]), _prices, max_size=6)
_steps = st.lists(st.tuples(st.sampled_from([ALDER, BIRCH]), _matches, st.booleans()), max_size=12)


def _listed(steps: list[tuple[BookmakerId, dict[str, tuple[float, ...]], bool]]) -> _Collector:
    collector = _Collector([])
    for at, (name, listed, is_committed) in enumerate(steps, 1):
        matches = [match(match_id, home=match_id, prices=prices) for match_id, prices in listed.items()]
        collector.take(
            batch(matches, bookmaker=name, list_id=f"{at}", received_mono=float(at), is_image=True)
        )
        if is_committed:
            collector.commit()
    collector.commit()
    return collector


@given(_steps)
def test_a_replica_has_what_the_collector_has(
    steps: list[tuple[BookmakerId, dict[str, tuple[float, ...]], bool]],
) -> None:
    """Entries are the same, with their times, however many commits became one record."""
    collector = _listed(steps)
    state = _replayed(collector.log)

    for name in (ALDER, BIRCH):
        assert _entries(collector.own, name) == _entries(state.snapshot, name)
        assert collector.own.books[name].is_serving == state.snapshot.books[name].is_serving


@given(_steps, st.integers(0, 12))
def test_a_replica_that_begins_with_a_checkpoint_has_the_same(
    steps: list[tuple[BookmakerId, dict[str, tuple[float, ...]], bool]], after: int
) -> None:
    """Books, versions of views, fixtures and where chunks are cut: all that bytes depend on."""
    log = _listed(steps).log
    middle = _replayed(log[:after])
    found = Restored(FIRST, middle.at, run_now(kept(middle)))
    joined = _replayed(log[after:], run_now(restored(found, TERMS, "e")))

    assert run_now(kept(_replayed(log))) == run_now(kept(joined))


def test_a_version_has_the_time_of_its_record() -> None:
    """Whatever clocks replicas have, and also for one that begins with a checkpoint."""
    collector = _Collector([])
    for number in (1, 2):
        collector.take(batch([match(f"m{number}")], list_id=f"{number}", received_mono=float(number)))
        collector.commit()
    state = _replayed(collector.log)
    joined = run_now(restored(Restored(FIRST, state.at, run_now(kept(state))), TERMS, "e"))

    assert [WALL_0 + 1] * 2 == [state.snapshot.made_at, joined.snapshot.made_at]


def test_lists_of_a_collector_that_leaves_are_stale() -> None:
    """With a version of their own, of its lists alone; they serve nothing until they are listed again."""
    log = list[tuple[Position, bytes]]()
    collector = _Collector(log)
    collector.take(batch([match("m1")]), batch([match("m2")], bookmaker="birch"))
    collector.commit()
    state = _replayed(log)
    state = msgspec.structs.replace(state, collectors={**state.collectors, BIRCH: B})

    state = _replayed([(Position(FIRST + 2), encoded(Record(A, leaves=True)))], state)
    assert {ALDER} == state.snapshot.differences.keys()
    assert {"m1": RemovalReason.STALE} == state.snapshot.differences[ALDER].reasons
    assert [False, True] == [state.snapshot.books[name].is_serving for name in (ALDER, BIRCH)]
    assert [FIRST + 2, FIRST + 1] == [state.snapshot.books[name].v2_version for name in (ALDER, BIRCH)]


def test_books_hold_as_long_as_their_collector_is_believed() -> None:
    """A book without entries promises nothing."""
    log = list[tuple[Position, bytes]]()
    collector = _Collector(log)
    collector.take(batch([match("m1")]), batch([], bookmaker="birch"))
    collector.commit()
    snapshot = shown(_replayed(log), {A: 7.0}.__getitem__, MatcherClock())

    assert [7.0, float("inf")] == [snapshot.list_deadlines(name).stale for name in (ALDER, BIRCH)]
    assert 7.0 == snapshot.deadlines.stale


def test_a_record_of_another_collector_replaces_a_book() -> None:
    """Whatever the former had listed and the log has not withdrawn, nobody vouches for."""
    log = list[tuple[Position, bytes]]()
    collector = _Collector(log)
    collector.take(batch([match("m1"), match("m2")]))
    collector.commit()
    change = decoded(log[-1][1])
    book = change.books[ALDER]
    newer = Record(B, {ALDER: msgspec.structs.replace(book, entries=book.entries[:1])})

    state = _replayed([*log, (Position(FIRST + 2), encoded(newer))])
    assert ["m1"] == [entry.source_match_id for entry in _entries(state.snapshot, ALDER)]
    assert {"m2": RemovalReason.STALE} == state.snapshot.differences[ALDER].reasons
