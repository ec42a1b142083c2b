"""Checksums put together: those of the whole, whatever the parts."""

from __future__ import annotations

import zlib
from functools import reduce

from hypothesis import example, given
from hypothesis import strategies as st

from web.checksums import NOTHING, Checksum

PARTS = st.lists(st.binary(max_size=300), max_size=8)


@given(PARTS)
@example([b"\0" * 100_000, b"\xff" * 65_537, b"", b","])
def test_the_parts_give_the_checksum_of_the_whole(parts: list[bytes]) -> None:
    """CRC-32 and length are those of all bytes in a row."""
    whole = b"".join(parts)

    combined = reduce(Checksum.then, map(Checksum.of, parts), NOTHING)

    assert (zlib.crc32(whole), len(whole)) == (combined.crc, combined.length)


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_how_parts_are_grouped_makes_no_difference(a: bytes, b: bytes, c: bytes) -> None:
    """Runs may be put together before they are appended."""
    one, two, three = map(Checksum.of, (a, b, c))

    assert one.then(two).then(three) == one.then(two.then(three))
