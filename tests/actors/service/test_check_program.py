"""The output of `check-program` for a program that follows the protocol, and for programs that do not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from actors.core.errors import ConfigError
from actors.service.trials.check_program import ProgramCheck
from tests.support.builders.programs import OPTIONS
from tests.support.systems.program_stage import PRELUDE

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]


async def _checked(folder: Path, text: str, for_s: float = 10.0, **options: Any) -> tuple[bool, list[str]]:
    script, lines = folder / "program.py", list[str]()
    script.write_text(PRELUDE + text, "utf-8")
    fields = {"kind": "program", "command": (sys.executable, "-S", str(script)), **options}
    check = ProgramCheck(type(OPTIONS)(**fields), for_s, lines.append)
    await check.run()
    return check.is_good, lines


async def test_it_says_what_would_be_shown_and_what_was_rejected(tmp_path: Path) -> None:
    """The output has each match, each rejected match with the reason, and the program's own remarks."""
    text = """
print("W! slow", file=sys.stderr, flush=True)
listed(item("1"), item("2", "0.5"))
time.sleep(60)
"""
    is_good, lines = await _checked(tmp_path, text, for_s=1.0)

    assert is_good
    assert ["says: W! slow"] == [line for line in lines if line.startswith("says")]
    assert [
        "rejected: epl 2 (price): the odds are 0.5, 3.4, 3.6, must be above 1",
        "lines 1, lists 1, rejected matches 1",
        "list epl would be shown, matches 1",
        "  1: Home 1 - Away 1, no league, no start: 2.1 3.4 3.6",
    ] == [line for line in lines if not line.startswith("says")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("listed(item())\nsys.exit(4)", "it ended with code 4"),
        ("subprocess.Popen(['sleep', '60'])\nlisted(item())\nsys.exit(4)", "it ended with code 4"),
        ("say('alive')\ntime.sleep(60)", "alive of list 'epl' came without a complete list"),
        ("listed(item())\ntime.sleep(60)", "no line for 0.5 s"),
        ("print('hello', flush=True)\ntime.sleep(60)", "a line is not JSON"),
    ],
)
async def test_it_says_why_a_program_would_be_ended(tmp_path: Path, text: str, why: str) -> None:
    """The output has the reason in the words that the service would use."""
    silence_s = 0.5 if "no line" in why else 5.0
    is_good, lines = await _checked(tmp_path, text, silence_s=silence_s)
    (ended,) = [line for line in lines if line.startswith("ended")]

    assert not is_good
    assert f"ended, and would be started again: {why}" in ended


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("listed(item('1', '2,10'), item('ü'))", "lines 1, lists 1, rejected matches 2"),
        ("listed()", "lines 1, lists 1, rejected matches 0"),
        ('say("withdraw", reason="the file is old")\n' * 2, "list epl is withdrawn: the file is old"),
        (
            'say("begin", id="1")\nsay("match", id="1", **item())',
            "list epl has begun and not ended: nothing of it would be shown",
        ),
        ("", "lines 0, lists 0, rejected matches 0"),
    ],
    ids=["rejected", "empty", "withdrawn", "unfinished", "silent"],
)
async def test_a_program_of_which_nothing_would_be_shown_is_not_good(
    tmp_path: Path, said: str, told: str
) -> None:
    """The check fails although the program's lines are valid; a repeated result is printed once."""
    is_good, lines = await _checked(tmp_path, f"{said}\ntime.sleep(60)", for_s=3.0)

    assert (False, 1) == (is_good, lines.count(told)), lines


@pytest.mark.parametrize("price", ["2,50", "nan", "1e3", "-2", None, True])
async def test_it_says_what_a_price_must_be(tmp_path: Path, price: Any) -> None:
    """The error uses the words of the protocol, not the words of the decoder."""
    _, lines = await _checked(tmp_path, f"listed(item('1', {price!r}))\nsys.exit(0)")

    assert (
        'rejected: epl 1 (price): each of one, draw and two in odds must be a number, or a text like "2.10"'
        in lines
    )


async def test_it_says_what_markets_would_be_shown_and_which_nobody_asks_for(tmp_path: Path) -> None:
    """Markets have their prices, a bad market what is allowed; kinds that are not read are counted."""
    markets = {
        "btts": {"yes": 1.8, "no": 2.0},
        "over_under:2.50": {"over": 1.9, "under": 1.9},
        "over_under:2.5": {"over": 1.9, "under": 1.9},
        "double_chance": {},
    }
    text = f"listed(item('1') | {{'markets': {markets!r}}})\ntime.sleep(60)"
    is_good, lines = await _checked(tmp_path, text, for_s=5.0, markets=("btts", "over_under"))
    bad = "rejected: epl without an id (unreadable)"

    assert is_good
    assert [
        f"{bad}: a market of match 1 was 'over_under:2.50', must be spelled over_under:2.5",
        "lines 1, lists 1, rejected matches 0, rejected markets 1",
        "markets that the table does not ask for (markets = [...]): double_chance 1",
        "list epl would be shown, matches 1, other markets 2",
        "  1: Home 1 - Away 1, no league, no start: 2.1 3.4 3.6",
        "  1 btts: Home 1 - Away 1, no league, no start: 1.8 2",
        "  1 over_under:2.5: Home 1 - Away 1, no league, no start: 1.9 1.9",
    ] == lines


def test_options_that_cannot_work_are_an_error() -> None:
    """One such option is a command that does not exist."""
    with pytest.raises(ConfigError, match="command was 'no-such-program', which is no program"):
        ProgramCheck(type(OPTIONS)(kind="program", command=("no-such-program",)), 1.0, print)
