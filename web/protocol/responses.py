"""Answers that are ready to be sent (`sending.py`), and their counters."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from http import HTTPStatus
from operator import itemgetter

import msgspec
import structlog
from hypercorn.typing import HTTPScope
from msgspec import Struct

from actors.core.clock import elapsed_s
from actors.core.errors import CommitLateError
from actors.monitoring.metrics import OTHER, Count, Metrics, Timing
from actors.runtime.facts import announce
from web.protocol.negotiation import Coding, coding_for, has_already
from web.protocol.problems import Problem, ProblemDocument

log = structlog.get_logger()
_root = logging.getLogger()

COMMON = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": (
        "ETag, Odds-Cursor, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
    ),
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every answer of every layer."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    # Our own headers, headers of libraries for EventSource and for polling, and `*`, by which newer
    # browsers allow any other.
    "Access-Control-Allow-Headers": (
        "Accept, Cache-Control, Content-Type, Expires, If-Modified-Since, If-None-Match, Last-Event-ID,"
        " Pragma, X-Requested-With, *"
    ),
    "Access-Control-Max-Age": "86400",
}

METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that are counted by name; clients may send arbitrary other methods."""
ID_BYTES = 16
MIN_GZIP_BYTES = 1_024
"""Smallest body that is compressed, in bytes: a smaller body fits in one packet anyway."""

Headers = tuple[tuple[bytes, bytes], ...]

_encode = msgspec.json.Encoder(enc_hook=str).encode
"""Encodes any value: a plug-in may have put a value of another type into a record."""


class Asked(Struct, frozen=True):
    """A request: the raw query, headers by lower-case name (joined if repeated), `began` by `elapsed_s`.

    `client` is the client whose limit the request counts towards (`throttle.py`), None if it counts towards
    no limit.
    """

    method: str
    path: str
    query: bytes
    headers: Mapping[bytes, bytes]
    id: str
    began: float
    client: str | None = None

    def header(self, name: bytes) -> str | None:
        """Return a header's value; None if it is absent."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")


class Prepared(Struct, frozen=True):
    """Status, all headers but X-Request-Id, and the body in parts; without parts there is no body.

    `holds` is the object that owns the body's bytes; it is kept until the body is sent.
    """

    status: int
    headers: Headers
    parts: tuple[bytes, ...]
    body_bytes: int
    holds: object = None


Handler = Callable[[Asked], Awaitable[Prepared]]
"""Makes the answer to a GET. Raises: Problem for an error."""


def asked(scope: HTTPScope, request_id: str) -> Asked:
    """Return the request of `scope`; it begins now."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        headers[name] = b"%b, %b" % (headers[name], value) if name in headers else value
    client = state.get("client") if (state := scope.get("state")) else None
    method, path, query = scope["method"], scope["path"], scope["query_string"]
    return Asked(method, path, query, headers, request_id, elapsed_s(), client)


def exact_path(scope: HTTPScope) -> str | None:
    """Return the path for routing; None if it has an encoded or a doubled slash, as no path of ours has."""
    raw_path = scope["raw_path"]
    if raw_path.startswith(b"//") or b"%2f" in raw_path or b"%2F" in raw_path:
        return None
    return scope["path"]


def encoded(headers: Mapping[str, str]) -> Headers:
    """Return headers in the form of ASGI."""
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


_COMMON = encoded(COMMON)


def prepared(
    status: int, headers: Mapping[str, str], parts: tuple[bytes, ...] | None, holds: object = None
) -> Prepared:
    """Prepare an answer; without `parts` it has no body, like a 304."""
    length = sum(map(len, parts or ()))
    of_body = () if parts is None else ((b"content-length", b"%d" % length),)
    return Prepared(status, (*encoded(headers), *of_body, *_COMMON), parts or (), length, holds)


def prepared_json(content: object, *, ok: bool = True, **headers: str) -> Prepared:
    """Prepare an answer that must not be cached: 200, or 503 if not `ok`."""
    headers |= {"Content-Type": "application/json", "Cache-Control": "no-store"}
    try:
        body = _encode(content)
    except UnicodeEncodeError:  # a text, such as an error's, has a lone surrogate
        body = json.dumps(msgspec.to_builtins(content, enc_hook=str)).encode()
    return prepared(200 if ok else 503, headers, (body,))


