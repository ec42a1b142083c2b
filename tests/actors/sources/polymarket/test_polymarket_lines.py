"""From markets beside the result to lines: the team of a line, the questions read, and their match."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.messages import Extract, Removal, SourceMatchId
from actors.markets.market import Kind
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.kind import KEY
from actors.sources.polymarket.kind import KIND as POLYMARKET
from actors.sources.polymarket.lines import MARKET_TYPES, LinesListing, completed, read_lines
from actors.sources.polymarket.listing import League, Listed, ListedMatch, read_listing
from actors.sources.polymarket.options import PolymarketOptions
from tests.support.builders.polymarket import ROLES, event_of, market_of
from tests.support.builders.polymarket_lines import BTTS, line_book, line_market, tokens_of
from tests.support.builders.reading import extracted, grouped

EPL = League("epl", "Premier League", "82", is_home_first=True)
EVENT = event_of("7", "Home Town", "Away United", 1_780_003_600)
KINDS = {"totals": Kind.OVER_UNDER, "spreads": Kind.ASIAN_HANDICAP, BTTS: Kind.BTTS}


def _main(event: dict[str, Any] = EVENT) -> Listed:
    body = json.dumps({"markets": [market_of(event, role) for role in ROLES]}).encode()
    (main,) = read_listing(read_markets(body).markets, EPL).values()
    return main


def _read(*markets: dict[str, Any], kind: str = "totals") -> LinesListing:
    body = json.dumps({"markets": markets}).encode()
    return read_lines(read_markets(body).markets, MARKET_TYPES[KINDS[kind]], EPL)


def _questions(*markets: dict[str, Any], kind: str = "totals") -> dict[str, tuple[str, str]] | str:
    """Return the tokens of each line, or the reason why there are none."""
    (match,) = _read(*markets, kind=kind).matches.values()
    assert isinstance(match, ListedMatch)
    found = completed(match, _main())
    if isinstance(found, Removal):
        return found.reason
    return {str(question.market): question.tokens for question in found.questions}


@pytest.mark.parametrize(
    ("kind", "line", "team", "market", "order"),
    [
        ("totals", 2.5, "", "over_under:2.5", (0, 1)),
        ("totals", 0.5, "", "over_under:0.5", (0, 1)),
        ("spreads", -1.5, "home", "asian_handicap:-1.5", (0, 1)),
        ("spreads", -1.5, "away", "asian_handicap:1.5", (1, 0)),
        ("spreads", 1.5, "home", "asian_handicap:1.5", (0, 1)),
        ("spreads", 2.5, "away", "asian_handicap:-2.5", (1, 0)),
        (BTTS, None, "", "btts", (0, 1)),
    ],
)
def test_line_is_that_of_the_home_team(
    kind: str, line: float | None, team: str, market: str, order: tuple[int, int]
) -> None:
    """The question gives the first-named team's line; tokens are in the order of our outcomes."""
    tokens = tokens_of("7", kind, line, team)

    found = _questions(line_market(EVENT, kind, line, team), kind=kind)

    assert {market: (tokens[order[0]], tokens[order[1]])} == found


@pytest.mark.parametrize(
    ("kind", "line", "team"), [("totals", 2.5, ""), ("spreads", -1.5, "home"), (BTTS, None, "")]
)
def test_outcomes_may_come_in_another_order(kind: str, line: float | None, team: str) -> None:
    """Over and yes are recognised by name; the team that is named first has the line."""
    market = line_market(EVENT, kind, line, team)
    outcomes = json.loads(market["outcomes"])[::-1]
    swapped = {"outcomes": json.dumps(outcomes), "slug": None, "groupItemTitle": None}
    first, second = tokens_of("7", kind, line, team)

    found = _questions({**market, **swapped}, kind=kind)

    expected = {"totals": "over_under:2.5", "spreads": "asian_handicap:1.5", BTTS: "btts"}[kind]
    assert {expected: (second, first)} == found


def test_match_has_the_names_and_the_id_of_its_result() -> None:
    """The match also has the kick-off, league and page of its result."""
    (match,) = _read(line_market(EVENT, "totals", 2.5)).matches.values()
    main = _main()
    assert isinstance(match, ListedMatch)
    assert isinstance(main, ListedMatch)

    found = completed(match, main)

    assert isinstance(found, ListedMatch)
    assert ("7 over_under", "Home Town", "Away United", "Premier League") == (
        *(found.id, found.home, found.away, found.league),
    )
    assert (main.start, main.url, 0.03) == (found.start, found.url, found.questions[0].fee)


