"""Waits for what clients have from another machine of a cluster: this one is behind, or just begins.

It looks again and again: mostly once is enough, and the board need not know who waits.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from msgspec import Struct

from actors.board.snapshot import Readable, Snapshot
from actors.board.validity import Deadlines
from actors.core.errors import CommitLateError
from web.feeds.first_links import FirstLinks
from web.protocol.negotiation import newest_version

BEHIND_S = 5.0
"""A machine that is behind for longer shows no prices: see `actors/cluster/liveness.py`."""
BEGUN_S = 1.0
LOOK_S = 0.01  # between two looks at the board; mostly it is some milliseconds behind


class CatchUp(Struct, frozen=True):
    """Waits `longest_s` at most for the `board`; 0 where no other machine can have given newer versions."""

    board: Readable
    longest_s: float = 0.0
    first_links: FirstLinks | None = None

    def check_linked(self) -> None:
        """Raises: NotLinkedError while the first links are to be awaited."""
        if self.first_links is not None:
            self.first_links.check()

    async def reached(self, version: int, epoch: str, deadlines: Callable[[Snapshot], Deadlines]) -> bool:
        """Wait until the board has a version of that epoch; return whether it has it.

        Raises: CommitLateError as the board does, and if it is behind for too long: what it has is older.
        """
        if not self.longest_s:
            return False
        with anyio.move_on_after(self.longest_s):
            while (snapshot := await self.board.read(deadlines)).epoch == epoch:
                if snapshot.version >= version:
                    return True
                await anyio.sleep(LOOK_S)
            return False
        raise CommitLateError("this machine is too far behind another")

    async def waited(
        self, if_none_match: str | None, snapshot: Snapshot, deadlines: Callable[[Snapshot], Deadlines]
    ) -> bool:
        """Wait for what a client has of another machine; return whether the snapshot is an old one now.

        A newer version of another epoch is that of a board that began anew, of which this machine does not
        know yet, or of another service: it is waited for as long, and then no more.

        Raises: as `reached`.
        """
        if if_none_match is None or not self.longest_s:
            return False
        version, epoch = newest_version(if_none_match)
        if version <= snapshot.version:
            return False
        if epoch == snapshot.epoch:
            await self.reached(version, epoch, deadlines)
        else:
            with anyio.move_on_after(self.longest_s):
                while (await self.board.read(deadlines)).version < version:  # noqa: ASYNC110 - see above
                    await anyio.sleep(LOOK_S)
        return True

    async def begun(self, deadlines: Callable[[Snapshot], Deadlines]) -> Snapshot:
        """Return the board once it has a version. Raises: CommitLateError if it has none for a second."""
        with anyio.move_on_after(BEGUN_S):
            while not (snapshot := await self.board.read(deadlines)).version:  # noqa: ASYNC110 - see above
                await anyio.sleep(LOOK_S)
            return snapshot
        raise CommitLateError("this machine has no board yet")
