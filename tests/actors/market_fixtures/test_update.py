"""The fixtures of other markets follow the 1X2 fixtures, and never change them."""

from __future__ import annotations

from itertools import permutations

from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.messages import Match
from actors.market_fixtures.heads import are_alike
from actors.markets.market import Kind
from actors.matches.leagues import league_of_fixture
from actors.matches.model import ViewKind
from actors.matching.event import EventKey, FixtureId, derived_id
from actors.matching.rules import Rule
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ONE, TWO
from tests.support.builders.markets import AH, BTTS, OU25, OU35, MarketBoard, listed, of_markets
from tests.support.builders.messages import match
from tests.support.time.virtual import WALL_0

OU = Kind.OVER_UNDER
A, B = match("a"), match("b")
KEY_A, KEY_B = EventKey(TWO, A.source_match_id), EventKey(ONE, B.source_match_id)


def _linked(*of_a: Match, of_b: tuple[Match, ...] = ()) -> MarketBoard:
    """Return boards on which alder's match and birch's match are linked, with these other markets."""
    board = MarketBoard()
    board.apply(listed(A, *of_a, bookmaker=ALDER), listed(B, *of_b, bookmaker=BIRCH))
    board.link()
    return board


def _match_id(board: MarketBoard) -> FixtureId:
    (fixture,) = board.state
    return fixture.id


def test_price_of_another_market_moves_its_kind_alone() -> None:
    """The versions of 1X2 and of a third kind stay; the changed kind gets a new version each time."""
    board = _linked(*of_markets(A, OU25, BTTS))
    before = {kind: board.board(kind).newest.version for kind in Kind if kind in board.commits}
    board.apply(
        listed(A, *of_markets(A, OU25, odds=(2.0, 1.8)), *of_markets(A, BTTS), bookmaker=ALDER, at=1)
    )
    after = {kind: board.board(kind).newest.version for kind in before}
    shown = board.fixtures(OU)[0].listed[0].match.prices
    board.apply(listed(A, *of_markets(A, OU25, BTTS), bookmaker=ALDER, at=2))

    assert after[OU] + 1 == board.board(OU).newest.version
    moved = {kind for kind in before if after[kind] != before[kind]}
    assert ({OU}, max(before.values()) + 1) == (moved, after[OU])
    assert (2.0, 1.8) == shown


def test_match_that_is_linked_otherwise_differs_in_more_than_prices() -> None:
    """A changed rule of a link, in either direction, makes other markets take the members again."""
    (main,) = _linked().state
    first, second = main.members
    found = [replace(main, members=(first, replace(second, rule=rule))) for rule in Rule]

    for each, other in permutations(found, 2):
        assert not are_alike(each, other)


def test_market_that_leaves_has_no_market_while_another_kind_stays() -> None:
    """The reason is `no_market` also if the match has no 1X2 prices."""
    board = MarketBoard()
    board.apply(listed(*of_markets(A, OU25, OU35, BTTS), bookmaker=ALDER))
    board.apply(listed(*of_markets(A, BTTS), bookmaker=ALDER, at=1))

    assert {"no_market"} == {reason for _, reason, _ in board.gone(OU)}


def test_last_markets_of_a_match_that_leave_together_are_ended() -> None:
    """No market says that the match goes on when all its markets leave at the same time."""
    board = MarketBoard()
    board.apply(listed(*of_markets(A, OU25, OU35, BTTS), bookmaker=ALDER))
    board.apply(listed(bookmaker=ALDER, at=1))

    assert ["ended", "ended"] == [reason for _, reason, _ in board.gone(OU)]
    assert not (board.sides.by_event)
    assert not (board.sides.by_home)


