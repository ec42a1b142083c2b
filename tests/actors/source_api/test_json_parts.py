"""Reading JSON part by part: one with half a character, or of enormous length, costs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.source_api.json_parts import MAX_ESCAPES, MAX_PART_BYTES, split, without_half_characters
from actors.source_api.parsing import read_each
from actors.sources.azuro.wire import read_conditions, read_games
from actors.sources.betfair.rest import read_names
from actors.sources.betfair.wire import UnreadChange, read_message
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.wire import ORDER_BOOK, elements
from actors.sources.the_odds_api.answers import read_odds
from tests.support.builders import betfair, polymarket, the_odds_api

ITEMS = 500
ODD = 250  # which of them has the odd text
TEXTS = msgspec.json.Decoder(list[msgspec.Raw])

Name = Callable[[int], str]
"""The text that an item has somewhere, by its number."""


def _read_odds(name: Name) -> int:
    events = [
        the_odds_api.event(
            str(i), name(i), "Away", {"a": [the_odds_api.market(name(i), "Away", (2, 3, 4))]}
        )
        for i in range(ITEMS)
    ]
    answer = run_now(read_odds(json.dumps(events).encode(), None))
    assert 1 == answer.unreadable
    return len(answer.offers["a"].matches)


def _read_games(name: Name) -> int:
    games = [
        {"gameId": str(i), "startsAt": "1", "state": "Prematch", "participants": [{"name": name(i)}]}
        for i in range(ITEMS)
    ]
    page = read_games(json.dumps({"games": games, "page": 1, "total": 1, "totalPages": 1}).encode())
    assert 1 == page.unread.count
    return len(page.games)


def _read_conditions(name: Name) -> int:
    conditions = [{"conditionId": name(i), "state": "Active", "outcomes": []} for i in range(ITEMS)]
    read = read_conditions(json.dumps({"conditions": conditions}).encode())
    assert 1 == read.unread.count
    return len(read.conditions)


def _read_markets(name: Name) -> int:
    event = polymarket.event_of("1", "Home", "Away", 1e9)
    markets = [polymarket.market_of(event, "home", groupItemTitle=name(i)) for i in range(ITEMS)]
    page = read_markets(json.dumps({"markets": markets}).encode())
    assert 1 == page.unread.count
    return len(page.markets)


def _read_books(name: Name) -> int:
    books = [{"asset_id": str(i), "asks": [], "timestamp": name(i)} for i in range(ITEMS)]
    read, unread = read_each(ORDER_BOOK, elements(json.dumps(books).encode(), "order books"))
    assert 1 == unread.count
    return len(read)


def _read_message(name: Name) -> int:
    markets = [betfair.market(str(i), marketTime=name(i)) for i in range(ITEMS)]
    message = run_now(read_message(betfair.line(betfair.image(*markets))))
    changes = message.mc or []
    assert [str(ODD)] == [change.id for change in changes if isinstance(change, UnreadChange)]
    return len(changes) - 1


def _read_names(name: Name) -> int:
    entries = [
        {"marketId": str(i), "runners": [{"selectionId": 1, "runnerName": name(i)}]} for i in range(ITEMS)
    ]
    return len(read_names(json.dumps({"result": entries}).encode()))


READERS = [
    _read_odds,
    _read_games,
    _read_conditions,
    _read_markets,
    _read_books,
    _read_message,
    _read_names,
]


@pytest.mark.parametrize(
    "odd", ["Home\ud83d", "\udc00", "x" * 2 * MAX_PART_BYTES], ids=["half", "low", "long"]
)
@pytest.mark.parametrize("read", READERS)
def test_an_odd_text_costs_its_own_part_alone(read: Callable[[Name], int], odd: str) -> None:
    """Of 500 parts 499 are read, whatever text one has (faults.md, B6)."""
    assert ITEMS - 1 == read(lambda number: odd if number == ODD else f"Home {number}")


HALF = st.sampled_from(["\ud83d", "\ude00"])
TEXT = st.lists(st.text(max_size=5) | st.sampled_from(["\\", "\\\\", "ud83d", "\U0001f600"]) | HALF).map(
    "".join
)


@given(st.lists(TEXT, max_size=8))
@example(
    ["\\ud83d", "\\\\\ud83d", "\U0001f600\ud83d", "\ud83d\ud83d\ude00", "\ude00\ud83d", "\\ud83d\ude00"]
)
def test_only_texts_with_half_a_character_fail(texts: list[str]) -> None:
    """All other texts are read as they were, also of two halves, or where an escape is a text itself."""
    read: list[str | None] = []
    for raw in split(TEXTS, json.dumps(texts).encode()):
        try:
            read.append(msgspec.json.decode(raw, type=str))
        except (msgspec.MsgspecError, ValueError):
            read.append(None)

    whole = [json.loads(json.dumps(text)) for text in texts]  # halves in a row become a character
    assert [None if any("\ud800" <= char <= "\udfff" for char in text) else text for text in whole] == read


def test_escapes_without_end_are_not_looked_at() -> None:
    """A document of halves alone is refused as a whole: looking at each would take half a second."""
    body = b'["%b"]' % (rb"\ud83d" * (MAX_ESCAPES + 1))

    with pytest.raises(msgspec.DecodeError):
        split(TEXTS, body)
    assert without_half_characters(body).count(b"\\u") == 1
