"""A gzip member that is as long as a stream, made of compressed messages that many clients share.

The blocks of a message are byte-aligned. They refer only to the message before, by a preset dictionary
(RFC 1951, 3.2.3). So the same bytes serve each client that got the same message before, anywhere in its
member. Each client needs a CRC-32, a length (RFC 1952) and the message before.
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
"""A message of this length (deflate's window) or more is compressed fast; no later message refers to it."""

_TRAILER = struct.Struct("<II")


class Text(Struct, frozen=True, gc=False):
    """The text that blocks decompress to: its CRC-32, its length in bytes, and a short text itself."""

    crc: int
    length: int
    short: bytes = b""


class Member:
    """The checksum and length of a member, and in `last` the text of its newest message if it is short."""

    def __init__(self) -> None:
        self._crc = self._length = 0
        self.last = b""

    def follow(self, text: Text) -> None:
        """Add the text of the blocks that are sent next."""
        self._crc = crc32_combine(self._crc, text.crc, text.length)
        self._length += text.length
        self.last = text.short

    def block(self, text: bytes) -> bytes:
        """Return a few bytes as the next block."""
        self.follow(Text(zlib.crc32(text), len(text), text))
        return stored(text)

    @property
    def header(self) -> bytes:
        """The first bytes of a member."""
        return GZIP_HEADER

    @property
    def end(self) -> bytes:
        """The last bytes of a member."""
        return NO_MORE_BLOCKS + _TRAILER.pack(self._crc, self._length & 0xFFFFFFFF)


def deflated(message: Sequence[bytes], last: bytes) -> Sliced[tuple[list[bytes], Text]]:
    """Return the blocks of a message and its text, in slices; `last` is the text of the message before."""
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
    """Return the blocks and the text of a body that `gzip_body` made."""
    crc, length = _TRAILER.unpack(body[-1][-_TRAILER.size :])
    blocks = [*body]
    blocks[0] = blocks[0][len(GZIP_HEADER) :]
    blocks[-1] = blocks[-1][: -len(NO_MORE_BLOCKS) - _TRAILER.size]
    return blocks, Text(crc, length)


def between(head: bytes, blocks: Sequence[bytes], text: Text, tail: bytes) -> tuple[list[bytes], Text]:
    """Return blocks and their text with `head` before and `tail` after them."""
    crc = crc32_combine(zlib.crc32(head), text.crc, text.length)
    whole = Text(zlib.crc32(tail, crc), len(head) + text.length + len(tail))
    return [stored(head), *blocks, stored(tail)], whole
