"""The reading of a list's query, byte by byte: the status that the query must get."""

from __future__ import annotations

from collections.abc import Collection

MAX_SEPARATORS = 15
_HEX = b"0123456789abcdefABCDEF"


def status_of(query: bytes, bookmakers: Collection[str]) -> int:
    """Return 200 or 400 for a query of visible ASCII, of at most 2,000 bytes."""
    if query.count(b"&") > MAX_SEPARATORS:
        return 400
    pairs = [part.partition(b"=") for part in query.split(b"&")]
    given = [_decoded(value) for name, _, value in pairs if _decoded(name) == "bookmaker"]
    return 200 if not given or (len(given) == 1 and given[0] in bookmakers) else 400


def _decoded(text: bytes) -> str:
    """Decode percent signs; an invalid escape stays; invalid UTF-8 becomes a replacement character."""
    decoded, at = bytearray(), 0
    while at < len(text):
        is_escape = text[at] == ord("%") and len(text) > at + 2
        if is_escape and text[at + 1] in _HEX and text[at + 2] in _HEX:
            decoded.append(int(text[at + 1 : at + 3], 16))
            at += 3
        else:
            decoded.append(ord(" ") if text[at] == ord("+") else text[at])
            at += 1
    return decoded.decode("utf-8", "replace")
