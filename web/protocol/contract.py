"""Types with which each endpoint declares its parameters and answers; /openapi.json is made of them.

Pure. Also declares the answers of all paths: the gate's refusals, the limit of requests, CORS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from web.protocol.query import NOT_FILTERS, Parameter
from web.protocol.request_head import REFUSALS

JSON: Final = "application/json"
HTML: Final = "text/html"
CSV: Final = "text/csv"
EVENT_STREAM: Final = "text/event-stream"
PROBLEM: Final = "application/problem+json"

IF_NONE_MATCH: Final = Parameter(
    "If-None-Match", "ETags that the client has, or `*`; anything else is ignored.", place="header"
)
ACCEPT_ENCODING: Final = Parameter(
    "Accept-Encoding", "The content codings `gzip` and `identity` exist.", place="header"
)
LAST_EVENT_ID: Final = Parameter(
    "Last-Event-ID", "The id of the last event that the client has: `VERSION-EPOCH`.", place="header"
)

OF_GATE: Final = tuple(code for code in REFUSALS if code != "overloaded")
OF_ALL: Final = (*OF_GATE, "internal_error")
"""Codes of problems that any path may answer, besides its own codes."""
COUNTED: Final = ("too_many_requests", "overloaded")
"""Codes that every path except the health probes may answer; the stream never has `too_many_requests`."""
CLOSED: Final = ("unauthorized", *COUNTED)
"""Codes of the paths for operators, which may require a token."""


class NextRequest(Struct, frozen=True):
    """A following request: `path` with parameters; OpenAPI's `$response` takes a value from this answer."""

    path: str
    parameters: Mapping[str, str]


class Answer(Struct, frozen=True):
    """An answer that is no problem: `body` is its type or None, `headers` are its own headers."""

    status: int
    description: str
    body: Any = None
    media_type: str = JSON
    headers: tuple[str, ...] = ()
    also: str = ""
    """Another media type, which `Accept` or a parameter may choose."""
    links: tuple[NextRequest, ...] = ()
    bodies: tuple[Any, ...] = ()
    """Other types that the body may be."""


class Operation(Struct, frozen=True):
    """The GET of a path; HEAD has the same headers. `problems` are codes besides `OF_ALL`."""

    summary: str
    description: str
    answers: tuple[Answer, ...]
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[str, ...] = COUNTED

    @property
    def filters(self) -> tuple[str, ...]:
        """The names of its query parameters, without `at` and `format`."""
        return tuple(
            parameter.name
            for parameter in self.parameters
            if parameter.place == "query" and parameter not in NOT_FILTERS
        )


CACHED: Final = ("ETag", "Cache-Control")
