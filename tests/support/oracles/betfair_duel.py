"""A hostile stream, read by our code and by the library: ours may show no price that the library lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, StreamError
from actors.sources.betfair.wire import UnreadChange, read_message
from tests.support.builders.betfair import (
    AWAY,
    DRAW,
    HOME,
    SUCCESS,
    Json,
    change,
    definition,
    delta,
    heartbeat,
    image,
    line,
    market,
)
from tests.support.oracles.betfair_oracle import Oracle
from tests.support.systems.betfair_board import Follower
from tests.support.systems.betfair_lists import Gated

IDS = ("1.1", "1.2", "1.3")
NUMBERS = [0, -1, 1.01, 2.0, 1e308, -1e308, 10**27, 10**400, 1 << 63, 0.0, 5e-324]
WRONG: list[Any] = [
    *(*NUMBERS, None, True, "", "2.0", "nan", "x" * 50),
    *([], {}, [[]], [[0, 2.0]], [[0, 2.0, 3.0, 4.0]]),
]


class Duel:
    """Both readings, over many connections; `taken` counts the lines that our code accepted."""

    def __init__(self) -> None:
        self.ours: Follower | Gated = self._reader()
        self.theirs = Oracle()
        self.taken = self.refused = self.compared = 0
        self._begin()

    def hostile(self, random: Random) -> bytes:
        """Return a message to the newest subscription, unchanged or damaged."""
        return hostile_line(random, self.ours.sent[-1]["id"], self._good)

    def take(self, raw: bytes) -> None:
        """Pass a line to both and compare; after a line that cannot be read, both reconnect."""
        sent = len(self.ours.sent)
        try:
            self.ours.take(raw)
        except (PayloadError, StreamError):
            self.refused += 1
            self._begin()
            return
        self.taken += 1
        if len(self.ours.sent) > sent:
            self._subscribed()
        elif self._is_read(raw):
            self.theirs.take(readable(raw))
        if self.ours.session._segments._so_far is None:  # between segments it may be ahead
            self.compare()

    def compare(self) -> None:
        """Check that the board has no price that the library lacks."""
        for name, prices in self.ours.shown().items():
            self.compared += 1
            assert prices == self.theirs.offer(name), name

    def _reader(self) -> Follower | Gated:
        return Follower()

    def _image(self, number: int) -> Json:
        return image(*map(market, IDS), id=number)

    def _good(self, random: Random, number: int) -> Json:
        return good_line(random, number)

    def _begin(self) -> None:
        self.ours.connect()
        self._subscribed()

    def _subscribed(self) -> None:
        """Answer the newest subscription with an image."""
        number = self.ours.sent[-1]["id"]
        self.ours.take(line({**SUCCESS, "id": number}))
        first = line(self._image(number))
        self.ours.take(first)
        self.theirs.take(first)

    def _is_read(self, raw: bytes) -> bool:
        """Return whether a message belongs to this subscription and has an effect."""
        message = json.loads(raw.decode(errors="replace"))  # skipped lines need not be valid text
        number = message.get("id")
        is_late = number is not None and number < self.ours.sent[-1]["id"]
        return message["op"] == "mcm" and message.get("status") != 503 and not is_late


def readable(raw: bytes) -> bytes:
    """Return a message in which each part that cannot be read suspends its market."""
    message = json.loads(raw.decode(errors="replace"))
    parts, unread = [], set[str]()
    for part, read in zip(message.get("mc") or (), run_now(read_message(raw)).mc or (), strict=True):
        if isinstance(read, UnreadChange) and read.id:
            unread.add(read.id)
            parts.append({"id": read.id, "img": True, "marketDefinition": definition(status="SUSPENDED")})
        elif not isinstance(read, UnreadChange) and read.id not in unread:
            parts.append(part)
    return line({**message, "mc": parts}) if unread or len(parts) < len(message.get("mc") or ()) else raw


def good_line(random: Random, number: int) -> Json:
    """Return a message that a correct server would send."""
    runner = random.choice((HOME, AWAY, DRAW))
    price, size = random.choice((1.5, 2.0, 3.5, 4.2)), random.choice((0, 0, 5.0, 12.5))
    ladder = random.choice(
        ({"batb": [[random.choice((0, 0, 1)), price, size]]}, {"atb": [[price, size]]}, {"ltp": price})
    )
    entry = change(random.choice((*IDS, "1.4")), {"id": runner, **ladder})
    defined = definition(status=random.choice(("OPEN", "OPEN", "SUSPENDED", "CLOSED")))
    return random.choice(
        (
            delta(entry, id=number),
            delta(entry, entry, id=number, clk="c"),
            delta({**entry, "marketDefinition": defined}, id=number),
            delta(market(random.choice(IDS)), id=number),
            heartbeat(id=number),
            image(*map(market, IDS), id=number, segmentType=random.choice((None, "SEG_START", "SEG_END"))),
            delta(entry, id=number, segmentType=random.choice(("SEG_START", "SEG", "SEG_END"))),
            delta(entry, id=number, status=random.choice((None, 503, 200))),
            {**SUCCESS, "id": number},
        )
    )


def hostile_line(random: Random, number: int, good: Callable[[Random, int], Json]) -> bytes:
    """Return such a message, unchanged or damaged in one of several ways."""
    message = good(random, number)
    match random.randrange(12):
        case 0 | 1 | 2 | 3:
            return line(message)
        case 4 | 5 | 6 | 7:
            return line(_with_wrong(random, message))
        case 8:
            raw = line(message)
            return raw[: random.randrange(len(raw))]
        case 9:
            flipped = bytearray(line(message))
            flipped[random.randrange(len(flipped))] = random.randrange(256)
            return bytes(flipped)
        case 10:
            return line({**message, "id": random.choice((0, 1, number - 1, number + 1, None))})
        case _:
            raw = line(message)
            return raw + raw[random.randrange(len(raw)) :]


def _with_wrong(random: Random, message: Json) -> Json:
    """Insert a wrong value somewhere into a message."""
    copy: Any = json.loads(json.dumps(message))
    place: Any = copy
    while True:
        key = random.choice(list(place)) if isinstance(place, dict) else random.randrange(len(place))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.2:
            place[key] = random.choice(WRONG)
            return dict(copy)
        place = inner
