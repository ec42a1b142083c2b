"""A polled list whose bodies have new matches and new prices; each price carries a number."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from zoneinfo import ZoneInfo

from actors.core.cooperative import run_now
from actors.core.messages import Match
from actors.sources.simulated.kind import SimulatedMachine, SimulatedOptions
from scripts.benchmarks.data.boards import NOW

POLL_S = 0.1
"""The interval of the polls: with a new match in each body there are ten new events a second."""

WORLD, LISTED = 1_000, 300
NUMBERS = 999  # numbers of prices, in the decimals after the second
LONDON = ZoneInfo("Europe/London")
HEADER = ("Div", "Date", "Time", "HomeTeam", "AwayTeam", "B365H", "B365D", "B365A")
CONFIG = """
[sources.feed]
kind = "football_data"
url = "{url}/feed.csv"
poll_interval_s = {every}
[bookmakers.feed]
name = "Feed"
source = "feed"
key = "B365"
"""


class Feed:
    """300 matches of the simulated world at a time; `sent` has when each home price was first sent."""

    def __init__(self) -> None:
        self.sent: dict[float, float] = {}
        options = SimulatedOptions(kind="simulated", matches=WORLD)
        machine = SimulatedMachine(options, ("standard",), NOW)
        run_now(machine.advance(NOW))
        image = machine.image()["standard"].matches
        self._matches = [match for match in image if match.home and match.away and _is_later(match)]

    def bodies(self) -> Iterator[bytes]:
        """Yield files, each with one new match, and with a new price of another match."""
        prices = {at: match.home_price for at, match in enumerate(self._matches)}
        for number in count():
            listed = [at % len(self._matches) for at in range(number, number + LISTED)]
            for turn, at in enumerate((listed[-1], listed[LISTED // 2])):
                mark = (2 * number + turn) % NUMBERS + 1
                prices[at] = round(int(self._matches[at].home_price * 100) / 100 + mark / 100_000, 5)
            rows = [_row(self._matches[at], prices[at]) for at in listed]
            text = io.StringIO(newline="")
            csv.writer(text).writerows([HEADER, *rows])
            for at in (listed[-1], listed[LISTED // 2]):
                self.sent[prices[at]] = time.perf_counter()
            yield text.getvalue().encode()


def _is_later(match: Match) -> bool:
    return match.start_time is not None and match.start_time > NOW.wall + 3600


def _row(match: Match, home_price: float) -> list[object]:
    start = datetime.fromtimestamp(match.start_time or 0, LONDON)
    when = start.strftime("%d/%m/%Y"), start.strftime("%H:%M")
    return [
        match.league or "",
        *when,
        match.home,
        match.away,
        home_price,
        *match.prices[1:],
    ]
