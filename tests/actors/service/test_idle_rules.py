"""`check-config` names the rules of alerts that never fire with the configured bookmakers."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.service.describe import configuration_lines
from actors.service.settings import load

LIVE = '[sources.world]\nkind = "simulated"\n'
COLLECTED = '[sources.csv]\nkind = "football_data"\nurl = "https://www.football-data.co.uk/fixtures.csv"\n'
WEEKLY = '[bookmakers.bet365]\nname = "Bet365"\nsource = "csv"\nkey = "B365"\n'
RECEIVER = '[receivers.phone]\nkind = "ntfy"\nurl = "https://ntfy.sh/topic"\n'
RULES = {
    "value": 'when = "value"\nmin_ev = 0.05',
    "reference": 'when = "value"\nmin_ev = 0.05\nreference = "b1"',
    "move": 'when = "move"\nmin_move = 2.5',
}


def _bookmaker(number: int, more: str = "") -> str:
    named = f'name = "B{number} (simulated)"\nsource = "world"\nkey = "standard-{number}"\n'
    return f"[bookmakers.b{number}]\n{named}{more}\n"


@pytest.mark.parametrize(
    ("bookmakers", "expected"),
    [
        (_bookmaker(2), {"value": "4 companies with live prices, there are 2", "move": "3 companies"}),
        (_bookmaker(2) + _bookmaker(3), {"value": "there are 3; name a reference"}),
        (_bookmaker(2) + _bookmaker(3) + _bookmaker(4, 'company = "b3"'), {"value": "there are 3"}),
        (_bookmaker(2) + _bookmaker(3) + COLLECTED + WEEKLY, {"value": "there are 3"}),
        (_bookmaker(2) + _bookmaker(3) + _bookmaker(4), {}),
    ],
)
def test_rules_without_a_consensus_are_named(
    tmp_path: Path, bookmakers: str, expected: dict[str, str]
) -> None:
    """Neither a second bookmaker of a company nor collected prices count; a reference needs no others."""
    file = tmp_path / "oddsboard.toml"
    rules = [f'[[alert]]\nname = "{name}"\nto = ["phone"]\n{keys}\n' for name, keys in RULES.items()]
    file.write_text("".join([LIVE, _bookmaker(1), bookmakers, RECEIVER, *rules]), "utf-8")
    found = [line for line in configuration_lines(file, load(file)) if "never fires" in line]

    assert len(expected) == len(found)
    for (name, said), line in zip(expected.items(), found, strict=True):
        assert line.startswith(f"warning: alert {name} never fires: it needs ")
        assert said in line
