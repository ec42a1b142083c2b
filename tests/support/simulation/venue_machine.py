"""A machine of random lives of a venue without a key, in virtual time.

Matches appear, change, move, end and vanish, and answers fail. After each step the board has all that an
independent reading calls valid, and nothing else: nothing that is closed, settled, hidden, too old, or of a
list that was not read to its end.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Awaitable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

import anyio
import httpx2
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from actors.core.messages import BookmakerId
from actors.service.settings import Settings, load
from tests.support.peers.web import Answer, Web, dropping, hanging, refusing, serving
from tests.support.simulation.azuro_life import AzuroLife
from tests.support.simulation.polymarket_life import PolymarketLife
from tests.support.simulation.venue_life import DAY, HOUR, Choose, Life, Odds
from tests.support.systems.virtual_service import VirtualService, pass_to, running
from tests.support.time.virtual import WALL_0, VirtualClock, VirtualLoop

T = TypeVar("T")

FAULTS: dict[str, Answer] = {
    "HTML": serving(b"<html>"),
    "other shape": serving(b"{}"),
    "429": serving(b"", 429),
    "429 for 30 s": serving(b"", 429, {"Retry-After": "30"}),
    "500": serving(b"", 500),
    "hangs": hanging,
    "drops": dropping,
    "refuses": refusing,
}
CUT, SLOW = "cut", "slow"
PRICES = ("/books", "/condition-batch")
SOON = st.sampled_from((0.0, 6.0, 61.0, 310.0))  # the longest time is enough to read every list again
KICK_OFFS = (
    *(30 * HOUR, 2.02 * HOUR, 1.99 * HOUR, 60 * HOUR, 50.0, 13.9 * DAY, 14.2 * DAY, -HOUR, -2.98 * HOUR),
)
TICK_S = 60.0
"""Longer than in production: idle turns of the aggregator would be most of the work."""
EPS_S = 0.01
CALM_S = 1000.0
"""The time in which everything is asked for again: the longest pause, and a list."""


class Failing:
    """The site of a life: the requests in `next` have these faults; later ones have `fault`, if any.

    If `of_lists` is not None, `fault` is of lists alone, or of prices alone.
    """

    def __init__(self, life: Life) -> None:
        self.next: deque[tuple[str, float]] = deque()
        self.fault = ""
        self.of_lists: bool | None = None
        self.done: Counter[str] = Counter()
        self._life = life

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer or fail; the life follows answers that come whole."""
        asked = anyio.current_time()
        is_struck = self.of_lists in {None, not request.url.path.endswith(PRICES)}
        name, delay_s = self.next.popleft() if self.next else (self.fault if is_struck else "", 0.0)
        self.done[name or "answered"] += 1
        if name in FAULTS:
            return await FAULTS[name](request)
        body = await (await self._life.answer(request)).aread()
        if name == CUT:
            return await serving(body[: int(len(body) * delay_s / 30)])(request)
        if name == SLOW:
            await anyio.sleep(delay_s)
        self._life.follow(request, json.loads(body), asked, anyio.current_time())
        return await serving(body)(request)


