"""The requests of a cluster's processes to the server that they share: values, and the protocol.

`redis_store.py` asks a real server by the scripts; tests have a model of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NewType, Protocol

from msgspec import Struct

from actors.core.messages import SourceName

CollectorId = NewType("CollectorId", str)  # random, of one process; no blanks


class Position(Struct, frozen=True, order=True, gc=False):
    """The place of a record: the version that clients see with it, and the records since that version."""

    version: int
    sub: int = 0


class Lease(Struct, frozen=True):
    """Who may commit for a source: a collector under a token, which grows with each holder."""

    token: int
    collector: CollectorId


class Acquired(Struct, frozen=True):
    """A lease that was got: its token, and what the last holder left of its polls, perhaps nothing."""

    token: int
    polls: bytes = b""


class Look(Struct, frozen=True):
    """The state at a moment: the newest record, the round of this look, beats by collector, leases.

    `are_polls_lost` says that what was told of polls before this epoch may be missing, `damage` why the
    epoch before it ended, or nothing. The server may drop keys by the policy `evicts`, if there is one.
    """

    head: Position
    round: int
    beats: Mapping[CollectorId, int]
    leases: Mapping[SourceName, Lease]
    are_polls_lost: bool = False
    damage: str = ""
    evicts: str = ""


class Logged(Struct, frozen=True):
    """A record of the log, as it was committed right after the record at `after`."""

    at: Position
    after: Position
    epoch: str
    data: bytes


class Restored(Struct, frozen=True):
    """The version of the empty board, and the newest checkpoint, if any."""

    first: int
    at: Position | None = None
    state: bytes = b""


class Commit(Struct, frozen=True):
    """A record on its way: the same `sequence` again is the same record. `leases` are those it is under."""

    collector: CollectorId
    sequence: int
    is_seen: bool
    data: bytes
    leases: Mapping[SourceName, int]


class Store(Protocol):
    """A connection to the server. All methods wait, for a bounded time.

    Raises: StoreLostError if it does not answer in time or refuses, OtherBoardError if the epoch is over,
    StoreDamagedError if what it has is not what it must be; after these only `join` may be called.
    """

    async def join(self, unix_ms: int, damage: str = "") -> str:
        """Connect anew and return the epoch; it is new if versions that were seen here may be lost.

        So it is if the epoch that was joined last has such a `damage`, once a minute at most.
        """
        ...

    async def look(self) -> Look:
        """Raise the round, and return what there is."""
        ...

    async def beat(self, collector: CollectorId, answered: int, polls: Mapping[SourceName, bytes]) -> bool:
        """Say that a collector is in order since that round; return False if it was deposed.

        `polls` are kept for the next holder of each source that it has.
        """
        ...

    async def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        """Get the lease of a source, perhaps again; None if another has it."""
        ...

    async def commit(self, commit: Commit) -> Position | None:
        """Append a record; None, and nothing is done, if a lease is not the collector's any more."""
        ...

    async def depose(self, collector: CollectorId, beat: int, data: bytes) -> bool:
        """Free the leases of a collector and append a record; False if it has beaten since `beat`."""
        ...

    async def restore(self, *, is_before: bool = False) -> Restored:
        """Return what a board begins with; with `is_before` the checkpoint before, or the empty board.

        The log has all records since then.
        """
        ...

    async def checkpoint(self, at: Position, state: bytes, trim: Position) -> None:
        """Keep the state at a position, and drop the records before `trim`."""
        ...

    async def tail(self, after: Position, wait_s: float) -> Sequence[Logged]:
        """Return the next records, oldest first, perhaps not all; none if there is none within `wait_s`."""
        ...

    async def close(self) -> None:
        """Disconnect."""
        ...
