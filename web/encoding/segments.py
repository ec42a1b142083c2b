"""The bodies of lists (docs/api.md, 2.3), JSON and gzip, spliced of what the chunks keep.

A segment is a chunk's JSON, and the same deflated, each made once in the chunk's life. A deflated segment
ends with a full flush, on a byte, and refers to nothing before it (RFC 1951): segments one after the
other, between a gzip header and a trailer, are one gzip member (RFC 1952), whose CRC-32 is combined from
theirs. So a new version encodes and compresses only the chunks that changed. A run keeps neighbouring
segments joined; a large body is sent as its runs, because joining them would copy all of it.

A version has the same bytes on every machine. So a list that stays the same while its chunks are cut
elsewhere, one of some fixtures, is deflated at once.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct
from zlib_ng.zlib_ng import crc32_combine

from actors.board.snapshot import Entry, Snapshot
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId

LEVEL = 6
AT_ONCE_LEVEL = 3  # as small as segments of level 6, of which each begins anew, at a third of the time
RUN = 16  # chunks in a run: half a megabyte of JSON; twice as many are sent a quarter slower or more
UNENCODABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
MATCHES, FIXTURES = b"matches", b"fixtures"

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")


class UnencodableError(Exception):
    """An entry on the board cannot be encoded: no list can be served until its list is withdrawn."""

    def __init__(self, bookmaker: BookmakerId, entry: Entry, why: Exception) -> None:
        super().__init__(f"{entry.id} cannot be encoded: {why}")
        self.bookmaker = bookmaker
        self.entry = entry


class Packed(Struct, frozen=True, gc=False):
    """JSON as raw deflate blocks, byte-aligned, none of them the last; its own CRC-32 and length."""

    deflated: bytes
    crc: int
    length: int


class Segment:
    """Part of a list: the JSON of so many of its entries, in pieces that are joined when needed."""

    def __init__(self, count: int, pieces: tuple[bytes, ...]) -> None:
        self.count = count
        self._pieces = pieces

    @property
    def json(self) -> bytes:
        """Their JSON with commas between them, without brackets."""
        return b",".join(self._pieces)

    @cached_property
    def packed(self) -> Packed:
        """The JSON deflated, with its CRC-32."""
        json, deflater = self.json, zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        deflated = deflater.compress(json) + deflater.flush(zlib.Z_FULL_FLUSH)
        return Packed(deflated, zlib.crc32(json), len(json))


class Run:
    """Neighbouring segments of one bookmaker that show something; joined, they begin with a comma."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self.count = sum([segment.count for segment in segments])
        self._packed: Packed | None = None

    @cached_property
    def json(self) -> bytes:
        """A comma, and the JSON of all segments with commas between them."""
        return b",".join([b"", *[segment.json for segment in self.segments]])

    def packed(self) -> Sliced[Packed]:
        """Return the JSON deflated, in slices; CRC-32 and length are those without the first comma."""
        if self._packed is None:
            parts: list[Packed] = []
            for segment in self.segments:
                parts.append(segment.packed)
                yield
            deflated = STORED_COMMA.join([b"", *[part.deflated for part in parts]])
            self._packed = Packed(deflated, *_followed_by(parts))
        return self._packed


class Segments(ABC, Generic[K, C]):
    """The segments of all chunks that live, and the newest runs; both by the part of a list, a key."""

    name: ClassVar[bytes]

    def __init__(self) -> None:
        self._kept: dict[K, Kept[C]] = {}

    @abstractmethod
    def _chunks(self, key: K, snapshot: Snapshot) -> tuple[C, ...]:
        """Return the chunks of a part."""

    @abstractmethod
    def _segment(self, key: K, chunk: C, snapshot: Snapshot) -> Segment:
        """Return a chunk as the part shows it. Raises: UnencodableError."""

    def runs(self, keys: Iterable[K], snapshot: Snapshot) -> Sliced[list[Run]]:
        """Return the runs of these parts that show something. Raises: UnencodableError."""
        found: list[Run] = []
        for key in keys:
            kept, runs = self._kept_of(key), dict[tuple[C, ...], Run]()
            for chunks in _cut(self._chunks(key, snapshot)):
                if (run := kept.runs.get(chunks)) is None:
                    segments: list[Segment] = []
                    for chunk in chunks:
                        if (segment := kept.segments.get(chunk)) is None:
                            segment = kept.segments[chunk] = self._segment(key, chunk, snapshot)
                            yield
                        if segment.count:
                            segments.append(segment)
                    run = Run(segments)
                runs[chunks] = run
            kept.runs = runs
            found += [run for run in runs.values() if run.count]
        return found

    def forget(self, snapshot: Snapshot) -> None:
        """Drop the runs that are not in `snapshot`, and with them their chunks and segments."""
        for key, kept in self._kept.items():
            cut = _cut(self._chunks(key, snapshot))
            kept.runs = {chunks: kept.runs[chunks] for chunks in cut if chunks in kept.runs}

    def _kept_of(self, key: K) -> Kept[C]:
        """Return what is kept of a part, and note it as the last used."""
        self._kept[key] = self._kept.pop(key) if key in self._kept else Kept()
        return self._kept[key]


