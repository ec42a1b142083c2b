"""The bodies of the odds lists (docs/api.md, 2.3), JSON and gzip, spliced of what the chunks keep.

A segment is a chunk's JSON, and the same deflated, each made once in the chunk's life. A deflated segment
ends with a full flush, on a byte, and refers to nothing before it (RFC 1951): segments one after the
other, between a gzip header and a trailer, are one gzip member (RFC 1952), whose CRC-32 is combined from
theirs. So a new version encodes and compresses only the chunks that changed. A run keeps neighbouring
segments joined; a large body is sent as its runs, because joining them would copy all of it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Protocol
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct
from zlib_ng.zlib_ng import crc32_combine

from actors.board.snapshot import Book, Chunk, Entry
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId
from web.encoding.schemas import match_v1, match_v2

LEVEL = 6
RUN = 16  # chunks in a run: half a megabyte of JSON; twice as many are sent a quarter slower or more
UNENCODABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)

_encode = msgspec.json.Encoder().encode


class UnencodableError(Exception):
    """An entry on the board cannot be encoded: no list can be served until its list is withdrawn."""

    def __init__(self, bookmaker: BookmakerId, entry: Entry, why: Exception) -> None:
        super().__init__(f"{entry.id} cannot be encoded: {why}")
        self.bookmaker = bookmaker
        self.entry = entry


class Api(StrEnum):
    """The two versions of the odds endpoints."""

    V1 = "v1"
    V2 = "v2"


class Packed(Struct, frozen=True, gc=False):
    """JSON as raw deflate blocks, byte-aligned, none of them the last; its own CRC-32 and length."""

    deflated: bytes
    crc: int
    length: int


class Segment(Protocol):
    """Part of a list: how many entries, their JSON without brackets, and that packed on first demand."""

    @property
    def json(self) -> bytes:
        """The JSON."""
        ...

    @property
    def packed(self) -> Packed:
        """The JSON deflated."""
        ...


class ChunkSegment:
    """One chunk in one API version."""

    def __init__(self, json: bytes) -> None:
        self.json = json

    @cached_property
    def packed(self) -> Packed:
        """The JSON deflated, with its CRC-32."""
        return packed(self.json)


def packed(json: bytes) -> Packed:
    """Return JSON deflated, with its CRC-32."""
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = deflater.compress(json) + deflater.flush(zlib.Z_FULL_FLUSH)
    return Packed(deflated, zlib.crc32(json), len(json))


class Run:
    """Neighbouring segments of one bookmaker that show something; joined, they begin with a comma."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self._packed: Packed | None = None

    @cached_property
    def json(self) -> bytes:
        """A comma, and the JSON of all segments with commas between them."""
        return b",".join([b"", *[segment.json for segment in self.segments]])

    def packed(self) -> Sliced[Packed]:
        """Return the same deflated, in slices; CRC-32 and length are those without the first comma."""
        if self._packed is None:
            parts: list[Packed] = []
            for segment in self.segments:
                parts.append(segment.packed)
                yield
            deflated = STORED_COMMA.join([b"", *[part.deflated for part in parts]])
            self._packed = Packed(deflated, *_followed_by(parts))
        return self._packed


class Segments:
    """The segments of all chunks that live, by API version, and the newest runs of each bookmaker."""

    def __init__(self) -> None:
        self._known: dict[Api, WeakKeyDictionary[Chunk, ChunkSegment]] = {
            api: WeakKeyDictionary() for api in Api
        }
        self._runs: dict[tuple[Api, BookmakerId], dict[tuple[Chunk, ...], Run]] = {}

    def runs(self, api: Api, bookmaker: BookmakerId, book: Book, name: str) -> Sliced[tuple[Run, ...]]:
        """Return its runs that show something; `name` is the display name. Raises: UnencodableError."""
        known, before = self._known[api], self._runs.get((api, bookmaker), {})
        runs: dict[tuple[Chunk, ...], Run] = {}
        for chunks in _cut(book.chunks):
            if (run := before.get(chunks)) is None:
                segments: list[ChunkSegment] = []
                for chunk in chunks:
                    if (segment := known.get(chunk)) is None:
                        segment = known[chunk] = ChunkSegment(_json(api, chunk, bookmaker, name))
                        yield
                    if segment.json:
                        segments.append(segment)
                run = Run(tuple(segments))
            runs[chunks] = run
        self._runs[api, bookmaker] = runs
        return tuple(run for run in runs.values() if run.segments)

    def forget(self, books: Mapping[BookmakerId, Book]) -> None:
        """Drop the runs that are not in `books`, and with them their chunks and segments."""
        for (api, bookmaker), runs in self._runs.items():
            kept = _cut(books[bookmaker].chunks)
            self._runs[api, bookmaker] = {chunks: runs[chunks] for chunks in kept if chunks in runs}


