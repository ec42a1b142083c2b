"""Records make the same boards of all markets by replay and from a checkpoint."""

from __future__ import annotations

from math import inf
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from actors.board.chunks import entries_of
from actors.board.snapshot import RemovalReason, Snapshot
from actors.cluster.replay import shown
from actors.cluster.store import CollectorId, Position
from actors.cluster.wire.records import BookRecord, MarketsRecord, Record, WireList, decoded
from actors.core.messages import Batch, Match, Removal, SourceMatchId
from actors.market_fixtures.model import MarketState, markets_of
from actors.markets.market import Kind
from actors.matches.model import Fixture, ViewKind, fixtures_of
from actors.matching.event import FixtureId
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ROSTER
from tests.support.builders.market_records import COLLECTOR, FIRST, MATCHER, MarketCluster, Replica
from tests.support.builders.markets import AH, BTTS, KINDS, OU25, OU35, listed, of_markets
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.oracles.naive_markets import Homes, check_fixtures, check_sides, homes_of
from tests.support.time.virtual import WALL_0

OU, HANDICAP = Kind.OVER_UNDER, Kind.ASIAN_HANDICAP
SOON = int(WALL_0) + 20
HOME = match("1", home="Home", start_time=int(WALL_0) + 86_400)
OTHER = CollectorId("other")


def _lines(cluster: MarketCluster | Replica, kind: Kind) -> list[Fixture]:
    return [*markets_of(cluster.state.markets[kind])]


def _handicap(cluster: MarketCluster | Replica) -> Fixture:
    (found,) = _lines(cluster, HANDICAP)
    return found


def _views(board: Snapshot) -> object:
    versions = {name: (book.v1_version, book.v2_version) for name, book in board.books.items()}
    return versions, fixtures_of(board).versions


def test_record_of_all_markets_is_one_version() -> None:
    """One record has all kinds of market that a collector published at one moment."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, *of_markets(HOME, OU25, AH), bookmaker=ALDER))

    assert 1 == len(cluster.log)
    boards = cluster.state.boards.values()
    assert {FIRST + 1} == {board.version for board in boards}
    entries = [[entry.id for entry in entries_of(board.books[ALDER].chunks)] for board in boards]
    assert [
        ["alder_1"],
        ["alder_1 over_under:2.5"],
        ["alder_1 asian_handicap:-0.5"],
        [],
        [],
    ] == entries


def test_prices_of_another_market_move_no_view_of_1x2() -> None:
    """The board gets the version of the record, and its views keep their versions."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, *of_markets(HOME, OU25), bookmaker=ALDER))
    cluster.link()
    before = cluster.state.snapshot
    cluster.take(listed(HOME, *of_markets(HOME, OU25, odds=(2.0, 1.8)), bookmaker=ALDER))
    after = cluster.state.snapshot

    assert before.version + 1 == after.version
    assert _views(before) == _views(after)
    assert ({}, None) == (after.differences, after.fixture_changes)
    assert after.version == markets_of(cluster.state.markets[OU]).versions[ViewKind.FIXTURES][None]


def test_record_and_state_without_other_markets_are_as_ever() -> None:
    """The fields are those of releases that know only 1X2: each release can read the other's data."""
    cluster = MarketCluster()
    cluster.take(batch([HOME], bookmaker=ALDER))
    cluster.link()
    record = msgspec.msgpack.decode(cluster.log[0][1])
    state = msgspec.msgpack.decode(cluster.replica.kept().state)
    ((entry,), _, _) = record[1]["alder"]

    assert (7, 7, 17) == (len(record), len(state), len(entry))


def test_checkpoint_without_other_markets_is_gone_on_from() -> None:
    """A store with only 1X2 gets other markets with the next record."""
    cluster = MarketCluster()
    cluster.take(batch([HOME], bookmaker=ALDER))
    cluster.link()
    joined = Replica(found=cluster.replica.kept())
    begun = len(cluster.log)
    cluster.take(listed(HOME, *of_markets(HOME, OU25), bookmaker=ALDER))
    joined.follow(cluster.log[begun:])

    assert cluster.replica.kept() == joined.kept()
    assert ["Home"] == [line.match.home for line in _lines(cluster, OU)]


