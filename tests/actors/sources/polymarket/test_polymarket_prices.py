"""From markets and order books to matches and prices: teams, copies, depth, fees, rounding."""

from __future__ import annotations

import json
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.errors import PayloadError
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.kind import KEY, KIND
from actors.sources.polymarket.listing import UNKNOWN_FEE, League, Listed, ListedMatch, read_listing
from actors.sources.polymarket.options import PolymarketOptions
from actors.sources.polymarket.prices import best_ask, odds_of
from actors.sources.polymarket.wire import Level
from tests.support.builders.polymarket import ROLES, SOME, book_of, event_of, market_of, token_of
from tests.support.builders.reading import decoded, extracted, grouped

PLAIN = PolymarketOptions(kind="polymarket")
LISTED = ListedMatch(
    SourceMatchId("7"),
    *("Home Town", "Away United", "Premier League", 1_780_000_000),
    tokens=(token_of("7", "home"), token_of("7", "draw"), token_of("7", "away")),
    conditions=("0x70", "0x71", "0x72"),
    fee=0.03,
)
CENTS = st.integers(1, 99).map(lambda cents: f"0.{cents:02d}")
SIZES = st.integers(1, 5_000_000).map(lambda size: f"{Decimal(size) / 100}")


def _extract(books: list[Any], listed: ListedMatch = LISTED, **options: Any) -> Extract:
    read = msgspec.structs.replace(PLAIN, **options)
    body = grouped(listed, body=json.dumps(books).encode())
    return extracted(KIND, KEY, read, body, "epl-2026-05-28.1")


def _match(books: list[Any], listed: ListedMatch = LISTED, **options: Any) -> Match:
    (match,) = _extract(books, listed, **options).matches
    return match


def _books(**asks: Any) -> list[Any]:
    return [book_of("7", role, {**SOME, **asks}[role]) for role in ROLES]


@given(st.lists(st.tuples(CENTS, SIZES), max_size=8), st.integers(1, 100_000))
def test_best_ask_is_the_level_that_completes_the_stake(
    levels: list[tuple[str, str]], min_stake: int
) -> None:
    """All shares up to that price cost at least the stake, and the shares below it cost less."""
    exact = [(Decimal(price), Decimal(size)) for price, size in levels]

    found = best_ask([Level(*level) for level in levels], float(min_stake))

    enough = [
        price
        for price, _ in exact
        if sum((other * size for other, size in exact if other <= price), Decimal(0)) >= min_stake
    ]
    assert float(min(enough, default=Decimal(0))) == found


def test_price_may_lack_its_zero() -> None:
    """The venue writes .48 as well as 0.48."""
    assert 0.48 == best_ask([Level(".48", "100")], 10.0)


@given(st.integers(6, 994), st.sampled_from([0.0, 0.03, 0.05]))
def test_odds_never_promise_more_than_the_share(thousandths: int, rate: float) -> None:
    """The odds are rounded down to four places."""
    share, taken = Decimal(thousandths) / 1000, Decimal(str(rate))
    exact = 1 / (share + taken * share * (1 - share))

    odds = Decimal(repr(odds_of(thousandths / 1000, rate)))

    assert exact.quantize(Decimal("0.0001"), ROUND_FLOOR) == odds


def test_fee_is_said_before_fees_and_taken_after() -> None:
    """Surebets count the published fee; prices after fees have it taken off, and publish none."""
    before, after = _match(_books()), _match(_books(), after_fees=True)

    assert (2.0, 0.03, 10.0) == (before.home_price, before.fee_rate, before.max_stake)
    assert (odds_of(0.5, 0.03), 0.0, 10.0) == (after.home_price, after.fee_rate, after.max_stake)


def test_unknown_fee_is_the_highest_and_no_price_after_fees() -> None:
    """No surebet may depend on an unknown fee."""
    unknown = msgspec.structs.replace(LISTED, fee=UNKNOWN_FEE)

    assert UNKNOWN_FEE == _match(_books(), unknown).fee_rate
    assert () == _extract(_books(), unknown, after_fees=True).matches


def test_stake_decides_which_level_counts() -> None:
    """250 USD are on offer for away up to 0.27, but only 25 at 0.25."""
    match = _match(_books(), min_stake=26.0)

    assert (odds_of(0.27, 0.0), 26.0) == (match.away_price, match.max_stake)


def test_two_books_of_a_token_are_no_price() -> None:
    """Nobody knows which of the two books is right; the book of another market is no price either."""
    home = book_of("7", "home", SOME["home"])

    assert () == _extract([*_books(), home]).matches
    assert () == _extract([{**home, "market": "0x999"}, *_books()[1:]]).matches


