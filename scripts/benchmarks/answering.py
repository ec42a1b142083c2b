"""The one place that asks the web's `Answers`: for the bodies of a board that the benchmark holds."""

from __future__ import annotations

from collections.abc import Mapping

from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId
from web.encoding.segments import Api
from web.feeds.lists import Answers, View


class Shelf:
    """A board that changes when it is told to, and the answers that are given from it."""

    def __init__(self, snapshot: Snapshot, names: Mapping[BookmakerId, str]) -> None:
        self.snapshot = snapshot
        self._answers = Answers(self, names)

    async def read(self) -> Snapshot:
        """Return what is on it."""
        return self.snapshot

    def is_valid(self, snapshot: Snapshot) -> bool:
        """Return that nothing is ever overdue here."""
        del snapshot
        return True

    async def body(self, accept_encoding: str | None = None, api: Api = Api.V2) -> bytes:
        """Return the body of the whole list, joined where it comes in parts."""
        return b"".join((await self._answers.answer(View(api), None, accept_encoding)).parts)

    async def ready(self, accept_encoding: str | None = None, api: Api = Api.V2) -> int:
        """Make that body ready, and give its bytes."""
        return (await self._answers.answer(View(api), None, accept_encoding)).body_bytes
