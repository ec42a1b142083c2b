"""The requests of a cluster's processes to their shared server: values, and the protocol.

`redis_store.py` asks a real server through scripts; tests use a model of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NewType, Protocol

from msgspec import Struct

from actors.core.messages import SourceName

CollectorId = NewType("CollectorId", str)  # random, one for each process; no blanks


class Position(Struct, frozen=True, order=True, gc=False):
    """The place of a record: its visible version, and the number of records since that version.

    `mark` is a digest of all records of the epoch up to this one, or empty if it does not matter.
    """

    version: int
    sub: int = 0
    mark: str = ""

    def is_later(self, than: Position) -> bool:
        """Return whether the place is after another one, whatever the marks."""
        return (self.version, self.sub) > (than.version, than.sub)


class Lease(Struct, frozen=True):
    """The right to commit for a source: a collector under a token, which grows with each holder."""

    token: int
    collector: CollectorId


class Acquired(Struct, frozen=True):
    """A new lease: its token, and the state of polls from the last holder, perhaps empty."""

    token: int
    polls: bytes = b""


class Look(Struct, frozen=True):
    """The shared state at a moment: the newest record, the round of this look, beats by collector, leases.

    With `are_polls_lost` the state of polls before this epoch may be incomplete. `damage` is what ended the
    epoch before, or empty. `evicts` is the server's policy for dropping keys, or empty.
    """

    head: Position
    round: int
    beats: Mapping[CollectorId, int]
    leases: Mapping[SourceName, Lease]
    are_polls_lost: bool = False
    damage: str = ""
    evicts: str = ""


class Logged(Struct, frozen=True):
    """A record of the log; it was committed directly after the record at `after`."""

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
    """A record to commit: a repeated `sequence` means the same record. `leases` are the leases it needs.

    `acked` is the sequence of the collector's last record that the log must still have, 0 if there is none.
    """

    collector: CollectorId
    sequence: int
    is_seen: bool
    data: bytes
    leases: Mapping[SourceName, int]
    acked: int = 0


class Store(Protocol):
    """A connection to the server. All methods wait, for a bounded time.

    Raises: StoreLostError if it does not answer in time or refuses, OtherBoardError if the epoch is over,
    StoreDamagedError if its data is damaged; after these errors only `join` may be called.
    """

    async def join(self, unix_ms: int, damage: str = "") -> str:
        """Connect anew and return the epoch; it is new if versions seen here may be lost.

        It is also new if the last joined epoch has this `damage`, once a minute at most.
        """
        ...

    async def look(self) -> Look:
        """Raise the round, and return the shared state."""
        ...

    async def beat(
        self, collector: CollectorId, answered: int, polls: Mapping[SourceName, bytes], acked: int = 0
    ) -> bool:
        """Report that a collector is in order since that round; return False if it was deposed.

        `polls` are stored for the next holder of each of its sources; `acked` is as in `Commit`.
        """
        ...

    async def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        """Get the lease of a source, perhaps again; None if another collector has it."""
        ...

    async def commit(self, commit: Commit) -> Position | None:
        """Append a record; None, without effect, if the collector has lost one of the leases."""
        ...

    async def depose(self, collector: CollectorId, beat: int, data: bytes) -> bool:
        """Free the leases of a collector and append a record; False if it has beaten since `beat`."""
        ...

    async def restore(self, *, is_before: bool = False) -> Restored:
        """Return the newest checkpoint; with `is_before` the checkpoint before that, or the empty board.

        The log has all records since then.
        """
        ...

    async def checkpoint(self, at: Position, state: bytes, trim: Position) -> None:
        """Store the state at a position, and drop the records before `trim`."""
        ...

    async def tail(self, after: Position, wait_s: float) -> Sequence[Logged]:
        """Return some of the next records, oldest first; no record if none comes within `wait_s`."""
        ...

    async def close(self) -> None:
        """Disconnect."""
        ...
