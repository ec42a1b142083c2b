r"""The format of a recording: everything that a source delivered, readable after any crash.

A zstd stream, flushed after every record. Its content, as `zstdcat` shows it: a line about the source, then
for each payload a line about it, the unchanged body, and a newline. A checksum covers line and body.

    {"oddsboard_recording":1,"source":"feed","kind":"football_data",...,"crc32":2774129518}
    {"scope":"fixtures.csv",...,"received_s":0.31,"status":200,...,"bytes":9,"crc32":1190362846}
    Div,Date\n
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from enum import StrEnum
from typing import Annotated, Any, BinaryIO, Literal, TypeVar
from zlib import crc32

import msgspec
import zstandard
from msgspec import Meta, Struct

from actors.core.errors import UNREADABLE, ConfigError
from actors.core.messages import BookmakerId, ListId, Payload, Scope, SourceName
from actors.core.validation import MAX_START_TIME

S = TypeVar("S")
UnixSeconds = Annotated[float, Meta(ge=0, le=MAX_START_TIME)]

MAX_BODY_BYTES = 256 * 1024 * 1024
MAX_LINE_BYTES = 1024 * 1024
NO_LIMIT, NO_LIMIT_S = 10_000_000, 1e10

_CHECKSUM = b',"crc32":'
_BLOCK_HEADER_BYTES = 3
_REPEATED = 1  # the type of a block that repeats one byte


class Ending(StrEnum):
    """How a file ended."""

    CLOSED = "closed"  # its writer closed it
    CUT = "cut"  # its writer was killed, or is still writing
    DAMAGED = "damaged"  # its content has changed since


class RecordedBookmaker(Struct, frozen=True):
    """A bookmaker of the source, and its position among all configured bookmakers."""

    id: BookmakerId
    name: str | None
    key: str
    position: int


class Header(Struct, frozen=True, kw_only=True):
    """The configuration of a recording's source, without secrets.

    Other times count from `started_at` (Unix seconds). Older files lack `max_matches` and
    `in_play_max_age_s`, which means no limit.
    """

    oddsboard_recording: Literal[1] = 1
    source: SourceName
    kind: str
    options: Mapping[str, Any]
    bookmakers: tuple[RecordedBookmaker, ...]
    expire_after_kickoff_s: float
    max_matches: int = NO_LIMIT
    in_play_max_age_s: float = NO_LIMIT_S
    started_at: UnixSeconds


class Recorded(Struct, frozen=True):
    """A payload, received `received_s` after the start; its `received_mono` counts from the start too."""

    payload: Payload
    received_s: float


class _About(Struct, frozen=True, kw_only=True):
    scope: Scope
    list_id: ListId
    received_s: float
    asked_s: float
    received_at: UnixSeconds
    status: int
    source_time: float | None
    answered_at: float | None
    is_framed: bool
    stale_after_s: float
    headers: Mapping[str, str]
    bytes: Annotated[int, Meta(ge=0, le=MAX_BODY_BYTES)]


_SHARED = tuple(name for name in _About.__struct_fields__ if name in Payload.__struct_fields__)


def _shared(values: Payload | _About) -> dict[str, Any]:
    return {name: getattr(values, name) for name in _SHARED}


class Encoder:
    """Encodes a recording: header, records, end."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdCompressor(level=3).compressobj()

    def header(self, header: Header) -> bytes:
        """Return the first bytes of a recording."""
        return self._flushed(_sealed(msgspec.json.encode(header), b""))

    def record(self, payload: Payload, received_s: float, asked_s: float) -> bytes:
        """Return the bytes of a payload's record."""
        size = len(payload.body)
        about = _About(received_s=received_s, asked_s=asked_s, bytes=size, **_shared(payload))
        return self._flushed(_sealed(msgspec.json.encode(about), payload.body) + payload.body + b"\n")

    def end(self) -> bytes:
        """Return the last bytes of a recording, which mark it as closed."""
        return self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)

    def _flushed(self, content: bytes) -> bytes:
        return self._stream.compress(content) + self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


