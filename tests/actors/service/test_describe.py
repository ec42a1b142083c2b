"""`check-config` on a configuration that is valid: its warnings, and the secrets that it never prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from actors.service.describe import configuration_lines
from actors.service.settings import load
from actors.sources.the_odds_api.kind import KIND
from tests.support.builders.the_odds_api import API_KEY, config
from tests.support.systems.virtual_service import CONFIG

REAL = """
[sources.csv]
kind = "football_data"
url = "https://www.football-data.co.uk/fixtures.csv"
[bookmakers.bet365]
name = "Bet365"
source = "csv"
key = "B365"
"""
WORLD = '[sources.world]\nkind = "simulated"\n'
RULES = {
    "value": 'when = "value"\nmin_ev = 0.05',
    "reference": 'when = "value"\nmin_ev = 0.05\nreference = "b1"',
    "move": 'when = "move"\nmin_move = 2.5',
}
RECEIVERS = """
[receivers.team]
kind = "slack"
url = "${TEAM_URL}"
[receivers.script]
kind = "exec"
command = ["sh", "-c", "cat > $HOME"]
"""
TEAM_URL = "https://me:PASSWORD@h.example/services/TOKEN-OF-THE-TEAM?k=0123456789abcdef"
UNKNOWN = "warning: bookmakers.pinacle.key was 'pinacle', which the_odds_api is not known to have"


def _lines(folder: Path, text: str, environment: Mapping[str, str] = {}) -> list[str]:
    file = folder / "oddsboard.toml"
    file.write_text(text, "utf-8")
    return [*configuration_lines(file, load(file, environment))]


def _bookmaker(number: int, more: str = "") -> str:
    named = f'name = "B{number} (simulated)"\nsource = "world"\nkey = "standard-{number}"\n'
    return f"[bookmakers.b{number}]\n{named}{more}\n"


@pytest.mark.parametrize(
    ("bind", "sources", "is_told"),
    [
        *((bind, REAL + WORLD + _bookmaker(1), True) for bind in ("0.0.0.0:8000", "[::]:8000")),
        *((bind, REAL + WORLD + _bookmaker(1), True) for bind in ("192.0.2.1:8000", "board.example:8000")),
        *((bind, REAL, False) for bind in ("127.0.0.1:8000", "127.8.8.8:0", "[::1]:8000")),
        *((bind, REAL, False) for bind in ("localhost:80", "unix:/run/a")),
        ("0.0.0.0:8000", WORLD + _bookmaker(1), False),
    ],
)
def test_where_others_reach_the_board_the_sources_are_named(
    tmp_path: Path, bind: str, sources: str, *, is_told: bool
) -> None:
    """A warning names all real sources, if the address can be reached from outside this machine."""
    told = (
        f"warning: others can reach {bind}; unless their terms say more,"
        " the prices of csv are for your own use (docs/sources.md)"
    )
    lines = _lines(tmp_path, f'[server]\nbind = "{bind}"\n{sources}')

    assert [told] * is_told == [line for line in lines if "for your own use" in line]


@pytest.mark.parametrize(
    ("bookmakers", "expected"),
    [
        (_bookmaker(2), {"value": "4 companies with live prices, there are 2", "move": "3 companies"}),
        (_bookmaker(2) + _bookmaker(3), {"value": "there are 3; name a reference"}),
        (_bookmaker(2) + _bookmaker(3) + _bookmaker(4, 'company = "b3"'), {"value": "there are 3"}),
        (_bookmaker(2) + _bookmaker(3) + REAL, {"value": "there are 3"}),
        (_bookmaker(2) + _bookmaker(3) + _bookmaker(4), {}),
    ],
)
def test_rules_without_a_consensus_are_named(
    tmp_path: Path, bookmakers: str, expected: dict[str, str]
) -> None:
    """A company's second bookmaker and collected prices do not count; a reference needs no others."""
    receiver = '[receivers.phone]\nkind = "ntfy"\nurl = "https://ntfy.sh/topic"\n'
    rules = [f'[[alert]]\nname = "{name}"\nto = ["phone"]\n{keys}\n' for name, keys in RULES.items()]
    lines = _lines(tmp_path, "".join([WORLD, _bookmaker(1), bookmakers, receiver, *rules]))
    found = [line for line in lines if "never fires" in line]

    assert len(expected) == len(found)
    for (name, said), line in zip(expected.items(), found, strict=True):
        assert line.startswith(f"warning: alert {name} never fires: it needs ")
        assert said in line


@pytest.mark.parametrize(("other", "near"), [("unibet_fr", "; did you mean 'pinnacle'?"), ("pinnacle", "")])
def test_unknown_key_and_cost_are_warned_of(tmp_path: Path, other: str, near: str) -> None:
    """The warnings have the nearest key that no other bookmaker has, and the credits of a day."""
    lines = _lines(tmp_path, config(["soccer_epl"], ["pinacle", other], poll_interval_s=20.0))

    assert [
        "  warning: no credits_per_day: 4,320 credits a day; a free key has 500 a month",
        f"{UNKNOWN}{near}",
    ] == [line for line in lines if "warning: " in line]
    assert API_KEY not in "".join(lines)


def test_keys_of_2026_are_known() -> None:
    """The check warns of keys that the API no longer has."""
    assert {"betclic_fr", "unibet_nl", "unibet_se", "unibet_uk", "betfred_uk"} <= {*KIND.known_keys}
    assert {"betclic", "unibet_eu", "livescorebet_eu"}.isdisjoint(KIND.known_keys)


def test_no_part_of_a_receivers_address_is_shown(tmp_path: Path) -> None:
    """Addresses and keys of receivers are among the secrets."""
    environment = {"TEAM_URL": TEAM_URL, "PATH": "/bin"}
    lines = _lines(tmp_path, CONFIG + RECEIVERS, environment)
    hidden = {"PASSWORD", "TOKEN-OF-THE-TEAM", "k=0123456789abcdef", TEAM_URL}

    assert hidden <= {*load(tmp_path / "oddsboard.toml", environment).secrets()}
    assert "receiver team: slack, 10 s" in lines
    assert "  bookmaker alder: Alder (key sharp)" in lines
    assert [] == [(line, secret) for line in lines for secret in hidden if secret in line]
