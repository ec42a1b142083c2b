"""Waits for versions that clients already have from another machine, while this machine is behind.

It polls the board: mostly it is enough to look at the board once, and the board needs no list of waiting
requests.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from msgspec import Struct

from actors.board.snapshot import Readable, Snapshot
from actors.board.validity import Deadlines
from actors.core.errors import CommitLateError
from web.feeds.waiting.first_links import FirstLinks
from web.protocol.negotiation import newest_version

BEHIND_S = 5.0
"""A machine that is behind for longer shows no prices; see `actors/cluster/liveness.py`."""
BEGUN_S = 1.0
LOOK_S = 0.01  # seconds between two looks at the board, which is mostly some milliseconds behind


class CatchUp(Struct, frozen=True):
    """Waits at most `longest_s` for the `board`; 0 without other machines."""

    board: Readable
    longest_s: float = 0.0
    first_links: FirstLinks | None = None

    def check_linked(self) -> None:
        """Raise NotLinkedError until the first links are made."""
        if self.first_links is not None:
            self.first_links.check()

    async def reached(self, version: int, epoch: str, deadlines: Callable[[Snapshot], Deadlines]) -> bool:
        """Wait until the board reaches `version`; return False for another epoch, or if `longest_s` is 0.

        Raises: CommitLateError if the board raises it, or if this machine is behind for too long.
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
        """Wait for the version that a client's tag names; return whether the caller must read again.

        A newer version of another epoch belongs to a new board that this machine does not know yet, or to
        another service: after `longest_s` it is ignored.

        Raises: CommitLateError, as `reached`.
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
        """Return the board once it has a version. Raises: CommitLateError if that takes a second."""
        with anyio.move_on_after(BEGUN_S):
            while not (snapshot := await self.board.read(deadlines)).version:  # noqa: ASYNC110 - see above
                await anyio.sleep(LOOK_S)
            return snapshot
        raise CommitLateError("this machine has no board yet")
