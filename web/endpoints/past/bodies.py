"""Bodies about how prices moved: their tag is a hash of their content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.core.cooperative import run_now
from web.encoding.segments import gzipped
from web.feeds.subscribers import Live
from web.protocol.negotiation import Coding, Format, has_already
from web.protocol.responses import Asked, Prepared, prepared

_DAY = "public, max-age=86400"


class Body(Struct, frozen=True):
    """An encoded body, and further headers; `is_over` if it will not change any more."""

    parts: tuple[bytes, ...]
    tag: str
    is_over: bool
    format: Format = Format.JSON
    headers: Mapping[str, str] = {}


def encoded(content: object, coding: Coding, *, is_over: bool = False) -> Body:
    """Return a body as JSON, whose tag is a hash of its content."""
    return _coded(msgspec.json.encode(content), coding, is_over=is_over)


def tabled(pieces: Iterable[bytes], coding: Coding, *, is_over: bool = False) -> Body:
    """Return a body as CSV, whose tag is a hash of its content."""
    return replace(_coded(b"".join(pieces), coding, is_over=is_over), format=Format.CSV)


def _coded(body: bytes, coding: Coding, *, is_over: bool) -> Body:
    suffix = "" if coding is Coding.IDENTITY else f"-{coding}"
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}{suffix}"'
    parts = (body,) if coding is Coding.IDENTITY else tuple(run_now(gzipped([body])))
    return Body(parts, tag, is_over)


def answered(made: Body, coding: Coding, request: Asked, live: Live) -> Prepared:
    """Return the answer: the body, or 304 if the client has it."""
    headers: Mapping[str, str] = {
        "ETag": made.tag,
        "Vary": "Accept-Encoding",
        "Cache-Control": _DAY if made.is_over else "no-cache",
        **made.headers,
    }
    if has_already(request.header(b"if-none-match") or "", made.tag):
        return prepared(304, headers, None)
    of_coding = {} if coding is Coding.IDENTITY else {"Content-Encoding": str(coding)}
    held = live.answers.own.hold(made.parts)
    return prepared(
        200, {**headers, **of_coding, "Content-Type": made.format.media_type}, held.parts, holds=held
    )
