"""Markets of the exchange beside the result: which team has a line, what is offered, and when it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from actors.core.messages import Extract, Match
from actors.markets.market import Kind
from actors.sources.betfair.market import MarketNames
from tests.support.builders.betfair import (
    AWAY,
    DRAW,
    HOME,
    PRICES,
    Json,
    Stage,
    change,
    definition,
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
from tests.support.systems.betfair_board import HANDICAPS

ON: dict[str, Any] = {"markets": HANDICAPS}
IDS = {line: f"1.1 asian_handicap:{line:g}" for line in (-0.75, -0.5, -0.25, 0.0, 0.25)}
EVERY = {IDS[line]: odds for line, odds in ODDS.items()}
OF_EVENT = {name.replace("1.1", EVENT, 1): odds for name, odds in EVERY.items()}
Told = tuple[dict[str, tuple[float, ...]], dict[str, str]]
"""The prices of lines by id, and the reasons of removals by id."""


def _lines(matches: Iterable[Match]) -> dict[str, tuple[float, ...]]:
    return {str(match.source_match_id): match.prices for match in matches if match.market.kind != "1x2"}


def _told(extract: Extract | None) -> Told:
    assert extract is not None
    gone = {str(removal.source_match_id): removal.reason for removal in extract.removals}
    return _lines(extract.matches), gone


def _image(*markets: Json, **options: Any) -> Told:
    stage = Stage(**{**ON, **options})
    stage.connect()
    return _told(stage.receive(image(*markets)).image)


def _but(line: float, *odds: float) -> dict[str, tuple[float, ...]]:
    """Return all lines, with these prices in place of one line's prices, or without that line."""
    changed: dict[str, tuple[float, ...]] = {**EVERY, IDS[line]: odds}
    return {name: prices for name, prices in changed.items() if prices}


def _defined(**changes: Any) -> Json:
    """Return a part with a definition of the handicap market."""
    return {"id": "1.9", "marketDefinition": handicap_definition(**changes)}


def _resulting(status: str) -> Json:
    return {"id": "1.1", "marketDefinition": result(status=status)["marketDefinition"]}


def _moved(*runners: Json) -> Json:
    return change("1.9", *runners)


def _zero(**zero: Any) -> Json:
    """Return a handicap market on the line 0, with these fields for the handicap."""
    defined = handicap_definition(lines=(), runners=[runner(HOME, 1, **zero), runner(AWAY, 2)])
    offered = [{"id": HOME, "batb": [[0, 1.6, 9]]}, {"id": AWAY, **zero, "batb": [[0, 2.6, 9]]}]
    return {"id": "1.9", "img": True, "marketDefinition": defined, "rc": offered}


RUNNERS = handicap_definition()["runners"]
HALF: Told = ({IDS[-0.5]: (2.1, 1.85)}, {})
FULL = [
    {"id": HOME, "hc": -0.5, "atb": [[2.1, 5], [2.0, 9]], "atl": [[2.3, 5], [2.2, 4]]},
    {"id": AWAY, "hc": 0.5, "atb": [[1.8, 5], [1.85, 9]], "atl": [[1.87, 5], [1.84, 0]]},
]
VIRTUAL = [
    {"id": team, "hc": line, "batb": [[0, 1.5, 5]], "bdatb": [[0, price, 5]], "bdatl": [[0, 2.2, 5]]}
    for team, line, price in ((HOME, -0.5, 2.1), (AWAY, 0.5, 1.85))
]
TRADED = [{"id": HOME, "hc": -0.5, "ltp": 2.1, "batl": [[0, 1.5, 9]]}, {"id": AWAY, "hc": 0.5, "ltp": 1.85}]
WITHOUT = [{**each, "status": "REMOVED" if each.get("hc") == -0.5 else "ACTIVE"} for each in RUNNERS]


