"""An answer that is ready to be sent: what the layer in front of Quart and Quart's routes both give.

A handler makes it of the few things in a request that matter. Who gives it adds the request's own id.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

import msgspec
from msgspec import Struct
from quart import Response, request

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After, X-Request-Id",
}

_encode = msgspec.json.Encoder(enc_hook=str).encode
"""A probe answers whatever a plug-in has left in a record."""

Headers = tuple[tuple[bytes, bytes], ...]


class Asked(Struct, frozen=True):
    """What a request asked for: its query as sent, and its list headers, their lines joined."""

    query: bytes
    if_none_match: str | None
    accept_encoding: str | None


class Prepared(Struct, frozen=True):
    """Status, all headers but X-Request-Id, and the body in parts, none where there must be none."""

    status: int
    headers: Headers
    parts: tuple[bytes, ...]
    body_bytes: int


Handler = Callable[[Asked], Awaitable[Prepared] | None]
"""Gives the answer, or None for what only Quart can answer. Awaiting it raises: Problem for an error."""


def prepared(status: int, headers: Mapping[str, str], parts: tuple[bytes, ...] | None) -> Prepared:
    """Prepare an answer; without `parts` it has no body at all, as 304."""
    length = sum(map(len, parts or ()))
    given = dict(headers) if parts is None else {**headers, "Content-Length": str(length)}
    encoded = tuple((name.lower().encode(), value.encode()) for name, value in {**given, **CORS}.items())
    return Prepared(status, encoded, parts or (), length)


def prepared_json(content: object, *, ok: bool = True) -> Prepared:
    """Prepare an answer of the moment, 200 or 503."""
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    try:
        body = _encode(content)
    except UnicodeEncodeError:  # a text with half a character, such as an error's
        body = json.dumps(content, default=str).encode()
    return prepared(200 if ok else 503, headers, (body,))


def asked() -> Asked:
    """Return what Quart's present request asked for."""
    return Asked(request.query_string, header("If-None-Match"), header("Accept-Encoding"))


def header(name: str) -> str | None:
    """Return a list header of Quart's current request, its lines joined; None if it has none."""
    lines = request.headers.getlist(name)
    return ", ".join(lines) if lines else None


def response_of(answer: Prepared) -> Response:
    """Return the answer as Quart's routes do."""
    body = b"".join(answer.parts) if answer.parts else None
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return Response(body, answer.status, headers)
