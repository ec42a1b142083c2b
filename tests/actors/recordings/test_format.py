"""The format of recordings: reading them whole, cut at any byte and with any bit flipped."""

from __future__ import annotations

import io
import json
from itertools import accumulate
from random import Random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from actors.core.errors import ConfigError
from actors.core.messages import ListId, Payload, Scope
from actors.recordings.format import MAX_BODY_BYTES, Ending, Header, Recorded, Recording
from tests.support.builders.recorded import SOURCE, encoded, header, pieces_of, read, received
from tests.support.time.virtual import WALL_0

TEXTS = st.text(max_size=20)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
DATES = st.floats(0, 4_102_444_800)
RECORDS = st.builds(
    Recorded,
    st.builds(
        Payload,
        st.just(SOURCE),
        TEXTS.map(Scope),
        TEXTS.map(ListId),
        st.binary(max_size=400),
        DATES,
        TIMES,
        st.none() | TIMES,
        st.booleans(),
        TIMES,
        st.none() | TIMES,
        st.integers(100, 599),
        st.dictionaries(TEXTS, TEXTS, max_size=3),
    ),
    TIMES,
)
SMALL = [
    received(b"Div,Date\n", 0.5),
    received(b"", 1.5, status=304),
    received(b'{"a":1,"crc32":7}\n' * 3, 2.5),
    received(b"\n\n\0\xff", 3.5),
]


def _large() -> list[Recorded]:
    """Return bodies of many blocks, some of them compressible; one body is there twice."""
    random = Random(5)
    hard = random.randbytes(300_000)
    return [received(body, float(at)) for at, body in enumerate((hard, bytes(500_000), b"row\n" * 9, hard))]


def _content(head: Header, *records: Recorded) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(encoded(head, records))) as stream:
        return bytes(stream.readall())


def _unclosed(content: bytes) -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    return stream.compress(content) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


def _whole(pieces: list[bytes], length: int) -> int:
    """Return the number of records within the first `length` bytes."""
    ends = list(accumulate(len(piece) for piece in pieces))
    return sum(end <= length for end in ends[1:-1])


@pytest.mark.long
@given(st.lists(RECORDS, max_size=5), st.booleans())
def test_recording_is_read_as_written(records: list[Recorded], closed: bool) -> None:  # noqa: FBT001
    """Every field of every payload is equal, byte for byte, and the reader says if the end was complete."""
    data = encoded(header(), records, closed=closed)

    assert (header(), records, Ending.CLOSED if closed else Ending.CUT) == read(data)


def test_small_file_cut_at_every_byte() -> None:
    """All records before the cut are read, and no others; a file cut within its header is refused."""
    pieces = pieces_of(header(), SMALL)
    data = b"".join(pieces)

    for length in range(len(data)):
        if length < len(pieces[0]):
            with pytest.raises(ConfigError, match="is not a recording that can be read"):
                read(data[:length])
        else:
            assert (header(), SMALL[: _whole(pieces, length)], Ending.CUT) == read(data[:length])


def test_large_file_cut_or_damaged_at_random_bytes() -> None:
    """All records before the damage are read, and no others, also if a record has many blocks."""
    records = _large()
    pieces = pieces_of(header(), records)
    data, random = b"".join(pieces), Random(7)
    for _ in range(60):
        at = random.randrange(len(pieces[0]), len(data))
        flipped = bytearray(data)
        flipped[at] ^= 1 << random.randrange(8)
        found = read(bytes(flipped))[1]
        assert records[: _whole(pieces, at)] == read(data[:at])[1]
        assert found == records[: len(found)]
        assert len(found) >= _whole(pieces, at)


def test_every_bit_flipped_in_a_small_file() -> None:
    """All records before the bit are read, and no record that was not written."""
    pieces = pieces_of(header(), SMALL)
    data = b"".join(pieces)

    for bit in range(8 * len(pieces[0]), 8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        _, records, _ = read(bytes(flipped))
        assert records == SMALL[: len(records)]
        assert len(records) >= _whole(pieces, bit // 8)


def test_every_bit_flipped_in_a_header() -> None:
    """The header is refused, or its values are those that were written."""
    pieces = pieces_of(header(), SMALL)

    for bit in range(8 * len(pieces[0])):
        flipped = bytearray(b"".join(pieces))
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            found, records, _ = read(bytes(flipped))
        except ConfigError:
            continue
        assert (header(), SMALL[: len(records)]) == (found, records)


def test_other_tools_can_read_and_write_a_recording() -> None:
    """A recording is lines of JSON and bodies; its frame may have any level, a checksum and its size."""
    first, second, *body = _content(header(), received(b"Div,Date\n", 0.5)).split(b"\n")
    anew = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(_content(header(), *SMALL))

    assert (1, "f.csv") == (json.loads(first)["oddsboard_recording"], json.loads(second)["scope"])
    assert [b"Div,Date", b"", b""] == body
    assert (header(), SMALL, Ending.CLOSED) == read(anew)
    assert Ending.DAMAGED is read(encoded(header(), SMALL) + b"\0")[2]  # a byte after the end


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Div,Date,Time,HomeTeam\n" * 9,
        zstandard.compress(b""),
        zstandard.compress(b'{"a":1}\n'),
        zstandard.compress(b"x" * 3_000_000),
        zstandard.compress(_content(header()).replace(b'recording":1', b'recording":2')),
    ],
    ids=["empty", "csv", "nothing", "json", "endless line", "another version"],
)
def test_file_that_is_no_recording_is_refused(data: bytes) -> None:
    """Every file that is no recording is refused with the same message."""
    with pytest.raises(ConfigError, match=r"^is not a recording that can be read: .+"):
        Recording(io.BytesIO(data))


def test_body_beyond_the_limit_ends_the_recording() -> None:
    """The reader neither waits nor allocates memory for a length above the limit."""
    content = _content(header(), received(b"body", 0.5))
    within, beyond = (
        _unclosed(content.replace(b'"bytes":4,', b'"bytes":%d,' % size))
        for size in (MAX_BODY_BYTES, MAX_BODY_BYTES + 1)
    )

    assert [Ending.CUT, Ending.DAMAGED] == [read(within)[2], read(beyond)[2]]


@pytest.mark.parametrize("at", [-1.0, 4_102_444_801.0, 1e308])
def test_time_that_no_clock_shows_is_damage(at: float) -> None:
    """A record with a time outside this century cannot be played, and its clock could not be shown."""
    with pytest.raises(ConfigError, match="started_at"):
        read(encoded(header(started_at=at), SMALL))

    assert (header(), SMALL, Ending.DAMAGED) == read(
        encoded(header(), [*SMALL, received(b"", 1.0, wall_s=at - WALL_0)])
    )


def test_compression_bomb_takes_no_memory() -> None:
    """A gigabyte of zeros in a hundred kilobytes is refused at the maximum length of a line."""
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    bomb = b"".join(compressor.compress(bytes(2**24)) for _ in range(64)) + compressor.flush()

    with pytest.raises(ConfigError, match="a line is too long"):
        Recording(io.BytesIO(bomb))
