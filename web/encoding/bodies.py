"""Bodies of the odds lists (interface-spec.md, 2.3), joined of runs: plain, and as one gzip member.

Pure, in slices. The gzip form is made of the deflate blocks that the segments keep, and its checksum
of theirs (RFC 1951, 1952), so a new version compresses and reads again only what changed. A large body
comes in parts that are sent one after the other: its runs, which are joined already. Putting them
together would copy all of it for each version, into memory that the system hands out page by page.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from actors.core.cooperative import Steps
from web.encoding.segments import STORED_COMMA, Run, stored

WHOLE_BYTES = 2**20
"""Bytes up to which a body is one part: as a message to the server it costs more than to be joined."""

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system


def plain_body(version: int, count: int, runs: Sequence[Run]) -> Steps[tuple[bytes, ...]]:
    """Give the list of `runs` as JSON, in parts."""
    pieces: list[bytes] = []
    for run in _shown(runs):
        yield
        pieces.append(run.json)
    return _parts(_head(version), pieces, 1, _tail(count))


def gzip_body(version: int, count: int, runs: Sequence[Run]) -> Steps[tuple[bytes, ...]]:
    """Give the same compressed, in parts."""
    head, tail = _head(version), _tail(count)
    pieces, crc, length = list[bytes](), zlib.crc32(head), len(head) + len(tail)
    for run in _shown(runs):
        packed = yield from run.packed()
        if pieces:
            crc, length = zlib.crc32(b",", crc), length + 1
        pieces.append(packed.deflated)
        crc, length = packed.checksum.after(crc), length + packed.checksum.length
    trailer = struct.pack("<II", zlib.crc32(tail, crc), length & 0xFFFFFFFF)
    opening, closing = _GZIP_HEADER + stored(head), stored(tail, last=True) + trailer
    return _parts(opening, pieces, len(STORED_COMMA), closing)


def _shown(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.segments]


def _parts(head: bytes, pieces: list[bytes], comma: int, tail: bytes) -> tuple[bytes, ...]:
    """Put head and tail around the pieces; the first of them loses its comma, of so many bytes."""
    if pieces:
        head, pieces = head + pieces[0][comma:], pieces[1:]
    if len(head) + sum(map(len, pieces)) <= WHOLE_BYTES:
        return (b"".join([head, *pieces, tail]),)
    return (head, *pieces, tail)


def _head(version: int) -> bytes:
    return b'{"version":%d,"matches":[' % version


def _tail(count: int) -> bytes:
    return b'],"matches_count":%d}' % count
