"""A hostile stream, read by our code and by the library: ours shows no price that the library lacks."""

from __future__ import annotations

import json
from functools import cache
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
from tests.support.builders.betfair_lines import (
    LINES,
    back,
    handicap_definition,
    handicaps,
    hc_of,
    lay,
    result,
)
from tests.support.oracles.betfair_oracle import Oracle
from tests.support.systems.betfair_board import Gated

IDS = ("1.1", "1.2", "1.3")
OTHER = "34000002"
STATES = ("OPEN", "OPEN", "OPEN", "SUSPENDED", "CLOSED")
NUMBERS = [0, -1, 1.01, 2.0, 1e308, -1e308, 10**27, 10**400, 1 << 63, 0.0, 5e-324]
WRONG: list[Any] = [
    *(*NUMBERS, None, True, "", "2.0", "nan", "x" * 50),
    *([], {}, [[]], [[0, 2.0]], [[0, 2.0, 3.0, 4.0]]),
]


class Duel:
    """Both readings, over many connections; `taken` counts the lines that our code accepted."""

    def __init__(self) -> None:
        self.ours = Gated()
        self.taken = self.refused = self.compared = 0
        self._theirs, self._is_begun = Oracle(), False
        self._begin()

    @property
    def theirs(self) -> Oracle:
        """Return the library's reading; images come late there: half of all images are never compared."""
        if not self._is_begun:
            self._theirs.take(line(_first_image()))
            self._is_begun = True
        return self._theirs

    def hostile(self, random: Random) -> bytes:
        """Return a message to the newest subscription, unchanged or damaged."""
        return hostile_line(random, self.ours.sent[-1]["id"])

    def take(self, raw: bytes) -> None:
        """Pass a line to both readers and compare; after a line that cannot be read, both reconnect."""
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
        if self.ours.session._segments._so_far is None:  # between segments our reading may be ahead
            self.compare()

    def compare(self) -> None:
        """Check that all shown prices are the library's, and that an open market offers each shown line."""
        theirs = self.theirs.markets()
        for name, prices in self.ours.shown().items():
            self.compared += 1
            if ":" not in name:
                assert prices == self.theirs.offer(name), name
                continue
            handicap = float(name.partition(":")[2])
            keys = (HOME, handicap), (AWAY, -handicap or 0.0)
            offers = [
                tuple(best[0] for key in keys if (best := reading.best.get(key)) is not None)
                for reading in theirs.values()
                if reading.status == "OPEN"
            ]
            assert prices in offers, name

    def _begin(self) -> None:
        self.ours.connect()
        self._subscribed()

    def _subscribed(self) -> None:
        """Answer the newest subscription with an image."""
        number = self.ours.sent[-1]["id"]
        self.ours.take(line({**SUCCESS, "id": number}))
        self.ours.take(line(first_image(number)))
        self._is_begun = False

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


def first_image(number: int) -> Json:
    """Return an image: a match with both markets, two with the result alone, one with handicaps alone."""
    return {**_first_image(), "id": number}


@cache
def _first_image() -> Json:
    others = (market("1.2"), market("1.3"))
    return image(result(), *others, handicaps(), handicaps("1.8", eventId=OTHER))


def good_line(random: Random, number: int) -> Json:
    """Return a message that a correct server would send."""
    if random.random() < 0.5:
        entry, defined, whole = _of_result(random)
    else:
        entry, defined, whole = _of_handicaps(random)
    segment = random.choice(("SEG_START", "SEG", "SEG_END"))
    return random.choice(
        (
            delta(entry, id=number),
            delta(entry, entry, id=number, clk="c"),
            delta({**entry, "marketDefinition": defined}, id=number),
            delta(whole, id=number),
            delta(result(status=random.choice(STATES)), id=number),
            heartbeat(id=number),
            {**first_image(number), "segmentType": random.choice((None, "SEG_START", "SEG_END"))},
            delta(entry, id=number, segmentType=segment),
            delta(entry, id=number, status=random.choice((None, 503, 200))),
            {**SUCCESS, "id": number},
        )
    )


def _of_result(random: Random) -> tuple[Json, Json, Json]:
    """Return a change of the market of a result, a definition of this market, and its image."""
    runner, name = random.choice((HOME, AWAY, DRAW)), random.choice((*IDS, "1.4"))
    price, size = random.choice((1.5, 2.0, 3.5, 4.2)), random.choice((0, 0, 5.0, 12.5))
    ladder = random.choice(
        ({"batb": [[random.choice((0, 0, 1)), price, size]]}, {"atb": [[price, size]]}, {"ltp": price})
    )
    defined = definition(status=random.choice(STATES))
    return change(name, {"id": runner, **ladder}), defined, market(random.choice(IDS))


def _of_handicaps(random: Random) -> tuple[Json, Json, Json]:
    """Return a change of a market of handicaps, a definition of this market, and its image."""
    handicap, price = random.choice(LINES), random.choice((1.5, 1.9, 2.1, 3.5))
    team, handicap = random.choice(((HOME, handicap), (AWAY, -handicap)))
    size = random.choice((0, 5.0, 12.5))
    runner = random.choice(
        (
            back(team, handicap, price, size),
            lay(team, handicap, price + 0.2, size),
            {"id": team, **hc_of(handicap), "atb": [[price, size]]},
        )
    )
    name = random.choice(("1.9", "1.9", "1.8"))
    of_other: dict[str, Any] = {"eventId": OTHER} if name == "1.8" else {}
    defined = handicap_definition(status=random.choice(STATES), **of_other)
    return change(name, runner), defined, handicaps(name, **of_other)


def hostile_line(random: Random, number: int) -> bytes:
    """Return a good message, unchanged or damaged in one of several ways."""
    message = good_line(random, number)
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