@pytest.mark.parametrize(
    ("kind", "line", "team", "changed"),
    [
        ("totals", 2.5, "", {"outcomes": '["Over", "Exactly"]'}),
        ("totals", 2.5, "", {"outcomes": '["Over", "Over"]'}),
        ("totals", 2.5, "", {"outcomes": '["Over", "Under", "Push"]'}),
        ("totals", 2.5, "", {"clobTokenIds": '["1", "1"]'}),
        ("totals", 2.5, "", {"clobTokenIds": '["1", "x"]'}),
        ("totals", 2.5, "", {"clobTokenIds": '["1"]'}),
        ("totals", 2.5, "", {"negRisk": True}),
        ("totals", 2.5, "", {"line": 3.5}),
        ("totals", 2.5, "", {"line": None}),
        ("totals", 2.5, "", {"line": "2.5"}),
        ("totals", 2.5, "", {"line": True}),
        ("totals", 2.5, "", {"line": 10**400}),
        ("totals", 2.5, "", {"line": -2.5}),
        ("totals", 2.0, "", {}),
        ("totals", 2.25, "", {}),
        ("totals", 20.5, "", {}),
        ("totals", 2.5, "", {"groupItemTitle": "O/U 3.5"}),
        ("totals", 2.5, "", {"groupItemTitle": "Home Town O/U 2.5"}),
        ("totals", 2.5, "", {"slug": "epl-7-first-half-total-2pt5"}),
        ("totals", 2.5, "", {"slug": "epl-7-team-total-home-2pt5"}),
        ("totals", 2.5, "", {"slug": "epl-8-total-2pt5"}),
        ("totals", 2.5, "", {"slug": 5}),
        ("spreads", -1.0, "home", {}),
        ("spreads", 0.0, "home", {}),
        ("spreads", -10.5, "home", {}),
        ("spreads", -1.5, "home", {"line": 1.5}),
        ("spreads", -1.5, "home", {"groupItemTitle": "Away United (-1.5)"}),
        ("spreads", -1.5, "home", {"groupItemTitle": "Home Town (+1.5)"}),
        ("spreads", -1.5, "home", {"slug": "epl-7-spread-home-2pt5"}),
        (BTTS, None, "", {"line": 2.5}),
        (BTTS, None, "", {"slug": "epl-7-btts-first-half"}),
        (BTTS, None, "", {"groupItemTitle": "Both Teams to Score in First Half"}),
    ],
)
def test_question_of_another_form_is_passed_over(
    kind: str, line: float | None, team: str, changed: dict[str, Any]
) -> None:
    """The question is counted; all its fields that name the line, team or bet must agree."""
    listing = _read({**line_market(EVENT, kind, line, team), **changed}, kind=kind)

    assert ({}, {"outcome": 1}) == (listing.matches, listing.passed_over)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"closed": True}, "finished"),
        ({"sibling": {"ended": True}}, "finished"),
        ({"sibling": {"period": "FT"}}, "finished"),
        ({"sibling": {"closed": True}}, "finished"),
        ({"acceptingOrders": False}, "closed"),
        ({"active": None}, "closed"),
        ({"enableOrderBook": False}, "closed"),
        ({"events": []}, "outcome"),
        ({"sibling": {"startTime": "soon"}}, "start_time"),
    ],
)
def test_question_that_is_not_open_is_passed_over(changed: dict[str, Any], reason: str) -> None:
    """The reasons are the same as for a result; the other lines of its match stay."""
    listing = _read(line_market(EVENT, "totals", 3.5, **changed), line_market(EVENT, "totals", 2.5))

    assert ({reason: 1}, 1) == (listing.passed_over, len(listing.matches))
    old = line_market(EVENT, "totals", 2.5, acceptingOrders=False)
    assert 1 == len(_read(old, line_market(EVENT, "totals", 2.5)).matches)  # the later copy counts


