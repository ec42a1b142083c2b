"""Bodies of the odds lists (interface-spec.md, 2.3), joined of runs: plain, and as one gzip member.

Pure, in slices. The gzip form is made of the deflate blocks that the segments keep, and its checksum
of theirs (RFC 1951, 1952), so a new version compresses and reads again only what changed. A body
comes in parts that are sent one after the other: joining one, or handing one to a socket, is a single
call that nothing else can interrupt.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence

from actors.slices import Steps
from web.segments import STORED_COMMA, Run, stored

PART_BYTES = 2**21
"""Bytes from which on a body is cut: below a millisecond to join, one message for most boards."""

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system


def plain_body(version: int, count: int, runs: Sequence[Run]) -> Steps[tuple[bytes, ...]]:
    """Give the list of `runs` as JSON, in parts."""
    pieces = [_head(version)]
    for run in _shown(runs):
        for segment in run.segments:
            pieces += (segment.json, b",")
    return (yield from _parts([*_without_last_comma(pieces), _tail(count)]))


def gzip_body(version: int, count: int, runs: Sequence[Run]) -> Steps[tuple[bytes, ...]]:
    """Give the same compressed, in parts."""
    head, tail = _head(version), _tail(count)
    pieces, crc, length = [_GZIP_HEADER + stored(head)], zlib.crc32(head), len(head) + len(tail)
    for place, run in enumerate(_shown(runs)):
        if place:
            pieces.append(STORED_COMMA)
            crc, length = zlib.crc32(b",", crc), length + 1
        packed = yield from run.packed()
        pieces.append(packed.deflated)
        crc, length = packed.checksum.after(crc), length + packed.checksum.length
    trailer = struct.pack("<II", zlib.crc32(tail, crc), length & 0xFFFFFFFF)
    return (yield from _parts([*pieces, stored(tail, last=True), trailer]))


def _shown(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.segments]


def _without_last_comma(pieces: list[bytes]) -> list[bytes]:
    return pieces[:-1] if pieces[-1] == b"," else pieces


def _parts(pieces: Iterable[bytes]) -> Steps[tuple[bytes, ...]]:
    parts: list[bytes] = []
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= PART_BYTES:
            yield
            parts.append(b"".join(waiting))
            waiting, size = [], 0
    yield
    return (*parts, b"".join(waiting))


def _head(version: int) -> bytes:
    return b'{"version":%d,"matches":[' % version


def _tail(count: int) -> bytes:
    return b'],"matches_count":%d}' % count
