"""The kind of offer that a bookmaker's prices are, given by its kind of source."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.messages import Fees, Offer, Venue
from actors.service.settings import Settings, load
from actors.sources.polymarket.kind import TERMS
from tests.support.peers import polymarket
from tests.support.source_code import ROOT

KEYS = dict.fromkeys(
    (
        "FIVE_DOLLAR_FOOTBALL_KEY",
        "THE_ODDS_API_KEY",
        "BETFAIR_APP_KEY",
        "BETFAIR_USERNAME",
        "BETFAIR_PASSWORD",
    ),
    "a-key",
)
BOOKMAKER, EXCHANGE = Offer(), Offer(Venue.EXCHANGE, Fees.NOT_INCLUDED)
MARKET = Offer(Venue.PREDICTION_MARKET, Fees.NOT_INCLUDED, TERMS)


def _offers(settings: Settings) -> dict[str, Offer]:
    return {name: settings.offer_of(bookmaker) for name, bookmaker in settings.bookmakers.items()}


@pytest.mark.parametrize(
    ("example", "offers"),
    [
        ("default", [BOOKMAKER, BOOKMAKER, BOOKMAKER]),
        ("football_data", [BOOKMAKER, BOOKMAKER, EXCHANGE]),
        ("live-keyless", [BOOKMAKER, MARKET, BOOKMAKER]),
        ("the_odds_api", [BOOKMAKER, BOOKMAKER, EXCHANGE]),
        ("betfair", [EXCHANGE]),
        ("five_dollar_football", [BOOKMAKER]),
        ("live", [BOOKMAKER, MARKET, BOOKMAKER]),
    ],
)
def test_bookmakers_of_the_examples_are_what_they_are(example: str, offers: list[Offer]) -> None:
    """The kinds of offer are listed in the order of the configuration."""
    settings = load(ROOT / "config" / f"{example}.toml", KEYS)

    assert offers == [*_offers(settings).values()]


@pytest.mark.parametrize(
    ("old", "new", "fees"),
    [
        ("", "", Fees.NOT_INCLUDED),
        ('kind = "polymarket"', 'kind = "polymarket"\nafter_fees = true', Fees.INCLUDED),
    ],
)
def test_options_may_include_fees(tmp_path: Path, old: str, new: str, fees: Fees) -> None:
    """Prices of a prediction market are without its fee unless the option `after_fees` is set."""
    file = tmp_path / "mine.toml"
    file.write_text(polymarket.CONFIG.replace(old, new, 1), "utf-8")

    assert {"polymarket": Offer(Venue.PREDICTION_MARKET, fees, TERMS)} == _offers(load(file, {}))


def test_a_commission_is_never_included(tmp_path: Path) -> None:
    """A bookmaker takes a commission if its configuration says so, whatever its kind of source is."""
    text = (ROOT / "config" / "default.toml").read_text("utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("[bookmakers.alder]", "[bookmakers.alder]\ncommission = 0.02"), "utf-8")

    assert Offer(Venue.BOOKMAKER, Fees.NOT_INCLUDED) == _offers(load(file, {}))["alder"]


@pytest.mark.parametrize("example", ["live", "live-accounts", "live-keyless", "the_odds_api"])
def test_examples_of_live_prices_bound_the_ages_of_legs(example: str) -> None:
    """An older price may be gone when the bet is made, and two old prices can make a surebet by chance."""
    surebets = load(ROOT / "config" / f"{example}.toml", KEYS).surebets

    assert (120.0, 60.0) == (surebets.max_age_s, surebets.max_skew_s)


@pytest.mark.parametrize("example", ["live-accounts", "the_odds_api", "betfair"])
def test_exchanges_of_the_examples_have_a_commission(example: str) -> None:
    """Without the commission, surebets that lose money would be shown."""
    settings = load(ROOT / "config" / f"{example}.toml", KEYS)

    assert {0.05} == {
        bookmaker.commission
        for bookmaker in settings.bookmakers.values()
        if settings.offer_of(bookmaker).venue is Venue.EXCHANGE
    }
