"""The configuration of venues: values that are refused, and the output of `check-config`."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.service.describe import configuration_lines
from actors.service.settings import load
from tests.support.peers import azuro, five_dollar_football, polymarket

TEXTS = {
    "azuro": azuro.CONFIG,
    "polymarket": polymarket.CONFIG,
    "five_dollar_football": five_dollar_football.CONFIG,
}


def _file(folder: Path, kind: str, old: str, new: str) -> Path:
    """Write the configuration of a venue with `new` in place of `old`, or with `new` as options."""
    file, first = folder / "oddsboard.toml", f'kind = "{kind}"'
    assert old in TEXTS[kind]
    file.write_text(TEXTS[kind].replace(old or first, new if old else f"{first}\n{new}", 1), "utf-8")
    return file


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("azuro", 'key = "azuro"', 'key = "pool"', "bookmakers.azuro.key was 'pool', must be 'azuro'"),
        ("azuro", "", "stale_after_s = 361", "stale_after_s was 361, must be at most 360"),
        ("azuro", "", "far_interval_s = 121", "stale_after_s was 363, must be at most 360"),
        ("azuro", "", 'environment = "a b"', "was 'a b', must be 1 to 32 letters and digits"),
        (
            "polymarket",
            'key = "polymarket"',
            'key = "yes"',
            "key was 'yes', must be 'polymarket'",
        ),
        (
            "polymarket",
            *('key = "polymarket"', 'key = "polymarket"\ncommission = 0.02'),
            "bookmakers.polymarket.commission was 0.02, must be",
        ),
        ("polymarket", "", "stale_after_s = 301", "stale_after_s was 301, must be at most 300"),
        ("polymarket", "", "far_interval_s = 301", "far_interval_s was 301, must be at most 300"),
        ("polymarket", "", "leagues = []", "sources.polymarket.leagues"),
        ("polymarket", "", 'leagues = "tennis"', "sources.polymarket.leagues"),
        ("polymarket", "", "min_stake = 0", "sources.polymarket.min_stake"),
        ("polymarket", "http://clob.example", "file:///etc/passwd", "sources.polymarket.prices_url"),
        ("polymarket", "", 'user_agent = "a\\nb"', "sources.polymarket.user_agent"),
        (
            "polymarket",
            "",
            'markets = ["double_chance"]',
            "markets was double_chance, must be among",
        ),
        (
            "five_dollar_football",
            *('key = "bet365"', 'key = "Bet 365"'),
            "key was 'Bet 365', must be a bookmaker of the API, like 'bet365'",
        ),
        (
            "five_dollar_football",
            "",
            'markets = ["double_chance"]',
            "among 1x2, asian_handicap, over",
        ),
        ("five_dollar_football", "", "leagues = []", "leagues"),
        ("five_dollar_football", "", "days_ahead = 15", "days_ahead was 15"),
        ("five_dollar_football", "", "requests_per_minute = 0", "requests_per_minute was 0"),
    ],
)
def test_configuration_that_cannot_work_is_refused(
    tmp_path: Path, kind: str, old: str, new: str, message: str
) -> None:
    """The error names key, value and what is allowed."""
    file = _file(tmp_path, kind, old, new)

    with pytest.raises(ConfigError, match=message):
        load(file, {})


OF_FIVE = "requests a minute: each list in play every"


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (
            "azuro",
            "",
            [
                "in play: every 3 s, stale after 9 s",
                "near (2 h before a kick-off to 2.5 h after): every 10 s, stale after 30 s",
                "at other hours: every 60 s, stale after 180 s",
                "at most a request a second, 100 conditions a call; requests are not conditional",
                "a condition may be replaced: each game's is looked for again every 600 s",
            ],
        ),
        (
            "polymarket",
            'leagues = ["epl"]\nafter_fees = true',
            [
                "leagues: epl; prices after the taker's fee, for a stake of at least 10 USD",
                "near (2 h before a kick-off to 2.5 h after): every 5 s, stale after 15 s",
                "at other hours: every 30 s, stale after 90 s",
                "at most 99 tokens a call for books, and 100 markets a page",
            ],
        ),
        ("polymarket", 'markets = ["1x2", "btts"]', ["markets: 1x2, btts"]),
        ("five_dollar_football", "", [f"takes 7.2 of your 8 {OF_FIVE} 20 s, near every 20 s"]),
        ("five_dollar_football", "requests_per_minute = 1", [f"takes 0.8 of your 0.8 {OF_FIVE} 180 s"]),
        (
            "five_dollar_football",
            "leagues = [39]\nrequests_per_minute = 40",
            ["takes 6.3 of your 32 requests a minute"],
        ),
    ],
)
def test_check_config_prints_the_plan_and_what_is_assumed(
    tmp_path: Path, kind: str, options: str, said: list[str]
) -> None:
    """The output has intervals, ages, fees, the share of a rate, and gaps in the venue's documents."""
    file = _file(tmp_path, kind, "", options)
    text = "\n".join(configuration_lines(file, load(file, {})))

    assert [] == [line for line in said if line not in text]
    assert ("each type" in text) == ("markets" in options)