class Kept(Generic[C]):
    """What is kept of a part: the segments of its chunks, and its newest runs by their chunks."""

    def __init__(self) -> None:
        self.segments: WeakKeyDictionary[C, Segment] = WeakKeyDictionary()
        self.runs: dict[tuple[C, ...], Run] = {}


def _cut(chunks: tuple[C, ...]) -> list[tuple[C, ...]]:
    return [chunks[at : at + RUN] for at in range(0, len(chunks), RUN)]


def _followed_by(parts: Iterable[Packed], crc: int = 0, length: int = 0) -> tuple[int, int]:
    """Return CRC-32 and length of JSON that has these, with the parts and commas between them added."""
    separator = b""
    for part in parts:
        crc = crc32_combine(zlib.crc32(separator, crc), part.crc, part.length)
        length += len(separator) + part.length
        separator = b","
    return crc, length


def stored(data: bytes) -> bytes:
    """Wrap up to 65,535 bytes as one stored deflate block, byte-aligned (RFC 1951, 3.2.4)."""
    return struct.pack("<BHH", 0, len(data), len(data) ^ 0xFFFF) + data


STORED_COMMA = stored(b",")


WHOLE_BYTES = 2**20  # up to this a body is one part: to send more parts costs more than to join them

GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
NO_MORE_BLOCKS = b"\x03\x00"  # an empty last block: what is before it may also stand in another member


def plain_body(
    version: int, runs: Sequence[Run], name: bytes = MATCHES, more: bytes = b""
) -> Sliced[tuple[bytes, ...]]:
    """Return the list of `runs`, none of them empty, as JSON, in parts; `more` members are at its end."""
    pieces: list[bytes] = []
    for run in runs:
        yield
        pieces.append(run.json)
    head, tail = ends(version, sum([run.count for run in runs]), name, more)
    return _parts(head, pieces, 1, tail)


def gzip_body(
    version: int, runs: Sequence[Run], name: bytes = MATCHES, more: bytes = b""
) -> Sliced[tuple[bytes, ...]]:
    """Return the list of `runs` as gzip, in parts."""
    parts: list[Packed] = []
    for run in runs:
        packed = yield from run.packed()
        parts.append(packed)
    return _member(parts, *ends(version, sum([run.count for run in runs]), name, more))


def gzip_at_once(
    version: int, runs: Sequence[Run], name: bytes = MATCHES, more: bytes = b""
) -> Sliced[tuple[bytes, ...]]:
    """Return the list of `runs` as gzip, in parts: the same bytes wherever runs and segments are cut."""
    packer, deflated = zlib.compressobj(AT_ONCE_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS), [STORED_COMMA]
    crc, length, separator = 0, 0, b""
    for run in runs:
        for segment in run.segments:
            json = separator + segment.json
            deflated.append(packer.compress(json))
            crc, length, separator = zlib.crc32(json, crc), length + len(json), b","
            yield
    deflated.append(packer.flush(zlib.Z_FULL_FLUSH))
    parts = [Packed(b"".join(deflated), crc, length)] if runs else []
    return _member(parts, *ends(version, sum([run.count for run in runs]), name, more))


def _member(parts: Sequence[Packed], head: bytes, tail: bytes) -> tuple[bytes, ...]:
    """Return these parts, each after a stored comma, between head and tail as one gzip member."""
    crc, length = _followed_by(parts, zlib.crc32(head), len(head) + len(tail))
    trailer = struct.pack("<II", zlib.crc32(tail, crc), length & 0xFFFFFFFF)
    opening, closing = GZIP_HEADER + stored(head), stored(tail) + NO_MORE_BLOCKS + trailer
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

    Without a copy: up to a megabyte of new memory for each version takes a millisecond by itself.
    """
    if pieces:
        head, pieces = b"".join([head, memoryview(pieces[0])[comma:]]), pieces[1:]  # copied only once
    if len(head) + sum(map(len, pieces)) <= WHOLE_BYTES:
        return (b"".join([head, *pieces, tail]),)
    return (head, *pieces, tail)


def ends(version: int, count: int, name: bytes = MATCHES, more: bytes = b"") -> tuple[bytes, bytes]:
    """Return what stands before and after the `name` of a list."""
    return b'{"version":%d,"%b":[' % (version, name), b'],"%b_count":%d%b}' % (name, count, more)