def test_markets_merge_as_their_matches_do() -> None:
    """The line of the fixture that ends is merged into the same line of the other fixture."""
    board = MarketBoard()
    board.apply(listed(A, *of_markets(A, OU25), bookmaker=ALDER))
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    before = [fixture.id for fixture in board.state]
    board.link()

    stays = _match_id(board)
    (goes,) = {*before} - {stays}
    assert [(f"{goes} over_under:2.5", "merged", f"{stays} over_under:2.5")] == board.gone(OU)
    assert [("over_under:2.5", [ALDER, BIRCH])] == board.shown(OU)


def test_market_merges_into_a_match_that_had_none() -> None:
    """A fixture of the market is made in the match that had none."""
    board = MarketBoard()
    board.apply(listed(A, bookmaker=ALDER))
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    board.link()

    stays = _match_id(board)
    assert (f"{derived_id(KEY_B)} over_under:2.5", "merged", f"{stays} over_under:2.5") in board.gone(OU)
    assert [f"{stays} over_under:2.5"] == [fixture.id for fixture in board.fixtures(OU)]


def test_market_that_leaves_with_the_merge_is_not_merged() -> None:
    """The market ends instead, because no entry of it is in the other fixture."""
    board = MarketBoard()
    board.apply(listed(A, bookmaker=ALDER))
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    (links,) = run_now(board.linking.update(board.state, None))
    draft = board.draft()
    run_now(draft.apply(listed(B, bookmaker=BIRCH, at=1), board.clock.now()))
    draft.link(links)
    board.commit(draft)

    assert [(f"{derived_id(KEY_B)} over_under:2.5", "ended", None)] == board.gone(OU)
    assert [] == board.fixtures(OU)


def test_markets_split_as_their_matches_do() -> None:
    """A renamed match takes its markets along; the markets that stay are split from them."""
    board = _linked(*of_markets(A, OU25), of_b=(*of_markets(B, OU25, OU35),))
    first = board.state.by_event[KEY_A], board.state.by_event[KEY_B]
    other = replace(B, home="Elsewhere")
    board.apply(listed(other, *of_markets(other, OU25, OU35), bookmaker=BIRCH, at=1))
    board.link()

    second = board.state.by_event[KEY_A], board.state.by_event[KEY_B]
    homes = {fixture.id: fixture.bookmakers for fixture in board.fixtures(OU)}
    assert first[0] == first[1]
    assert second[0] != second[1]
    assert {
        f"{second[0]} over_under:2.5": (ALDER,),
        f"{second[1]} over_under:2.5": (BIRCH,),
        f"{second[1]} over_under:3.5": (BIRCH,),
    } == homes


def test_both_bookmakers_of_a_source_move_with_its_event() -> None:
    """No bookmaker of the source stays behind in the fixture that the event has left."""
    board = MarketBoard()
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    board.apply(
        listed(A, *of_markets(A, OU25), bookmaker=ALDER), listed(A, *of_markets(A, OU25), bookmaker=CEDAR)
    )
    board.link()

    assert [("over_under:2.5", [ALDER, BIRCH, CEDAR])] == board.shown(OU)


def test_match_that_loses_its_1x2_prices_keeps_its_markets() -> None:
    """The markets stay in their fixtures, with the same names, linked with the rest of the match."""
    board = _linked(*of_markets(A, OU25), of_b=(*of_markets(B, OU25),))
    before = board.fixtures(OU)[0]
    board.apply(listed(*of_markets(A, OU25), bookmaker=ALDER, at=1))
    board.link_sides()

    assert [(before.id, before.bookmakers)] == [(it.id, it.bookmakers) for it in board.fixtures(OU)]
    assert [[BIRCH]] == [[*fixture.bookmakers] for fixture in board.state]
    board.apply(listed(*of_markets(B, OU25), bookmaker=BIRCH, at=1))
    assert [before.id] == [fixture.id for fixture in board.fixtures(OU)]
    assert before.match.listing == board.fixtures(OU)[0].match.listing
    assert [] == [*board.state]


