"""Events without 1X2 prices join the matches of other events, and do not change these matches."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match
from actors.market_fixtures.linking import SideLinking
from actors.markets.market import Kind
from actors.matching.event import EventKey, derived_id
from actors.matching.rules import Rule
from tests.support.builders.fixtures import ALDER, BIRCH, ONE, ROSTER, TWO, EqualNames
from tests.support.builders.markets import BTTS, OU25, MarketBoard, listed, of_markets
from tests.support.builders.messages import match

OU = Kind.OVER_UNDER
A, B = match("a"), match("b")
KEY_A, KEY_B = EventKey(TWO, A.source_match_id), EventKey(ONE, B.source_match_id)
OTHER = match("c", home="Elsewhere")


def _beside() -> MarketBoard:
    """Return boards with a match of birch, and a market of alder for the same match."""
    board = MarketBoard()
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    board.apply(listed(*of_markets(A, OU25), bookmaker=ALDER))
    return board


def _homes(board: MarketBoard) -> set[str]:
    return {fixture.match_id for fixture in board.fixtures(OU)}


def test_side_event_is_linked_with_the_match() -> None:
    """The side event is a member of the market's fixture, with its link's rule; 1X2 does not change."""
    board = _beside()
    (before,), alone = board.state, _homes(board)
    assert board.link_sides()

    (main,), (fixture,) = board.state, board.fixtures(OU)
    assert (before, {before.id, derived_id(KEY_A)}) == (main, alone)
    assert (f"{main.id} over_under:2.5", (ALDER, BIRCH)) == (fixture.id, fixture.bookmakers)
    assert {KEY_A: EqualNames.rule, KEY_B: Rule.FIRST} == {it.key: it.rule for it in fixture.members}


def test_side_event_is_linked_once() -> None:
    """Links that the board already has are not sent again."""
    board = _beside()

    assert [True, False] == [board.link_sides() for _ in range(2)]


def test_no_matcher_of_side_events_is_made_without_them() -> None:
    """The matcher holds all events with 1X2 prices, which takes memory."""
    board, made = MarketBoard(), list[EqualNames]()

    def start() -> EqualNames:
        made.append(EqualNames())
        return made[-1]

    board.apply(listed(A, *of_markets(A, OU25), bookmaker=ALDER))
    linking = SideLinking(start, ROSTER)

    assert run_now(linking.update(board.state, board.sides, None)) is None
    assert [] == made


@pytest.mark.parametrize(("base", "bookmaker"), [(A, ALDER), (B, BIRCH)], ids=["side", "match"])
@pytest.mark.parametrize("when", ["meanwhile", "later"])
def test_event_that_is_renamed_is_not_linked_by_its_former_name(
    base: Match, bookmaker: BookmakerId, when: str
) -> None:
    """A renamed event may be of another match: a pending link is not made, and an existing link ends."""
    board = _beside()
    links = None
    if when == "later":
        board.link_sides()
    else:
        links = run_now(board.side_linking.update(board.state, board.sides, None))
    renamed = replace(base, home="Elsewhere")
    own = [renamed] if bookmaker == BIRCH else []
    board.apply(listed(*own, *of_markets(renamed, OU25), bookmaker=bookmaker, at=1))
    if links is None:
        board.link()
    else:
        draft = board.draft()
        draft.link(links)
        board.commit(draft)

    assert {board.state.by_event[KEY_B], derived_id(KEY_A)} == _homes(board)


def test_event_of_the_same_source_takes_the_place_of_a_side_event() -> None:
    """No fixture has two events of one source: the event with 1X2 prices stays, with its own markets."""
    board = _beside()
    board.link_sides()
    again = match("again")
    own = of_markets(again, OU25, odds=(1.8, 2.0))
    board.apply(listed(again, *of_markets(A, OU25), *own, bookmaker=ALDER, at=1))
    board.link()

    (main,) = board.state
    assert {KEY_B, EventKey(TWO, again.source_match_id)} == {member.key for member in main.members}
    homes = {fixture.match_id: fixture for fixture in board.fixtures(OU)}
    assert {main.id: (ALDER, BIRCH), derived_id(KEY_A): (ALDER,)} == {
        home: fixture.bookmakers for home, fixture in homes.items()
    }
    assert (1.8, 2.0) == homes[main.id].listed[0].match.prices


def test_side_events_that_no_1x2_prices_join_are_one_match() -> None:
    """The fixture has the id of the event that is first in order."""
    board = MarketBoard()
    board.apply(
        listed(*of_markets(A, OU25), bookmaker=ALDER), listed(*of_markets(B, OU25, BTTS), bookmaker=BIRCH)
    )
    board.link_sides()

    assert {derived_id(KEY_B)} == _homes(board)
    assert [("over_under:2.5", [ALDER, BIRCH])] == board.shown(OU)
    assert {derived_id(KEY_B)} == {fixture.match_id for fixture in board.fixtures(Kind.BTTS)}


def test_side_events_follow_the_first_1x2_prices() -> None:
    """All linked side events, also of other sources, move to the fixture that begins."""
    board = MarketBoard()
    board.apply(
        listed(*of_markets(A, OU25), bookmaker=ALDER), listed(*of_markets(B, OU25), bookmaker=BIRCH)
    )
    board.link_sides()
    board.apply(listed(A, *of_markets(A, OU25), bookmaker=ALDER, at=1))

    (main,) = board.state
    assert derived_id(KEY_A) == main.id
    assert {main.id} == _homes(board)


def test_match_begun_anew_by_its_first_event_takes_no_stranger_in() -> None:
    """A side event that kept the id of an ended match does not join a new match with the same id."""
    board = MarketBoard()
    board.apply(listed(A, bookmaker=ALDER))
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    board.link()
    (main,) = board.state
    board.apply(listed(bookmaker=ALDER, at=1), listed(*of_markets(B, OU25), bookmaker=BIRCH, at=1))
    board.link()
    other = replace(A, home="Elsewhere")
    board.apply(listed(other, *of_markets(other, OU25), bookmaker=ALDER, at=2))

    assert derived_id(KEY_A) == main.id
    assert {main.id: (ALDER,)} == {it.id: it.bookmakers for it in board.state}
    homes = {fixture.match_id: fixture.bookmakers for fixture in board.fixtures(OU)}
    assert {(ALDER,), (BIRCH,)} == {*homes.values()}
    assert (ALDER,) == homes[main.id]


def test_side_event_takes_the_place_of_one_that_leaves_with_the_same_links() -> None:
    """The new side event takes the place, whichever of the two groups comes first."""
    board, first, second = MarketBoard(), match("y"), match("x")
    board.apply(listed(B, *of_markets(B, OU25), bookmaker=BIRCH))
    board.apply(listed(*of_markets(first, OU25), bookmaker=ALDER))
    board.link_sides()
    board.apply(listed(*of_markets(first, OU25), *of_markets(second, OU25), bookmaker=ALDER, at=1))
    board.link_sides()

    (main,) = board.state
    entries = {fixture.match_id: fixture.entry(ALDER) for fixture in board.fixtures(OU)}
    assert "alder_x over_under:2.5" == getattr(entries[main.id], "id", None)
    assert 2 == len(entries)
