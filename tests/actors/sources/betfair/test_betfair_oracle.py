"""The recordings of the exchange, message by message, compared with other readings of them.

After each message the best prices to back and the status of every market equal those of the library
betfairlightweight, and the board has exactly the open matches with valid prices. Every handicap with two
prices is shown with these prices, or refused for a named reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

import pytest

from actors.markets.market import Kind
from tests.support.builders.betfair import Json, line, recorded, recordings
from tests.support.oracles.betfair_lines import LineOracle
from tests.support.oracles.betfair_oracle import Oracle, is_one_offer
from tests.support.systems.betfair_board import EXCHANGE, Follower, Gated

pytestmark = pytest.mark.recordings

STREAM = "stream_2025-05-07_soccer.bz2"
IMAGE = "stream_image_2026-01-28_105_soccer_markets.json"
LIFECYCLE = "historic_lifecycle_1.159963367.bz2"
LIVE = [STREAM, IMAGE, "mcm_live_image.json", "mcm_sub_image.json"]
FRAGMENTS = [
    *("mcm_live_update.json", "mcm_update.json", "mcm_update_md.json", "mcm_update_tv.json"),
    *("mcm_heartbeat.json", "mcm_resub_delta.json", "mcm_samples.ndjson", "mcm_con_true.json"),
]
"""Messages after an image, without that image."""


class Pair:
    """Our reading and the library's; `offers` belongs to the library's reading."""

    def __init__(self, *, is_historic: bool = False) -> None:
        self.ours = Follower(is_historic=is_historic)
        self.theirs = Oracle()
        self.offers: dict[str, tuple[float, float, float]] = {}
        if not is_historic:
            self.ours.connect()

    def take(self, raw: bytes) -> None:
        """Read a message, and compare the markets in it and the whole board."""
        self.ours.take(raw)
        self.theirs.take(raw)
        message = json.loads(raw)
        if message.get("ct") == "SUB_IMAGE":
            self.offers.clear()
        self.compare({changed["id"] for changed in message.get("mc", ())})

    def compare(self, touched: Iterable[str]) -> None:
        """Compare best prices and status of these markets, and the board, with the library's."""
        for name in touched:
            theirs, ours = self.theirs.market(name), self.ours.session.markets.get(name)
            wanted = {key: pair for key, pair in theirs.best.items() if pair}
            if ours is None:
                assert theirs.status in {None, "CLOSED"}
            else:
                found = {key: best for key, runner in ours.runners.items() if (best := runner.best_back())}
                assert (theirs.status, wanted) == (ours.status, found)
            prices = self.theirs.offer(name)
            self.offers.pop(name, None)
            if prices is not None and is_one_offer(prices):
                self.offers[name] = prices

        assert self.offers == self.ours.shown()


def _played(lines: Iterable[bytes]) -> Pair:
    pair = Pair()
    for raw in lines:
        pair.take(raw)
    pair.compare(pair.theirs.markets())
    return pair


def _with_ids(message: Json, **fields: object) -> bytes:
    return line({**message, **fields})


@pytest.mark.long
@pytest.mark.parametrize("name", LIVE)
def test_every_message_of_a_live_recording(name: str) -> None:
    """Best prices, status and board equal the library's after each message."""
    pair = _played(_with_ids(json.loads(raw), id=2) for raw in recorded(name))

    assert pair.ours.snapshot.books[EXCHANGE].is_serving


def test_every_message_of_a_historic_recording() -> None:
    """Status and last traded prices equal the library's after each message, until the market is closed."""
    pair = Pair(is_historic=True)
    statuses = []
    for raw in recorded(LIFECYCLE):
        pair.take(raw)
        (book,) = pair.theirs._listener.stream._caches.values()
        (market,) = pair.ours.session.markets.values() or (None,)
        statuses.append(book.market_definition["status"])
        if market is not None:
            last = [(runner.selection_id, runner.last_price_traded) for runner in book.runners]
            traded = {key: price for key, price in last if price}
            assert traded == {key[0]: runner.last_traded for key, runner in market.runners.items()}

    seen = [status for at, status in enumerate(statuses) if at == 0 or statuses[at - 1] != status]
    assert ["OPEN", "SUSPENDED", "OPEN", "SUSPENDED", "CLOSED"] == seen


@pytest.mark.parametrize("name", FRAGMENTS)
def test_every_message_without_its_image(name: str) -> None:
    """Deltas of unknown markets show nothing, with or without an image before them."""
    pair = Pair(is_historic=True)
    for raw in recorded(name):
        message = json.loads(raw)
        is_patch = message.get("ct") == "RESUB_DELTA"
        pair.take(_with_ids(message, ct=None) if is_patch else raw)

    assert {} == pair.ours.shown()


def test_all_recordings_are_tested() -> None:
    """Every recorded stream is in one of the tests."""
    played = {LIFECYCLE, *LIVE, *FRAGMENTS}

    assert {
        path.name for path in (*recordings("*mcm*"), *recordings("stream*"), *recordings("his*"))
    } == played


def _of_one_version(messages: list[Json]) -> list[Json]:
    """Give all definitions one version: older copies are ignored."""
    for message in messages:
        for market in message["mc"]:
            if "marketDefinition" in market:
                market["marketDefinition"]["version"] = 1
    return messages


def _image_again(messages: list[Json]) -> list[Json]:
    """Repeat the first image every 600 messages."""
    parts = [messages[at : at + 600] for at in range(0, len(messages), 600)]
    return [entry for part in parts for entry in (messages[0], *part)]


