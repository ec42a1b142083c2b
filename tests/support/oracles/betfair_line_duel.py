"""A hostile stream of handicaps, read by our code and by the library: ours shows no line that it lacks."""

from __future__ import annotations

import json
from random import Random

from actors.core.errors import PayloadError, StreamError
from actors.markets.market import Kind
from tests.support.builders.betfair import AWAY, HOME, SUCCESS, Json, change, delta, heartbeat, image, line
from tests.support.builders.betfair_lines import (
    LINES,
    back,
    handicap_definition,
    handicaps,
    hc_of,
    lay,
    result,
)
from tests.support.oracles.betfair_duel import readable
from tests.support.oracles.betfair_oracle import Oracle
from tests.support.systems.betfair_lists import Gated

OTHER = "34000002"


def first_image(number: int) -> Json:
    """Return an image of two matches: one has both markets, the other a handicap market alone."""
    return image(result(), handicaps(), handicaps("1.8", eventId=OTHER), id=number)


class LineDuel:
    """Both readings, over many connections; `taken` counts the lines that our code accepted."""

    def __init__(self) -> None:
        self.ours, self.theirs = Gated(), Oracle()
        self.taken = self.refused = self.compared = 0
        self._begin()

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
            return
        message = json.loads(raw.decode(errors="replace"))
        number = message.get("id")
        is_late = number is not None and number < self.ours.sent[-1]["id"]
        if message["op"] == "mcm" and message.get("status") != 503 and not is_late:
            self.theirs.take(readable(raw))
        self._compare()

    def _compare(self) -> None:
        """Check each line that is shown: an open market offers these prices."""
        if self.ours.session._segments._so_far is not None:
            return
        theirs = self.theirs.markets()
        for name, odds in self.ours.odds(Kind.ASIAN_HANDICAP).items():
            handicap = float(name.partition(":")[2])
            keys = (HOME, handicap), (AWAY, -handicap or 0.0)
            offers = [
                tuple(best[0] for key in keys if (best := reading.best.get(key)) is not None)
                for reading in theirs.values()
                if reading.status == "OPEN"
            ]
            self.compared += 1
            assert odds in offers, name

    def _begin(self) -> None:
        self.ours.connect()
        self._subscribed()

    def _subscribed(self) -> None:
        """Answer the newest subscription with an image."""
        number = self.ours.sent[-1]["id"]
        for message in ({**SUCCESS, "id": number}, first_image(number)):
            self.ours.take(line(message))
        self.theirs.take(line(first_image(number)))


def good_line(random: Random, number: int) -> Json:
    """Return a message that a correct server would send."""
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
    entry = change(random.choice(("1.9", "1.9", "1.8")), runner)
    event = EVENTS[entry["id"]]
    status = random.choice(("OPEN", "OPEN", "OPEN", "SUSPENDED", "CLOSED"))
    return random.choice(
        (
            delta(entry, id=number),
            delta(entry, id=number),
            delta({**entry, "marketDefinition": handicap_definition(status=status, **event)}, id=number),
            delta(handicaps(entry["id"], **event), id=number),
            delta(result(status=status), id=number),
            heartbeat(id=number),
            {**first_image(number), "segmentType": random.choice((None, "SEG_START", "SEG_END"))},
            delta(entry, id=number, segmentType=random.choice(("SEG_START", "SEG", "SEG_END"))),
            delta(entry, id=number, status=random.choice((None, 503, 200))),
        )
    )


EVENTS: dict[str, Json] = {"1.9": {}, "1.8": {"eventId": OTHER}}
