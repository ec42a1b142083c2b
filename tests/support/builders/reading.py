"""Bodies through a polled source's parser and the integrity gate, for tests of every polled source."""

from __future__ import annotations

from typing import Any

from actors.core.cooperative import run_now
from actors.core.messages import Extract, ListId, Match, Payload, Scope, SourceName
from actors.core.validation import Admission, admit
from actors.source_api.groups import Group, preface_of
from actors.source_api.kinds import PolledKind, bounds_of
from actors.source_api.options import PolledOptions
from tests.support.builders.messages import batch


def payload_of(body: bytes, scope: str = "list", at: float = 0.0, **given: Any) -> Payload:
    """Return a payload with `body`, received at a given second."""
    return Payload(SourceName("source"), Scope(scope), ListId("list-1"), body, at, 0.0, **given)


def grouped(*matches: Any, body: bytes) -> bytes:
    """Return the body of an answer about these matches, as a venue's plan records it."""
    return preface_of(Group(matches)) + body


def decoded(
    kind: PolledKind, options: PolledOptions, body: bytes, scope: str = "list", **given: Any
) -> Any:
    """Decode a body. Raises: PayloadError."""
    return run_now(kind.decode(payload_of(body, scope, **given), options))


def extracted(
    kind: PolledKind, key: str, options: PolledOptions, body: bytes, scope: str = "list", **given: Any
) -> Extract:
    """Decode a body, and read the part of a bookmaker. Raises: PayloadError."""
    return run_now(kind.extract(decoded(kind, options, body, scope, **given), key, options))


def judged(kind: PolledKind, key: str, options: PolledOptions, extract: Extract) -> Admission:
    """Return the result of the integrity gate for a bookmaker's part."""
    part = batch(extract.matches, removals=extract.removals, kinds=())
    return run_now(admit(part, bounds_of(kind, key, options)))


def prices_of(matches: tuple[Match, ...]) -> dict[str, tuple[float, ...]]:
    """Return prices by id."""
    return {str(match.source_match_id): match.prices for match in matches}
