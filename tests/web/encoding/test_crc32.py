"""Checksums put together: those of the whole, whatever the parts."""

from __future__ import annotations

import zlib
from functools import reduce

from hypothesis import example, given
from hypothesis import strategies as st

from web.encoding.crc32 import Checksum

PARTS = st.lists(st.binary(max_size=300), max_size=8)


@given(PARTS)
@example([b"\0" * 100_000, b"\xff" * 65_537, b"", b","])
def test_the_parts_give_the_checksum_of_the_whole(parts: list[bytes]) -> None:
    """The CRC-32 is that of all bytes in a row."""
    combined = reduce(lambda crc, part: Checksum.of(part).after(crc), parts, 0)

    assert zlib.crc32(b"".join(parts)) == combined


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_how_parts_are_grouped_makes_no_difference(a: bytes, b: bytes, c: bytes) -> None:
    """Parts may be put together before they are appended."""
    later = Checksum.joined([Checksum.of(b), Checksum.of(c)], Checksum.of(b""))

    assert Checksum.of(b + c) == later
    assert zlib.crc32(a + b + c) == later.after(zlib.crc32(a))


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.binary(max_size=3))
def test_parts_are_joined_with_a_separator(parts: list[bytes], separator: bytes) -> None:
    """As `bytes.join` does it."""
    joined = Checksum.joined(map(Checksum.of, parts), Checksum.of(separator))

    assert Checksum.of(separator.join(parts)) == joined
