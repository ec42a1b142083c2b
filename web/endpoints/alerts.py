"""/api/v2/alerts: the alerts that fired lately; an answer's cursor asks for the alerts after it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from actors.alerts.alert import Alert, State
from actors.alerts.recent import MAX_RECENT, Recent
from web.encoding.schemas import ResetReason, Version, cursor_of
from web.protocol.contract import CACHED, COUNTED, IF_NONE_MATCH, Answer, Operation
from web.protocol.moments import Since
from web.protocol.negotiation import has_already
from web.protocol.query import SINCE, Parameter, Query
from web.protocol.responses import Asked, Handler, Prepared, prepared

PATH = "/api/v2/alerts"
SINCE_ALERT = Parameter("since", "The `cursor` of an earlier answer: only later alerts.", SINCE.schema)


class AlertView(Struct, frozen=True):
    """A rule and its subject, whose condition began to hold (`firing`) or ended (`resolved`)."""

    id: str
    rule: str
    when: str
    state: State
    version: Version
    at: Annotated[float, Meta(description="Unix seconds of the commit")]
    subject: str
    title: str
    details: dict[str, str | int | float | bool | None]


class AlertList(Struct, frozen=True):
    """Alerts, newest last. Without `complete` some alerts between `since` and the first are forgotten."""

    cursor: str
    complete: bool
    alerts: tuple[AlertView, ...]


OPERATIONS = {
    PATH: Operation(
        "The alerts that fired lately",
        f"At most the newest {MAX_RECENT} of this process; receivers are in the configuration alone.",
        (
            Answer(200, "The alerts, newest last.", AlertList, headers=CACHED),
            Answer(304, "The client has them already.", headers=CACHED),
        ),
        (SINCE_ALERT, IF_NONE_MATCH),
        ("invalid_since", *COUNTED),
    )
}
_SHOWN = tuple(field.name for field in fields(AlertView))


def handlers(recent: Recent) -> dict[str, Handler]:
    """Return the handler by path."""

    async def alerts(request: Asked) -> Prepared:
        since = Query(request.query).since_if_given() or Since(0)
        tag = f'"{cursor_of(recent.newest, recent.epoch)}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if has_already(request.header(b"if-none-match") or "", tag):
            return prepared(304, headers, None)
        reason = missed(recent, since)
        number = since.version if reason is None else 0
        headers["Content-Type"] = "application/json"
        return prepared(200, headers, (encoded_list(recent, number, is_complete=reason is None),))

    return {PATH: alerts}


def missed(recent: Recent, since: Since) -> ResetReason | None:
    """Return why not all alerts after `since` are known; None if all are known."""
    if not since.is_of(recent.epoch):
        return ResetReason.OTHER_EPOCH
    if since.version > recent.newest:
        return ResetReason.FUTURE
    return ResetReason.TOO_OLD if since.version + 1 < recent.oldest else None


def encoded_list(recent: Recent, number: int, *, is_complete: bool) -> bytes:
    """Return the known alerts after this number as JSON."""
    shown = tuple(map(_view, recent.since(number)))
    return msgspec.json.encode(AlertList(cursor_of(recent.newest, recent.epoch), is_complete, shown))


def _view(alert: Alert) -> AlertView:
    return msgspec.convert({name: getattr(alert, name) for name in _SHOWN}, AlertView)
