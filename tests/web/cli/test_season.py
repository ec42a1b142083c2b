"""A season of football-data.co.uk, replayed: its closing columns are the oracle of closes and of `clv`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from statistics import mean, stdev

import pytest

from actors.archive.folder import Folder
from actors.archive.lines.closings import AskedClosings, Closings
from actors.archive.past import Days
from actors.lines.closing import Close
from actors.markets.market import parsed
from actors.matches.fair import Method
from tests.support.archive.season import CLOSING_S, CODES, DAY_S, bodies, name_of, replay
from tests.support.builders.football_data import offers
from tests.support.oracles.football_data_markets import reading
from tests.support.oracles.spreadsheet import fair_shares
from tests.support.recordings import football_data
from web.__main__ import main

pytestmark = [pytest.mark.recordings, pytest.mark.timeout(3600)]
SEASON = "E0_2526*"
Odds = tuple[float, ...]
Match = tuple[str, str]
Columns = dict[tuple[str, str, Match], tuple[int, Odds]]
"""Kick-off (Unix seconds) and prices by market, bookmaker and match."""


def _columns(body: bytes) -> Columns:
    """Return the prices in the body of a file, by market, bookmaker and match."""
    found: Columns = {}
    starts: dict[Match, int] = {}
    for code in CODES:
        for offer in offers(body, code) or []:
            match = offer.home, offer.away
            starts[match] = offer.start or 0
            found["1x2", name_of(code), match] = starts[match], offer.prices
    for code in CODES:
        for (home, away, market), prices in reading(body, code).shown.items():
            found[market, name_of(code), (home, away)] = starts[home, away], prices
    return found


@pytest.fixture
def season(tmp_path: Path, *, is_long: bool) -> tuple[Path, Columns, Columns]:
    """Return an archive of a season, or of its first matches, with its earlier and closing prices."""
    (path,) = football_data("seasons", SEASON)
    earlier, closing = bodies(path, 10_000 if is_long else 15)
    replay(earlier, closing, tmp_path / "archive")
    return tmp_path / "archive", _columns(earlier), _columns(closing)


def test_the_closes_are_the_closing_columns(season: tuple[Path, Columns, Columns]) -> None:
    """The closes of 1X2, totals and handicaps equal these columns; a replaced line has its earlier end."""
    archive, earlier, closing = season
    expected = {key: (start, odds, start - CLOSING_S, False) for key, (start, odds) in earlier.items()}
    expected |= {key: (start, odds, start, True) for key, (start, odds) in closing.items()}
    days = Days(Folder.reading(archive), lambda: None)
    found = {}
    for market in {market for market, *_ in expected}:
        asked = AskedClosings(0, 2**50, 2**50, parsed(market), {}, Method.POWER)
        for of in Closings(days, asked).read(most=10_000).fixtures:
            for it in of.entries:
                assert isinstance(it.close, Close)
                key = market, it.bookmaker, (of.listed.home, of.listed.away)
                closed = it.close.odds, it.close.closed_ms // 1000, it.close.on_offer
                found[key] = of.listed.kick_off, *closed

    assert expected == found
    assert {"1x2", "over_under", "asian_handicap"} == {market.partition(":")[0] for market, *_ in closing}


def test_clv_agrees_with_a_spreadsheet(
    season: tuple[Path, Columns, Columns], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bets on each outcome at its earlier price give the values that a spreadsheet computes."""
    archive, earlier, closing = season
    bets = [*_bets(earlier)]
    (tmp_path / "bets.csv").write_text(
        "\n".join(["time,match,market,outcome,odds,bookmaker", *bets]), "utf-8"
    )
    with pytest.raises(SystemExit) as ended:
        main(["clv", f"{tmp_path}/bets.csv", "--archive", str(archive), "--method", "multiplicative"])
    out, summary = capsys.readouterr()
    rows = [*csv.DictReader(StringIO(out, newline=""))]
    fair = _fair(closing)
    values: dict[str, list[float]] = {}
    for row in rows:
        key = row["market"], tuple(row["match"].split(" - "))
        of_outcome = fair.get(key, {}).get(row["outcome"])
        assert (row["clv"] == "") == (of_outcome is None)
        if of_outcome is not None:
            shown = Decimal(row["clv_fair"])
            assert abs(of_outcome - shown) <= Decimal("0.0000005")
            assert float(shown * Decimal(row["odds"]) - 1) == pytest.approx(float(row["clv"]), abs=6e-7)
            values.setdefault(row["bookmaker"], []).append(float(of_outcome * Decimal(row["odds"]) - 1))
        close = closing.get((row["market"], row["bookmaker"], key[1]))
        assert (close is not None) == (row["clv_on_offer"] == "yes")
    every = [value for some in values.values() for value in some]

    assert 0 == ended.value.code
    assert len(bets) == len(rows)
    assert len(every) > len(rows) / 2
    for name, some in {"all": every, **values}.items():
        error = stdev(some) / len(some) ** 0.5
        assert f"{name:<34}{len(some):>6}{mean(some):>+10.2%}{error:>9.2%}" in summary.splitlines()


def _bets(earlier: Columns) -> Iterator[str]:
    for (market, bookmaker, (home, away)), (start, prices) in earlier.items():
        for outcome, price in zip(_outcomes(market), prices, strict=True):
            yield f"{start - DAY_S},{home} - {away},{market},{outcome},{price},{bookmaker}"


def _fair(closing: Columns) -> dict[tuple[str, Match], dict[str, Decimal]]:
    """Return the fair probabilities of each market for which three or more bookmakers have prices."""
    found: dict[tuple[str, Match], list[Odds]] = {}
    for (market, _, match), (_, prices) in closing.items():
        found.setdefault((market, match), []).append(prices)
    return {
        key: dict(zip(_outcomes(key[0]), fair_shares(some), strict=True))
        for key, some in found.items()
        if len(some) > 2
    }


def _outcomes(market: str) -> Sequence[str]:
    return {"1x2": "1X2", "over_under": ("over", "under"), "asian_handicap": ("home", "away")}[
        market.partition(":")[0]
    ]