def prepared_error(error: Exception, request: Asked) -> Prepared:
    """Prepare the problem document (RFC 9457) that answers `error`; log an unexpected error."""
    if isinstance(error, CommitLateError):
        detail = f"{error}; please try again"
        error = Problem(503, "commit_late", detail, {"Retry-After": "1"})
    if not isinstance(error, Problem):  # the client gets no details, only the request's id
        announce(log, "request.failed", request_id=request.id, path=request.path, exc_info=error)
        error = Problem(500, "internal_error", "the server failed to answer; please try again")
    document = ProblemDocument(
        type="about:blank",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=error.detail,
        instance=request.path,
        code=error.code,
        request_id=request.id,
        **error.extra,  # type: ignore[arg-type]  # members of different types
    )
    headers = {"Content-Type": "application/problem+json", "Cache-Control": "no-store", **error.headers}
    return prepared(error.status, headers, (msgspec.json.encode(document),))


def constant(body: bytes, content_type: str, headers: Mapping[str, str]) -> Handler:
    """Return the handler of a body that never changes; a client that has it already gets 304.

    A body of `MIN_GZIP_BYTES` or more is also kept compressed. A client that accepts no coding gets the
    body plain.
    """
    digest = blake2b(body, digest_size=8).hexdigest()
    if len(body) < MIN_GZIP_BYTES:
        plain = packed = _Form.of(f'"{digest}"', headers, content_type, body)
    else:
        varying = {**headers, "Vary": ", ".join([*filter(None, [headers.get("Vary")]), "Accept-Encoding"])}
        plain = _Form.of(f'"{digest}"', varying, content_type, body)
        encoding = {"Content-Encoding": Coding.GZIP}
        packed = _Form.of(f'"{digest}-gzip"', varying, content_type, _gzipped(body), encoding)

    async def answer(request: Asked) -> Prepared:
        wants_gzip = coding_for(request.header(b"accept-encoding")) is Coding.GZIP
        form = packed if wants_gzip else plain
        is_known = has_already(request.header(b"if-none-match") or "", form.etag)
        return form.not_modified if is_known else form.whole

    return answer


class _Form(Struct, frozen=True):
    """A constant body in one coding, and the 304 for a client that has it."""

    etag: str
    whole: Prepared
    not_modified: Prepared

    @classmethod
    def of(
        cls,
        etag: str,
        headers: Mapping[str, str],
        content_type: str,
        body: bytes,
        encoding: Mapping[str, str] = {},
    ) -> _Form:
        whole = prepared(200, {"ETag": etag, **headers, "Content-Type": content_type, **encoding}, (body,))
        return cls(etag, whole, prepared(304, {"ETag": etag, **headers}, None))


@lru_cache(maxsize=64)  # tests make many applications with the same bodies
def _gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


class HttpCounters:
    """Counts answers by route, method and status, and measures how long they take."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self._body = metrics.counts["oddsboard_http_response_body_bytes_total"]
        self._bound: dict[tuple[str, str, int], tuple[Count, Timing | None]] = {}

    def count(
        self, request: Asked, route: str, status: int, body_bytes: int, *, is_timed: bool = True
    ) -> None:
        """Count an answer and log it; `route` must not be a client's text. HEAD counts no bytes.

        Pass `is_timed=False` for an answer that lasts until its client leaves.
        """
        took_s = elapsed_s() - request.began
        key = route, request.method if request.method in METHODS else OTHER, status
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bound[key] = self._bind(*key, is_timed=is_timed)
        answers, durations = bound
        answers.inc()
        if durations is not None:
            durations.observe(took_s)
        if request.method == "HEAD":
            body_bytes = 0
        self._body.inc(body_bytes)
        if _root.isEnabledFor(logging.DEBUG):  # ten times as fast as structlog's own check
            log.debug(
                "request.served",
                request_id=request.id,
                method=request.method,
                path=request.path,
                status=status,
                body_bytes=body_bytes,
                took_ms=round(took_s * 1e3, 3),
            )

    def by_route(self) -> dict[str, dict[str, int]]:
        """Return the number of answers by route and status."""
        found: dict[str, dict[str, int]] = {}
        for (route, _, status), (answers, _) in sorted(self._bound.items(), key=itemgetter(0)):
            of_route = found.setdefault(route, {})
            of_route[str(status)] = of_route.get(str(status), 0) + answers.number
        return found

    def _bind(self, route: str, method: str, status: int, *, is_timed: bool) -> tuple[Count, Timing | None]:
        answers = self.metrics.counts["oddsboard_http_requests_total"].labels(route, method, str(status))
        duration = self.metrics.timings["oddsboard_http_request_duration_seconds"]
        return answers, duration.labels(route) if is_timed else None
