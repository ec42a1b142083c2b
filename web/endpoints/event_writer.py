"""Writes Server-Sent Events to one client, in its content coding.

Pure ASGI, because a Quart generator that yields without suspending blocks the loop once its client has
gone. With gzip a stream is one member, flushed at each event (`members.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio.lowlevel
from hypercorn.typing import ASGISendCallable

from actors.core.cooperative import run_sliced
from web.encoding.members import Member, Text, deflated
from web.feeds import messages
from web.feeds.subscribers import Audience
from web.protocol.negotiation import Coding, coding_for
from web.protocol.responses import Asked

PIECE_BYTES = 65_536
"""The largest piece of a message: no more than this waits in memory for a slow client."""
_GZIP_HEADERS = {"Content-Encoding": Coding.GZIP, "Vary": "Accept-Encoding"}


class EventWriter:
    """The connection of a client that follows changes; heartbeats come from `audience`."""

    def __init__(self, send: ASGISendCallable, request: Asked, audience: Audience) -> None:
        self.send, self.audience = send, audience
        self.sent_bytes = 0
        self.coding = coding_for(request.header(b"accept-encoding")) or Coding.IDENTITY
        self._member = None if self.coding is Coding.IDENTITY else Member()
        self._beats = audience.beats

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the coding."""
        return {} if self._member is None else _GZIP_HEADERS

    @property
    def last(self) -> bytes | None:
        """The text of the last message if it is short, for the next to refer to it; None without gzip."""
        return None if self._member is None else self._member.last

    def follow(self, text: Text | None) -> None:
        """Note the text of blocks that are written next."""
        if self._member is not None and text is not None:
            self._member.follow(text)

    def coded(self, pieces: messages.Pieces) -> messages.Pieces:
        """Return a short message in the coding; it must be written next."""
        return pieces if self._member is None else [self._member.block(b"".join(pieces))]

    async def packed(self, pieces: Sequence[bytes]) -> messages.Pieces:
        """Return a message of any length in the coding; it must be written next."""
        if self._member is None:
            return [*pieces]
        blocks, text = await run_sliced(deflated(pieces, self._member.last))
        self._member.follow(text)
        return blocks

    def beat(self, version: int) -> messages.Pieces:
        """Return a heartbeat if one is due."""
        if self._beats == self.audience.beats:
            return []
        self._beats = self.audience.beats
        return self.coded(messages.heartbeat(version))

    async def begin(self) -> None:
        """Write the bytes that come before the first message."""
        if self._member is not None:
            await self.write([self._member.header])

    async def end(self, version: int) -> None:
        """Write the last message, and the bytes that follow it."""
        await self.write(self.coded(messages.bye(version, self.audience.retry_ms())))
        if self._member is not None:
            await self.write([self._member.end])

    async def write(self, pieces: messages.Pieces) -> None:
        """Send the pieces; drop each once it is sent."""
        pieces.reverse()
        while pieces:
            long = pieces.pop()
            for at in range(0, len(long), PIECE_BYTES):
                piece = long[at : at + PIECE_BYTES]
                self.sent_bytes += len(piece)
                await self.send({"type": "http.response.body", "body": piece, "more_body": True})
                if pieces or at + PIECE_BYTES < len(long):
                    await anyio.lowlevel.checkpoint()
