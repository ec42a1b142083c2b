"""Reading JSON part by part: odd texts, whole numbers with a point, and times."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.source_api.json_parts import MAX_ESCAPES, MAX_PART_BYTES, split, without_half_characters
from actors.source_api.parsing import read_each, unix_time
from actors.sources.azuro.wire import read_conditions, read_games
from actors.sources.betfair.rest import read_names
from actors.sources.betfair.wire import UnreadChange, read_message
from actors.sources.polymarket.catalogue import read_markets, read_sports
from actors.sources.polymarket.listing import League, ListedMatch, read_listing
from actors.sources.polymarket.wire import ORDER_BOOK, elements
from actors.sources.the_odds_api.answers import read_odds
from tests.support.builders import betfair, polymarket, the_odds_api
from tests.support.builders.betfair import HOME, PRICES, change, delta, heartbeat, image, line, market
from tests.support.systems.betfair_board import Follower
from tests.support.time.virtual import WALL_0

ITEMS = 500
ODD = 250  # the number of the item that has the odd text
TEXTS = msgspec.json.Decoder(list[msgspec.Raw])

Name = Callable[[int], str]
"""A function from the number of an item to a text that the item has somewhere."""


def _read_odds(name: Name) -> int:
    events = [
        the_odds_api.event(
            name(i), name(i), "Away", {"a": [the_odds_api.market(name(i), "Away", (2, 3, 4))]}
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
    "odd", ["Home\ud83d", "\udc00", "x" * 2 * MAX_PART_BYTES, 3], ids=["half", "low", "long", "no text"]
)
@pytest.mark.parametrize("read", READERS)
def test_an_odd_text_costs_its_own_part_alone(read: Callable[[Name], int], odd: Any) -> None:
    """Of 500 parts 499 are read, whatever the value of the odd part is (faults.md, B6)."""
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
    """Other texts are read unchanged, also two halves in a row, and a text that looks like an escape."""
    read: list[str | None] = []
    for raw in split(TEXTS, json.dumps(texts).encode()):
        try:
            read.append(msgspec.json.decode(raw, type=str))
        except (msgspec.MsgspecError, ValueError):
            read.append(None)

    whole = [json.loads(json.dumps(text)) for text in texts]  # two halves in a row become a character
    assert [None if any("\ud800" <= char <= "\udfff" for char in text) else text for text in whole] == read


def test_escapes_without_end_are_not_looked_at() -> None:
    """A document of many halves is refused as a whole: a look at each half would take half a second."""
    body = b'["%b"]' % (rb"\ud83d" * (MAX_ESCAPES + 1))

    with pytest.raises(msgspec.DecodeError):
        split(TEXTS, body)
    assert without_half_characters(body).count(b"\\u") == 1


OTHER = (2.1, 3.4, 3.9)


def _with_points(value: Any) -> Any:
    """Return the value with each whole number as many programs write it: 1 as 1.0."""
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case dict():
            return {name: _with_points(content) for name, content in value.items()}
        case list():
            return [*map(_with_points, value)]
        case _:
            return value


def test_messages_of_the_exchange_are_read() -> None:
    """The messages are an image, a change, a heartbeat and the server's own delay."""
    follower = Follower()
    follower.connect()
    moved = change("1.1", {"id": HOME, "batb": [[0, 2, 5]]}, {"id": HOME, "batb": [[0, 2.2, 5]]})
    for message in (
        image(market("1.1", version=5), market("1.2", eventTypeId=1), conflateMs=180_000, heartbeatMs=5000),
        delta(moved, market("1.2", OTHER, version=4)),
        delta(market("1.1", OTHER, version=4)),
        heartbeat(status=200),
    ):
        follower.take(line(_with_points(message)))

    assert {"1.1": (2.2, *PRICES[1:]), "1.2": OTHER} == follower.shown()
    assert (180.0, {}) == (follower.session.delay_s, follower.rejected)
    assert follower.take(line(delta(status=503.0))).reaction.withdraw  # 503 as a float is late, too


@pytest.mark.parametrize("field", ["conflateMs", "heartbeatMs", "id", "status"])
def test_a_part_of_a_number_is_none(field: str) -> None:
    """A fraction is refused in a field that counts whole things."""
    follower = Follower()
    follower.connect()

    with pytest.raises(PayloadError):
        follower.take(line(image(market("1.1"), **{field: 500.5})))


@pytest.mark.parametrize(
    "odd", [{"id": HOME + 0.5, "batb": [[0, 2, 5]]}, {"id": HOME, "batb": [[0.5, 2, 5]]}], ids=str
)
def test_a_part_of_a_level_costs_its_market(odd: dict[str, Any]) -> None:
    """A level or runner with a fraction is unreadable, and the other markets are shown."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), change("1.2", odd, img=True))))

    assert ({"1.1": PRICES}, {"unreadable": 1}) == (follower.shown(), follower.rejected)


def test_names_and_pages_are_read() -> None:
    """Runners are found by their numbers, and a page of games has its number and the number of pages."""
    answer = betfair.catalogue("1.1")
    page = read_games(b'{"games":[],"page":2.0,"total":101.0,"totalPages":2e0}')

    assert read_names(answer) == read_names(json.dumps(_with_points(json.loads(answer))).encode())
    assert (2, 101, 2) == (page.page, page.total, page.total_pages)


def test_leagues_and_markets_are_read() -> None:
    """The league's own tag is read, and the role of a question from its number alone."""
    rows = [
        polymarket.league_row(tags=f"82,83,{polymarket.FOOTBALL}", primaryTagId=83.0),
        polymarket.league_row("other", tags="90"),
    ]
    event = polymarket.event_of("7", "Home", "Away", WALL_0)
    asked = [
        polymarket.market_of(event, role, groupItemThreshold=float(number), marketMetadata=None)
        for number, role in enumerate(polymarket.ROLES)
    ]
    (league,) = read_sports(json.dumps(rows).encode()).leagues
    markets = read_markets(json.dumps({"markets": asked}).encode()).markets
    (listed,) = read_listing(markets, League("epl", "League", "83", is_home_first=False)).values()

    assert "83" == league.tag
    assert isinstance(listed, ListedMatch)


def test_times_are_parsed() -> None:
    """A time with a zone is parsed, and a time without a zone is refused."""
    for text, seconds in [
        ("2026-06-01T15:00:00.000Z", 1_780_326_000),
        ("2026-06-01T15:00:00Z", 1_780_326_000),
        ("2026-06-01T17:00:00+02:00", 1_780_326_000),
        ("2026-06-01T15:00:00.5Z", 1_780_326_000.5),
        *[(text, None) for text in ("2026-06-01T15:00:00", "2026-06-01", "", "x", "2026-06-01T25:00:00Z")],
        *[(text, None) for text in ("99999-06-01T15:00:00Z", "2026-06-01T15:00:60Z", "\u0000", None)],
        *[(text, None) for text in ("0000-06-01T15:00:00Z", "2026-06-01T15:00:00+25:00", "9" * 27)],
    ]:
        assert seconds == unix_time(text), (text, seconds)