def _cut(chunks: tuple[Chunk, ...]) -> list[tuple[Chunk, ...]]:
    return [chunks[at : at + RUN] for at in range(0, len(chunks), RUN)]


def _followed_by(parts: Iterable[Packed], crc: int = 0, length: int = 0) -> tuple[int, int]:
    """Return CRC-32 and length of JSON that has these, with the parts and commas between them added."""
    separator = b""
    for part in parts:
        crc = crc32_combine(zlib.crc32(separator, crc), part.crc, part.length)
        length += len(separator) + part.length
        separator = b","
    return crc, length


def stored(data: bytes, *, last: bool = False) -> bytes:
    """Wrap up to 65,535 bytes as one stored deflate block, byte-aligned (RFC 1951, 3.2.4)."""
    return struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF) + data


STORED_COMMA = stored(b",")


def _json(api: Api, chunk: Chunk, bookmaker: BookmakerId, name: str) -> bytes:
    try:
        return _list_json(api, chunk.entries, name)
    except UNENCODABLE:
        for entry in chunk.entries:
            try:
                _list_json(api, (entry,), name)
            except UNENCODABLE as error:
                raise UnencodableError(bookmaker, entry, error) from error
        raise


def _list_json(api: Api, entries: Sequence[Entry], name: str) -> bytes:
    match api:
        case Api.V1:
            return _encode([match_v1(entry, name) for entry in entries])[1:-1]
        case Api.V2:
            return _encode([match_v2(entry, name) for entry in entries if entry.is_named])[1:-1]


MATCHES, FIXTURES = b"matches", b"fixtures"
WHOLE_BYTES = 2**20  # up to this a body is one part: to send more parts costs more than to join them

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system


def plain_body(
    version: int, count: int, runs: Sequence[Run], name: bytes = MATCHES
) -> Sliced[tuple[bytes, ...]]:
    """Return the list of `runs`, none of them empty, as JSON, in parts."""
    pieces: list[bytes] = []
    for run in runs:
        yield
        pieces.append(run.json)
    head, tail = ends(version, count, name)
    return _parts(head, pieces, 1, tail)


def gzip_body(
    version: int, count: int, runs: Sequence[Run], name: bytes = MATCHES
) -> Sliced[tuple[bytes, ...]]:
    """Return the same compressed, in parts."""
    head, tail = ends(version, count, name)
    parts: list[Packed] = []
    for run in runs:
        packed = yield from run.packed()
        parts.append(packed)
    crc, length = _followed_by(parts, zlib.crc32(head), len(head) + len(tail))
    trailer = struct.pack("<II", zlib.crc32(tail, crc), length & 0xFFFFFFFF)
    opening, closing = _GZIP_HEADER + stored(head), stored(tail, last=True) + trailer
    return _parts(opening, [part.deflated for part in parts], len(STORED_COMMA), closing)


def gzipped(pieces: Iterable[bytes]) -> Sliced[list[bytes]]:
    """Return `pieces`, each some kilobytes, as one gzip member; fast, as it is for one client."""
    packer, packed = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS + 16), list[bytes]()
    for piece in pieces:
        packed.append(packer.compress(piece))
        yield
    return [*packed, packer.flush()]


def _parts(head: bytes, pieces: list[bytes], comma: int, tail: bytes) -> tuple[bytes, ...]:
    """Put head and tail around the pieces; the first of them loses its comma, of so many bytes.

    Not by a copy: up to a megabyte of new memory for each version takes a millisecond by itself.
    """
    if pieces:
        head, pieces = b"".join([head, memoryview(pieces[0])[comma:]]), pieces[1:]  # copied only once
    if len(head) + sum(map(len, pieces)) <= WHOLE_BYTES:
        return (b"".join([head, *pieces, tail]),)
    return (head, *pieces, tail)


def ends(version: int, count: int, name: bytes = MATCHES) -> tuple[bytes, bytes]:
    """Return what stands before and after the `name` of a list."""
    return b'{"version":%d,"%b":[' % (version, name), b'],"%b_count":%d}' % (name, count)
