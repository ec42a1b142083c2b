"""Requests of 5DollarFootballAPI: a list's pages fit together, and requests stay within the key's rate."""

from __future__ import annotations

import json
from random import Random

import pytest

from actors.core.clock import Instant
from actors.core.errors import PayloadError
from actors.core.messages import Scope
from actors.sources.five_dollar_football.rate import LIMIT, REMAINING, Gate, Rate
from actors.sources.five_dollar_football.reading import Read, Reading
from actors.sources.five_dollar_football.wire import Fixture, FixturesPage, Named, Pagination, Row, Teams

TEAMS = Teams(Named("Home"), Named("Away"))
FULL = 4


def _page(number: int, names: list[int], *, per_page: int = FULL, has_more: bool = False) -> FixturesPage:
    fixtures = [Fixture(name, Named("League"), TEAMS, 100 + name, "scheduled") for name in names]
    rows = tuple(Row(json.dumps(fixture.id).encode(), fixture) for fixture in fixtures)
    return FixturesPage(rows, Pagination(number, per_page, has_more))


def _reading() -> Reading:
    reading = Reading(FULL)
    reading.window = 0, 1000
    return reading


def _ids(read: Read | None) -> list[float]:
    assert read is not None
    return [row.fixture.id for row in read.rows if row.fixture is not None]


@pytest.mark.parametrize("count", [1, 4, 5, 49, 50, 51, 600, 700, 2500])
@pytest.mark.parametrize("most", [50, 5])
def test_a_list_of_any_length_is_read(count: int, most: int) -> None:
    """A Saturday has a thousand matches; almost each page repeats some matches of the previous page."""
    reading, names = Reading(50), range(1, min(count, 50 * most) + 1)
    reading.window = 0, 10_000
    read, overlaps = None, 0
    while read is None:
        number, asked = reading.next_page()
        per_page = min(asked, most)
        first = (number - 1) * per_page
        overlaps += 0 < first < len(reading._rows)
        ids = [*names[first : first + per_page]]
        read = reading.take(_page(number, ids, per_page=per_page, has_more=first + per_page < len(names)))

    assert [*names] == _ids(read)
    assert overlaps >= 0.9 * len(reading.pages) - 2


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (_page(2, [5, 6], per_page=FULL - 1), "has changed between two pages"),
        (_page(3, [4, 5], per_page=FULL - 1), "must be 2"),
        (_page(2, [4, 5], per_page=FULL), "must be 2 of 3"),
        (_page(2, [4, 1], per_page=FULL - 1), "on two pages"),
        (_page(2, [4], per_page=FULL - 1, has_more=True), "does not end"),
    ],
)
def test_pages_that_do_not_fit_are_refused(second: FixturesPage, why: str) -> None:
    """A match has left the first page or joined it meanwhile, or the page is not the requested one."""
    reading = _reading()
    reading.take(_page(1, [1, 2, 3, 4], has_more=True))

    with pytest.raises(PayloadError, match=why):
        reading.take(second)


def test_a_list_of_pages_that_lacks_a_match_is_read_once_more() -> None:
    """The second reading is believed: the match is not listed any more."""
    reading = _reading()
    reading.take(_page(1, [1, 2, 3, 4], has_more=True))
    read = reading.take(_page(2, [4, 5], per_page=FULL - 1))
    assert read is not None
    reading.finish({}, read)

    pages = _page(1, [1, 2, 4, 5], has_more=True), _page(2, [5, 6], per_page=FULL - 1)

    reading.take(pages[0])
    with pytest.raises(PayloadError, match="1 matches of the last reading are on no page"):
        reading.take(pages[1])
    reading.begin()
    reading.take(pages[0])

    assert [1, 2, 4, 5, 6] == _ids(reading.take(pages[1]))


MINUTE = Rate(10.0)
TOLD = {LIMIT: "10", REMAINING: "10"}


class Asking:
    """A gate with a clock of its own; `asked` has the times of the requests (seconds)."""

    def __init__(self, rate: Rate = MINUTE) -> None:
        self.gate = Gate(rate)
        self.now = 1000.0
        self.asked: list[float] = []

    def ask(self) -> None:
        """Send a request as soon as the gate allows it."""
        while (wait_s := self.gate.wait_s(self._instant)) > 0.0:
            self.now += wait_s
        self.gate.on_asked(Scope(f"{len(self.asked)}"), self._instant)
        self.asked.append(self.now)

    def answer(self, number: int, headers: dict[str, str]) -> None:
        """Give the answer to a request."""
        self.gate.on_answered(Scope(f"{number}"), headers, self._instant)

    def pause(self) -> None:
        """Act as if another process had just used the key."""
        self.gate.pause(self._instant)

    def most(self, window_s: float) -> int:
        """Return the most requests in any window."""
        return max(sum(at <= each < at + window_s for each in self.asked) for at in self.asked)

    @property
    def _instant(self) -> Instant:
        return Instant(1_795_000_000.0 + self.now, self.now)


def test_before_the_first_headers_one_request_goes_at_once() -> None:
    """Another process may have used the key; the first answer's headers say how many requests are left."""
    asking = Asking()
    began = asking.now
    asking.ask()
    assert asking.gate.wait_s(Instant(0.0, asking.now)) > 1.0

    asking.answer(0, TOLD)
    asking.ask()
    assert asking.now < began + 1.0


@pytest.mark.parametrize("seed", range(200))
def test_no_window_has_more_requests_than_the_key(seed: int) -> None:
    """Answers come at any time and in any order, with or without headers, also after another process."""
    random = Random(f"rate {seed}")
    rate = Rate(float(random.choice((1, 3, 10, 60))), random.choice((60.0, 3600.0)))
    asking, waiting = Asking(rate), list[int]()
    if random.random() < 0.3:
        asking.pause()
    told = random.random()
    for number in range(4 * int(rate.requests) + 20):
        asking.now += random.choice((0.0, 0.0, rate.interval_s * random.random(), rate.window_s))
        asking.ask()
        waiting.append(number)
        while waiting and random.random() < 0.7:
            headers = {REMAINING: f"{rate.requests:.0f}"} if random.random() < told else {}
            asking.answer(waiting.pop(random.randrange(len(waiting))), headers)

    assert asking.most(rate.window_s) <= rate.requests
