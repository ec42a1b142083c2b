"""The configuration of Azuro: what is refused, and what `check-config` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.service.describe import configuration_lines
from actors.service.settings import load
from tests.support.peers.azuro import CONFIG

SOURCE = 'kind = "azuro"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('key = "azuro"', 'key = "pool"', "bookmakers.azuro.key was 'pool', must be 'azuro'"),
        (SOURCE, f"{SOURCE}\nstale_after_s = 361", "stale_after_s was 361, must be at most 360"),
        (SOURCE, f"{SOURCE}\nfar_interval_s = 121", "stale_after_s was 363, must be at most 360"),
        (SOURCE, f'{SOURCE}\nenvironment = "a b"', "was 'a b', must be 1 to 32 letters and digits"),
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
    """Intervals, ages, and what the venue's documents do not say."""
    file = tmp_path / "oddsboard.toml"
    file.write_text(CONFIG, "utf-8")

    lines = [line.strip() for line in configuration_lines(file, load(file, {}))]

    assert "in play: every 3 s, stale after 9 s" in lines
    assert "near (2 h before a kick-off to 2.5 h after): every 10 s, stale after 30 s" in lines
    assert "at other hours: every 60 s, stale after 180 s" in lines
    assert "at most a request a second, 100 conditions a call; requests are not conditional" in lines
    assert "a condition may be replaced: each game's is looked for again every 600 s" in lines
