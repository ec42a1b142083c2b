"""The public JSON of fixtures (docs/api.md)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.core.clock import Instant
from actors.core.messages import Match, Prices
from actors.markets.odds import Odds
from actors.matches.entries import event_of
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matching.event import Event
from actors.matching.rules import Certainty
from tests.support.builders.fixtures import (
    ALDER,
    BIRCH,
    CEDAR,
    ONE,
    ROSTER,
    TERMS,
    TWO,
    EqualNames,
    LinkedBoard,
)
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0
from web.encoding.fixture_schemas import Part, fixture_v2, link

NAMES = {name: name.title() for name in (ALDER, BIRCH, CEDAR)}


class AllAreOne(EqualNames):
    """A linker for which all events are of one match."""

    def match_of(self, event: Event) -> object:
        """Return the same match for each event."""
        del event
        return None


def _decoded(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _pair(first: Match, second: Match, board: LinkedBoard | None = None) -> LinkedBoard:
    """Return a board on which two sources list a match."""
    board = board or LinkedBoard()
    board.apply(batch([first], bookmaker=ALDER))
    board.apply(batch([second], bookmaker=BIRCH))
    board.link()
    return board


def _shown(board: LinkedBoard, alder: BookmakerInfo = ROSTER[ALDER]) -> Any:
    """Return the JSON of the only fixture, with these settings of alder."""
    (fixture,) = board.fixtures()
    settings = FixtureSettings(roster_of({**ROSTER, ALDER: alder}))
    return _decoded(fixture_v2(fixture, NAMES, settings, None, ()))


def _linked(first: Match | None = None) -> LinkedBoard:
    """Return a board on which two sources list a match; their prices are a surebet that is shown."""
    usual = match("a", prices=(2.2, 3.9, 3.0)), match("b", league=None, prices=(2.0, 3.0, 4.2))
    board = _pair(first or usual[0], usual[1])
    board.now = Instant(2.0, WALL_0 + 2)
    board.expire()
    return board


def test_leg_has_the_commission_that_its_stake_reckons_with() -> None:
    """The commission is the kept share of a net win, 0 by default; the price is before the commission."""
    taking = BookmakerInfo(ROSTER[ALDER].source, commission=0.05)
    legs = _shown(_linked(), alder=taking)["surebet"]["legs"]

    assert [("1", "Alder", 2.2, 0.05), ("X", "Alder", 3.9, 0.05), ("2", "Birch", 4.2, 0.0)] == [
        (leg["outcome"], leg["bookmaker"], leg["odds"], leg["commission"]) for leg in legs
    ]


def test_leg_of_a_prediction_market_has_its_fee_and_its_largest_stake() -> None:
    """A leg without a fee or a largest stake leaves out the member; the profit is after the fee."""
    taking = msgspec.structs.replace(match("a", prices=(2.2, 3.9, 3.0)), fee_rate=0.03, max_stake=10.0)
    surebet = _shown(_linked(taking))["surebet"]

    shares = [1 / 2.2, 1 / 3.9]
    sum_after = sum(share + 0.03 * share * (1 - share) for share in shares) + 1 / 4.2
    assert round(sum_after, 6) == surebet["book_sum"]
    assert [(2.2, 0.03, 10.0), (3.9, 0.03, 10.0), (4.2, None, None)] == [
        (leg["odds"], leg.get("fee_rate"), leg.get("max_stake")) for leg in surebet["legs"]
    ]


def test_legs_of_bookmakers_of_one_name_are_told_apart() -> None:
    """Each leg has the id of its entry: bets at two bookmakers are settled separately."""
    (fixture,) = _linked().fixtures()

    found = _decoded(fixture_v2(fixture, dict.fromkeys(NAMES, "Betfair"), TERMS, None, ()))

    listed = {entry["id"]: entry["odds"] for entry in found["entries"]}
    legs = found["surebet"]["legs"]
    assert ["alder_a", "alder_a", "birch_b"] == [leg["id"] for leg in legs]
    assert [leg["odds"] for leg in legs] == [listed[leg["id"]][leg["outcome"]] for leg in legs]
    assert {"Betfair"} == {leg["bookmaker"] for leg in legs}


def test_link_has_the_names_of_its_own_source() -> None:
    """Each link has the names of its event at the source, whatever names the fixture has."""
    (fixture,) = _linked().fixtures()

    events = {member.key: event_of(fixture, member.key, TERMS.roster) for member in fixture.members}

    links = _decoded([link(member, events) for member in fixture.members])

    assert {(TWO, "League"), (ONE, "Unknown")} == {(member["source"], member["league"]) for member in links}
    assert {("Home", "Away", fixture.match.start_time)} == {
        (member["home"], member["away"], member["start_time"]) for member in links
    }


def test_price_gap_of_a_link_is_that_of_the_prices_shown() -> None:
    """The prices may have moved since the two events were linked."""
    board = _linked()
    gaps = []
    for prices in ((2.0, 3.0, 4.2), (2.2, 3.9, 3.0)):
        board.apply(batch([match("b", league=None, prices=prices)], bookmaker=BIRCH))
        (fixture,) = board.fixtures()
        events = {member.key: event_of(fixture, member.key, TERMS.roster) for member in fixture.members}
        gaps += [
            found.evidence.price_gap
            for member in fixture.members
            if (found := link(member, events)).evidence is not None
        ]

    assert [0.097, 0.0] == gaps


@pytest.mark.parametrize(
    ("certainty", "prices", "link"),
    [(Certainty.SURE, (3.5, 3.4, 2.2), "sure"), (Certainty.LIKELY, (2.2, 3.4, 3.5), "likely")],
)
def test_link_is_sure_if_a_surebet_may_rest_on_it(certainty: Certainty, prices: Odds, link: str) -> None:
    """The prices do not matter for the link: a price in doubt has a member of its own."""
    board = LinkedBoard()
    board.linker.certainty = certainty
    found = _shown(_pair(match("a", prices=(2.2, 3.4, 3.5)), match("b", prices=prices), board))

    by_name = {entry["id"]: entry["link"] for entry in found["entries"]}
    assert link == by_name["alder_a"]


def test_entry_says_what_its_bookmaker_lists_otherwise() -> None:
    """An entry has names, league and kick-off only where they differ from those of the fixture."""
    other = match("b", home="Home FC", league=None)
    found = _shown(_pair(match("a", start_time=None), other, LinkedBoard(linker=AllAreOne())))

    names = ("home", "away", "league", "start_time")
    alder, birch = ({name: entry[name] for name in names if name in entry} for entry in found["entries"])
    assert ("Home", "Away", "League", None) == tuple(found[name] for name in names)
    assert {} == alder
    assert {"home": "Home FC", "league": "Unknown", "start_time": match("b").start_time} == birch


@pytest.mark.parametrize(
    ("said", "shown"),
    [((None, None), None), ((None, False), False), ((True, False), True), ((True, None), True)],
)
def test_fixture_is_in_play_if_any_source_says_so(
    *, said: tuple[bool | None, bool | None], shown: bool | None
) -> None:
    """The member is left out if no source says whether the match is in play."""
    first, second = (match(name, in_play=told) for name, told in zip("ab", said, strict=True))

    assert shown == _shown(_pair(first, second)).get("in_play")


def test_best_price_is_marked_where_only_collected_prices_have_it() -> None:
    """Nobody confirms that collected prices still hold; if a live price is as high, there is no mark."""
    board = _pair(match("a", prices=(2.5, 3.5, 4.0)), match("b", prices=(2.0, 3.5, 4.2)))
    found = _shown(board, alder=BookmakerInfo(TWO, Prices.COLLECTED))

    assert {"odds": 2.5, "bookmakers": ["Alder"], "ids": ["alder_a"], "prices": "collected"} == found[
        "best"
    ]["1"]
    assert {"odds": 3.5, "bookmakers": ["Alder", "Birch"], "ids": ["alder_a", "birch_b"]} == found["best"][
        "X"
    ]
    assert {"odds": 4.2, "bookmakers": ["Birch"], "ids": ["birch_b"]} == found["best"]["2"]


def test_entry_has_the_page_of_its_bookmaker_alone() -> None:
    """An entry has a page only if its source gives one."""
    paged = msgspec.structs.replace(match("a", prices=(2.2, 3.9, 3.0)), url="https://some.example/7")
    entries = _shown(_linked(paged))["entries"]

    assert {"alder_a": "https://some.example/7", "birch_b": None} == {
        entry["id"]: entry.get("url") for entry in entries
    }


def test_new_page_of_a_match_changes_fixtures_and_no_list() -> None:
    """The entry keeps the time of its last change."""
    board = _linked()
    (before,) = board.fixtures()
    moved = msgspec.structs.replace(match("a", prices=(2.2, 3.9, 3.0)), url="https://some.example/8")

    board.apply(batch([moved], bookmaker=ALDER))

    (after,) = board.fixtures()
    entry = after.entries[ALDER]
    assert ("https://some.example/8", before.entries[ALDER].updated) == (entry.match.url, entry.updated)
    assert [after.id] == [change.id for change in board.changes[-1].changes]


def test_best_prices_leave_out_what_another_of_its_company_outdoes() -> None:
    """The outdone entry is shown, and its prices count if the other bookmaker is not asked for."""
    (fixture,) = _linked().fixtures()
    fixture = msgspec.structs.replace(fixture, outdone={ALDER: BIRCH})
    alone = Part({ALDER: fixture.entries[ALDER]}, None)

    both, single = (
        _decoded(fixture_v2(fixture, NAMES, TERMS, None, (), part=part)) for part in (None, alone)
    )

    assert {"birch_b"} == {name for outcome in "1X2" for name in both["best"][outcome]["ids"]}
    assert {"alder_a"} == {name for outcome in "1X2" for name in single["best"][outcome]["ids"]}
    assert {"alder_a": True, "birch_b": None} == {
        entry["id"]: entry.get("superseded") for entry in both["entries"]
    }
    assert [None] == [entry.get("superseded") for entry in single["entries"]]
