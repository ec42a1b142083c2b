"""The linker actor: lets the matcher group the events that commits have changed, and sends the links.

The board never waits for it: while it does not run, commits only remove entries from fixtures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace

from actors.board.published import Published
from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.market_fixtures.boards import MarketBoards
from actors.market_fixtures.linking import SideLinking
from actors.market_fixtures.sides import SideLinks
from actors.matches.linking import Linking, Links, Partition, Waiting
from actors.matches.model import Roster, fixtures_of
from actors.matching.event import EventKey
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.review.review import Review

LOOK_AGAIN_S = 5.0  # seconds between two checks of events whose links may change with their prices


@dataclass(slots=True)
class LinkerActor:
    """Groups the events in `waiting`, and sends the links that the fixtures lack, one after another.

    Side events, which have no 1X2 prices, are linked afterwards, or within seconds.

    A new instance begins with all events, in a matcher from `start`; so does this instance when the
    operator's overrides are replaced. A link that failed only because of its prices is made within seconds
    after the prices agree, so that links do not depend on the first prices of an event.
    """

    published: Published
    waiting: Waiting
    roster: Roster
    start: Callable[[], Partition]
    send: Callable[[Links], None]
    review: Review
    clock: Clock
    markets: MarketBoards = field(default_factory=MarketBoards)
    send_sides: Callable[[SideLinks], None] = lambda _: None

    async def run(self) -> None:
        """Run for ever: link whenever events have changed."""
        try:
            await self._link()
        finally:
            self.review.matcher = None

    async def _link(self) -> None:
        linking, overrides = None, self.review.overrides
        side_linking = SideLinking(self.start, self.roster)
        self.waiting.begin_anew()
        looked_mono = self.clock.now().mono
        while True:
            keys: Iterable[EventKey] | None = ()
            with anyio.move_on_after(max(looked_mono + LOOK_AGAIN_S - self.clock.now().mono, 0.0)):
                keys = await self.waiting.get()
            now_mono = self.clock.now().mono
            if look_again := now_mono >= looked_mono + LOOK_AGAIN_S:
                looked_mono = now_mono
            async with self.review.turn:  # before `_begun`: a survey must not see an empty matcher
                if linking is None or overrides is not self.review.overrides:
                    linking, overrides = self._begun(), self.review.overrides
                    side_linking = SideLinking(self.start, self.roster)
                    keys = self.waiting.get_nowait()
                steps = linking.update(fixtures_of(self.published.newest), keys, look_again=look_again)
                portions = await run_sliced(steps)
            await self._publish(portions, overrides)
            state, sides = fixtures_of(self.published.newest), self.markets.sides
            if side_links := await run_sliced(side_linking.update(state, sides, keys)):
                self.send_sides(side_links)
            await run_sliced(
                self.review.standing.look(fixtures_of(self.published.newest), self.clock.now())
            )

    async def _publish(self, portions: list[Links], overrides: Overrides) -> None:
        """Send portions of links, each after the previous one was committed; without links only a number.

        Each portion is removed from `portions`, because freeing the links of all events in one step takes
        long.
        """
        left = sum([len(links.events) for links in portions])
        if not portions and fixtures_of(self.published.newest).pending != self.waiting.depth:
            portions = [Links((), {})]
        portions.reverse()
        while portions and overrides is self.review.overrides:  # new overrides: all events are linked anew
            links = portions.pop()
            left -= len(links.events)
            self.send(replace(links, pending=left + self.waiting.depth))
            await links.applied.wait()

    def _begun(self) -> Linking:
        """Return a new linking, which begins with all events."""
        matcher = self.start()
        self.review.matcher = matcher if isinstance(matcher, Matcher) else None
        self.waiting.begin_anew()
        return Linking(matcher, self.roster)
