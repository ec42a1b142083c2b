"""Checks of a rule as a whole, not of single keys, and the sentence that describes each rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.alerts.rules.rule import RULES, Rule, faults, sentence
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.service.settings import load

SMALLEST = """
[sources.one]
kind = "simulated"
[bookmakers.bet]
name = "Bet"
source = "one"
key = "sharp"
[receivers.x]
kind = "ntfy"
url = "https://ntfy.example/odds"
"""
BOOKMAKERS = BookmakerId("bet"), BookmakerId("alder")


def _rule(when: str, **keys: Any) -> Rule:
    made: Any = msgspec.convert({"name": "a", "to": ["phone"], "when": when, **keys}, RULES[when])
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (_rule("price"), "above is missing, must be given, or below, but not both"),
        (
            _rule("price", above=2.5, below=2),
            "above was 2.5 beside below = 2, must be given, or below, but not both",
        ),
        (
            _rule("price", above=2.5, hysteresis=2),
            "hysteresis was 2, must be below 1.5: no price is 1 or less",
        ),
        (
            _rule("price", above=2.5, bookmaker="bett"),
            "bookmaker was 'bett', must be one of bet, alder; did you mean 'bet'?",
        ),
        (_rule("price", above=2.5, outcome="over"), "outcome was 'over', must be one of 1, X, 2"),
        (
            _rule("surebet", market="over_under:2.4"),
            (
                "market the line of over_under was 2.4, must be a multiple of 0.25 from 0.25 to 20;"
                " a kind alone means each of its lines"
            ),
        ),
        (_rule("move", min_move=2, hysteresis=3), "hysteresis was 3, must be at most min_move (2)"),
        (_rule("value", min_ev=0.02, reference="x"), "reference was 'x', must be one of bet, alder"),
        (_rule("source", source="two"), "source was 'two', must be one of one"),
    ],
)
def test_a_fault_says_what_was_found_and_what_is_allowed(rule: Rule, said: str) -> None:
    """Each fault begins with the name of the key."""
    assert [said] == [*faults(rule, BOOKMAKERS, ["one"])]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            _rule(
                "price", above=2.5, outcome="1", bookmaker="bet", team="Arsenal", in_play=False, for_s=10
            ),
            (
                "alert a: tells phone when a price of 1 in 1x2 at bet reaches 2.5, in matches of Arsenal"
                " before the kick-off, and that holds for 10 s, and again only after it was below 2.475"
            ),
        ),
        (
            _rule("move", min_move=2.5, window_s=30, league="Premier League", cooldown_s=600),
            (
                "alert a: tells phone when the fair probability of any outcome in 1x2 moves by 2.5"
                " percentage points within 30 s, in matches in Premier League, but at most once in 600 s"
                " about the same outcome"
            ),
        ),
        (
            _rule("surebet", market="over_under", to=["phone", "desk"]),
            (
                "alert a: tells phone and desk when a surebet in over_under gains 0 % or more, and again"
                " only after it was gone"
            ),
        ),
        (
            _rule("value", min_ev=0.02, reference="bet"),
            (
                "alert a: tells phone when a price of any outcome in 1x2 has an expected value of 2 %"
                " or more against bet, and again only after it was below 1.8 %"
            ),
        ),
        (_rule("kickoff", before_s=600), "alert a: tells phone when a match begins in 600 s"),
        (
            _rule("source", for_s=60),
            "alert a: tells phone when a source fails or loses prices, and that holds for 60 s",
        ),
        (_rule("link"), "alert a: tells phone when the file of links cannot be used"),
    ],
)
def test_each_rule_is_a_sentence(rule: Rule, said: str) -> None:
    """The sentence shows an operator how the rule was understood."""
    assert [] == [*faults(rule, BOOKMAKERS, ["one"])]
    assert said == sentence(rule)


def test_every_fault_of_the_rules_of_a_file_is_found_at_once(tmp_path: Path) -> None:
    """Each fault names the rule or its number, the key, the value found and the allowed values."""
    config = tmp_path / "oddsboard.toml"
    rules = (
        '[[alert]]\nname = "a"\nwhen = "prize"\n',
        '[[alert]]\nwhen = "price"\nname = "b"\nto = []\nabov = 2.5\n',
        '[[alert]]\nname = "c"\nwhen = "kickoff"\nto = ["x"]\nbefore_s = 60\n' * 2,
        '[[alert]]\nto = ["x"]\n',
        '[[alert]]\nname = "twice"\nwhen = "link"\nto = ["x", "x"]\n',
        '[[alert]]\nname = "d"\nwhen = "kickoff"\nbefore_s = 60\nto = ["x"]\nteam = "${TEAM}"\n',
    )
    config.write_text(SMALLEST + "".join(rules), "utf-8")

    with pytest.raises(ConfigError) as refused:
        load(config, {})

    told = [line.removeprefix(f"{config}: ") for line in str(refused.value).splitlines()]
    assert [line.split(",")[0] for line in told] == [
        "alert.team refers to ${TEAM}",
        "alert.a.when was 'prize'",
        "alert.b.to was []",
        "alert.b.abov is not an option",
        "alert 5.when is missing",
        "alert.twice.to was ['x'",
        "alert.c stands 2 times",
    ]