class Recording:
    """A recording, read once from a seekable file, block by block, so that memory is bounded."""

    def __init__(self, file: BinaryIO) -> None:
        """Read the header. Raises: ConfigError, with the reason, if there is none."""
        self._blocks = _blocks(file)
        self._data = bytearray()  # decompressed bytes that no record has taken yet
        try:
            line = self._line()
            self.header = _decoded(line, Header)
            _check(line, b"")
        except _Ended as ended:
            raise ConfigError(f"is not a recording that can be read: {ended}") from None

    def records(self) -> Generator[Recorded, None, Ending]:
        """Yield the records in the order of receipt, up to a damaged one; return how the file ended."""
        try:
            while True:
                line = self._line()
                about = _decoded(line, _About)
                body = self._take(about.bytes + 1)[:-1]
                _check(line, body)
                payload = Payload(
                    source=self.header.source, body=body, received_mono=about.asked_s, **_shared(about)
                )
                yield Recorded(payload, about.received_s)
        except _Ended as ended:
            return ended.ending

    def _line(self) -> bytes:
        searched = 0
        while (end := self._data.find(b"\n", searched)) < 0:
            searched = len(self._data)
            if searched > MAX_LINE_BYTES:
                raise _Ended(Ending.DAMAGED, "a line is too long")
            self._grow(is_between=not self._data)
        return self._take(end + 1)

    def _take(self, count: int) -> bytes:
        while len(self._data) < count:
            self._grow(is_between=False)
        taken = bytes(self._data[:count])
        del self._data[:count]
        return taken

    def _grow(self, *, is_between: bool) -> None:
        try:
            self._data += next(self._blocks)
        except StopIteration as done:
            ending: Ending = done.value
            if ending is Ending.CLOSED and not is_between:
                ending = Ending.DAMAGED
            raise _Ended(ending, f"its content is {ending}") from None


class _Ended(Exception):
    def __init__(self, ending: Ending, found: str) -> None:
        super().__init__(found)
        self.ending = ending


def _blocks(file: BinaryIO) -> Generator[bytes, None, Ending]:
    """Yield the content of each whole block of a zstd file (RFC 8878, 3.1.1), at most 128 KiB each.

    The decoder gets one block at a time, because it returns nothing from several blocks if the last is
    damaged.
    """
    front = file.read(18)  # the longest frame header
    decoder = zstandard.ZstdDecompressor(max_window_size=2**23).decompressobj()
    try:
        size = zstandard.frame_header_size(front)
        has_checksum = zstandard.get_frame_parameters(front).has_checksum
        file.seek(size)
        decoder.decompress(front[:size])
        while len(head := file.read(_BLOCK_HEADER_BYTES)) == _BLOCK_HEADER_BYTES:
            mark = int.from_bytes(head, "little")
            size = 1 if mark >> 1 & 3 == _REPEATED else mark >> 3
            block = file.read(size)
            if len(block) < size:
                break
            if mark & 1:  # this is the last block
                yield decoder.decompress(head + block + file.read(4 if has_checksum else 0))
                return Ending.CLOSED if decoder.eof and not file.read(1) else Ending.DAMAGED
            yield decoder.decompress(head + block)
    except zstandard.ZstdError:
        return Ending.DAMAGED
    return Ending.CUT


def _sealed(content: bytes, body: bytes) -> bytes:
    """Put the checksum into a JSON object, as its last field, and end the line."""
    return b"%b%b%d}\n" % (content[:-1], _CHECKSUM, crc32(body, crc32(content[:-1])))


def _unsealed(line: bytes) -> bytes:
    return line.rpartition(_CHECKSUM)[0] + b"}"


def _check(line: bytes, body: bytes) -> None:
    if line != _sealed(_unsealed(line), body):
        raise _Ended(Ending.DAMAGED, "a checksum does not fit")


def _decoded(line: bytes, kind: type[S]) -> S:
    try:
        return msgspec.json.decode(_unsealed(line), type=kind)
    except UNREADABLE as error:
        raise _Ended(Ending.DAMAGED, str(error)) from None
