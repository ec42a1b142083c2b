"""The Odds API: 10,000 damaged parts of recorded answers show no price in a wrong place."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from actors.core.cooperative import run_now
from actors.core.messages import Extract
from actors.core.validation import Reason
from actors.sources.the_odds_api.answers import read_odds
from actors.sources.the_odds_api.kind import KIND
from tests.support.builders.damage_the_odds_api import KINDS, trial
from tests.support.builders.damage_the_odds_api import OPTIONS as MARKETS
from tests.support.builders.the_odds_api import event, market, options_of

OPTIONS = options_of()

HARMLESS = {"merge parts", "remove a field", "remove a part", "reorder"}
"""Kinds of damage that may remove something without a reason, or nothing."""


@pytest.mark.recordings
@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_damage_never_moves_a_price(kind: str, count: int) -> None:
    """A price with missing, doubled, retyped, renamed or merged parts is rejected or as it was."""
    numbers = range(count // len(KINDS) + 1)

    assert [] == [text for number in numbers for text in trial(Random(f"{kind} {number}"), kind).wrong]


@pytest.mark.recordings
def test_trials_show_and_reject_something() -> None:
    """Every kind has shown prices, and every harmful kind has rejected ones."""
    made = [trial(Random(f"{number}"), kind) for kind in KINDS for number in range(50)]
    rejected = {
        attempt.kind for attempt in made if sum(attempt.rejected.values()) > attempt.rejected["lay"]
    }

    assert set(KINDS) == {attempt.kind for attempt in made if attempt.accepted}
    assert set(KINDS) - HARMLESS <= rejected
    assert {*MARKETS.kinds} == {kind for attempt in made for kind in attempt.kinds}


def answer() -> str:
    """Return an answer with two matches, with prices of two bookmakers."""
    offers = {key: [market("Home", "Away", (2.1, 3.4, 3.6))] for key in ("some", "other")}
    return json.dumps([event("m1", "Home", "Away", offers), event("m2", "Home", "Away", offers)])


def extracted(text: str, key: str = "some") -> Extract:
    """Read one bookmaker's part."""
    return run_now(KIND.extract(run_now(read_odds(text.encode(), None)), key, OPTIONS))


def shown(text: str, key: str = "some") -> list[str]:
    """Return the ids of the matches for which one bookmaker has prices in an answer."""
    return [match.source_match_id for match in extracted(text, key).matches]


def test_part_with_a_repeated_field_is_left_out() -> None:
    """Which value is right is unknown, even if they are equal; the other parts of the answer are read."""
    for is_first in [True, False]:
        for field, others in [
            ('"price": 2.1', ["m1", "m2"]),
            ('"name": "Home"', ["m1", "m2"]),
            ('"outcomes": []', ["m1", "m2"]),
            ('"key": "h2h"', ["m1", "m2"]),
            ('"last_update": "2026-05-28T20:20:00Z"', ["m1", "m2"]),
            ('"key": "other"', ["m1", "m2"]),
            ('"markets": []', ["m1", "m2"]),
            ('"title": "Other"', ["m1", "m2"]),
            ('"id": "m3"', ["m2"]),
            ('"home_team": "Home"', ["m2"]),
            ('"commence_time": "2026-05-31T14:00:00Z"', ["m2"]),
            ('"bookmakers": []', ["m2"]),
        ]:
            name = '"key": "some"' if field == '"key": "other"' else field
            at = answer().index(name if name.startswith('"key"') else name.partition(" ")[0])
            begin = answer().rindex("{", 0, at) + 1 if is_first else at
            if not is_first and answer()[begin - 1] == "{":
                begin = answer().index(", ", at) + 2
            text = f"{answer()[:begin]}{field}, {answer()[begin:]}"

            assert (["m2"], others) == (shown(text), shown(text, "other")), (is_first, field)


def twice(**changes: Any) -> str:
    """Return an answer with the first bookmaker's part of the first match twice, the copy with changes."""
    content = json.loads(answer())
    first = content[0]["bookmakers"][0]
    content[0]["bookmakers"].append({**first, **changes})
    return json.dumps(content)


@pytest.mark.parametrize("prices", [(2.1, 3.4, 3.6), (2.2, 3.3, 3.5)])
def test_bookmaker_twice_in_a_match_is_rejected(prices: tuple[float, ...]) -> None:
    """Which of the offers is right is unknown: it is rejected once, and other bookmakers are shown."""
    text = twice(markets=[market("Home", "Away", prices)])

    assert (["m2"], ["m1", "m2"]) == (shown(text), shown(text, "other"))
    assert [("m1", Reason.DUPLICATE)] == [
        (removal.source_match_id, removal.reason) for removal in extracted(text).removals
    ]


def test_match_twice_in_an_answer_is_rejected() -> None:
    """A match that occurs twice is rejected for all bookmakers."""
    content = json.loads(answer())
    text = json.dumps([*content, content[0]])

    assert (["m2"], ["m2"]) == (shown(text), shown(text, "other"))


def test_unknown_field_has_no_effect() -> None:
    """The answer is read by a slower path, with the same result."""
    content = json.loads(answer())
    for table in (content[0], content[0]["bookmakers"][0], content[1]["bookmakers"][0]["markets"][0]):
        table |= {"sid": "x", "link": None, "id_s": {"price": 3}}

    assert extracted(answer()) == extracted(json.dumps(content))
