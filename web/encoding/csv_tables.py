"""The lists as tables of CSV: their columns, and rows made from their JSON (docs/spreadsheets.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from actors.matches.forms import Form
from actors.matches.model import FixtureView, ViewKind
from web.encoding.csv_text import listed, rows, utc
from web.encoding.schemas import MatchV2
from web.encoding.surebet_schemas import DoubtedSurebet, StakesV2, SurebetLeg, SurebetV2

OF_ODDS: Final = rows(
    ["id,bookmaker,home,away,league,start_time_utc,odds_1,odds_X,odds_2,updated_utc".split(",")]  # noqa: SIM905
)
"""The first row of a list of odds."""
_OF_MATCH = ("id", "home", "away", "league", "league_id", "country", "start_time_utc", "market")
_OF_LEG = ("outcome", "odds", "bookmaker", "id", "stake", "age_s", "commission", "fee_rate", "max_stake")
_matches = msgspec.json.Decoder(list[MatchV2]).decode


def odds_rows(json: bytes) -> bytes:
    """Return the rows of entries; `json` is the array of them."""
    return rows(map(odds_row, _matches(json)))


def odds_row(of: MatchV2) -> tuple[object, ...]:
    """Return the values of an entry, in the order of `OF_ODDS`."""
    odds = of.odds
    about = of.id, of.bookmaker, of.home, of.away, of.league, utc(of.start_time)
    return *about, odds.home, odds.draw, odds.away, utc(of.updated)


class _Best(Struct, frozen=True):
    odds: float
    bookmakers: tuple[str, ...]
    prices: str = "live"


class _Fixture(Struct, frozen=True):
    """The members of a fixture in one market that its row shows."""

    id: str
    home: str
    away: str
    league: str
    league_id: str
    country: str | None
    start_time: int | None
    updated: float
    bookmakers_count: int
    best: dict[str, _Best | None]
    book_sum: float | None
    fair: dict[str, Any] | None
    surebet: SurebetV2 | None
    reference: dict[str, Any] | None = None
    doubted: DoubtedSurebet | None = None
    stakes: StakesV2 | None = None
    stakes_reason: str | None = None
    in_play: bool | None = None
    market: str = "1x2"
    in_play_rule: str | None = None


_fixture = msgspec.json.Decoder(_Fixture).decode


class FixtureTable:
    """A list of fixtures as a table: a row for each fixture and market, columns for each outcome or leg.

    The columns depend on the request alone, never on the matches of the moment.
    """

    def __init__(self, views: Sequence[FixtureView], form: Form) -> None:
        self._form = form
        self._has_weak = any(view.kind is ViewKind.WEAK for view in views)
        self._is_of_surebets = views[0].kind is not ViewKind.FIXTURES
        self._legs = range(max(len(view.market.outcomes) for view in views))
        self._outcomes = tuple(dict.fromkeys(it for view in views for it in view.market.outcomes))

    @property
    def head(self) -> bytes:
        """The first row, with the names of the columns."""
        return rows([[*_OF_MATCH, *(self._surebet_names() if self._is_of_surebets else self._names())]])

    def rows(self, by_market: Sequence[bytes]) -> bytes:
        """Return the rows of a fixture from its JSON for each market."""
        return rows(map(self._row, map(_fixture, by_market)))

    def _row(self, of: _Fixture) -> list[object]:
        about = of.id, of.home, of.away, of.league, of.league_id, of.country, utc(of.start_time), of.market
        return [*about, *(self._surebet(of) if self._is_of_surebets else self._prices(of))]

    def _names(self) -> Iterator[str]:
        yield "bookmakers_count"
        for name in self._outcomes:
            yield from (f"best_{name}", f"best_{name}_bookmakers", f"best_{name}_prices")
        yield from (f"fair_{name}" for name in self._outcomes)
        if self._form.reference is not None:
            yield from (f"reference_{name}" for name in self._outcomes)
        yield from ("book_sum", "surebet_profit", "in_play", "in_play_rule", "updated_utc")

    def _prices(self, of: _Fixture) -> Iterator[object]:
        yield of.bookmakers_count
        for name in self._outcomes:
            best = of.best.get(name)
            yield from ("",) * 3 if best is None else (best.odds, listed(best.bookmakers), best.prices)
        for chances in (of.fair, of.reference) if self._form.reference is not None else (of.fair,):
            yield from ((chances or {}).get(name) for name in self._outcomes)
        profit = None if of.surebet is None else of.surebet.profit
        yield from (of.book_sum, profit, of.in_play, of.in_play_rule, utc(of.updated))

    def _surebet_names(self) -> Iterator[str]:
        yield from ("profit", "book_sum", "since_utc", "until_utc")
        if self._has_weak:
            yield from ("weak", "usual_profit")
        if self._form.doubted:
            yield "doubts"
        of_leg = (*_OF_LEG, "amount") if self._form.total else _OF_LEG
        for at in self._legs:
            yield from (f"leg{at + 1}_{name}" for name in of_leg)
        if self._form.total:
            yield from ("staked", "returned", "gain", "usual_gain", "stakes_reason")
        yield "updated_utc"

    def _surebet(self, of: _Fixture) -> Iterator[object]:
        surebet = of.surebet or of.doubted
        if surebet is None:
            raise ValueError(f"{of.id} has no surebet")
        since = surebet.since if isinstance(surebet, SurebetV2) else None
        yield from (surebet.profit, surebet.book_sum, utc(since), utc(surebet.until))
        if self._has_weak:
            yield from (surebet.weak, surebet.usual_profit)
        if self._form.doubted:
            yield listed(surebet.doubts) if isinstance(surebet, DoubtedSurebet) else ""
        legs, stakes = surebet.legs, of.stakes
        for at in self._legs:
            yield from _leg(legs[at]) if at < len(legs) else ("",) * len(_OF_LEG)
            if self._form.total:
                yield stakes.amounts[at] if stakes is not None and at < len(legs) else ""
        if self._form.total:
            gained: tuple[object, ...] = ("",) * 4
            if stakes is not None:
                gained = stakes.staked, stakes.returned, stakes.gain, stakes.usual_gain
            yield from (*gained, of.stakes_reason)
        yield utc(of.updated)


def _leg(leg: SurebetLeg) -> tuple[object, ...]:
    about = leg.outcome, leg.odds, leg.bookmaker, leg.id, leg.stake, leg.age_s
    return *about, leg.commission, leg.fee_rate, leg.max_stake
