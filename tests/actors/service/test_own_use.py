"""`check-config` says that prices are for the operator's own use where others can reach the board."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.service.describe import configuration_lines
from actors.service.settings import load

REAL = """
[sources.csv]
kind = "football_data"
url = "https://www.football-data.co.uk/fixtures.csv"
[bookmakers.bet365]
name = "Bet365"
source = "csv"
key = "B365"
"""
INVENTED = """
[sources.world]
kind = "simulated"
[bookmakers.alder]
name = "Alder (simulated)"
source = "world"
key = "standard"
"""


def _reminders(folder: Path, bind: str, sources: str) -> list[str]:
    file = folder / "oddsboard.toml"
    file.write_text(f'[server]\nbind = "{bind}"\n{sources}', "utf-8")
    return [line for line in configuration_lines(file, load(file)) if "for your own use" in line]


@pytest.mark.parametrize("bind", ["0.0.0.0:8000", "[::]:8000", "192.0.2.1:8000", "board.example:8000"])
def test_where_others_reach_the_board_the_sources_are_named(tmp_path: Path, bind: str) -> None:
    """The line names each source but the simulated ones, and where to read on."""
    (line,) = _reminders(tmp_path, bind, REAL + INVENTED)

    assert line == (
        f"warning: others can reach {bind}; unless their terms say more,"
        " the prices of csv are for your own use (docs/sources.md)"
    )


@pytest.mark.parametrize(
    "bind", ["127.0.0.1:8000", "127.8.8.8:0", "[::1]:8000", "localhost:80", "unix:/run/a"]
)
def test_on_this_machine_alone_nothing_is_said(tmp_path: Path, bind: str) -> None:
    """Loopback addresses and Unix sockets are for this machine; a proxy has its own rules."""
    assert [] == _reminders(tmp_path, bind, REAL)


def test_invented_prices_are_for_everybody(tmp_path: Path) -> None:
    """A board of simulated bookmakers needs no terms."""
    assert [] == _reminders(tmp_path, "0.0.0.0:8000", INVENTED)