def test_bookmaker_of_another_collector_begins_anew_in_all_markets() -> None:
    """Markets that the new collector's record lacks leave, too: nobody vouches for the former lists."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, match("2", home="Else"), *of_markets(HOME, OU25), bookmaker=ALDER))
    first = decoded(cluster.log[0][1])
    book = replace(first.books[ALDER], entries=first.books[ALDER].entries[:1])
    cluster.append(replace(first, collector=OTHER, books={ALDER: book}, markets={}), is_seen=True)
    main, board = cluster.state.snapshot, cluster.state.markets[OU]

    assert {RemovalReason.STALE} == {*board.differences[ALDER].reasons.values()}
    assert ([], {}) == (_lines(cluster, OU), dict(board.books[ALDER].lists))
    assert ["1"] == [entry.source_match_id for entry in entries_of(main.books[ALDER].chunks)]
    assert {"2": RemovalReason.STALE} == main.differences[ALDER].reasons


def test_lists_of_a_collector_that_leaves_are_stale() -> None:
    """One version withdraws the collector's lists of all markets, and only those."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, *of_markets(HOME, OU25), bookmaker=ALDER))
    first = decoded(cluster.log[0][1])
    cluster.append(
        replace(first, collector=OTHER, books={BIRCH: first.books[ALDER]}, markets={}), is_seen=True
    )
    cluster.leave(COLLECTOR)
    main, board = cluster.state.snapshot, cluster.state.markets[OU]

    assert [] == _lines(cluster, OU)
    assert {ALDER} == main.differences.keys()
    assert {"1": RemovalReason.STALE} == main.differences[ALDER].reasons
    assert [False, True] == [main.books[name].is_serving for name in (ALDER, BIRCH)]
    versions = [book.v2_version for book in (main.books[ALDER], board.books[ALDER], main.books[BIRCH])]
    assert [FIRST + 3, FIRST + 3, FIRST + 2] == versions


def test_version_has_the_time_of_its_record() -> None:
    """The time does not depend on a replica's clock, and is the same after beginning with a checkpoint."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, bookmaker=ALDER))
    cluster.append(replace(decoded(cluster.log[0][1]), at=WALL_0 + 7), is_seen=True)
    joined = Replica(found=cluster.replica.kept())

    assert [WALL_0 + 7] * 2 == [state.snapshot.made_at for state in (cluster.state, joined.state)]


def test_markets_are_shown_as_long_as_their_collector_is_believed() -> None:
    """Each kind has its own deadline: a bookmaker without an entry of a kind sets no deadline there."""
    cluster = MarketCluster()
    cluster.take(listed(*of_markets(HOME, OU25), bookmaker=ALDER))
    parts = cluster.state, {COLLECTOR: 7.0}.__getitem__, cluster.matcher
    boards = [shown(*parts, kind) for kind in (Kind.ONE_X_TWO, OU, Kind.BTTS)]

    assert [inf, 7.0, inf] == [board.valid_until for board in boards]
    assert [7.0, inf] == [boards[1].list_deadlines(name).stale for name in (ALDER, BIRCH)]


def test_any_match_may_have_begun_while_the_time_is_not_known() -> None:
    """Before the first tick or without a matcher, a bookmaker's handicap is therefore no best price."""
    cluster, soon = MarketCluster(), match("1", home="Home", start_time=SOON)
    cluster.take(listed(soon, *of_markets(soon, AH), bookmaker=ALDER))
    found = [_handicap(cluster).has_begun]
    for at, is_there in ((0.0, True), (1.0, False), (2.0, True), (21.0, True)):
        cluster.clock.mono = at
        if is_there:
            cluster.tick()
        else:
            cluster.leave(MATCHER)
        found.append(_handicap(cluster).has_begun)

    assert [True, False, True, False, True] == found


