"""A hostile stream of handicaps, read by our code and by the library: ours shows no line that it lacks."""

from __future__ import annotations

from random import Random

from tests.support.builders.betfair import AWAY, HOME, Json, change, delta, heartbeat, image
from tests.support.builders.betfair_lines import (
    LINES,
    back,
    handicap_definition,
    handicaps,
    hc_of,
    lay,
    result,
)
from tests.support.oracles.betfair_duel import Duel
from tests.support.systems.betfair_lists import Gated

OTHER = "34000002"


def first_image(number: int) -> Json:
    """Return an image of two matches: one has both markets, the other a handicap market alone."""
    return image(result(), handicaps(), handicaps("1.8", eventId=OTHER), id=number)


class LineDuel(Duel):
    """Both readings of handicaps, over many connections."""

    def compare(self) -> None:
        """Check each line that is shown: an open market offers these prices."""
        theirs = self.theirs.markets()
        for name, odds in self.ours.shown().items():
            if ":" not in name:
                continue
            handicap = float(name.partition(":")[2])
            keys = (HOME, handicap), (AWAY, -handicap or 0.0)
            offers = [
                tuple(best[0] for key in keys if (best := reading.best.get(key)) is not None)
                for reading in theirs.values()
                if reading.status == "OPEN"
            ]
            self.compared += 1
            assert odds in offers, name

    def _reader(self) -> Gated:
        return Gated()

    def _image(self, number: int) -> Json:
        return first_image(number)

    def _good(self, random: Random, number: int) -> Json:
        return good_line(random, number)


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