class VenueMachine(RuleBasedStateMachine):
    """A service on one venue; `life` has the venue's events, `done` the results of all requests so far."""

    make: type[PolymarketLife | AzuroLife]
    done: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        self.now = 0.0
        self.closing = asyncio.Event()

    @initialize(
        seed=st.integers(0, 1000),
        page_size=st.sampled_from((2, 100)),
        is_slow=st.sampled_from((False, True, True)),
        kick_offs=st.lists(st.sampled_from(KICK_OFFS), min_size=1, max_size=4),
    )
    def begin(self, seed: int, page_size: int, is_slow: bool, kick_offs: list[float]) -> None:  # noqa: FBT001
        """Start the service on a venue with some matches; it polls as shipped, or slowly."""
        self.life: Life = self.make(WALL_0, seed, page_size, is_slow=is_slow)
        self.site = Failing(self.life)
        for number, start in enumerate(kick_offs):
            self.life.add(number, WALL_0 + start)
        self.host = self.loop.create_task(self._serve(seed))
        self._pass(5.0)

    @rule(number=st.integers(0, 5), start=st.sampled_from(KICK_OFFS))
    def appears(self, number: int, start: float) -> None:
        """A match is listed, or listed again in its first form."""
        self.life.add(number, WALL_0 + self.now + start)

    @precondition(lambda self: self.life.names())
    @rule(data=st.data(), seconds=SOON)
    def happens(self, data: st.DataObject, seconds: float) -> None:
        """States, prices and kick-offs change, or the container of the prices is missing."""
        self.life.happens(self._some(data), _choosing(data))
        self._pass(seconds)

    @precondition(lambda self: self.life.names())
    @rule(data=st.data(), seconds=SOON)
    def closes(self, data: st.DataObject, seconds: float) -> None:
        """A match is suspended or hidden, and still has prices."""
        self.life.close(self._some(data), _choosing(data))
        self._pass(seconds)

    @precondition(lambda self: self.life.names())
    @rule(data=st.data(), seconds=SOON)
    def settles(self, data: st.DataObject, seconds: float) -> None:
        """A match ends, and still has prices."""
        self.life.settle(self._some(data))
        self._pass(seconds)

    @precondition(lambda self: self.life.names())
    @rule(data=st.data())
    def vanishes(self, data: st.DataObject) -> None:
        """A match leaves the list."""
        self.life.remove(self._some(data))

    @rule(
        names=st.lists(st.sampled_from(("", CUT, SLOW, SLOW, *FAULTS)), min_size=1, max_size=4),
        delay_s=st.sampled_from((1.0, 7.0, 14.0, 19.0, 29.0)),
    )
    def fails(self, names: list[str], delay_s: float) -> None:
        """Some of the next answers fail, or are late."""
        self.site.next.extend((name, delay_s) for name in names)

    @rule(name=st.sampled_from(("", "", *FAULTS)), of_lists=st.sampled_from((None, True, False)))
    def fails_always(self, name: str, of_lists: bool | None) -> None:  # noqa: FBT001 - from hypothesis
        """All answers fail from now on, or the answers of one kind, or none."""
        self.site.fault, self.site.of_lists = name, of_lists

    @rule(is_so=st.sampled_from((*(False,) * 9, True)))
    def lists_fail_for_long(self, is_so: bool) -> None:  # noqa: FBT001 - from hypothesis
        """Lists fail until the last list is too old, while prices come; seldom, because this takes long."""
        if is_so:
            self.site.next.clear()
            self.site.fault, self.site.of_lists = "HTML", True
            self._pass(self.life.listed_for_s)
            self.site.fault = ""

    @rule(seconds=st.sampled_from((1.0, 6.0, 16.0, 40.0, 130.0, 310.0)))
    def time_passes(self, seconds: float) -> None:
        """Some seconds or minutes pass."""
        self._pass(seconds)

    @rule()
    def comes_to_rest(self) -> None:
        """Once answers come again and nothing changes, the board equals the tables."""
        self.site.next.clear()
        self.site.fault = ""
        since = self.now
        self._become_current(since)
        self._pass(self.life.far_poll_s + 1)  # by then, unlisted matches have left
        self._become_current(since)  # a condition may have been replaced meanwhile

        shown, record = self._shown(), self.service.system.status.bookmakers[BookmakerId(self.life.name)]
        book = self.service.snapshot.books[record.id]
        not_shown = record.rejections.counts(book.scopes)

        assert self.life.expected(self.now) == shown
        assert book.is_serving, "a venue that lists nothing is live, too"
        assert len(self.life.names()) == len(shown) + sum(not_shown.values()), not_shown

    @invariant()
    def board_is_what_is_vouched_for(self) -> None:
        """All prices that hold are shown, and nothing else."""
        if not hasattr(self, "life"):
            return
        shown = self._shown()

        assert self.life.must(self.now + EPS_S).items() <= shown.items()
        assert shown.items() <= self.life.may(self.now - EPS_S).items()

    def teardown(self) -> None:
        """Stop the service."""
        if hasattr(self, "life"):
            self.closing.set()
            self._run(self.host)
            self.done.update({"lives": 1, **self.site.done})
        self.loop.close()

    def _some(self, data: st.DataObject) -> str:
        """Return a match: a shown match if there is any, otherwise any listed match."""
        listed = self.life.names()
        shown = [name for name in listed if name in self._shown()]
        return data.draw(st.sampled_from(shown or listed))

    async def _serve(self, seed: int) -> None:
        webs = {self.life.name: Web(self.site.answer)}
        clock, random = VirtualClock(WALL_0), Random(seed)
        self.service = VirtualService(
            _settings(self.life.config), webs=webs, clock=clock, random=random, tick_s=TICK_S
        )
        async with running(self.service):
            await self.closing.wait()

    def _become_current(self, since: float) -> None:
        """Wait until everything is asked for and answered after `since`."""
        began = self.now
        while not self.life.is_current(since):
            self._pass(10.0)
            assert self.now < began + CALM_S

    def _pass(self, seconds: float) -> None:
        self.now += seconds
        self._run(pass_to(self.now))

    def _run(self, what: Awaitable[T]) -> T:
        return self.loop.run_until_complete(what)

    def _shown(self) -> dict[str, Odds]:
        self._run(self.service.system.published.read())  # as a reader does, who gets nothing overdue
        matches = [entry.match for entry in self.service.entries(self.life.name)]
        return {
            str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
            for match in matches
        }


def _choosing(data: st.DataObject) -> Choose:
    def choose(choices: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(choices))

    return choose


class PolymarketMachine(VenueMachine):
    """Polymarket."""

    make = PolymarketLife


class AzuroMachine(VenueMachine):
    """Azuro."""

    make = AzuroLife


MACHINES: dict[str, type[VenueMachine]] = {"azuro": AzuroMachine, "polymarket": PolymarketMachine}


def live(name: str, lives: int, seed: int | None = None) -> None:
    """Run lives on a venue; without a seed they are equal each time; a failing life is made short.

    Raises: AssertionError.
    """
    machine = MACHINES[name] if seed is None else seeded(seed)(MACHINES[name])
    extent = settings(
        derandomize=seed is None,
        max_examples=lives,
        stateful_step_count=15,
        database=None,
        phases=(Phase.generate, Phase.shrink) if seed is None else (Phase.generate,),
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=tuple(HealthCheck),  # on a busy machine the drawing of a life takes long
    )
    run_state_machine_as_test(machine, settings=extent)


@cache
def _settings(config: str) -> Settings:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "oddsboard.toml"
        file.write_text(config, "utf-8")
        return load(file, {})
