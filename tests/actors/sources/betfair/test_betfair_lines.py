"""The lines of Asian handicap markets: whose line it is, which are on offer, and when they leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from actors.core.messages import Match
from actors.markets.market import Kind
from actors.source_api.stream import Reaction
from actors.sources.betfair.market import MarketNames
from tests.support.builders.betfair import (
    AWAY,
    DRAW,
    HOME,
    PRICES,
    Json,
    Stage,
    change,
    delta,
    image,
    live,
    market,
    runner,
    shown,
)
from tests.support.builders.betfair_lines import (
    EVENT,
    ODDS,
    back,
    handicap_definition,
    handicaps,
    lay,
    result,
)
from tests.support.systems.betfair_lists import HANDICAPS

ON: dict[str, Any] = {"markets": HANDICAPS}
IDS = {line: f"1.1 asian_handicap:{line:g}" for line in (-0.75, -0.5, -0.25, 0.0, 0.25)}
Told = tuple[dict[str, tuple[float, ...]], dict[str, str]]


def _lines(matches: Iterable[Match]) -> dict[str, tuple[float, ...]]:
    return {str(match.source_match_id): match.prices for match in matches if match.market.kind != "1x2"}


def _told(reaction: Reaction) -> Told:
    """Return the lines of a change, and all of its removals."""
    assert reaction.changes is not None
    gone = {str(removal.source_match_id): removal.reason for removal in reaction.changes.removals}
    return _lines(reaction.changes.matches), gone


def _listed(stage: Stage) -> dict[str, tuple[float, ...]]:
    return _lines(stage.session.image().matches)


def _image(*markets: Json, **options: Any) -> Told:
    """Return the lines of an image, and its removals."""
    stage = Stage(**{**ON, **options})
    stage.connect()
    reaction = stage.receive(image(*markets))
    assert reaction.image is not None
    gone = {str(removal.source_match_id): removal.reason for removal in reaction.image.removals}
    return _lines(reaction.image.matches), gone


EVERY = {IDS[line]: odds for line, odds in ODDS.items()}


def test_lines_are_those_of_the_home_team() -> None:
    """The away team has the opposite handicap; 0 is not written, and lines without prices are not there."""
    assert (EVERY, {}) == _image(result(), handicaps())


@pytest.mark.parametrize("zero", [{"hc": 0}, {"hc": None}, {"hc": -0.0}, {}])
def test_a_handicap_of_zero_may_be_written(zero: Json) -> None:
    """In the definition as in the offers."""
    defined = handicap_definition(lines=(), runners=[runner(HOME, 1, **zero), runner(AWAY, 2)])
    offered = [{"id": HOME, "batb": [[0, 1.6, 9]]}, {"id": AWAY, **zero, "batb": [[0, 2.6, 9]]}]

    found = _image(result(), {"id": "1.9", "img": True, "marketDefinition": defined, "rc": offered})

    assert ({IDS[0.0]: (1.6, 2.6)}, {}) == found


def test_a_change_tells_all_lines_of_its_market() -> None:
    """So that the lines can be compared with each other."""
    stage = live(result(), handicaps(), **ON)

    told = _told(stage.receive(delta(change("1.9", back(AWAY, 0.5, 1.9)))))

    assert ({**EVERY, IDS[-0.5]: (2.1, 1.9)}, {}) == told


def test_line_that_loses_a_price_leaves_alone() -> None:
    """By its own id, once."""
    stage = live(result(), handicaps(), **ON)
    rest = {name: odds for name, odds in EVERY.items() if name != IDS[0.0]}

    first = _told(stage.receive(delta(change("1.9", back(HOME, 0, 0, 0)))))
    then = _told(stage.receive(delta(change("1.9", back(HOME, -0.5, 2.1)))))

    assert ((rest, {IDS[0.0]: "incomplete"}), (rest, {})) == (first, then)


def test_line_that_gets_its_second_price_comes() -> None:
    """It is told with the others."""
    stage = live(result(), handicaps(), **ON)
    stage.receive(delta(change("1.9", back(HOME, -0.25, 1.8))))

    told = _told(stage.receive(delta(change("1.9", back(AWAY, 0.25, 2.2)))))

    assert ({**EVERY, IDS[-0.25]: (1.8, 2.2)}, {}) == told


@pytest.mark.parametrize("status", ["SUSPENDED", "CLOSED", "INACTIVE"])
def test_market_that_is_not_open_takes_its_own_lines_along(status: str) -> None:
    """The result of the match stays."""
    stage = live(result(), handicaps(), **ON)

    told = _told(
        stage.receive(delta({"id": "1.9", "marketDefinition": handicap_definition(status=status)}))
    )

    assert ({}, dict.fromkeys(EVERY, status.lower())) == told
    assert ["1.1"] == [match.source_match_id for match in stage.session.image().matches]


@pytest.mark.parametrize("status", ["SUSPENDED", "CLOSED"])
def test_suspended_result_leaves_alone(status: str) -> None:
    """Its lines stay, under the same id, and under the names that they had."""
    stage = live(result(), handicaps(), **ON)
    suspended = result(status=status)["marketDefinition"]

    told = _told(stage.receive(delta({"id": "1.1", "marketDefinition": suspended})))
    after = _told(stage.receive(delta(change("1.9", back(HOME, -0.5, 2.12)))))

    assert ({}, {"1.1": status.lower()}) == told
    assert ({**EVERY, IDS[-0.5]: (2.12, 1.85)}, {}) == after


def test_lines_come_back_when_the_market_opens() -> None:
    """With their ladders as they were."""
    stage = live(result(), handicaps(), **ON)
    stage.receive(delta({"id": "1.9", "marketDefinition": handicap_definition(status="SUSPENDED")}))

    assert (EVERY, {}) == _told(
        stage.receive(delta({"id": "1.9", "marketDefinition": handicap_definition()}))
    )


def test_match_without_a_result_has_the_id_of_its_event() -> None:
    """Until the market of the result comes: then its lines change their id."""
    stage = live(handicaps(), **ON)
    before = _listed(stage)

    told = _told(stage.receive(delta(result())))

    olds = [name.replace("1.1", EVENT, 1) for name in EVERY]
    assert dict(zip(olds, EVERY.values(), strict=True)) == before
    assert (EVERY, dict.fromkeys(olds, "withdrawn")) == told


def test_image_without_the_result_has_the_id_of_the_event() -> None:
    """What an image does not have is forgotten."""
    stage = live(result(), handicaps(), **ON)

    told = _lines(stage.receive(image(handicaps())).image.matches)  # type: ignore[union-attr]

    assert [name.replace("1.1", EVENT, 1) for name in EVERY] == [*told]


def test_result_of_another_match_has_no_part_in_it() -> None:
    """Events with different ids are different matches."""
    lines, _ = _image(market("1.1", eventId="34000002"), handicaps())

    assert {f"{EVENT} asian_handicap:{line:g}" for line in ODDS} == {*lines}


def test_second_result_of_a_match_changes_no_id() -> None:
    """The first one gave it."""
    stage = live(result(), handicaps(), **ON)

    assert ({}, {}) == _told(stage.receive(delta(result("1.2"))))


def _renamed(runners: list[Json]) -> list[Json]:
    return [{**each, "id": HOME if each["id"] == AWAY else AWAY} for each in runners]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bettingType": "ASIAN_HANDICAP_SINGLE_LINE"}, "outcome"),
        ({"bettingType": None}, "outcome"),
        ({"runners": []}, "outcome"),
        ({"runners": _renamed(handicap_definition()["runners"])}, "outcome"),
        ({"runners": [*handicap_definition()["runners"], runner(DRAW, 99)]}, "outcome"),
        ({"runners": [*handicap_definition()["runners"], runner(HOME, 99, hc=0.3)]}, "outcome"),
        ({"runners": [*handicap_definition()["runners"], runner(HOME, 99, hc=10.25)]}, "outcome"),
        ({"runners": [*handicap_definition()["runners"], runner(HOME, 99, hc=1e308)]}, "outcome"),
        ({"runners": [*handicap_definition()["runners"], runner(AWAY, 1, hc=1)]}, "outcome"),
        ({"marketTime": "soon"}, "start_time"),
        ({"eventId": None}, "match_id"),
        ({"eventId": "34 1"}, "match_id"),
        ({"eventId": [34]}, "match_id"),
        ({"eventId": True}, "match_id"),
    ],
)
def test_market_of_another_form_is_refused_whole(changes: Json, reason: str) -> None:
    """One line of it cannot be trusted if another is none; the reason is told once."""
    stage = live(result(), handicaps(), **ON)
    defined = {"id": "1.9", "marketDefinition": handicap_definition(**changes)}

    assert ({}, {"1.9": reason}) == _image(result(), handicaps(**changes))
    assert ({}, dict.fromkeys(EVERY, reason)) == _told(stage.receive(delta(defined)))


def test_inactive_runner_takes_its_line_along() -> None:
    """The others are on offer."""
    runners = [
        {**each, "status": "REMOVED" if each.get("hc") == -0.5 else "ACTIVE"}
        for each in handicap_definition()["runners"]
    ]

    lines, _ = _image(result(), handicaps(runners=runners))

    assert {IDS[0.0], IDS[0.25]} == {*lines}


@pytest.mark.parametrize(("price", "is_shown"), [(2.09, False), (2.1, False), (2.11, True)])
def test_crossed_offers_are_not_shown(price: float, *, is_shown: bool) -> None:
    """Where it is offered to lay for no more than to back, one of both is over."""
    stage = live(result(), handicaps(), **ON)
    rest = {name: odds for name, odds in EVERY.items() if is_shown or name != IDS[-0.5]}

    told = _told(stage.receive(delta(change("1.9", lay(HOME, -0.5, price)))))

    assert (rest, {} if is_shown else {IDS[-0.5]: "crossed"}) == told


def test_full_ladders_are_read_likewise() -> None:
    """The highest price to back, the lowest to lay."""
    offered = [
        {"id": HOME, "hc": -0.5, "atb": [[2.1, 5], [2.0, 9]], "atl": [[2.3, 5], [2.2, 4]]},
        {"id": AWAY, "hc": 0.5, "atb": [[1.8, 5], [1.85, 9]], "atl": [[1.87, 5], [1.84, 0]]},
    ]
    crossed = change("1.9", {"id": AWAY, "hc": 0.5, "atl": [[1.85, 3]]})
    stage = live(result(), {**handicaps(), "rc": offered}, **ON)
    before = _listed(stage)

    assert {IDS[-0.5]: (2.1, 1.85)} == before
    assert ({}, {IDS[-0.5]: "crossed"}) == _told(stage.receive(delta(crossed)))


def test_virtual_bets_are_a_ladder_of_their_own() -> None:
    """On both sides of a line."""
    offered = [
        {
            "id": team,
            "hc": handicap,
            "batb": [[0, 1.5, 5]],
            "bdatb": [[0, price, 5]],
            "bdatl": [[0, 2.2, 5]],
        }
        for team, handicap, price in ((HOME, -0.5, 2.1), (AWAY, 0.5, 1.85))
    ]
    crossed = change("1.9", {"id": HOME, "hc": -0.5, "bdatl": [[0, 2.1, 3]]})
    stage = live(result(), {**handicaps(), "rc": offered}, **ON, virtual_bets=True)
    before = _listed(stage)

    assert {IDS[-0.5]: (2.1, 1.85)} == before
    assert ({}, {IDS[-0.5]: "crossed"}) == _told(stage.receive(delta(crossed)))


def test_last_traded_prices_are_never_crossed() -> None:
    """They are no offers."""
    traded = [
        {"id": HOME, "hc": -0.5, "ltp": 2.1, "batl": [[0, 1.5, 9]]},
        {"id": AWAY, "hc": 0.5, "ltp": 1.85},
    ]

    lines, _ = _image(result(), {**handicaps(), "rc": traded}, price="last_traded")

    assert {IDS[-0.5]: (2.1, 1.85)} == lines


def test_small_amounts_are_no_offer() -> None:
    """Of either team."""
    stage = live(result(), handicaps(), **ON, min_size=5.0)

    told = _told(stage.receive(delta(change("1.9", back(AWAY, 0, 2.7, 4.99)))))

    assert {IDS[0.0]: "incomplete"} == told[1]


def test_offers_to_lay_that_cannot_be_read_are_a_doubt_until_the_next_image() -> None:
    """An image of the market is asked for."""
    stage = live(result(), handicaps(), **ON)

    reaction = stage.receive(delta(change("1.9", {"id": HOME, "hc": -0.5, "batl": "x"})))

    assert {IDS[-0.5]: "unreadable"} == _told(reaction)[1]
    assert ("1.9",) == reaction.lacking
    assert (EVERY, {}) == _told(stage.receive(delta(handicaps())))


@pytest.mark.parametrize("known", [True, False])
def test_part_that_cannot_be_read_costs_its_own_lines(*, known: bool) -> None:
    """Those that were on offer, or if there were none the market is counted; not the result."""
    stage = live(result(), handicaps(odds=ODDS if known else {}), **ON)

    reaction = stage.receive(delta({"id": "1.9", "rc": "x"}))
    again = stage.receive(delta({"id": "1.9", "rc": "x"}))

    assert ({}, dict.fromkeys(EVERY if known else ["1.9"], "unreadable")) == _told(reaction)
    assert ({}, {"1.9": "unreadable"}) == _told(again)
    assert {"1.1": PRICES} == {
        str(match.source_match_id): match.prices for match in stage.session.image().matches
    }


def test_definition_mends_what_could_not_be_read() -> None:
    """It is a handicap market as before."""
    stage = live(result(), handicaps(), **ON)
    stage.receive(delta({"id": "1.9", "rc": "x"}))

    assert (EVERY, {}) == _told(stage.receive(delta({**handicaps(), "img": None})))


@pytest.mark.parametrize("part", [{"id": "1.9", "rc": "x"}, {"id": "1.9", "marketDefinition": {}}])
def test_lines_leave_before_the_next_image(part: Json) -> None:
    """What is suspended or unreadable while an image is awaited takes its lines along."""
    stage = live(result(), handicaps(), **ON)
    stage.take(stage.session.refresh())

    told = _told(stage.receive(delta(part)))

    assert {*EVERY} == {*told[1]}


def test_resumed_subscription_keeps_ids() -> None:
    """A patch tells all lines anew."""
    stage = live(result(), handicaps(), **ON)
    stage.connect()

    patch = delta(change("1.9", back(HOME, 0, 0, 0)), id=stage.last_id, ct="RESUB_DELTA")
    reaction = stage.receive(patch)

    assert reaction.image is not None
    assert {IDS[-0.5], IDS[0.25]} == {*_lines(reaction.image.matches)}
    assert {IDS[0.0]} == {removal.source_match_id for removal in reaction.image.removals}


def test_subscription_asks_for_both_types() -> None:
    """And for results alone without the option."""
    asked = []
    for options in (ON, {}):
        stage = Stage(**options)
        stage.connect()
        asked.append(stage.sent[-1]["marketFilter"]["marketTypes"])

    assert [["MATCH_ODDS", "ASIAN_HANDICAP"], ["MATCH_ODDS"]] == asked


def test_without_the_option_there_are_no_lines() -> None:
    """Nor is anything told of handicap markets."""
    stage = Stage()
    stage.connect()
    first = stage.receive(image(result(), handicaps()))
    then = stage.receive(delta(change("1.9", back(HOME, -0.5, 2.2), {"id": HOME, "batl": "x"})))

    assert ({"1.1": PRICES}, ("1.1",)) == (shown(first), first.unnamed)
    assert (({}, {}), (), ()) == (_told(then), then.lacking, then.unnamed)


def test_handicaps_may_be_on_without_their_result_having_prices() -> None:
    """The match then has lines alone."""
    bare = {**result(), "rc": []}

    assert (EVERY, {"1.1": "incomplete"}) == _image(bare, handicaps())


def test_lines_have_kick_off_time_and_play_of_their_market() -> None:
    """And the kind of their market."""
    stage = live(result(), handicaps(inPlay=True, marketTime="2026-06-01T15:02:00.000Z"), **ON)
    matches = {str(match.source_match_id): match for match in stage.session.image().matches}
    line = matches[IDS[-0.5]]

    assert (Kind.ASIAN_HANDICAP, -0.5) == (line.market.kind, line.market.line)
    assert (1_780_326_120, 1_780_000_000.0, True) == (line.start_time, line.source_time, line.in_play)


NAMES = MarketNames({HOME: "Alder Town", AWAY: "Birch United"}, "League")


def _listings(matches: Iterable[Match]) -> set[tuple[str, str, str | None]]:
    lines = [match for match in matches if match.market.kind is Kind.ASIAN_HANDICAP]
    return {(match.home, match.away, match.league) for match in lines}


def test_names_are_those_of_the_result() -> None:
    """Its lines are told anew with them, and names of a handicap market are not asked for."""
    stage = Stage(**ON)
    stage.connect()
    first = stage.receive(image(handicaps(), result()))

    named = stage.session.name({"1.1": NAMES})

    assert ("1.1",) == first.unnamed
    assert {*EVERY} == {*_lines(named.matches)}
    assert {("Alder Town", "Birch United", "League")} == _listings(named.matches)


def test_names_outlive_the_market_of_the_result() -> None:
    """It may close before its lines do."""
    stage = live(result(), handicaps(), **ON)
    stage.session.name({"1.1": NAMES})
    closed = {"id": "1.1", "marketDefinition": result(status="CLOSED")["marketDefinition"]}
    stage.receive(delta(closed))

    assert {("Alder Town", "Birch United", "League")} == _listings(stage.session.image().matches)


def test_names_are_asked_for_where_there_is_no_result() -> None:
    """Until they are known."""
    stage = Stage(**ON)
    stage.connect()
    first = stage.receive(image(handicaps()))

    named = stage.session.name({"1.9": NAMES})
    then = stage.receive(delta(change("1.9", back(HOME, -0.5, 2.2))))

    assert (("1.9",), ()) == (first.unnamed, then.unnamed)
    assert {("Alder Town", "Birch United", "League")} == _listings(named.matches)


def test_names_may_be_in_the_definitions() -> None:
    """As historic files have them."""
    runners = [{**each, "name": "AB"[each["id"] == AWAY]} for each in handicap_definition()["runners"]]
    stage = live(handicaps(runners=runners), **ON)

    assert {("A", "B", None)} == _listings(stage.session.image().matches)


def test_closed_markets_of_a_match_are_forgotten() -> None:
    """They take no memory."""
    stage = live(result(), handicaps(), **ON)
    stage.receive(
        delta(
            {"id": "1.9", "marketDefinition": handicap_definition(status="CLOSED")},
            {"id": "1.1", "marketDefinition": result(status="CLOSED")["marketDefinition"]},
        )
    )

    assert ({}, {}, {}) == (
        stage.session.markets,
        stage.session._events._events,
        stage.session._events._event_of,
    )


def test_market_that_becomes_a_handicap_market_leaves_as_a_result() -> None:
    """And the other way round, with all its lines."""
    stage = live(result("1.1"), handicaps("1.9"), **ON)
    swapped = delta(
        {"id": "1.1", "marketDefinition": handicap_definition()},
        {"id": "1.9", "marketDefinition": result()["marketDefinition"]},
    )

    lines, gone = _told(stage.receive(swapped))

    assert {} == lines
    assert {"1.1": "undefined", **dict.fromkeys(EVERY, "undefined"), "1.9": "incomplete"} == gone
    after = _told(stage.receive(delta(change("1.1", back(HOME, 0, 1.6), back(AWAY, 0, 2.6)))))
    assert {"1.9 asian_handicap:0": (1.6, 2.6)} == after[0]
