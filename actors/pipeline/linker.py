"""The linker actor: links what commits have changed, and publishes its links by commits of its own.

The board never waits for it: without it fixtures stay as they are, but for what commits take away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from actors.board.published import Published
from actors.core.clock import Clock
from actors.core.cooperative import Lane, collecting, give_way, run_sliced
from actors.matches.linking import Linking, Partition, Waiting
from actors.matches.model import fixtures_of
from actors.matches.update import Advancing
from actors.matching.matcher import Linker
from actors.review.desk import Desk
from actors.runtime.supervisor import contained

COMMIT_S = 0.005  # seconds of work, about, that a commit of links takes on a large board


@dataclass(slots=True)
class LinkerActor:
    """Links the events in `waiting`; a new instance begins with all of them, in a linker from `start`.

    So does this one when what is known by hand is replaced at the desk.
    """

    published: Published
    waiting: Waiting
    advancing: Advancing
    start: Callable[[], Partition]
    clock: Clock
    desk: Desk

    async def run(self) -> None:
        """Run for ever: link whenever events have changed, and make surveys of what is not linked."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(contained, self.desk.watch, self.published.read)
                await self._link()
        finally:
            self.desk.linker = None

    async def _link(self) -> None:
        linking, overrides = None, self.desk.overrides
        self.waiting.begin_anew()
        while True:
            keys = {} if linking is not None and linking.is_outdated else await self.waiting.get()
            async with self.desk.turn:  # from when it is begun: a survey must not see it without events
                if linking is None or overrides is not self.desk.overrides:
                    linking, overrides, keys = self._begun(), self.desk.overrides, self.waiting.get_nowait()
                state = fixtures_of(await self.published.read())
                await run_sliced(collecting(linking.update(state, keys)), Lane.LINKS)
            while linking.is_due:
                await self._publish(linking)
                await give_way(COMMIT_S)
            await run_sliced(self.published.digest(), Lane.LINKS)

    def _begun(self) -> Linking:
        """Return the linking of all events from nothing."""
        linker = self.start()
        self.desk.linker = linker if isinstance(linker, Linker) else None
        self.waiting.begin_anew()
        return Linking(linker, self.advancing)

    async def _publish(self, linking: Linking) -> None:
        """Publish some links, or do so later if a read withdraws something meanwhile."""
        async with self.published.finishing:
            base = await self.published.read()
            board = self.published.board(base, self.advancing.linking(linking.apply))
            snapshot = await run_sliced(board.finish(self.clock.now()), Lane.BOARD)
            if not self.published.replace(base, snapshot):
                linking.put_back()
