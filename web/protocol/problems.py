"""The exception for an error, and its problem document; `responses.py` makes the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET, Struct, UnsetType

CODES: Final[Mapping[str, int]] = {
    "invalid_bookmaker": 400,
    "invalid_view": 400,
    "invalid_league": 400,
    "invalid_market": 400,
    "invalid_fixture": 400,
    "invalid_from": 400,
    "invalid_to": 400,
    "invalid_min_profit": 400,
    "invalid_fair": 400,
    "invalid_doubted": 400,
    "invalid_weak": 400,
    "invalid_total": 400,
    "invalid_step": 400,
    "invalid_at": 400,
    "invalid_id": 400,
    "invalid_points": 400,
    "invalid_window_s": 400,
    "invalid_min": 400,
    "invalid_min_ev": 400,
    "invalid_reference": 400,
    "invalid_format": 400,
    "invalid_since": 400,
    "invalid_wait": 400,
    "invalid_subject": 400,
    "invalid_conflate_ms": 400,
    "bad_request": 400,
    "http2_not_supported": 400,
    "too_many_parameters": 400,
    "unauthorized": 401,
    "not_found": 404,
    "no_archive": 404,
    "version_not_yet": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "version_not_available": 410,
    "version_not_archived": 410,
    "target_too_long": 414,
    "too_many_requests": 429,
    "too_many_client_streams": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "no_bookmaker_serving": 503,
    "commit_late": 503,
    "linking": 503,
    "too_many_streams": 503,
    "overloaded": 503,
    "stopping": 503,
}
"""Each code of a problem document, with its status."""


class ProblemDocument(Struct, frozen=True):
    """An error (RFC 9457). `request_id` is in the log; only 410 has the members after it.

    These say about data that the archive lacks: why, the versions of the view before and after, the times
    between which nothing is known (RFC 3339).
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    oldest_version: int | UnsetType = UNSET
    current_version: int | UnsetType = UNSET
    epoch: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    before_version: int | UnsetType = UNSET
    after_version: int | UnsetType = UNSET
    after_time: str | UnsetType = UNSET
    until_time: str | UnsetType = UNSET


@dataclass(eq=False)
class Problem(Exception):
    """An error for the client: a stable `code`, a `detail` for people, further members in `extra`."""

    status: int
    code: str
    detail: str
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail
