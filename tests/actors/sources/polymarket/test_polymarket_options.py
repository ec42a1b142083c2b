"""The configuration of Polymarket: what is refused, what `check-config` says, and what options change."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.service.describe import configuration_lines
from actors.service.settings import load
from tests.support.peers.polymarket import CONFIG, Polymarket
from tests.support.peers.web import Web
from tests.support.systems.virtual_service import configured, pass_to
from tests.support.time.virtual import WALL_0

SOURCE, BOOKMAKER = 'kind = "polymarket"', 'key = "polymarket"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            BOOKMAKER,
            f"{BOOKMAKER}\ncommission = 0.02",
            "bookmakers.polymarket.commission was 0.02, must be",
        ),
        (BOOKMAKER, 'key = "yes"', "bookmakers.polymarket.key was 'yes', must be 'polymarket'"),
        (SOURCE, f"{SOURCE}\nstale_after_s = 301", "stale_after_s was 301, must be at most 300"),
        (SOURCE, f"{SOURCE}\nfar_interval_s = 301", "far_interval_s was 301, must be at most 300"),
        (SOURCE, f"{SOURCE}\nleagues = []", "sources.polymarket.leagues"),
        (SOURCE, f'{SOURCE}\nleagues = "tennis"', "sources.polymarket.leagues"),
        (SOURCE, f"{SOURCE}\nmin_stake = 0", "sources.polymarket.min_stake"),
        ("http://clob.example", "file:///etc/passwd", "sources.polymarket.prices_url"),
        (SOURCE, f'{SOURCE}\nuser_agent = "a\\nb"', "sources.polymarket.user_agent"),
    ],
)
def test_configuration_that_cannot_work_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The error names key, value and what is allowed."""
    file = tmp_path / "oddsboard.toml"
    file.write_text(CONFIG.replace(old, new, 1), "utf-8")

    with pytest.raises(ConfigError, match=message):
        load(file, {})


def test_check_config_prints_the_plan_and_what_is_assumed(tmp_path: Path) -> None:
    """Intervals, ages, fees, the least stake, and what no recording shows."""
    file = tmp_path / "oddsboard.toml"
    file.write_text(CONFIG.replace(SOURCE, f'{SOURCE}\nleagues = ["epl"]\nafter_fees = true', 1), "utf-8")

    lines = [line.strip() for line in configuration_lines(file, load(file, {}))]

    assert "leagues: epl; prices after the taker's fee, for a stake of at least 10 USD" in lines
    assert "near (2 h before a kick-off to 2.5 h after): every 5 s, stale after 15 s" in lines
    assert "at other hours: every 30 s, stale after 90 s" in lines
    assert "at most 99 tokens a call for books, and 100 markets a page" in lines


@pytest.mark.anyio
async def test_prices_after_fees_are_shown_if_wanted(tmp_path: Path) -> None:
    """0.5 with a fee of 3 % of p (1 - p) is 1.9704."""
    venue = Polymarket()
    venue.add("101", start=WALL_0 + 3600)
    text = CONFIG.replace(SOURCE, f"{SOURCE}\nafter_fees = true", 1)
    async with configured(tmp_path, text, web=Web(venue.answer)) as service:
        await pass_to(5.0)
        (shown,) = await service.shown("polymarket")

    assert {"1": 1.9704, "X": 3.4959, "2": 3.9119} == shown["odds"]
