"""Decompression with a limit: the exact content or an error, with bounded memory."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.transports.http import MAX_RATIO, inflated

LIMIT = 100_000
TEXT = b"Div,Date,HomeTeam,AwayTeam\r\nXX,14/02/2026,Alder Town,Birch United\r\n"
LINES = b"".join(b"XX,14/02/2026,Alder %d,Birch %d\r\n" % (number, number**3) for number in range(80_000))
NOISE = random.Random(1).randbytes(3_000_000)
NUMBERS = random.Random(2).choices(range(1000), k=5_000)
FEW = b"".join(b"XX,14/02/2026,Alder Town,Birch %d\r\n" % number for number in NUMBERS)
BODIES = st.binary(max_size=2000) | st.binary(max_size=30).map(lambda part: part * 20)


@pytest.mark.parametrize(
    ("pack", "encoding"),
    [
        *((gzip.compress, name) for name in ("gzip", "GZIP", " gzip ", "x-gzip")),
        *((zlib.compress, name) for name in ("deflate", "Deflate")),
        *((bytes, name) for name in ("", " ", "identity", "Identity")),
    ],
)
@given(BODIES)
def test_content_is_returned(pack: Callable[[bytes], bytes], encoding: str, body: bytes) -> None:
    """The content is equal byte for byte; deflate is the zlib format (RFC 9110, 8.4.1.2)."""
    assert run_now(inflated(pack(body), encoding, LIMIT)) == body


def test_encoding_that_was_not_requested_is_refused() -> None:
    """Only the encodings of the request are read, and the error names them."""
    for encoding in ["br", "zstd", "compress", "gzip, gzip", "gzip;q=1", "none", "\u202egzip"]:
        with pytest.raises(PayloadError, match="must be gzip, deflate or none"):
            run_now(inflated(TEXT, encoding, LIMIT))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_content_may_be_as_long_as_the_limit(pack: Callable[[bytes, int], bytes]) -> None:
    """Content with one byte more is refused, and the error says what is allowed."""
    for size in (0, 1, LIMIT - 1, LIMIT):
        assert run_now(inflated(pack(bytes(size), 0), "gzip", LIMIT)) == bytes(size)
    for size in (LIMIT + 1, 2 * LIMIT, 50 * LIMIT):
        with pytest.raises(PayloadError, match=f"at most {LIMIT}"):
            run_now(inflated(pack(bytes(size), 0), "gzip", LIMIT))


@given(st.integers(0, len(gzip.compress(TEXT)) - 1))
def test_truncated_data_is_an_error(length: int) -> None:
    """A compressed body that ends too early is never read as a shorter body."""
    with pytest.raises(PayloadError):
        run_now(inflated(gzip.compress(TEXT)[:length], "gzip", LIMIT))


@given(st.integers(0, len(gzip.compress(TEXT)) - 1), st.integers(0, 7))
@example(len(gzip.compress(TEXT)) - 8, 0)
def test_flipped_bit_is_an_error_or_harmless(place: int, bit: int) -> None:
    """With the checksum, the result is the true content or an error."""
    body = bytearray(gzip.compress(TEXT))
    body[place] ^= 1 << bit

    try:
        assert run_now(inflated(bytes(body), "gzip", LIMIT)) == TEXT
    except PayloadError as error:
        assert "compressed body" in str(error)  # noqa: PT017 - the error and the content are both right


def test_second_gzip_member_is_not_dropped() -> None:
    """Consecutive members are one content (RFC 1952, 2.2): the result is all of it or an error."""
    packed = gzip.compress(TEXT) + gzip.compress(b"XX,15/02/2026,Cedar City,Dogwood\r\n")

    try:
        content = run_now(inflated(packed, "gzip", LIMIT))
    except PayloadError:
        return

    assert gzip.decompress(packed) == content


@pytest.mark.parametrize("size", [50_000_000, 90_000])
@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_bomb_is_refused_for_its_ratio(encoding: str, pack: Callable[[bytes], bytes], size: int) -> None:
    """A ratio over 100 is refused, even below the limit, before it takes memory (faults.md, A18)."""
    bomb = pack(bytes(size))
    assert size > MAX_RATIO * len(bomb)
    tracemalloc.start()

    with pytest.raises(PayloadError, match="inflates beyond"):
        run_now(inflated(bomb, encoding, LIMIT))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * LIMIT


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("content", [NOISE, LINES, FEW], ids=["dense", "text", "few words"])
def test_long_body_is_inflated(pack: Callable[[bytes], bytes], content: bytes) -> None:
    """A long body of any ratio is inflated, and bytes after the end are detected."""
    body = pack(content)

    assert content == run_now(inflated(body, "gzip", len(content)))
    for broken in (body + b"x", body + bytes(100_000), body[:-1], body[: len(body) // 2]):
        with pytest.raises(PayloadError, match="cut short, or something follows"):
            run_now(inflated(broken, "gzip", len(content)))