def test_match_begins_with_a_version_alone() -> None:
    """A tick that makes no version changes nothing; the next version finds that the match has begun."""
    cluster, soon = MarketCluster(), match("1", home="Home", start_time=SOON)
    cluster.take(listed(soon, *of_markets(soon, AH), bookmaker=ALDER))
    cluster.tick()
    cluster.clock.mono = 21.0
    cluster.tick(is_seen=False)
    before = _handicap(cluster).has_begun
    cluster.take(listed(soon, bookmaker=BIRCH))
    joined = Replica(found=cluster.replica.kept())

    assert (False, True) == (before, _handicap(cluster).has_begun)
    assert _handicap(joined).has_begun  # otherwise the old handicap would be a leg only here


def test_handicaps_are_shown_as_long_as_the_matcher_ticks() -> None:
    """Until the kick-off handicaps need the matcher's ticks; after it, or before any tick, they do not."""
    cluster, soon = MarketCluster(), match("1", home="Home", start_time=SOON)
    cluster.take(listed(soon, *of_markets(soon, AH), bookmaker=ALDER))
    until = {COLLECTOR: 900.0}.__getitem__
    found = [shown(cluster.state, until, cluster.matcher, HANDICAP).deadlines]
    for at in (1.0, 21.0):
        cluster.clock.mono = at
        cluster.tick()
        found.append(shown(cluster.state, until, cluster.matcher, HANDICAP).deadlines)

    assert [900.0, 1.0 + 5.0, 900.0] == [deadlines.stale for deadlines in found]
    assert {inf} == {deadlines.kick_off for deadlines in found}


def test_entry_of_a_market_that_does_not_exist_cannot_be_read() -> None:
    """A record with an entry of a market that does not exist is damaged."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, *of_markets(HOME, OU25), bookmaker=ALDER))
    data = cluster.log[0][1].replace(b"over_under:2.5", b"over_under:2.6")

    with pytest.raises(ValueError, match="must be a multiple"):
        Replica().follow([(Position(FIRST + 1), data)])


def test_markets_that_are_not_read_here_are_passed_over() -> None:
    """A process that does not read these markets cannot join; their boards stay empty here."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, *of_markets(HOME, OU25), bookmaker=ALDER))
    other = Replica(kinds=())
    other.follow(cluster.log)

    assert 1 == other.state.snapshot.books[ALDER].count
    assert [] == [*fixtures_of(other.state.markets[OU])]


def test_links_of_side_events_are_a_record() -> None:
    """On every machine an event without 1X2 prices is in the same match as the other events."""
    cluster = MarketCluster()
    cluster.take(listed(HOME, bookmaker=ALDER))
    cluster.take(
        listed(*of_markets(match("x", home="Home", start_time=HOME.start_time), OU25), bookmaker=BIRCH)
    )
    cluster.link()
    (main,), (line,) = fixtures_of(cluster.state.snapshot), _lines(cluster, OU)

    assert (main.id, main.match.home) == (line.match_id, line.match.home)
    assert decoded(cluster.log[-1][1]).sides is not None


@pytest.mark.parametrize("seed", range(12))
def test_random_lives_are_the_same_from_a_checkpoint(seed: int) -> None:
    """The state is the same after lists and changes of all kinds, links, ticks and take-overs.

    The boards are also compared with simple code, and with the collector's own boards.
    """
    life = _Life(seed)
    joined: list[Replica] = []
    for number in range(41):
        begun = len(life.cluster.log)
        (life.step if number < 40 else life.end)()
        for replica in joined:
            replica.follow(life.cluster.log[begun:])
        if number % 10 == 5:
            joined.append(Replica(found=life.cluster.replica.kept()))
            assert life.cluster.replica.kept() == joined[-1].kept()
            assert _begun(life.cluster.replica) == _begun(joined[-1])

    newest = life.cluster.replica.kept(), _begun(life.cluster.replica)
    assert [newest] * len(joined) == [(replica.kept(), _begun(replica)) for replica in joined]
    assert any(record.markets for record in map(decoded, (data for _, data in life.cluster.log)))