def test_book_that_cannot_be_read_costs_only_its_own_match() -> None:
    """The book is counted, and its match is incomplete."""
    extract = _extract([*_books()[1:], {"asset_id": token_of("7", "home"), "asks": None}])

    assert ((), {"unreadable": 1}) == (extract.matches, extract.passed_over)
    assert ["incomplete"] == [removal.reason for removal in extract.removals]


@given(st.integers(0, 10_000))
def test_answer_cut_anywhere_is_refused(length: int) -> None:
    """A part of the books is not accepted as the books."""
    whole = json.dumps(_books()).encode()
    cut = grouped(LISTED, body=whole[: length % len(whole)])

    with pytest.raises(PayloadError):
        decoded(KIND, PLAIN, cut, "epl-2026-05-28.1")


START = 1_780_003_600
EVENT = event_of("7", "Home Town", "Away United", START)
TEAMS = [{"name": "Away United", "ordering": "away"}, {"name": "Home Town", "ordering": "home"}]


def _listed(*markets: dict[str, Any], is_home_first: bool = True) -> Listed:
    body = json.dumps({"markets": markets}).encode()
    league = League("epl", "Premier League", "82", is_home_first)
    (listed,) = read_listing(read_markets(body).markets, league).values()
    return listed


def _listed_match(**changed: Any) -> ListedMatch:
    listed = _listed(*(market_of(EVENT, role, **changed) for role in ROLES))
    assert isinstance(listed, ListedMatch)
    return listed


BARE = {key: value for key, value in EVENT.items() if key != "startTime"}
SLUGS = (
    ("xx-home-away", "https://polymarket.com/event/xx-home-away"),
    ("../admin", None),
    ("", None),
    (None, None),
)


@pytest.mark.parametrize(
    ("market", "field", "value"),
    [
        ({"feesEnabled": False}, "fee", 0.0),
        ({"feeSchedule": {"rate": 0.05, "exponent": 1}}, "fee", 0.05),
        ({"feeSchedule": {"rate": 0.03, "exponent": 2}}, "fee", UNKNOWN_FEE),
        ({"feeSchedule": {"rate": -0.03, "exponent": 1}}, "fee", UNKNOWN_FEE),
        *(({"feeSchedule": schedule}, "fee", UNKNOWN_FEE) for schedule in ({"exponent": 1}, None)),
        ({"events": [{**BARE, "startDate": "2026-01-01T00:00:00Z"}]}, "start", START),
        *(({"events": [{**EVENT, "slug": slug}]}, "url", url) for slug, url in SLUGS),
    ],
    ids=str,
)
def test_match_has_what_its_markets_and_its_event_say(
    market: dict[str, Any], field: str, value: object
) -> None:
    """A fee needs the known formula; an event's name that cannot be part of an address gives no page.

    If the event has no kick-off, the market's counts; the time when the market opened is not a kick-off.
    """
    assert value == getattr(_listed_match(**market), field)


def test_token_is_that_of_yes() -> None:
    """The token's place among the tokens is the place of "Yes" among the outcomes."""
    swapped = [
        market_of(EVENT, role, outcomes='["No", "Yes"]', clobTokenIds=f'["{at}0", "{at}1"]')
        for at, role in enumerate(ROLES, 1)
    ]
    listed = _listed(*swapped)

    assert isinstance(listed, ListedMatch)
    assert ("11", "21", "31") == listed.tokens


def test_later_copy_of_a_market_counts() -> None:
    """A page can shift while it is read, and a market may have closed meanwhile."""
    markets = [market_of(EVENT, role) for role in ROLES]

    assert isinstance(_listed(*markets, market_of(EVENT, "home", closed=True)), Removal)
    assert isinstance(_listed(market_of(EVENT, "home", closed=True), *markets), ListedMatch)


@pytest.mark.parametrize("role", ROLES)
def test_match_is_over_if_any_copy_of_it_is(role: str) -> None:
    """The pages with its markets may be read before and after the match ended."""
    over = {**EVENT, "ended": True}
    markets = [market_of(over if each == role else EVENT, each) for each in ROLES]

    assert isinstance(_listed(*markets), Removal)


@pytest.mark.parametrize("marks", [{}, {"groupItemThreshold": None, "marketMetadata": None}])
@pytest.mark.parametrize("teams", [None, TEAMS])
@pytest.mark.parametrize("is_home_first", [False, True])
def test_something_must_say_which_team_plays_at_home(
    marks: dict[str, Any], teams: list[dict[str, str]] | None, *, is_home_first: bool
) -> None:
    """The event's teams or its markets' marks say so, or the league's titles name the home team first."""
    event = {**EVENT, "teams": teams}
    markets = [market_of(event, role, **marks) for role in ROLES]

    is_listed = isinstance(_listed(*markets, is_home_first=is_home_first), ListedMatch)

    assert (is_home_first or not marks or teams is not None) is is_listed
