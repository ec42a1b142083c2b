"""A byte stream that arrives in given pieces, for tests of code that reads streams."""

from __future__ import annotations

from collections.abc import Iterable

from anyio import EndOfStream
from anyio.abc import ByteStream


class Pieces(ByteStream):
    """A stream that delivers these pieces and then ends; `taken` counts the pieces delivered."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.taken = 0
        self._pieces = iter(pieces)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next piece."""
        piece = next(self._pieces, None)
        if piece is None:
            raise EndOfStream
        assert len(piece) <= max_bytes
        self.taken += len(piece)
        return piece

    async def send(self, item: bytes) -> None:
        """Not for writing."""
        raise NotImplementedError

    async def send_eof(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""
