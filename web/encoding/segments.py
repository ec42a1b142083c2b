"""Makes the bodies of lists (docs/api.md, 2.3), JSON and gzip, from segments that each chunk keeps.

A segment is a chunk's JSON, and this JSON deflated, each made once in the chunk's life. A deflated segment
ends with a full flush, on a byte boundary, and refers to nothing before it (RFC 1951). So a sequence of
segments between a gzip header and a trailer is one gzip member (RFC 1952), and its CRC-32 is combined from
the CRCs of the segments. A new version encodes and compresses only the chunks that changed. A run keeps
neighbouring segments joined. A large body is sent as runs, because joining them would copy it.

A version must have the same bytes on every machine. A list of some fixtures can stay the same while its
chunks are cut differently, so it is deflated as a whole.
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
AT_ONCE_LEVEL = 3  # a whole body: as small as segments of level 6, in a third of the time
RUN = 16  # chunks in a run, half a megabyte of JSON; longer runs are sent a quarter slower or more
UNENCODABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
MATCHES, FIXTURES = b"matches", b"fixtures"

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")


class UnencodableError(Exception):
    """An entry on the board cannot be encoded; no body can have it, so its list must be withdrawn."""

    def __init__(self, bookmaker: BookmakerId, entry: Entry, why: Exception) -> None:
        super().__init__(f"{entry.id} cannot be encoded: {why}")
        self.bookmaker = bookmaker
        self.entry = entry


class Packed(Struct, frozen=True, gc=False):
    """JSON as byte-aligned raw deflate blocks without a last block; CRC-32 and length of the JSON."""

    deflated: bytes
    crc: int
    length: int


class Segment:
    """A chunk's part of a list: the JSON of `count` entries, in pieces that are joined when needed."""

    def __init__(self, count: int, pieces: tuple[bytes, ...]) -> None:
        self.count = count
        self._pieces = pieces

    @property
    def json(self) -> bytes:
        """The JSON of the entries with commas between them, without brackets."""
        return b",".join(self._pieces)

    @cached_property
    def packed(self) -> Packed:
        """The JSON deflated, with its CRC-32."""
        json, deflater = self.json, zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        deflated = deflater.compress(json) + deflater.flush(zlib.Z_FULL_FLUSH)
        return Packed(deflated, zlib.crc32(json), len(json))


class Run:
    """Neighbouring segments of one part that are not empty; joined, they begin with a comma."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self.count = sum([segment.count for segment in segments])
        self._packed: Packed | None = None

    @cached_property
    def json(self) -> bytes:
        """A comma, and the JSON of all segments with commas between them."""
        return b",".join([b"", *[segment.json for segment in self.segments]])

    def packed(self) -> Sliced[Packed]:
        """Return the JSON deflated, in slices; CRC-32 and length are without the first comma."""
        if self._packed is None:
            parts: list[Packed] = []
            for segment in self.segments:
                parts.append(segment.packed)
                yield
            deflated = STORED_COMMA.join([b"", *[part.deflated for part in parts]])
            self._packed = Packed(deflated, *_followed_by(parts))
        return self._packed


class Segments(ABC, Generic[K, C]):
    """The segments of all existing chunks, and the newest runs; the key of each is a part of a list."""

    name: ClassVar[bytes]

    def __init__(self) -> None:
        self._kept: dict[K, Kept[C]] = {}

    @abstractmethod
    def _chunks(self, key: K, snapshot: Snapshot) -> tuple[C, ...]:
        """Return the chunks of a part."""

    @abstractmethod
    def _segment(self, key: K, chunk: C, snapshot: Snapshot) -> Segment:
        """Return the segment of a chunk in a part. Raises: UnencodableError."""

    def runs(self, keys: Iterable[K], snapshot: Snapshot) -> Sliced[list[Run]]:
        """Return the runs of these parts that are not empty. Raises: UnencodableError."""
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
        """Return the kept segments and runs of a part, and mark it as the last used."""
        self._kept[key] = self._kept.pop(key) if key in self._kept else Kept()
        return self._kept[key]


class Kept(Generic[C]):
    """The encoded segments by chunk, and the newest runs, which join the segments of several chunks."""

    def __init__(self) -> None:
        self.segments: WeakKeyDictionary[C, Segment] = WeakKeyDictionary()
        self.runs: dict[tuple[C, ...], Run] = {}


def _cut(chunks: tuple[C, ...]) -> list[tuple[C, ...]]:
    return [chunks[at : at + RUN] for at in range(0, len(chunks), RUN)]


def _followed_by(parts: Iterable[Packed], crc: int = 0, length: int = 0) -> tuple[int, int]:
    """Return `crc` and `length` after the parts, with commas between them, are appended."""
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


WHOLE_BYTES = 2**20  # a body up to this size is one part: joining costs less than sending several

GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
NO_MORE_BLOCKS = b"\x03\x00"  # an empty last block, so that the blocks before it fit into any member


def plain_body(
    version: int, runs: Sequence[Run], name: bytes = MATCHES, more: bytes = b""
) -> Sliced[tuple[bytes, ...]]:
    """Return the list of `runs` (none is empty) as JSON, in parts; `more` are members at its end."""
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
    """Return the list of `runs` as gzip, in parts; the bytes do not depend on the cuts of runs."""
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
    """Return the parts, each with a stored comma before it, between head and tail as one gzip member."""
    crc, length = _followed_by(parts, zlib.crc32(head), len(head) + len(tail))
    trailer = struct.pack("<II", zlib.crc32(tail, crc), length & 0xFFFFFFFF)
    opening, closing = GZIP_HEADER + stored(head), stored(tail) + NO_MORE_BLOCKS + trailer
    return _parts(opening, [part.deflated for part in parts], len(STORED_COMMA), closing)


def gzipped(pieces: Iterable[bytes]) -> Sliced[list[bytes]]:
    """Return `pieces`, each some kilobytes, as one gzip member; compressed fast, for one client only."""
    packer, packed = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS + 16), list[bytes]()
    for piece in pieces:
        packed.append(packer.compress(piece))
        yield
    return [*packed, packer.flush()]


def _parts(head: bytes, pieces: list[bytes], comma: int, tail: bytes) -> tuple[bytes, ...]:
    """Put head and tail around the pieces, without the first piece's comma, which has `comma` bytes.

    Large bodies are not copied: a megabyte of new memory takes a millisecond by itself.
    """
    if pieces:
        head, pieces = b"".join([head, memoryview(pieces[0])[comma:]]), pieces[1:]  # one copy
    if len(head) + sum(map(len, pieces)) <= WHOLE_BYTES:
        return (b"".join([head, *pieces, tail]),)
    return (head, *pieces, tail)


def ends(version: int, count: int, name: bytes = MATCHES, more: bytes = b"") -> tuple[bytes, bytes]:
    """Return the text before and after the entries of a list; `name` is their member."""
    return b'{"version":%d,"%b":[' % (version, name), b'],"%b_count":%d%b}' % (name, count, more)
