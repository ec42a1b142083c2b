"""The configuration of 5DollarFootballAPI: what is refused, and what `check-config` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.service.describe import configuration_lines
from actors.service.settings import load
from tests.support.peers.five_dollar_football import CONFIG


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'key = "bet365"',
            'key = "Bet 365"',
            "key was 'Bet 365', must be a bookmaker of the API, like 'bet365'",
        ),
        (
            "api_key",
            'markets = ["double_chance"]\napi_key',
            "must be among 1x2, asian_handicap, over_under, btts",
        ),
        ("api_key", "leagues = []\napi_key", "leagues"),
        ("api_key", "days_ahead = 15\napi_key", "days_ahead was 15"),
        ("api_key", "requests_per_minute = 0\napi_key", "requests_per_minute was 0"),
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


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("", "takes 7.2 of your 8 requests a minute: each list in play every 20 s, near every 20 s"),
        (
            "requests_per_minute = 1",
            "takes 0.8 of your 0.8 requests a minute: each list in play every 180 s",
        ),
        ("leagues = [39]\nrequests_per_minute = 40", "takes 6.3 of your 32 requests a minute"),
    ],
)
def test_check_config_prints_the_share_of_the_rate(tmp_path: Path, option: str, said: str) -> None:
    """Where the rate does not do, all intervals are longer."""
    file = tmp_path / "oddsboard.toml"
    file.write_text(CONFIG.replace("api_key", f"{option}\napi_key", 1), "utf-8")

    assert said in "\n".join(configuration_lines(file, load(file, {})))
