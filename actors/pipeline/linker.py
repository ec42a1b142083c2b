"""The linker actor: links what commits have changed, and publishes its links by commits of its own.

The board never waits for it: without it fixtures stay as they are, but for what commits take away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from actors.board.published import Published
from actors.core.clock import Clock
from actors.core.cooperative import Lane, run_now, run_sliced
from actors.fixtures.advance import Advancing
from actors.fixtures.linking import Linking, Partition, Waiting
from actors.fixtures.state import fixtures_of


@dataclass(slots=True)
class LinkerActor:
    """Links the events in `waiting`; a new instance begins with all of them, in a linker from `start`."""

    published: Published
    waiting: Waiting
    advancing: Advancing
    start: Callable[[], Partition]
    clock: Clock

    async def run(self) -> None:
        """Run for ever: link whenever events have changed."""
        linking = Linking(self.start(), self.advancing)
        self.waiting.begin_anew()
        while True:
            keys = {} if linking.is_outdated else await self.waiting.get()
            state = fixtures_of(await self.published.read())
            await run_sliced(linking.update(state, keys), Lane.LINKS)
            while linking.is_due:
                await self._publish(linking)
            await run_sliced(self.published.digest(), Lane.LINKS)

    async def _publish(self, linking: Linking) -> None:
        """Publish some links; at once, because a commit in between would make them outdated."""
        async with self.published.finishing:
            base = await self.published.read()
            board = self.published.board(base, self.advancing.linking(linking.apply))
            self.published.replace(base, run_now(board.finish(self.clock.now())))
