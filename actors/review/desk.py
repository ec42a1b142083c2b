"""Where the operator asks the linker and tells it what is known by hand; outlives every instance of it.

No state of the board is here, and nothing on the board waits for an answer: the linker works between two
questions, and questions about all events are answered in portions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from math import inf

import anyio
from msgspec import Struct

from actors.board.snapshot import Snapshot
from actors.core.clock import elapsed_s
from actors.core.cooperative import SLICE, Sliced, run_sliced
from actors.matches.model import fixtures_of
from actors.matching.abstentions import Abstention, in_order
from actors.matching.event import EventKey
from actors.matching.matcher import Explanation, Linker
from actors.matching.overrides import Overrides
from actors.matching.rules import Reason
from actors.review.absent import absent

FIRST_S = 5.0  # after the start, when the first lists are there
EVERY_S = 60.0
FRESH_S = 5.0  # for which a survey is not made again
PAUSES = 10  # times as long as it took, the same
PORTION = 64  # events: some milliseconds, in which the linker waits


class Survey(Struct, frozen=True):
    """What was found of all events at one version: nearest candidates, and what is said of none of them."""

    version: int
    abstentions: tuple[Abstention, ...]
    reasons: Mapping[Reason, int]
    absent: tuple[str, ...]


class Desk:
    """Holds what is known by hand, and the linker while there is one; `turn` is held by who works with it.

    A new survey replaces `survey`; None before the first one.
    """

    def __init__(self, overrides: Overrides = Overrides()) -> None:  # noqa: B008 - a frozen value
        self.overrides = overrides
        self.turn = anyio.Lock(fast_acquire=True)
        self.linker: Linker | None = None
        self.survey: Survey | None = None
        self._surveying = anyio.Lock(fast_acquire=True)
        self._is_replaced = anyio.Event()
        self._fresh_until = -inf

    def new_linker(self) -> Linker:
        """Return a linker without events, by what is known now."""
        return Linker(self.overrides)

    def replace(self, overrides: Overrides) -> None:
        """Take over what is known by hand; the caller has all events linked again, by another linker."""
        self.overrides, self.survey, self.linker = overrides, None, None
        self._is_replaced.set()

    async def explain(self, a: EventKey, b: EventKey) -> Explanation | None:
        """Return the evidence about two events; None if there is no linker, or one is not there yet."""
        async with self.turn:
            try:
                return None if self.linker is None else self.linker.explain(a, b)
            except KeyError:
                return None

    async def nearest(self, keys: tuple[EventKey, ...]) -> list[Abstention]:
        """Return the nearest candidates of some events that are not linked with them."""
        async with self.turn:
            return [] if self.linker is None else await run_sliced(self.linker.nearest(keys))

    async def watch(self, read: Callable[[], Awaitable[Snapshot]]) -> None:
        """Make surveys for ever, of what `read` returns, some time apart and only if it changed."""
        wait_s = FIRST_S
        while True:
            with anyio.move_on_after(wait_s):
                await self._is_replaced.wait()
                self._is_replaced = anyio.Event()
            snapshot = await read()
            if self.survey is None or self.survey.version != snapshot.version:
                await self.make_survey(snapshot)
            left_s = self._fresh_until - elapsed_s()
            wait_s = FIRST_S if self.survey is None else max(EVERY_S, left_s)

    async def make_survey(self, snapshot: Snapshot) -> Survey | None:
        """Look at all events and return what is found, or what was found just before.

        None if there is no linker, or another one by now.
        """
        async with self._surveying:
            if self.survey is not None and elapsed_s() < self._fresh_until:
                return self.survey
            async with self.turn:  # not while a new linker is given its events: it would lack the others
                began, linker, overrides = elapsed_s(), self.linker, self.overrides
                keys = iter(() if linker is None else await run_sliced(_listed(linker)))
            found: list[Abstention] = []
            while portion := tuple(islice(keys, PORTION)):
                if linker is not self.linker:
                    return None
                found += await self.nearest(portion)
            missing = await run_sliced(absent(overrides, fixtures_of(snapshot)))
            if linker is None or linker is not self.linker:
                return None
            some = in_order(found)
            reasons = Counter(one.reason for one in some)
            self.survey = Survey(snapshot.version, some, reasons, missing)
            took_s = elapsed_s() - began
            self._fresh_until = began + max(FRESH_S, PAUSES * took_s)
            return self.survey


def _listed(linker: Linker) -> Sliced[list[EventKey]]:
    """Return the events of a linker."""
    found: list[EventKey] = []
    for count, key in enumerate(linker.keys(), 1):
        found.append(key)
        if count % SLICE == 0:
            yield
    return found