@pytest.mark.parametrize(
    ("markets", "options", "told"),
    [
        pytest.param([result(), handicaps()], {}, (EVERY, {}), id="those of the home team"),
        *(
            pytest.param([result(), _zero(**zero)], {}, ({IDS[0.0]: (1.6, 2.6)}, {}), id=f"zero {zero}")
            for zero in ({"hc": 0}, {"hc": None}, {"hc": -0.0}, {})
        ),
        pytest.param([handicaps()], {}, (OF_EVENT, {}), id="a match without a result has its event's id"),
        pytest.param(
            [market("1.1", eventId="34000002"), handicaps()],
            *({}, (OF_EVENT, {})),
            id="the result of another match has no part in it",
        ),
        pytest.param(
            [{**result(), "rc": []}, handicaps()],
            *({}, (EVERY, {"1.1": "incomplete"})),
            id="the result may have no prices",
        ),
        pytest.param(
            [result(), handicaps(runners=WITHOUT)],
            *({}, (_but(-0.5), {})),
            id="an inactive runner takes its line along",
        ),
        pytest.param([result(), {**handicaps(), "rc": FULL}], {}, HALF, id="full ladders"),
        pytest.param(
            [result(), {**handicaps(), "rc": VIRTUAL}],
            *({"virtual_bets": True}, (HALF[0], {"1.1": "incomplete"})),
            id="virtual bets",
        ),
        pytest.param(
            [result(), {**handicaps(), "rc": TRADED}],
            *({"price": "last_traded"}, (HALF[0], {"1.1": "incomplete"})),
            id="last traded prices are never crossed",
        ),
    ],
)
def test_lines_of_an_image(markets: list[Json], options: dict[str, Any], told: Told) -> None:
    """The away team has the opposite handicap; lines without prices are not there."""
    assert told == _image(*markets, **options)


ODD = {"id": "1.9", "rc": "x"}
LOST = _moved(back(HOME, 0, 0, 0))
ALL_UNREAD: Told = ({}, dict.fromkeys(EVERY, "unreadable"))


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        pytest.param(
            [_moved(back(AWAY, 0.5, 1.9))], (_but(-0.5, 2.1, 1.9), {}), id="a change tells all lines"
        ),
        pytest.param([LOST], (_but(0.0), {IDS[0.0]: "incomplete"}), id="a line that loses a price leaves"),
        pytest.param([LOST, _moved(back(HOME, -0.5, 2.1))], (_but(0.0), {}), id="once"),
        pytest.param(
            [_moved(back(AWAY, 0, 2.7, 0.5))],
            (_but(0.0), {IDS[0.0]: "incomplete"}),
            id="a small amount is no offer",
        ),
        pytest.param(
            [_moved(back(HOME, -0.25, 1.8)), _moved(back(AWAY, 0.25, 2.2))],
            ({**EVERY, IDS[-0.25]: (1.8, 2.2)}, {}),
            id="a line that gets its second price comes",
        ),
        *(
            pytest.param(
                [_moved(lay(HOME, -0.5, price))], (_but(-0.5), {IDS[-0.5]: "crossed"}), id="crossed"
            )
            for price in (2.09, 2.1)
        ),
        pytest.param([_moved(lay(HOME, -0.5, 2.11))], (EVERY, {}), id="not crossed"),
        *(
            pytest.param(
                [_defined(status=status)], ({}, dict.fromkeys(EVERY, status.lower())), id=status.lower()
            )
            for status in ("SUSPENDED", "CLOSED", "INACTIVE")
        ),
        pytest.param([_defined(status="SUSPENDED"), _defined()], (EVERY, {}), id="ladders stay meanwhile"),
        *(
            pytest.param([_resulting(status)], ({}, {"1.1": status.lower()}), id=f"its result is {status}")
            for status in ("SUSPENDED", "CLOSED")
        ),
        *(
            pytest.param(
                [_resulting(status), _moved(back(HOME, -0.5, 2.12))],
                (_but(-0.5, 2.12, 1.85), {}),
                id=f"ids outlive a result that is {status}",
            )
            for status in ("SUSPENDED", "CLOSED")
        ),
        pytest.param([result("1.2")], ({}, {}), id="a second result changes no id"),
        pytest.param([ODD], ALL_UNREAD, id="a part that cannot be read costs its lines"),
        pytest.param([ODD, ODD], ({}, {"1.9": "unreadable"}), id="again"),
        pytest.param([ODD, {**handicaps(), "img": None}], (EVERY, {}), id="a definition mends it"),
    ],
)
def test_lines_after_a_part(parts: list[Json], told: Told) -> None:
    """Each change reports all lines of its market, so that they can be compared with each other."""
    stage = live(result(), handicaps(), **ON, min_size=1.0)
    *before, last = parts
    for part in before:
        stage.receive(delta(part))

    assert told == _told(stage.receive(delta(last)).changes)


