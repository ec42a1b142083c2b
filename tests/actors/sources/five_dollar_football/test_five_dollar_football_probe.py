"""The output of `probe` for 5DollarFootballAPI: what the key may do, what is not found, how prices move."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest

from actors.service.settings import load
from actors.service.trials.probe import Probe, source_to_probe
from tests.support.peers.five_dollar_football import CONFIG, FiveDollarFootball, result
from tests.support.peers.web import Answer, Web, refusing
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

HOUR = 3600.0


def _venue() -> FiveDollarFootball:
    venue = FiveDollarFootball(lambda: WALL_0 + anyio.current_time())
    venue.add(7001, start=WALL_0 + HOUR)
    venue.add(7002, "Third", "Fourth", start=WALL_0 + HOUR)
    return venue


async def _probed(
    folder: Path, venue: FiveDollarFootball, config: str = CONFIG, answer: Answer | None = None
) -> tuple[bool, list[str]]:
    file = folder / "oddsboard.toml"
    file.write_text(config, "utf-8")
    settings, clock, lines = load(file, {}), VirtualClock(), list[str]()
    source = source_to_probe(settings, "five_dollar_football")
    connect = partial(Web(answer or venue.answer).connect, settings.sources[source.name], clock)
    probe = Probe(source, lines.append, clock, connect)
    await probe.run()
    return probe.is_good, lines


async def test_what_the_key_may_and_what_is_not_found_is_told(tmp_path: Path) -> None:
    """Leagues are looked up in the list of leagues, bookmakers in the list of bookmakers."""
    config = CONFIG.replace("api_key", 'leagues = [39, "La Liga", "Ligue 1", 99]\napi_key')
    config += '\n[bookmakers.other]\nsource = "five"\nkey = "other"\n'

    is_good, lines = await _probed(tmp_path, _venue(), config)

    assert is_good
    assert "plan: pro" in lines
    assert "requests: 10" in lines
    assert "not_found: ['bookmaker other', 'league 99', 'league ligue 1']" in lines
    for said in ("list.near: matches 2", "bet365 would be shown, matches 2"):
        assert [line for line in lines if said in line]


async def test_it_is_told_how_many_prices_have_moved(tmp_path: Path) -> None:
    """The prices are asked for again after a minute, within the rate."""
    venue = _venue()

    async def answer(request: object) -> object:
        if anyio.current_time() > 50.0:
            venue.odds[7002]["bet365"]["1x2"] = result((2.2, 3.3, 3.4))
        return await venue.answer(request)  # type: ignore[arg-type]

    is_good, lines = await _probed(tmp_path, venue, answer=answer)  # type: ignore[arg-type]

    assert is_good
    assert "prices that have moved after 60 s: 1 of 2" in lines
    assert 0 == venue.refused


@pytest.mark.parametrize(
    ("changed", "plan", "answer", "said"),
    [
        (
            ("invented_key", "wrong_key"),
            True,
            None,
            "refused: status was 401, must be 200: invalid_key: unkno",
        ),
        (
            ("", ""),
            "free",
            None,
            "odds need a paid plan (request req_1); not in your plan free: the list of matches in play",
        ),
        (("", ""), "pro", refusing, "no answer: ConnectError"),
    ],
)
async def test_a_start_that_fails_says_why_in_a_line(
    tmp_path: Path, changed: tuple[str, str], plan: str, answer: Answer | None, said: str
) -> None:
    """The last line has the reason; no line has the key."""
    venue = _venue()
    venue.plan, venue.has_odds = plan, plan != "free"

    is_good, lines = await _probed(tmp_path, venue, CONFIG.replace(*changed, 1), answer)

    assert not is_good
    assert said in lines[-1]
    assert not [line for line in lines if "fb_live" in line]
