"""The linker actor: has the matcher group the events that commits have changed, and sends the links.

The board never waits for it: without it fixtures stay as they are, but for what commits take away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from actors.board.published import Published
from actors.core.cooperative import run_sliced
from actors.matches.linking import Linking, Links, Partition, Waiting
from actors.matches.model import Roster, fixtures_of
from actors.matching.matcher import Matcher
from actors.review.review import Review


@dataclass(slots=True)
class LinkerActor:
    """Groups the events in `waiting`, and gives `send` the links that the fixtures lack, one after another.

    A new instance begins with all events, in a matcher from `start`. So does this instance when the
    operator's overrides are replaced.
    """

    published: Published
    waiting: Waiting
    roster: Roster
    start: Callable[[], Partition]
    send: Callable[[Links], None]
    review: Review

    async def run(self) -> None:
        """Run for ever: link whenever events have changed."""
        try:
            await self._link()
        finally:
            self.review.matcher = None

    async def _link(self) -> None:
        linking, overrides = None, self.review.overrides
        self.waiting.begin_anew()
        while True:
            keys = await self.waiting.get()
            async with self.review.turn:  # from when it is begun: a survey must not see it without events
                if linking is None or overrides is not self.review.overrides:
                    linking, overrides = self._begun(), self.review.overrides
                    keys = self.waiting.get_nowait()
                steps = linking.update(fixtures_of(self.published.newest), keys)
                portions = await run_sliced(steps)
            for links in portions:
                if overrides is not self.review.overrides:
                    break  # all are linked anew by those of now
                self.send(links)
                await links.applied.wait()

    def _begun(self) -> Linking:
        """Return the linking of all events from nothing."""
        matcher = self.start()
        self.review.matcher = matcher if isinstance(matcher, Matcher) else None
        self.waiting.begin_anew()
        return Linking(matcher, self.roster)