@pytest.mark.parametrize(
    ("offered", "options", "lay_price"),
    [
        (FULL, {}, {"id": AWAY, "hc": 0.5, "atl": [[1.85, 3]]}),
        (VIRTUAL, {"virtual_bets": True}, {"id": HOME, "hc": -0.5, "bdatl": [[0, 2.1, 3]]}),
    ],
    ids=["full", "virtual"],
)
def test_crossed_offers_of_other_ladders(offered: list[Json], options: Json, lay_price: Json) -> None:
    """If a lay price is not above the back price, one of the two offers is out of date."""
    stage = live(result(), {**handicaps(), "rc": offered}, **ON, **options)

    assert ({}, {IDS[-0.5]: "crossed"}) == _told(stage.receive(delta(_moved(lay_price))).changes)


def test_lines_change_their_id_when_the_result_comes() -> None:
    """The lines whose ids are made from the event's id leave."""
    stage = live(handicaps(), **ON)

    assert (EVERY, dict.fromkeys(OF_EVENT, "withdrawn")) == _told(stage.receive(delta(result())).changes)
    assert (OF_EVENT, {}) == _told(stage.receive(image(handicaps())).image)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bettingType": "ASIAN_HANDICAP_SINGLE_LINE"}, "outcome"),
        ({"bettingType": None}, "outcome"),
        ({"runners": []}, "outcome"),
        ({"runners": [{**it, "id": HOME if it["id"] == AWAY else AWAY} for it in RUNNERS]}, "outcome"),
        ({"runners": [*RUNNERS, runner(DRAW, 99)]}, "outcome"),
        *(({"runners": [*RUNNERS, runner(HOME, 99, hc=line)]}, "outcome") for line in (0.3, 10.25, 1e308)),
        ({"runners": [*RUNNERS, runner(AWAY, 1, hc=1)]}, "outcome"),
        ({"marketTime": "soon"}, "start_time"),
        *(({"eventId": event}, "match_id") for event in (None, "34 1", [34], True)),
    ],
)
def test_market_of_another_form_is_refused_whole(changes: Json, reason: str) -> None:
    """If one line of a market is invalid, no line of it can be trusted; the reason is reported once."""
    stage = live(result(), handicaps(), **ON)

    assert ({}, {"1.9": reason}) == _image(result(), handicaps(**changes))
    assert ({}, dict.fromkeys(EVERY, reason)) == _told(stage.receive(delta(_defined(**changes))).changes)


def test_offers_to_lay_that_cannot_be_read_are_a_doubt_until_the_next_image() -> None:
    """The session asks for an image of the market."""
    stage = live(result(), handicaps(), **ON)

    reaction = stage.receive(delta(_moved({"id": HOME, "hc": -0.5, "batl": "x"})))

    assert ({IDS[-0.5]: "unreadable"}, ("1.9",)) == (_told(reaction.changes)[1], reaction.lacking)
    assert (EVERY, {}) == _told(stage.receive(delta(handicaps())).changes)


def test_part_that_cannot_be_read_is_counted_where_nothing_was_on_offer() -> None:
    """The market is counted in place of its lines; the market of the result stays."""
    stage = live(result(), handicaps(odds={}), **ON)

    assert ({}, {"1.9": "unreadable"}) == _told(stage.receive(delta(ODD)).changes)
    assert ["1.1"] == [match.source_match_id for match in stage.session.image().matches]


@pytest.mark.parametrize("part", [ODD, {"id": "1.9", "marketDefinition": {}}])
def test_lines_leave_before_the_next_image(part: Json) -> None:
    """A market that is suspended or unreadable while an image is awaited takes its lines along."""
    stage = live(result(), handicaps(), **ON)
    stage.take(stage.session.refresh())

    assert {*EVERY} == {*_told(stage.receive(delta(part)).changes)[1]}


def test_resumed_subscription_keeps_ids() -> None:
    """A patch reports all lines of the market again."""
    stage = live(result(), handicaps(), **ON)
    stage.connect()

    reaction = stage.receive(delta(LOST, id=stage.last_id, ct="RESUB_DELTA"))

    assert (_but(0.0), {IDS[0.0]: "incomplete"}) == _told(reaction.image)


def test_without_the_option_there_are_no_lines() -> None:
    """Handicap markets then cause no changes, and no requests for images or names."""
    stage = Stage()
    stage.connect()
    first = stage.receive(image(result(), handicaps()))
    then = stage.receive(delta(_moved(back(HOME, -0.5, 2.2), {"id": HOME, "batl": "x"})))

    assert ({"1.1": PRICES}, ("1.1",)) == (shown(first), first.unnamed)
    assert (({}, {}), (), ()) == (_told(then.changes), then.lacking, then.unnamed)


