"""Inflating a body under a limit: no compressed answer may cost more memory than it is allowed to.

Pure, in slices. The inflated size and the ratio are bounded while inflating, so that a bomb is cut before
it has been unpacked (faults.md, A18).
"""

from __future__ import annotations

import zlib
from io import BytesIO

from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError

MAX_RATIO = 100
PART_BYTES = 16 * 1024
SLICE_BYTES = 128 * 1024
"""Bytes that are inflated between two yields: a fraction of a millisecond."""

_GZIP_MARK = b"\x1f\x8b"
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


def inflated(body: bytes, encoding: str, max_bytes: int) -> Sliced[bytes]:
    """Return the content of `body` in that Content-Encoding, at most `max_bytes` long if compressed.

    Raises: PayloadError for an encoding that was not asked for, damaged or cut data, or too much.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip" | "deflate":
            return (yield from _inflated(body, max_bytes))
        case _:
            raise PayloadError(f"content encoding was {encoding[:40]!r}, must be gzip, deflate or none")


def _inflated(body: bytes, max_bytes: int) -> Sliced[bytes]:
    limit = min(max_bytes, MAX_RATIO * len(body))
    said = int.from_bytes(body[-4:], "little") if body.startswith(_GZIP_MARK) else 0  # ISIZE, RFC 1952
    content = BytesIO(bytes(min(said, limit)))  # else it would move, all of it at once, when it grows
    inflater, at = zlib.decompressobj(_GZIP_OR_ZLIB), 0
    while at < len(body) and not inflater.eof:
        part, at = body[at : at + PART_BYTES], at + PART_BYTES
        is_more = True
        while is_more:
            try:
                piece = inflater.decompress(part, SLICE_BYTES)
            except zlib.error as error:
                raise PayloadError(f"the compressed body is damaged: {error}") from error
            content.write(piece)
            if content.tell() > limit:
                raise PayloadError(
                    f"the body inflates beyond {limit} bytes, at most {max_bytes} and {MAX_RATIO}:1"
                )
            part = inflater.unconsumed_tail
            # What follows the end stays in the tail; a piece that is full may not be all that there is.
            is_more = (bool(part) or len(piece) == SLICE_BYTES) and not inflater.eof
            yield
    if not inflater.eof or inflater.unused_data or at < len(body):
        raise PayloadError("the compressed body is cut short, or something follows it")
    content.truncate()
    return content.getvalue()