def _market_images_again(messages: list[Json]) -> list[Json]:
    """Repeat the image of some markets between the deltas."""
    images = messages[0]["mc"]
    for at, message in enumerate(messages[1:]):
        if at % 7 == 0:
            message["mc"] = [*message["mc"], images[at % len(images)]]
    return messages


@pytest.mark.long
@pytest.mark.parametrize("changed", [_image_again, _market_images_again])
def test_images_between_deltas_replace(changed: Callable[[list[Json]], list[Json]]) -> None:
    """An image of the whole subscription or of one market may come at any time."""
    messages = _of_one_version([{**json.loads(raw), "id": 2} for raw in recorded(STREAM)])

    _played(map(line, changed(messages)))


@pytest.mark.long
@pytest.mark.parametrize("name", [STREAM, IMAGE])
@pytest.mark.parametrize("size", [1, 7, 104])
def test_segmented_image_equals_the_whole_image(name: str, size: int) -> None:
    """With any segments, nothing is shown before the last segment, and then the whole image."""
    first = {**json.loads(recorded(name)[0]), "id": 2}
    markets, pair = first["mc"], Pair()
    parts = [markets[at : at + size] for at in range(0, len(markets), size)]
    kinds = ["SEG_START", *["SEG"] * (len(parts) - 2), "SEG_END"]
    for kind, part in zip(kinds, parts, strict=True):
        assert {} == pair.ours.shown()
        pair.ours.take(_with_ids(first, mc=part, segmentType=kind))
    pair.theirs.take(line(first))

    pair.compare(pair.theirs.markets())


@pytest.mark.long
def test_lost_connection_resumes() -> None:
    """After each of a hundred interruptions and patches the board equals the library's."""
    messages = [{**json.loads(raw), "id": 2} for raw in recorded(STREAM)]
    pair, random, at = Pair(), Random(5), 1
    pair.take(line(messages[0]))
    while at < len(messages):
        pair.ours.connect()
        asked = pair.ours.sent[-1]
        missed = messages[at : at + random.randrange(1, 30)]
        patch = {
            **missed[-1],
            "ct": "RESUB_DELTA",
            "mc": [changed for each in missed for changed in each["mc"]],
        }
        at += len(missed)

        assert (messages[0]["initialClk"], pair.ours.session._clk) == (asked["initialClk"], asked["clk"])
        pair.take(_with_ids(patch, id=asked["id"]))
        assert patch["clk"] == pair.ours.session._clk


def test_recorded_images_are_shown_or_counted() -> None:
    """Every one of the 105 recorded images is on the board, within the bounds, or counted by its reason."""
    follower = Follower()
    follower.connect()
    (raw,) = recorded(IMAGE)
    follower.take(_with_ids(json.loads(raw), id=2))
    expected: Counter[str] = Counter(_verdict(changed) for changed in json.loads(raw)["mc"])
    shown = follower.shown()

    assert 105 == expected.total()
    assert [] == [prices for prices in shown.values() if not is_one_offer(prices)]
    assert expected == Counter(shown=len(shown)) + follower.rejected
    assert expected["book_sum"] >= 14


def _verdict(market: Json) -> str:
    """Validate one recorded market by its raw levels."""
    levels = [level for runner in market["rc"] for level in runner.get("batb", ()) if level[0] == 0]
    if len(levels) < 3:
        return "incomplete"
    return "shown" if is_one_offer((levels[0][1], levels[1][1], levels[2][1])) else "book_sum"


def _messages() -> list[Json]:
    return [{**json.loads(raw), "id": 2} for raw in recorded(STREAM)]


def _told(gated: Gated, oracle: LineOracle) -> Counter[str | None]:
    """Compare all lines; return the number of lines shown, and of other lines by reason."""
    verdicts = oracle.verdicts()
    shown = {name: verdict.odds for name, verdict in verdicts.items() if verdict.reason is None}

    assert shown == gated.odds(Kind.ASIAN_HANDICAP)
    return Counter(verdict.reason for verdict in verdicts.values())


def test_first_image_is_read_as_its_messages_say() -> None:
    """Each line of 60 markets is shown, or refused for a reason that the gate counts."""
    gated, oracle = Gated(), LineOracle()
    gated.connect()
    raw = line(_messages()[0])
    gated.take(raw)
    oracle.take(raw)
    told = _told(gated, oracle)

    assert told["lines"] == gated.rejected["lines"]
    assert told["crossed"] == gated.rejected["crossed"]
    assert told[None] > 300


@pytest.mark.long
def test_every_message_of_the_recording() -> None:
    """No line lags behind its newest message, and no removed line stays."""
    gated, oracle, told = Gated(), LineOracle(), Counter[str | None]()
    gated.connect()
    for message in _messages():
        raw = line(message)
        gated.take(raw)
        oracle.take(raw)
        told = _told(gated, oracle)

    assert told[None] > 300


@pytest.mark.long
def test_results_are_those_of_a_subscription_to_results_alone() -> None:
    """Ids, names, times and prices do not change with other markets beside them."""
    alone, both = Gated((Kind.ONE_X_TWO,)), Gated()
    alone.connect()
    both.connect()
    for message in _messages():
        alone.take(line(message))
        both.take(line(message))

        assert alone.matches == {
            name: match for name, match in both.matches.items() if match.market.kind is Kind.ONE_X_TWO
        }