def test_lines_have_kick_off_time_and_play_of_their_market() -> None:
    """Lines also have the kind of their market."""
    stage = live(result(), handicaps(inPlay=True, marketTime="2026-06-01T15:02:00.000Z"), **ON)
    (line,) = [it for it in stage.session.image().matches if it.source_match_id == IDS[-0.5]]

    assert (Kind.ASIAN_HANDICAP, -0.5) == (line.market.kind, line.market.line)
    assert (1_780_326_120, 1_780_000_000.0, True) == (line.start_time, line.source_time, line.in_play)


NAMES = MarketNames({HOME: "Alder Town", AWAY: "Birch United"}, "League")


def _listings(extract: Extract | None) -> set[tuple[str, str, str | None]]:
    assert extract is not None
    lines = [match for match in extract.matches if match.market.kind is Kind.ASIAN_HANDICAP]
    return {(match.home, match.away, match.league) for match in lines}


@pytest.mark.parametrize("markets", [[handicaps(), result()], [handicaps()]], ids=["result", "none"])
def test_names_are_those_of_the_result_or_of_the_market_alone(markets: list[Json]) -> None:
    """New names report the lines again; names outlive the result's market, which may close first."""
    stage = Stage(**ON)
    stage.connect()
    first = stage.receive(image(*markets))
    named = stage.session.name({first.unnamed[0]: NAMES})
    then = stage.receive(delta(_moved(back(HOME, -0.5, 2.2)), *[_resulting("CLOSED")][: len(markets) - 1]))

    assert ((markets[-1]["id"],), ()) == (first.unnamed, then.unnamed)
    assert len(EVERY) == len(_told(named)[0])
    for extract in (named, stage.session.image()):
        assert {("Alder Town", "Birch United", "League")} == _listings(extract)


def test_names_may_be_in_the_definitions() -> None:
    """Historic files have the names there."""
    runners = [{**each, "name": "AB"[each["id"] == AWAY]} for each in RUNNERS]

    assert {("A", "B", None)} == _listings(live(handicaps(runners=runners), **ON).session.image())


def test_closed_markets_of_a_match_are_forgotten() -> None:
    """Closed markets take no memory."""
    stage = live(result(), handicaps(), **ON)
    stage.receive(delta(_defined(status="CLOSED"), _resulting("CLOSED")))

    events = stage.session._events
    assert ({}, {}, {}) == (stage.session.markets, events._events, events._event_of)


def test_market_that_becomes_a_handicap_market_leaves_as_a_result() -> None:
    """A handicap market that becomes a result leaves as well, with all its lines."""
    stage = live(result("1.1"), handicaps("1.9"), **ON)
    swapped = delta(
        {"id": "1.1", "marketDefinition": handicap_definition()},
        {"id": "1.9", "marketDefinition": result()["marketDefinition"]},
    )
    gone = {"1.1": "undefined", **dict.fromkeys(EVERY, "undefined"), "1.9": "incomplete"}

    assert ({}, gone) == _told(stage.receive(swapped).changes)
    after = _told(stage.receive(delta(change("1.1", back(HOME, 0, 1.6), back(AWAY, 0, 2.6)))).changes)
    assert {"1.9 asian_handicap:0": (1.6, 2.6)} == after[0]


TOTALS: dict[str, Any] = {"markets": (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.BTTS)}
UNDER, OVER = 47972, 47973
TOTAL_NAMES = {UNDER: "Under 2.5 Goals", OVER: "Over 2.5 Goals"}
LINE = "1.1 over_under:2.5"
YES = "BOTH_TEAMS_TO_SCORE"


def _total(
    market_type: str = "OVER_UNDER_25", first: int = UNDER, second: int = OVER, **changes: Any
) -> Json:
    """Return a market of two outcomes, the second at 1.9 and the first at 2.0."""
    runners = [runner(first, 1), runner(second, 2)]
    defined = definition(**{"marketType": market_type, "eventId": EVENT, "runners": runners, **changes})
    offers = [{"id": second, "batb": [[0, 1.9, 9]]}, {"id": first, "batb": [[0, 2.0, 9]]}]
    return {"id": "1.7", "img": True, "marketDefinition": defined, "rc": offers}