def test_look_alikes_are_counted_by_their_types() -> None:
    """A type is recognised by its whole name, never by a part of it."""
    types = ["first_half_totals", "soccer_team_totals", "first_half_totals", "Totals", None, "x" * 65]

    markets = [
        line_market(EVENT, "totals", 2.5, conditionId=f"0x{at}", sportsMarketType=each)
        for at, each in enumerate(types)
    ]

    expected = {"first_half_totals": 2, "soccer_team_totals": 1, "market": 3}
    assert ({}, expected) == (_read(*markets).matches, _read(*markets).passed_over)


@pytest.mark.parametrize(
    "markets",
    [
        [line_market(EVENT, "spreads", -1.5, "home", outcomes='["Home Town", "Away City"]')],
        [line_market(EVENT, "spreads", -1.5, "home", outcomes='["Home Town", "Home Town "]')],
        [line_market(EVENT, "spreads", -1.5, "home", slug="epl-7-spread-away-1pt5")],
        [line_market(EVENT, "spreads", -1.5, "home"), line_market(EVENT, "spreads", 1.5, "away")],
        [line_market(EVENT, "spreads", -1.5, "home", sibling={"slug": "epl-8-more-markets"}, slug=None)],
    ],
    ids=["other team", "blank", "other side", "twice", "other match"],
)
def test_one_question_that_does_not_fit_its_match_makes_all_doubtful(markets: list[dict[str, Any]]) -> None:
    """Two questions on one line have the same effect: no question of the match is asked for."""
    good = line_market(EVENT, "spreads", -2.5, "home")

    assert "outcome" == _questions(good, *markets, kind="spreads")


def test_result_that_is_not_shown_says_why_its_lines_are_not() -> None:
    """The lines belong to the same match as the result."""
    (match,) = _read(line_market(EVENT, "totals", 2.5)).matches.values()
    assert isinstance(match, ListedMatch)

    found = completed(match, _main(event_of("7", "Home Town", "Away United", 1_780_003_600, ended=True)))

    assert Removal(SourceMatchId("7 over_under"), "finished") == found


ASKS = (("0.52", "1000"),)


def _extract(books: list[Any], kind: str = "totals", line: float | None = 2.5, **options: Any) -> Extract:
    """Read the books of a question with these options."""
    team = "home" if kind == "spreads" else ""
    (match,) = _read(line_market(EVENT, kind, line, team), kind=kind).matches.values()
    assert isinstance(match, ListedMatch)
    listed = completed(match, _main())
    assert isinstance(listed, ListedMatch)
    read = PolymarketOptions(kind="polymarket", markets=(Kind.OVER_UNDER, Kind.ASIAN_HANDICAP), **options)
    body = grouped(listed, body=json.dumps(books).encode())
    return extracted(POLYMARKET, KEY, read, body, "epl-total-2026-05-28.1")


def _books(**changed: Any) -> list[Any]:
    first, second = tokens_of("7", "totals", 2.5)
    return [{**line_book(first, ASKS, 5.0), **changed}, line_book(second, (("0.5", "1000"),), 7.0)]


def test_line_has_the_odds_of_both_of_its_books() -> None:
    """A line has the newer book's time, and its market's fee, but no fee if prices are after the fee."""
    (match,) = _extract(_books()).matches

    assert ("7 over_under:2.5", (1.923, 2.0)) == (match.source_match_id, match.prices)
    assert (7.0, 0.03, 10.0) == (match.source_time, match.fee_rate, match.max_stake)
    (after,) = _extract(_books(), after_fees=True).matches
    assert ((1.8957, 1.9704), 0.0) == (after.prices, after.fee_rate)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"market": "0x1"}, "incomplete"),
        ({"neg_risk": True}, "incomplete"),
        ({"asks": []}, "incomplete"),
        ({"asks": [{"price": "0.52", "size": "19"}]}, "incomplete"),
        ({"asks": [{"price": "0.996", "size": "1900"}]}, "price"),
        ({"asset_id": "1"}, "incomplete"),
    ],
)
def test_line_without_both_offers_is_not_shown(changed: dict[str, Any], reason: str) -> None:
    """The line leaves by its own id."""
    extract = _extract(_books(**changed))

    assert ((), (Removal(SourceMatchId("7 over_under:2.5"), reason),)) == (
        extract.matches,
        extract.removals,
    )
