"""Bounds of a source: the largest book sum that is believed, and credentials kept out of all texts."""

from __future__ import annotations

from typing import Any

import pytest

from actors.source_api.kinds import Kind, bounds_of
from actors.source_api.program import ProgramOptions
from actors.sources.azuro.kind import KIND as AZURO
from actors.sources.azuro.options import AzuroOptions
from actors.sources.betfair.kind import KIND as BETFAIR
from actors.sources.football_data.kind import KIND as FOOTBALL_DATA
from actors.sources.football_data.kind import FootballDataOptions
from actors.sources.polymarket.kind import KIND as POLYMARKET
from actors.sources.polymarket.options import PolymarketOptions
from actors.sources.program.kind import KIND as PROGRAM
from actors.sources.the_odds_api.kind import KIND as THE_ODDS_API
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.betfair import OPTIONS as OF_STREAM

OF_FILE = FootballDataOptions(kind="football_data", url="http://a.example/b.csv")
OF_API = TheOddsApiOptions(kind="the_odds_api", api_key="k", sports=("soccer_epl",))
OF_PROGRAM = ProgramOptions(kind="program", command=("true",))


@pytest.mark.parametrize(
    ("kind", "key", "options", "most"),
    [
        (POLYMARKET, "polymarket", PolymarketOptions(kind="polymarket"), 1.12),
        (BETFAIR, "exchange", OF_STREAM, 1.12),
        (FOOTBALL_DATA, "BFE", OF_FILE, 1.12),
        *((THE_ODDS_API, key, OF_API, 1.12) for key in ("betfair_ex_uk", "matchbook", "kalshi")),
        (AZURO, "azuro", AzuroOptions(kind="azuro"), 1.4),
        (FOOTBALL_DATA, "BW", OF_FILE, 1.4),
        (THE_ODDS_API, "pinnacle", OF_API, 1.4),
        (PROGRAM, "program", OF_PROGRAM, 1.4),
    ],
)
def test_exchanges_and_prediction_markets_have_one_bound(
    kind: Kind, key: str, options: Any, most: float
) -> None:
    """Azuro is a bookmaker: a pool makes its prices, and no offers of other people remain there."""
    assert most == bounds_of(kind, key, options).book_sum_max


def test_the_narrower_of_two_bounds_counts() -> None:
    """A configuration may set either bound."""
    narrow = PolymarketOptions(kind="polymarket", book_sum_max=1.05)
    wide = PolymarketOptions(kind="polymarket", exchange_book_sum_max=1.3)

    assert [1.05, 1.3] == [
        bounds_of(POLYMARKET, "polymarket", options).book_sum_max for options in (narrow, wide)
    ]


def test_credentials_of_any_kind_of_source_are_kept_out_of_its_texts() -> None:
    """A credential that is shorter than six characters could be a part of any name."""
    api = TheOddsApiOptions(kind="the_odds_api", api_key="0123abcd", sports=("soccer_epl",))
    program = ProgramOptions(kind="program", command=("true",), secrets={"A": "short", "B": "long enough"})
    of_program = bounds_of(PROGRAM, "program", program).secrets

    assert ("0123abcd",) == bounds_of(THE_ODDS_API, "pinnacle", api).secrets
    assert {"long enough", "long%20enough", "long+enough"} == {*of_program}
    assert {OF_STREAM.app_key, OF_STREAM.session_token} == {
        *bounds_of(BETFAIR, "exchange", OF_STREAM).secrets
    }