def test_event_that_gets_1x2_prices_later_takes_its_markets_along() -> None:
    """The markets' fixture merges into the fixture of the match."""
    board = MarketBoard()
    board.apply(listed(*of_markets(A, OU25), bookmaker=ALDER), listed(B, bookmaker=BIRCH))
    board.link()
    (main,) = board.state
    linked = [fixture.match_id for fixture in board.fixtures(OU)]
    board.apply(listed(A, *of_markets(A, OU25), bookmaker=ALDER, at=1))
    alone = [fixture.match_id for fixture in board.fixtures(OU)]
    board.link()

    assert [main.id] == linked
    assert [derived_id(KEY_A)] == alone
    assert [main.id] == [fixture.match_id for fixture in board.fixtures(OU)]


def test_crash_between_the_commits_of_two_boards_is_made_good() -> None:
    """With their next commit the other boards follow the changes of the 1X2 fixtures that they missed."""
    board = MarketBoard()
    board.apply(
        listed(A, *of_markets(A, OU25, BTTS), bookmaker=ALDER),
        listed(B, *of_markets(B, BTTS), bookmaker=BIRCH),
    )
    (links,) = run_now(board.linking.update(board.state, None))
    draft = board.draft()
    draft.link(links)
    run_now(draft.finish(board.clock.now()))
    board.main.publish(draft._made[Kind.ONE_X_TWO])
    board.commit(board.draft())

    homes = {it.match_id for kind in board.commits for it in board.fixtures(kind)}
    assert {_match_id(board)} == homes
    assert [("btts", [ALDER, BIRCH])] == board.shown(Kind.BTTS)


def test_crash_after_1x2_prices_left_keeps_the_match_together() -> None:
    """The event stays in the match of its 1X2 prices, although no commit reported that they left."""
    board = _linked(*of_markets(A, OU25))
    draft = board.draft()
    change = listed(*of_markets(A, OU25), bookmaker=ALDER, at=1)
    run_now(draft.apply(change, board.clock.now()))
    run_now(draft.finish(board.clock.now()))
    board.main.publish(draft._made[Kind.ONE_X_TWO])
    board.apply(change)

    assert [_match_id(board)] == [fixture.match_id for fixture in board.fixtures(OU)]


def test_boards_are_of_one_epoch() -> None:
    """A board that did not change gets the new epoch of the 1X2 board as well."""
    board = _linked(*of_markets(A, OU25))
    board.main.admit = lambda new: replace(new, epoch="other")
    again = replace(listed(complete=False, bookmaker=ALDER, at=1), kinds=(Kind.ONE_X_TWO,))
    board.apply(again)

    assert {"other"} == {board.board(kind).newest.epoch for kind in board.commits}


def test_market_is_of_the_league_of_its_match_by_now() -> None:
    """The history agrees, also if a 1X2 source names the league more fully than the market's source."""
    board, labels = MarketBoard(), ("Division Nine", "England - Division Nine")
    ours, theirs = (replace(it, league=label) for it, label in zip((A, B), labels, strict=True))
    board.apply(listed(ours, *of_markets(ours, OU25), bookmaker=ALDER))
    run_now(board.markets.histories[OU].digest())
    board.apply(listed(theirs, bookmaker=BIRCH))
    board.link()
    run_now(board.markets.histories[OU].digest())

    (main,), (fixture,) = board.state, board.fixtures(OU)
    record = run_now(board.markets.histories[OU].last(ViewKind.FIXTURES, fixture.id))
    assert record is not None
    assert league_of_fixture(main).id == league_of_fixture(fixture).id == record.league


def test_kick_off_of_a_match_that_has_begun_before_is_not_due_for_ever() -> None:
    """The match was in play early: at its kick-off only the time of the next kick-off changes."""
    board = MarketBoard()
    base = match("m1", start_time=int(WALL_0) + 20, in_play=True)
    board.apply(listed(base, *of_markets(base, AH), bookmaker="alder"))
    board.clock.mono = 20.0
    board.apply()
    handicaps = board.board(Kind.ASIAN_HANDICAP)

    assert handicaps.is_valid(handicaps.newest.deadlines)
