"""The targets of `scripts/fuzz`, briefly: a few hundred invented inputs each, the same ones every time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from actors.core.messages import Extract, Match
from scripts.fuzz_parsers import Total, table
from scripts.fuzz_worker import Done
from tests.support.builders.messages import match
from tests.support.fuzzing.mutation import MAX_BYTES, mutated
from tests.support.fuzzing.prices import InvalidPriceError, admitted, valid
from tests.support.fuzzing.targets import targets
from tests.support.systems.process import ran

WITHOUT_PRICES = {
    *("the_odds_api_sports", "the_odds_api_headers", "betfair_login", "settings"),
    *("request_head", "peers", "addresses", "http_date", "inflate"),
    *("links_file", "names", "fixture_query", "table_guess"),
    *("polymarket_sports", "polymarket_markets", "polymarket_lines", "azuro_games", "azuro_conditions"),
    *("five_dollar_pages", "five_dollar_account"),
}


NOT_THERE = """
import sys
sys.modules |= dict.fromkeys(("pytest", "hypothesis", "playwright"))
import scripts.fuzz_parsers
"""


def test_fuzzing_needs_no_tools_of_the_tests() -> None:
    """The environment for fuzzing has only the locked group `fuzz`."""
    code, _, err = ran("-c", NOT_THERE)

    assert (0, "") == (code, err)


@pytest.mark.parametrize("script", ["links_table", "damage_files football_data"])
def test_script_without_recordings_says_so_in_a_line(script: str, tmp_path: Path) -> None:
    """The line names the folder and the variable; there is no traceback."""
    folder = {"ODDSBOARD_RECORDINGS": str(tmp_path)}
    code, _, err = ran("-m", *f"scripts.{script}".split(), environment=folder)

    assert 2 == code
    assert f"no recordings in {tmp_path}, set ODDSBOARD_RECORDINGS to their folder" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", targets())
def test_invented_inputs_crash_no_parser(name: str, request: pytest.FixtureRequest) -> None:
    """A parser raises only its documented errors, and no price that may not be shown passes the gate."""
    target, random = targets()[name], Random(1)
    tokens, count = target.all_tokens, request.config.getoption("--fuzz-inputs")

    prices = sum(map(target.run, target.seeds))
    for _ in range(count):
        prices += target.run(mutated(random.choice(target.seeds), random, tokens))

    assert (name in WITHOUT_PRICES) == (prices == 0)


@pytest.mark.parametrize(
    "wrong",
    [
        match(prices=(1.0, 3.5, 4.0)),
        match(prices=(float("nan"), 3.5, 4.0)),
        match(prices=(9.0, 9.0, 9.0)),
        match("m 1"),
        match(home=" x"),
        match(away="e\u0301"),
        match(league="\u202ex"),
        match(start_time=0),
        match(source_time=float("inf")),
    ],
)
def test_what_may_not_be_shown_is_a_crash(wrong: Match) -> None:
    """A check behind the gate finds each fault that the gate should have found."""
    with pytest.raises(InvalidPriceError):
        valid([match("m0"), wrong])


def test_prices_behind_the_gate_are_counted() -> None:
    """A match counts three prices, and no match may be there twice."""
    with pytest.raises(InvalidPriceError, match="twice"):
        valid([match(), match()])
    assert admitted(None, Extract((match("m0"), match("m1")))) == 6


def test_changes_keep_an_input_short_and_are_the_same_for_a_seed() -> None:
    """The same seed repeats a crash in the quick test."""
    data = b'{"a":[1,2]}\n' * 9

    made = [
        [mutated(data, random, (b"x" * MAX_BYTES,)) for _ in range(50)] for random in (Random(1), Random(1))
    ]

    assert made[0] == made[1]
    assert len(set(made[0])) > 40
    assert max(map(len, made[0])) <= MAX_BYTES


def test_table_has_a_row_for_each_target_and_a_sum() -> None:
    """Runs of the same target are added up."""
    twice = Total().plus(Done(1000, 2.0, 3), 0).plus(Done(1000, 2.0, 3, 1), 1)

    assert [
        "| request_head | 1 | 1 | 0 | 0 | 0 |",
        "| peers | 2,000 | 500 | 1 | 6 | 1 |",
        "| all | 2,001 | 400 | 1 | 6 | 1 |",
    ] == list(table({"peers": twice, "request_head": Total(1, 1, 1.0)}))[2:]
