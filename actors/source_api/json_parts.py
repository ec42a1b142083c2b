r"""Reads JSON part by part, so that only the odd parts of a document are lost. Pure.

A document is split into parts (`msgspec.Raw`) first, then each part is decoded by itself.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from actors.core.errors import UNREADABLE

T = TypeVar("T")

MAX_PART_BYTES = 256 * 1024
"""Ten times the largest real part, a match with all bookmakers; decoding takes some 20 ms."""
MAX_ESCAPES = 10_000  # escaped surrogates that are checked
_NO_TEXT = b"\xff"

# Two escapes that form a character, or a lone surrogate, after an even number of backslashes.
_HALVES = re.compile(
    rb"(?<!\\)((?:\\\\)*+)\\u[dD](?:([89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])|[89a-fA-F])[0-9a-fA-F]{2}"
)


def split(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Decode a document, except its parts. Raises: UNREADABLE if it is of another shape, or not UTF-8."""
    body.decode()  # msgspec does not check the encoding of skipped parts
    return decoder.decode(without_half_characters(body))


def part(decoder: msgspec.json.Decoder[T], raw: bytes | str | msgspec.Raw) -> T | None:
    """Decode a part; None if it is of another shape, longer than `MAX_PART_BYTES` or not JSON."""
    if len(raw) > MAX_PART_BYTES:
        return None
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def without_half_characters(body: bytes) -> bytes:
    r"""Return JSON in which lone surrogates, such as "\ud83d", spoil only their own parts.

    msgspec refuses to split a document with a lone surrogate. A byte that is not UTF-8 replaces it: msgspec
    skips such a byte, and only fails when it decodes that part.
    """
    if b"\\ud" not in body and b"\\uD" not in body:
        return body  # the usual case
    return _HALVES.sub(_without_half, body, MAX_ESCAPES)


def _without_half(found: re.Match[bytes]) -> bytes:
    return found[0] if found[2] else found[1] + _NO_TEXT
