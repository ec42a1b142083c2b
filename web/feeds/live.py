"""What clients that follow the board are answered from, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actors.board.history import History
from actors.board.snapshot import Readable
from actors.core.messages import BookmakerId
from web.feeds.events import Frames
from web.feeds.subscribers import Audience


@dataclass(frozen=True, slots=True)
class Live:
    """The live board, and what is made of it for all who follow it.

    `names` are the display names in the order of the configuration.
    """

    board: Readable
    names: Mapping[BookmakerId, str]
    audience: Audience
    frames: Frames

    @property
    def history(self) -> History:
        """What changed on the way to what `read` gives."""
        return self.audience.history
