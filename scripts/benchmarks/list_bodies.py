"""The bodies of the odds list, made by the web's own code for a board that the benchmark sets."""

from __future__ import annotations

from collections.abc import Mapping

from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import Deadlines
from actors.core.messages import BookmakerId
from web.encoding.list_segments import Api
from web.feeds.lists import Answers, View


class ListBodies:
    """A board on which nothing is ever overdue, and its bodies; `snapshot` may be replaced at any time."""

    def __init__(self, snapshot: Snapshot, names: Mapping[BookmakerId, str]) -> None:
        self.snapshot = snapshot
        self._answers = Answers(self, names)

    @property
    def newest(self) -> Snapshot:
        """The board."""
        return self.snapshot

    async def read(self, deadlines: object = None) -> Snapshot:
        """Return the board."""
        del deadlines
        return self.snapshot

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Return True: nothing is overdue."""
        del deadlines
        return True

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Return False, for the same reason."""
        del deadlines, within_s
        return False

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Raise RuntimeError, because every entry of a benchmark can be encoded."""
        raise RuntimeError(f"{entry.match.source_match_id} of {bookmaker} cannot be encoded: {why}")

    async def body(self, accept_encoding: str | None = None, api: Api = Api.V2) -> bytes:
        """Return the body of the whole list, its parts joined."""
        return b"".join((await self._answers.answer(View(api), None, accept_encoding)).parts)

    async def prepare(self, accept_encoding: str | None = None, api: Api = Api.V2) -> int:
        """Make the body of the whole list and return its size in bytes."""
        return (await self._answers.answer(View(api), None, accept_encoding)).body_bytes
