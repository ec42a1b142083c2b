"""The operator's access to the matcher, for questions and overrides; outlives every matcher.

It holds no state of the board, and the board never waits for an answer: the linker works between two
questions, and questions about all events are answered in portions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

import anyio

from actors.board.snapshot import Snapshot
from actors.core.clock import elapsed_s
from actors.core.cooperative import run_sliced
from actors.matches.entries import chances_in
from actors.matches.model import FixtureState, fixtures_of
from actors.matching.event import EventKey
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.review.doubts import mixed, outlived
from actors.review.explanation import Abstention, Explanation, explain, nearest
from actors.review.standing import StandingLinks
from actors.review.survey import Survey, absent, survey_of

SURVEY_HOLDS = 10  # a survey is reused for this many times its duration, a minute on a large board
PORTION = 64  # events; the linker waits some milliseconds for them


class Review:
    """The operator's overrides and access to the running matcher; `turn` is its lock.

    `survey` is the last survey of all events; None before the first.
    """

    def __init__(
        self,
        overrides: Overrides = Overrides(),  # noqa: B008 - a frozen value
        now: Callable[[], float] = elapsed_s,
    ) -> None:
        self._now = now
        self._good_until = 0.0
        self.overrides = overrides
        self.turn = anyio.Lock(fast_acquire=True)
        self.matcher: Matcher | None = None
        self.survey: Survey | None = None
        self.standing = StandingLinks()
        self._surveying = anyio.Lock(fast_acquire=True)

    def new_matcher(self) -> Matcher:
        """Return a matcher without events, with the present overrides."""
        return Matcher(self.overrides)

    def replace(self, overrides: Overrides) -> None:
        """Replace the overrides; the caller then has all events linked again by a new matcher."""
        self.overrides, self.survey, self.matcher = overrides, None, None

    async def explain(self, state: FixtureState, a: EventKey, b: EventKey) -> Explanation | None:
        """Return the evidence about two events; None if the matcher, or one event, is absent."""
        async with self.turn:
            matcher, prices = self.matcher, partial(chances_in, state)
            return None if matcher is None else explain(matcher, a, b, prices)

    async def nearest(self, state: FixtureState, keys: tuple[EventKey, ...]) -> list[Abstention]:
        """Return the nearest candidates of some events that are not linked with these events."""
        async with self.turn:
            matcher, prices = self.matcher, partial(chances_in, state)
            return [] if matcher is None else await run_sliced(nearest(matcher, keys, prices))

    async def all(self, snapshot: Snapshot) -> Survey | None:
        """Survey all events; None without a matcher, or if the matcher was replaced meanwhile.

        A call during a survey, or within ten times its duration after it, returns that survey.
        """
        async with self._surveying:
            began = self._now()
            if self.survey is not None and (
                self.survey.version >= snapshot.version or began < self._good_until
            ):
                return self.survey
            async with self.turn:  # not while a new matcher is filled: that matcher would lack events
                matcher, overrides = self.matcher, self.overrides
                keys = iter(()) if matcher is None else matcher.keys()
            found: list[Abstention] = []
            while matcher is self.matcher and (portion := tuple(islice(keys, PORTION))):
                found += await self.nearest(fixtures_of(snapshot), portion)
            missing = await run_sliced(absent(overrides, fixtures_of(snapshot)))
            if matcher is None or matcher is not self.matcher:
                return None
            doubtful = (*mixed(overrides), *outlived(overrides, matcher))
            self.survey = survey_of(snapshot.version, found, missing, doubtful)
            took_s = self._now() - began
            self._good_until = began + took_s + SURVEY_HOLDS * took_s
            return self.survey
