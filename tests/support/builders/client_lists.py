"""Values of the client, as the service would answer them."""

from __future__ import annotations

from collections.abc import Sequence

from web.client.values import BestPrice, Entry, Fixture

OUTCOMES = ("1", "X", "2")


def fixture(
    fixture_id: str = "fx1",
    *,
    home: str = "Home",
    away: str = "Away",
    bookmaker: str = "Alder",
    prices: Sequence[float] = (2.0, 3.5, 4.0),
) -> Fixture:
    """Return a fixture with one entry, whose prices are the best."""
    odds, entry_id = dict(zip(OUTCOMES, prices, strict=True)), f"{bookmaker.lower()}_{fixture_id}"
    at = 1_780_000_000.5
    entry = Entry(
        id=entry_id, bookmaker=bookmaker, odds=odds, updated=at, prices="live", rule="first", link="sure"
    )
    best = {
        outcome: BestPrice(odds=price, bookmakers=(bookmaker,), ids=(entry_id,))
        for outcome, price in odds.items()
    }
    return Fixture(
        id=fixture_id,
        home=home,
        away=away,
        league="League",
        league_id=":League",
        country=None,
        start_time=1_780_086_400,
        updated=at,
        entries=(entry,),
        bookmakers_count=1,
        best=dict(best),
    )
