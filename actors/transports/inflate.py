"""Inflating a body under a limit: no compressed answer may cost more memory than it is allowed to.

Pure. The inflated size and the ratio are bounded while inflating, so that a bomb is cut before it
has been unpacked (faults.md, A18).
"""

from __future__ import annotations

import zlib

from actors.errors import PayloadError

MAX_RATIO = 100
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


def inflated(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Give the content of `body` in that Content-Encoding, at most `max_bytes` long if compressed.

    Raises: PayloadError for an encoding that was not asked for, damaged or cut data, or too much.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip" | "deflate":
            return _inflated(body, max_bytes)
        case _:
            raise PayloadError(f"content encoding was {encoding[:40]!r}, must be gzip, deflate or none")


def _inflated(body: bytes, max_bytes: int) -> bytes:
    limit = min(max_bytes, MAX_RATIO * len(body))
    inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = inflater.decompress(body, limit + 1)
    except zlib.error as error:
        raise PayloadError(f"the compressed body is damaged: {error}") from error
    if len(content) > limit:
        raise PayloadError(f"the body inflates beyond {limit} bytes, at most {max_bytes} and {MAX_RATIO}:1")
    if not inflater.eof or inflater.unused_data:
        raise PayloadError("the compressed body is cut short, or something follows it")
    return content
