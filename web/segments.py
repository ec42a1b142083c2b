"""Chunks as JSON and as deflated JSON, made at most once in a chunk's life, and bodies joined of them.

Pure but for its memory. A body is `head segment,segment,... tail`; its gzip form is one member whose
deflate blocks are the segments' own, each closed with a full flush so that it ends on a byte and
refers to nothing before it (RFC 1951, 1952). So a new version compresses only what changed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from weakref import WeakKeyDictionary

import msgspec

from actors.snapshot import Chunk
from web.schemas import match_v1, match_v2

LEVEL = 6
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
_encode = msgspec.json.Encoder().encode


class Api(StrEnum):
    """The two versions of the odds endpoints."""

    V1 = "v1"
    V2 = "v2"


class Segment:
    """One chunk in one API version: its JSON without brackets, and that deflated on first demand."""

    __slots__ = ("_deflated", "json")

    def __init__(self, json: bytes) -> None:
        self.json = json
        self._deflated: bytes | None = None

    @property
    def deflated(self) -> bytes:
        """Raw deflate blocks of `json`, byte-aligned, none of them the last."""
        if self._deflated is None:
            deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
            self._deflated = deflater.compress(self.json) + deflater.flush(zlib.Z_FULL_FLUSH)
        return self._deflated


class Segments:
    """The segments of all chunks that live, one memory for each API version."""

    def __init__(self) -> None:
        self._known: dict[Api, WeakKeyDictionary[Chunk, Segment]] = {
            api: WeakKeyDictionary() for api in Api
        }

    def of(self, api: Api, chunks: Iterable[Chunk], bookmaker: str) -> list[Segment]:
        """Give the segments of one bookmaker's chunks; those that show nothing are left out."""
        known = self._known[api]
        result = []
        for chunk in chunks:
            segment = known.get(chunk)
            if segment is None:
                segment = known[chunk] = Segment(_json(api, chunk, bookmaker))
            if segment.json:
                result.append(segment)
        return result


def joined(version: int, count: int, segments: Sequence[Segment]) -> bytes:
    """Give the odds list response (2.3) as JSON."""
    matches = b",".join([segment.json for segment in segments])
    return b"".join((_head(version), matches, _tail(count)))


def joined_gzip(version: int, count: int, segments: Sequence[Segment], identity: bytes) -> bytes:
    """Give the same as one gzip member; `identity` is what `joined` gave, for its checksum."""
    comma = _stored(b",")
    blocks = [_GZIP_HEADER, _stored(_head(version))]
    for place, segment in enumerate(segments):
        blocks += [comma, segment.deflated] if place else [segment.deflated]
    blocks.append(_stored(_tail(count), last=True))
    blocks.append(struct.pack("<II", zlib.crc32(identity), len(identity) & 0xFFFFFFFF))
    return b"".join(blocks)


def _head(version: int) -> bytes:
    return b'{"version":%d,"matches":[' % version


def _tail(count: int) -> bytes:
    return b'],"matches_count":%d}' % count


def _stored(data: bytes, *, last: bool = False) -> bytes:
    """Wrap up to 65,535 bytes as one stored deflate block, byte-aligned (RFC 1951, 3.2.4)."""
    return struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF) + data


def _json(api: Api, chunk: Chunk, bookmaker: str) -> bytes:
    match api:
        case Api.V1:
            return _encode([match_v1(entry, bookmaker) for entry in chunk.entries])[1:-1]
        case Api.V2:
            named = [match_v2(entry, bookmaker) for entry in chunk.entries if entry.is_named]
            return _encode(named)[1:-1]