def _begun(replica: Replica) -> set[FixtureId]:
    """Return the fixtures that have begun; equal checkpoints alone would not show a forgotten begin."""
    boards = replica.state.boards.values()
    return {fixture.id for board in boards for fixture in fixtures_of(board) if fixture.has_begun}


class _Life:
    """A random life of a cluster of three bookmakers."""

    def __init__(self, seed: int) -> None:
        self.random, self.cluster = Random(seed), MarketCluster()
        self._sides = 0

    def step(self) -> None:
        """Let one random thing happen."""
        chance, cluster = self.random.random(), self.cluster
        cluster.clock.mono += self.random.choice([0.0, 1.0, 5.0])
        if chance < 0.15:
            cluster.link()
        elif chance < 0.3:
            cluster.tick(is_seen=self.random.random() < 0.8)
        elif chance < 0.34:
            cluster.leave(MATCHER)
        elif chance < 0.38:
            cluster.leave(COLLECTOR)
            cluster.outbox.reset()
            cluster.commit()
        elif chance < 0.42:
            listing = WireList(withdrawn=False, doubted=0, is_failing=True)
            cluster.append(_failing(listing), is_seen=False)
        else:
            cluster.take(self._batch())
        self._check_entries()
        self._check_homes()

    def end(self) -> None:
        """Link all events, and check that each event is in its match."""
        self.cluster.link()
        main = fixtures_of(self.cluster.state.snapshot)
        check_sides(self._check_homes(), main, self._boards, ROSTER)

    @property
    def _boards(self) -> dict[Kind, Snapshot]:
        return {kind: self.cluster.state.markets[kind] for kind in KINDS[1:]}

    def _check_entries(self) -> None:
        """Check that entries and their times equal the collector's, whatever records brought them."""
        cluster = self.cluster
        for kind, own in {Kind.ONE_X_TWO: cluster.main, **cluster.markets.published}.items():
            for name, book in cluster.state.boards[kind].books.items():
                ours = own.newest.books[name]
                assert [*entries_of(ours.chunks)] == [*entries_of(book.chunks)]
                assert not ours.lists or ours.is_serving == book.is_serving

    def _check_homes(self) -> Homes:
        main, boards = fixtures_of(self.cluster.state.snapshot), self._boards
        homes = homes_of(main, boards, ROSTER)
        for kind, board in boards.items():
            state = markets_of(board)
            assert isinstance(state, MarketState)
            assert state.followed is main
            check_fixtures(kind, board, main, homes, ROSTER)
        return homes

    def _batch(self) -> Batch:
        random, bookmaker = self.random, self.random.choice([ALDER, BIRCH, CEDAR])
        matches: list[Match] = []
        for number in range(4):
            source = ROSTER[bookmaker].source
            about = number if random.random() > 0.05 else random.randrange(4)
            start = int(WALL_0) + (10, 30, 90_000, 90_000)[about]
            base = match(f"{source}-{number}", home=f"Home {about}", start_time=start)
            matches += [base] if random.random() < 0.7 else []
            for market in (OU25, OU35, AH, BTTS):
                if random.random() < 0.5:
                    matches += of_markets(base, market, odds=random.choice([(1.9, 1.9), (2.1, 1.8)]))
        removal = Removal(SourceMatchId("none"), "closed")
        complete = random.random() < 0.7
        at = self.cluster.clock.mono
        return listed(*matches, bookmaker=bookmaker, at=at, complete=complete, removals=[removal])


def _failing(listing: WireList) -> Record:
    book = BookRecord(lists={SCOPE: listing})
    return MarketsRecord(COLLECTOR, {ALDER: book}, markets={OU: {ALDER: book}})
