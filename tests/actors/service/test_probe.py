"""The output of `probe` for venues that answer as expected, and for venues that do not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import httpx2
import pytest

from actors.core.errors import ConfigError
from actors.service.settings import load
from actors.service.trials.probe import Probe, source_to_probe
from tests.support.builders.football_data import csv_bytes
from tests.support.peers import azuro, polymarket
from tests.support.peers.web import Answer, Web, hanging, refusing, serving
from tests.support.source_code import ROOT
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

EXAMPLE = ROOT / "config" / "live-keyless.toml"
KINDS = ("football_data", "polymarket", "azuro")
HTML = serving(b"<html>log in to this network</html>", headers={"Content-Type": "text/html"})


def _venues() -> Mapping[str, Answer]:
    """Return the three venues, each with a match."""
    market, pool = polymarket.Polymarket(), azuro.Azuro()
    market.add("101", start=WALL_0 + 3600)
    pool.add("1006", start=WALL_0 + 3600)
    file = csv_bytes(("E0", "29/05/2026", "15:00", "Leeds", "Hull", "2.0", "3.5", "3.9"))
    return {"football_data": serving(file), "polymarket": market.answer, "azuro": pool.answer}


async def _probed(kind: str, answer: Answer) -> tuple[bool, list[str], Web]:
    settings, web, clock, lines = load(EXAMPLE), Web(answer), VirtualClock(), list[str]()
    source = source_to_probe(settings, kind)
    connect = partial(web.connect, settings.sources[source.name], clock)
    probe = Probe(source, lines.append, clock, connect)
    await probe.run()
    return probe.is_good, lines, web


def _changed(answer: Answer, old: bytes, new: bytes) -> Answer:
    """Return the answers of a venue in which one name or value is replaced by another."""

    async def changed(request: httpx2.Request) -> httpx2.Response:
        response = await answer(request)
        body = await response.aread()
        return await serving(body.replace(old, new))(request)

    return changed


@pytest.mark.parametrize(
    ("kind", "steps", "shown"),
    [
        ("football_data", 1, "Leeds - Hull, Premier League, 2026-05-29T14:00:00Z: 2 3.5 3.9"),
        ("polymarket", 3, "Home Town - Away United, Premier League, 2026-05-28T21:26:40Z: 2 3.5714 4"),
        (
            "azuro",
            4,
            "Home Town - Away United, England: Premier League, 2026-05-28T21:26:40Z: 1.81 3.78 4.43",
        ),
    ],
)
async def test_a_venue_that_answers_as_expected_is_good(kind: str, steps: int, shown: str) -> None:
    """Each step is named, and a match with its prices is printed, for a person to compare."""
    is_good, lines, web = await _probed(kind, _venues()[kind])

    assert is_good
    assert steps == len(web.requests)
    assert [f"{number}. " for number in range(1, steps + 1)] == [
        line[:3] for line in lines if line[0].isdigit()
    ]
    assert [line for line in lines if line.endswith(shown)]
    assert f"{kind}: its answers have the expected shape" == lines[-1]


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("football_data", b"HomeTeam", b"Home Team", "the header lacks a column for the home team"),
        ("football_data", b"B365H", b"B365Home", "column not in this file: B365H"),
        ("polymarket", b'"markets"', b'"data"', "missing required field `markets`"),
        ("polymarket", b'"sport"', b'"key"', "missing required field `sport`"),
        ("polymarket", b'"acceptingOrders"', b'"accepting_orders"', "Market.acceptingOrders"),
        ("polymarket", b'"clobTokenIds"', b'"tokens"', "Market.clobTokenIds"),
        ("polymarket", b'"price": "0.5"', b'"price": 0.5', "Expected `str`, got `float`"),
        ("azuro", b'"games"', b'"data"', "missing required field `games`"),
        ("azuro", b'"startsAt"', b'"start"', "missing required field `startsAt`"),
        ("azuro", b'"odds": "1.81"', b'"odds": 1.81', "Expected `str`, got `float`"),
        ("azuro", b'"outcomeId": "29"', b'"outcomeId": "10029"', "no match would be shown"),
    ],
)
async def test_a_venue_that_has_changed_is_not_good(kind: str, old: bytes, new: bytes, said: str) -> None:
    """An unexpected name or type is reported in the words of the decoder."""
    is_good, lines, _ = await _probed(kind, _changed(_venues()[kind], old, new))

    assert not is_good
    assert said in "\n".join(lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (HTML, "not the expected shape"),
        (serving(b""), "not the expected shape"),
        (serving(b"", 403), "refused: status was 403"),
        (serving(b"", 429), "too many requests: status was 429"),
        (serving(b"", 404), "another answer than expected: status was 404"),
        (refusing, "no answer: ConnectError"),
        (hanging, "no answer: no whole answer within"),
    ],
)
async def test_an_answer_that_is_none_takes_one_line(kind: str, answer: Answer, said: str) -> None:
    """No further request is made, and the line says what the answer, or no answer, may mean."""
    is_good, lines, web = await _probed(kind, answer)
    (line,) = lines

    assert not is_good
    assert 1 == len(web.requests)
    assert said in line


@pytest.mark.parametrize("kind", ["polymarket", "azuro"])
async def test_a_venue_without_matches_is_not_good(kind: str) -> None:
    """Without any match, `probe` cannot check the prices."""
    venue = polymarket.Polymarket() if kind == "polymarket" else azuro.Azuro()

    is_good, lines, _ = await _probed(kind, venue.answer)

    assert not is_good
    assert f"{kind}: no match would be shown" in lines[-1]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("the_odds_api", "it needs api_key"),
        ("betfair_stream", "needs a session of your account"),
        ("program", "check-program runs a program"),
        ("simulated", "it asks nobody"),
        ("replay", "it asks nobody"),
        ("polymarkt", "must be one of"),
    ],
)
def test_a_kind_that_cannot_be_asked_says_why(kind: str, why: str) -> None:
    """The error also says what to do instead, if there is a way."""
    with pytest.raises(ConfigError, match=why):
        source_to_probe(load(EXAMPLE), kind)


def test_an_address_replaces_all_of_a_source(tmp_path: Path) -> None:
    """The given address replaces all addresses of the source; its other options stay as configured."""
    file = tmp_path / "mine.toml"
    file.write_text(EXAMPLE.read_text("utf-8").replace("min_stake = 10.0", "min_stake = 7.0"), "utf-8")

    source = source_to_probe(load(file), "polymarket", "http://127.0.0.1:9")

    assert ("http://127.0.0.1:9", "http://127.0.0.1:9", 7.0) == (
        source.options.url,
        getattr(source.options, "prices_url", ""),
        getattr(source.options, "min_stake", 0.0),
    )


@pytest.mark.real_time
async def test_a_table_is_shown_with_its_markets(tmp_path: Path) -> None:
    """The output has the first matches with each of their markets, and what could not be read of them."""
    file, config, lines = tmp_path / "odds.csv", tmp_path / "odds.toml", list[str]()
    file.write_text(
        "home,away,start,1,X,2,over,under,line\n"
        "Leeds,Hull,2099-12-22T15:00:00Z,2.1,3.4,3.6,1.9,1.95,2.5\n"
        "York,Derby,2099-12-22T15:00:00Z,2.1,3.4,3.6,1.9,1.95,2.4\n",
        "utf-8",
    )
    config.write_text(
        f"""
[sources.own]
kind = "table"
path = {json.dumps(str(file))}
prices = "collected"
home = "home"
away = "away"
start = "start"
one = "1"
draw = "X"
two = "2"
[sources.own.markets.over_under]
line = "line"
over = "over"
under = "under"
[bookmakers.own]
name = "Own"
source = "own"
key = "own"
""",
        "utf-8",
    )
    probe = Probe(source_to_probe(load(config), "table"), lines.append)
    await probe.run()

    assert probe.is_good, lines
    assert [
        "   own would be shown, matches 2, other markets 1",
        "     line 3: line: the line of over_under was 2.4, must be a multiple of 0.25 from 0.25 to 20",
        "     -20991222-Leeds-Hull: Leeds - Hull, no league, 2099-12-22T15:00:00Z: 2.1 3.4 3.6",
        "     -20991222-Leeds-Hull over_under:2.5: Leeds - Hull, no league, 2099-12-22T15:00:00Z: 1.9 1.95",
        "     -20991222-York-Derby: York - Derby, no league, 2099-12-22T15:00:00Z: 2.1 3.4 3.6",
    ] == [line for line in lines if line.startswith("   ")]
