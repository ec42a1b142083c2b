"""A gzip member that goes on as long as a stream, and the compressed messages that many members share.

The blocks of a message are byte-aligned and refer to nothing before them but the message before it, which a
preset dictionary stands for (RFC 1951, 3.2.3). So the same bytes serve every client with the same message
before, at whatever place of its member. A client costs a CRC-32, a length and that message (RFC 1952).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from msgspec import Struct
from zlib_ng.zlib_ng import crc32_combine

from actors.core.cooperative import Sliced
from web.encoding.segments import GZIP_HEADER, LEVEL, NO_MORE_BLOCKS, stored

LONG_BYTES = 32_768
"""A message from this length on, deflate's window, is compressed fast, and nothing after refers to it."""

_TRAILER = struct.Struct("<II")


class Text(Struct, frozen=True, gc=False):
    """What blocks decompress to: CRC-32, length in bytes, and all of it if it is not long."""

    crc: int
    length: int
    short: bytes = b""


class Member:
    """The checks of a member, and in `last` the text of its newest message if that is not long."""

    def __init__(self) -> None:
        self._crc = self._length = 0
        self.last = b""

    def follow(self, text: Text) -> None:
        """Note what the blocks that are sent next decompress to."""
        self._crc = crc32_combine(self._crc, text.crc, text.length)
        self._length += text.length
        self.last = text.short

    def block(self, text: bytes) -> bytes:
        """Return a few bytes as the next block."""
        self.follow(Text(zlib.crc32(text), len(text), text))
        return stored(text)

    @property
    def header(self) -> bytes:
        """What a member begins with."""
        return GZIP_HEADER

    @property
    def end(self) -> bytes:
        """What a member ends with."""
        return NO_MORE_BLOCKS + _TRAILER.pack(self._crc, self._length & 0xFFFFFFFF)


def deflated(message: Sequence[bytes], last: bytes) -> Sliced[tuple[list[bytes], Text]]:
    """Return the blocks of a message, in slices, and its text; `last` is that of the message before."""
    crc, length = 0, sum(map(len, message))
    level = LEVEL if length < LONG_BYTES else 1
    packer = (
        zlib.compressobj(level, wbits=-zlib.MAX_WBITS, zdict=last)
        if last
        else zlib.compressobj(level, wbits=-zlib.MAX_WBITS)
    )
    blocks: list[bytes] = []
    for piece in message:
        crc = zlib.crc32(piece, crc)
        blocks.append(packer.compress(piece))
        yield
    blocks.append(packer.flush(zlib.Z_SYNC_FLUSH))
    short = b"".join(message) if length < LONG_BYTES else b""
    return [b"".join(blocks)] if short else [*filter(None, blocks)], Text(crc, length, short)


def blocks_of(body: Sequence[bytes]) -> tuple[list[bytes], Text]:
    """Return the blocks of a body that `gzip_body` made, and their text."""
    crc, length = _TRAILER.unpack(body[-1][-_TRAILER.size :])
    blocks = [*body]
    blocks[0] = blocks[0][len(GZIP_HEADER) :]
    blocks[-1] = blocks[-1][: -len(NO_MORE_BLOCKS) - _TRAILER.size]
    return blocks, Text(crc, length)


def between(head: bytes, blocks: Sequence[bytes], text: Text, tail: bytes) -> tuple[list[bytes], Text]:
    """Return blocks, and their text, with a few bytes before and after them."""
    crc = crc32_combine(zlib.crc32(head), text.crc, text.length)
    whole = Text(zlib.crc32(tail, crc), len(head) + text.length + len(tail))
    return [stored(head), *blocks, stored(tail)], whole
