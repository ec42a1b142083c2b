"""Surebets of other markets over time: which legs they have, and that no leg is a handicap in play."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.core.messages import Match, Prices, SourceName
from actors.markets.market import Kind, Market, parsed
from actors.markets.odds import Odds
from actors.matches.model import (
    BookmakerInfo,
    Fixture,
    FixtureSettings,
    roster_of,
)
from actors.matches.surebets import Surebet
from actors.matching.event import Event
from tests.support.builders.fixtures import (
    ALDER,
    BIRCH,
    CEDAR,
    ROSTER,
    TERMS,
    EqualNames,
)
from tests.support.builders.markets import MarketBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

HANDICAP, TOTAL = parsed("asian_handicap:-0.5"), parsed("over_under:2.25")
GAINING = (2.15, 1.8), (1.95, 2.0)  # the best prices of these two: 1/2.15 + 1/2 = 0.965, a gain of 3.6 %


class SameNames(EqualNames):
    """A linker of events with the same names, whatever their kick-off."""

    def match_of(self, event: Event) -> object:
        """Return the names of the teams."""
        return event.home, event.away


class OneMarket(MarketBoard):
    """A board of 1X2 prices, and beside it a board of another market."""

    def __init__(self, market: Market, terms: FixtureSettings = TERMS) -> None:
        super().__init__(kinds=(Kind.ONE_X_TWO, market.kind), terms=terms, linker=SameNames)
        self.market = market

    def list(self, bookmaker: str, odds: Odds, of_match: Match | None = None) -> None:
        """List a match at these prices of the market, beside its 1X2 prices."""
        listed = match(bookmaker) if of_match is None else of_match
        self.tell(bookmaker, listed, listed.of_market(self.market, odds))

    def tell(self, bookmaker: str, *matches: Match, is_whole: bool = True) -> None:
        """Apply a bookmaker's list of both kinds of market."""
        told = batch(
            matches,
            bookmaker=bookmaker,
            received_mono=self.clock.mono,
            stale_after_s=90.0,
            complete=is_whole,
        )
        self.apply(replace(told, kinds=(Kind.ONE_X_TWO, self.market.kind)))

    def pass_to(self, second: float) -> None:
        """Let the time pass, and commit."""
        self.clock.mono = second
        self.apply()

    def fixture(self) -> Fixture:
        """Return the only fixture of the market."""
        (fixture,) = self.fixtures(self.market.kind)
        return fixture

    def surebet(self) -> Surebet | None:
        """Return the surebet of the only fixture of the market."""
        return self.fixture().surebet


def _gaining(
    market: Market, odds: tuple[Odds, Odds] = GAINING, terms: FixtureSettings = TERMS
) -> OneMarket:
    """Return a board on which two bookmakers' prices of a market have stood long enough for a surebet."""
    board = OneMarket(market, terms)
    board.list("alder", odds[0])
    board.list("birch", odds[1])
    board.link()
    board.pass_to(0.0)
    board.pass_to(3.0)
    return board


@pytest.mark.parametrize("market", [HANDICAP, TOTAL, Market(Kind.BTTS)], ids=str)
def test_legs_of_a_surebet_are_named_by_the_outcomes_of_its_market(market: Market) -> None:
    """The first leg is the best price of the first outcome."""
    found = _gaining(market).surebet()

    assert found is not None
    assert [*zip(market.outcomes, ("alder", "birch"), (2.15, 2.0), strict=True)] == [
        (leg.outcome, leg.bookmaker, leg.odds) for leg in found.legs
    ]


def test_surebet_of_double_chance_has_the_book_sum_of_its_true_prices() -> None:
    """The book sum is near 2, and the profit counts that two of the three bets win."""
    prices = (1.5, 1.28, 1.62), (1.38, 1.36, 1.75)
    found = _gaining(Market(Kind.DOUBLE_CHANCE), prices).surebet()

    assert found is not None
    total = 1 / 1.5 + 1 / 1.36 + 1 / 1.75
    assert round(total, 6) == found.book_sum
    assert round(2 / total - 1, 6) == found.profit
    assert ["1X", "12", "X2"] == [leg.outcome for leg in found.legs]


def test_price_of_double_chance_that_is_too_high_is_no_leg() -> None:
    """The prices of two other bookmakers are enough to call that price wrong."""
    board = _gaining(Market(Kind.DOUBLE_CHANCE), ((2.2, 1.25, 1.6), (1.3, 1.25, 1.6)))
    board.list("cedar", (1.3, 1.25, 1.6), match("alder"))
    board.pass_to(6.0)

    assert board.surebet() is None


def test_whole_line_has_a_weak_surebet_and_no_other() -> None:
    """After a draw both stakes are returned, whatever the prices are, so the profit is 0."""
    board = _gaining(parsed("asian_handicap:0"))
    weak = board.fixture().weak

    assert board.surebet() is None
    assert weak is not None
    assert (0.0, 1.0) == (weak.profit, weak.book_sum)
    assert pytest.approx(1 / (1 / 2.15 + 1 / 2) - 1, abs=1e-6) == weak.usual_profit


@pytest.mark.parametrize("market", [HANDICAP, TOTAL], ids=str)
def test_surebet_of_a_market_ends_when_the_1x2_list_says_that_the_match_is_in_play(market: Market) -> None:
    """In play, a bet on a handicap counts other goals than a bet before the match."""
    board = _gaining(market)
    shown = board.surebet()
    board.tell("birch", match("birch", in_play=True), is_whole=False)

    assert shown is not None
    assert board.surebet() is None


def test_surebet_of_a_handicap_ends_at_the_earliest_kick_off_of_the_1x2_lists() -> None:
    """This holds also if the lists of the handicap give a later kick-off."""
    board = _gaining(HANDICAP)
    board.tell("birch", match("birch", start_time=int(WALL_0) + 10), is_whole=False)
    board.link()
    board.pass_to(9.0)
    before = board.surebet()
    board.pass_to(10.0)

    assert before is not None
    assert WALL_0 + 10 == before.until
    assert board.surebet() is None


def test_surebet_of_a_handicap_ends_at_the_kick_off_of_a_list_of_collected_prices() -> None:
    """The match may have begun by then, and in play other goals count."""
    collected = BookmakerInfo(SourceName("three"), Prices.COLLECTED)
    terms = FixtureSettings(roster_of({CEDAR: collected, ALDER: ROSTER[ALDER], BIRCH: ROSTER[BIRCH]}))
    board = _gaining(HANDICAP, terms=terms)
    board.list("cedar", GAINING[0], match("cedar", start_time=int(WALL_0) + 10))
    board.link()
    board.pass_to(9.0)
    before = board.surebet()
    board.pass_to(10.0)

    assert before is not None
    assert board.surebet() is None


@pytest.mark.parametrize(
    ("market", "in_play", "is_shown"),
    [(HANDICAP, None, False), (HANDICAP, False, True), (TOTAL, None, True)],
    ids=["handicap", "handicap before the match", "total"],
)
def test_handicap_of_a_match_that_may_have_begun_is_no_leg(
    market: Market, *, in_play: bool | None, is_shown: bool
) -> None:
    """A match without a kick-off may have begun, unless a source says that it is not in play."""
    board = OneMarket(market)
    for bookmaker, odds in zip(("alder", "birch"), GAINING, strict=True):
        board.list(bookmaker, odds, match(bookmaker, start_time=None, in_play=in_play))
    board.link()
    board.pass_to(0.0)
    board.pass_to(3.0)

    assert is_shown == (board.surebet() is not None)
