r"""Reading JSON part by part, so that an odd part costs nothing but itself. Pure.

A document's parts are `msgspec.Raw`: it is split first, and each part is decoded by itself.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from actors.core.errors import UNREADABLE

T = TypeVar("T")

MAX_PART_BYTES = 256 * 1024
"""Of a part, such as a match with all bookmakers: ten times the largest, and some 20 ms of work."""
MAX_ESCAPES = 10_000  # of characters in two halves that are looked at
_NO_TEXT = b"\xff"

# One character in two escapes, or a half of one. Before it an even number of backslashes, or none.
_HALVES = re.compile(
    rb"(?<!\\)((?:\\\\)*+)\\u[dD](?:([89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])|[89a-fA-F])[0-9a-fA-F]{2}"
)


def split(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Decode a document but for its parts. Raises: UNREADABLE if it is none, or not UTF-8."""
    body.decode()  # msgspec does not check the encoding of what it skips
    return decoder.decode(without_half_characters(body))


def part(decoder: msgspec.json.Decoder[T], raw: bytes | str | msgspec.Raw) -> T | None:
    """Decode a part; None where it is of another shape, longer than `MAX_PART_BYTES` or no JSON at all."""
    if len(raw) > MAX_PART_BYTES:
        return None
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def without_half_characters(body: bytes) -> bytes:
    r"""Return JSON where only the parts fail in which a text has half a character, such as "\ud83d".

    msgspec refuses to split a document that has one anywhere. In place of the escape there is then a byte
    that is not UTF-8, which msgspec skips, but does not decode.
    """
    if b"\\ud" not in body and b"\\uD" not in body:
        return body  # nearly always
    return _HALVES.sub(_without_half, body, MAX_ESCAPES)


def _without_half(found: re.Match[bytes]) -> bytes:
    return found[0] if found[2] else found[1] + _NO_TEXT