def test_outcomes_of_totals_are_told_by_name() -> None:
    """Names are asked for, and nothing is shown without them; a later image does not ask for them again."""
    stage = Stage(**TOTALS)
    stage.connect()
    first = stage.receive(image(result(), _total()))
    named = stage.session.name({"1.7": MarketNames(TOTAL_NAMES)})
    then = stage.receive(delta(change("1.7", {"id": OVER, "batb": [[0, 1.95, 9]]})))
    again = stage.receive(image(result(), _total()))

    assert (({}, {}), ("1.1", "1.7")) == (_told(first.image), first.unnamed)
    assert ({LINE: (1.9, 2.0)}, {}) == _told(named) == _told(again.image)
    assert (({LINE: (1.95, 2.0)}, {}), ()) == (_told(then.changes), then.unnamed)
    assert "1.7" not in again.unnamed
    suspended = {"id": "1.7", "marketDefinition": _total(status="SUSPENDED")["marketDefinition"]}
    assert ({}, {LINE: "suspended"}) == _told(stage.receive(delta(suspended)).changes)


def _named(*markets: Json, names: dict[int, str]) -> Told:
    """Return the lines that are offered once the names of the market 1.7 are known."""
    return _told(live(*markets, **TOTALS).session.name({"1.7": MarketNames(names)}))


@pytest.mark.parametrize(
    ("market_type", "names", "told"),
    [
        *(
            (f"OVER_UNDER_{n}5", {1: f"Under {n}.5 Goals", 2: f"Over {n}.5 Goals"}, f"over_under:{n}.5")
            for n in range(9)
        ),
        ("OVER_UNDER_45", {1222347: "Under 4.5 Goals", 1222346: "Over 4.5 Goals"}, "over_under:4.5"),
        *((YES, {no: "No", 30246: "Yes"}, "btts") for no in (30247, 110503, 5)),
    ],
)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_type_has_the_line_in_its_name(
    market_type: str, names: dict[int, str], told: str, *, is_swapped: bool
) -> None:
    """Lines are 0.5 to 8.5 goals; the id of "No" has changed over the years; any outcome may be first."""
    listed = _total(market_type, *([*names][::-1] if is_swapped else names))

    assert ({f"1.1 {told}": (2.0, 1.9) if is_swapped else (1.9, 2.0)}, {}) == _named(
        result(), listed, names=names
    )


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, {UNDER: "Over 2.5 Goals", OVER: "Under 2.5 Goals"}),
        ({}, {UNDER: "Under 3.5 Goals", OVER: "Over 3.5 Goals"}),
        ({}, {UNDER: "Under 2.5 Goals", OVER: "Under 2.5 Goals"}),
        ({}, {UNDER: "Under 2.5 Cards", OVER: "Over 2.5 Cards"}),
        ({"bettingType": "ASIAN_HANDICAP_DOUBLE_LINE"}, TOTAL_NAMES),
        ({"runners": [runner(UNDER, 1)]}, TOTAL_NAMES),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2), runner(5, 3)]}, TOTAL_NAMES),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2, hc=0.5)]}, TOTAL_NAMES),
        ({"runners": [runner(UNDER, 1), runner(OVER, 2, status="REMOVED")]}, TOTAL_NAMES),
    ],
)
def test_total_of_another_form_is_refused(changes: Json, names: dict[int, str]) -> None:
    """The market is also refused if an id has another name than the exchange documents."""
    assert ({}, {"1.7": "outcome"}) == _named(result(), _total(**changes), names=names)


@pytest.mark.parametrize(
    "market_type", ["FIRST_HALF_GOALS_25", "OVER_UNDER_25_CARDS", "TEAM_A_OVER_UNDER_15", "OVER_UNDER_95"]
)
def test_look_alikes_are_not_read(market_type: str) -> None:
    """A market's type is recognised by its whole name."""
    assert ({}, {}) == _named(result(), _total(market_type), names=TOTAL_NAMES)


def test_total_without_a_result_is_not_shown() -> None:
    """A market of totals names no team."""
    assert ({}, {"1.7": "no_result"}) == _named(_total(), names=TOTAL_NAMES)


@pytest.mark.parametrize(
    ("options", "types"),
    [
        ({}, ["MATCH_ODDS"]),
        (ON, ["MATCH_ODDS", "ASIAN_HANDICAP"]),
        (TOTALS, ["MATCH_ODDS", *(f"OVER_UNDER_{goals}5" for goals in range(9)), YES]),
    ],
)
def test_subscription_asks_for_each_type(options: dict[str, Any], types: list[str]) -> None:
    """Each line of goals has a type of its own."""
    assert types == live(**options).sent[-1]["marketFilter"]["marketTypes"]
