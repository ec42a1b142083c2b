"""In no window are there more requests than the key has, whenever the first headers come."""

from __future__ import annotations

from random import Random

import pytest

from actors.core.clock import Instant
from actors.core.messages import Scope
from actors.sources.five_dollar_football.rate import LIMIT, REMAINING, Gate, Rate

MINUTE = Rate(10.0)
TOLD = {LIMIT: "10", REMAINING: "10"}


class Asking:
    """A gate, asked by a clock of its own; `asked` are the times of the requests (seconds)."""

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
        """Have another process gone before."""
        self.gate.pause(self._instant)

    def most(self, window_s: float) -> int:
        """Return the most requests in any window."""
        return max(sum(at <= each < at + window_s for each in self.asked) for at in self.asked)

    @property
    def _instant(self) -> Instant:
        return Instant(1_795_000_000.0 + self.now, self.now)


def test_before_the_first_headers_one_request_goes_at_once() -> None:
    """Another process may have used the key; the headers of the first answer say what is left."""
    asking = Asking()
    began = asking.now
    asking.ask()
    assert asking.gate.wait_s(Instant(0.0, asking.now)) > 1.0

    asking.answer(0, TOLD)
    asking.ask()
    assert asking.now < began + 1.0


@pytest.mark.parametrize("seed", range(200))
def test_no_window_has_more_requests_than_the_key(seed: int) -> None:
    """Whatever is answered, when, with or without headers, and whether another process went before."""
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
