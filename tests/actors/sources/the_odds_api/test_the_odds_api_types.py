"""The Odds API: a field of another type, or that is there twice, is refused with its part alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from actors.core.messages import Extract
from actors.core.validation import Reason
from actors.sources.the_odds_api.kind import KIND
from tests.support.builders import reading
from tests.support.builders.the_odds_api import event, market, options_of

OPTIONS = options_of()
ODD: list[Any] = [3, 1.5, True, [], {}, ["2026-05-28T20:20:00Z"]]


def _match(match_id: str) -> Any:
    offer = market("Home", "Away", (2.1, 3.4, 3.6))
    return event(match_id, "Home", "Away", {"some": [offer], "other": [offer]})


def _read(change: Callable[[Any], None], key: str = "some") -> Extract:
    """Read an answer of two matches, of which the first is changed."""
    changed = json.loads(json.dumps(_match("m1")))
    change(changed)
    body = json.dumps([changed, _match("m2")]).encode()
    return reading.extracted(KIND, key, OPTIONS, body)


def _ids(extract: Extract) -> list[str]:
    return [match.source_match_id for match in extract.matches]


def _reasons(extract: Extract) -> dict[str, str]:
    return {removal.source_match_id: removal.reason for removal in extract.removals}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["commence_time", "sport_key", "sport_title", "home_team", "away_team"])
def test_field_of_a_match_costs_the_match(name: str, odd: Any) -> None:
    """A kick-off in Unix seconds is not an unknown kick-off: the match leaves, for all bookmakers."""
    for key in ("some", "other"):
        extract = _read(lambda found: found.update({name: odd}), key)

        assert (["m2"], {"m1": Reason.TYPE}) == (_ids(extract), _reasons(extract))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("is_of_market", [True, False])
def test_time_of_a_price_costs_the_price(odd: Any, *, is_of_market: bool) -> None:
    """How old it is cannot be known; the other bookmaker keeps its price of that match."""

    def change(found: Any) -> None:
        offered = found["bookmakers"][0]
        (offered["markets"][0] if is_of_market else offered)["last_update"] = odd

    extract = _read(change)

    assert (["m2"], {"m1": Reason.TYPE}) == (_ids(extract), _reasons(extract))
    assert ["m1", "m2"] == _ids(_read(change, "other"))


@pytest.mark.parametrize("markets", [3, {}, None, "x", [3], [{"key": 3}], [None, []]])
def test_market_that_cannot_be_read_costs_the_price(markets: Any) -> None:
    """It is counted: it may have been the one that is shown."""
    extract = _read(lambda found: found["bookmakers"][0].update(markets=markets))

    assert {"m1": Reason.TYPE} == _reasons(extract)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda found, name=name: found.update({name: None}) for name in ("commence_time", "sport_title")),
        lambda found: found["bookmakers"][0]["markets"].append({"key": 3}),
        lambda found: found.update(sid="x", link=None, id_s={"price": 3}),
        lambda found: found["bookmakers"][0].update(sid="x", id_s={"price": 3}),
        lambda found: found["bookmakers"][0]["markets"][0].update(sid="x", id_s={"price": 3}),
    ],
)
def test_unknown_field_or_null_costs_nothing(change: Callable[[Any], None]) -> None:
    """A field that may be missing may be null; another market may be of any shape."""
    extract = _read(change)

    assert ["m1", "m2"] == _ids(extract)
    assert [match.prices for match in extracted(answer()).matches] == [it.prices for it in extract.matches]


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda found: found["bookmakers"].append(3), 1),
        (lambda found: found["bookmakers"].extend([None, {"key": 7}, {}]), 3),
        (lambda found: found.update(bookmakers={}), 1),
    ],
)
def test_part_of_an_unknown_bookmaker_is_counted(change: Callable[[Any], None], lost: int) -> None:
    """By all of them, as a match without an id is."""
    assert {Reason.UNREADABLE: lost} == _read(change).passed_over


def answer() -> str:
    """Return an answer with two matches, with prices of two bookmakers."""
    offers = {key: [market("Home", "Away", (2.1, 3.4, 3.6))] for key in ("some", "other")}
    return json.dumps([event("m1", "Home", "Away", offers), event("m2", "Home", "Away", offers)])


def extracted(text: str, key: str = "some") -> Extract:
    """Read one bookmaker's part."""
    return reading.extracted(KIND, key, OPTIONS, text.encode())


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
