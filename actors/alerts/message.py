"""A message: the alerts of one commit for one receiver, sent together under one id."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from actors.alerts.alert import Alert

MAX_ALERTS = 10
"""The most alerts of a message: the text forms have room for as many lines."""


class Message(Struct, frozen=True):
    """Alerts for `receiver`; `number` orders the messages of a queue, `at` (Unix seconds) is its age.

    `id` depends on receiver and alerts alone, so a repetition after a crash has the same id.
    """

    number: int
    receiver: str
    id: str
    at: float
    alerts: tuple[Alert, ...]


def messages_of(alerts: Collection[Alert], first: int, at: float) -> Iterator[Message]:
    """Yield the messages for these alerts, numbered from `first`: one per receiver and version."""
    number = first
    for receiver in dict.fromkeys(name for alert in alerts for name in alert.to):
        own = [_encodable(alert) for alert in alerts if receiver in alert.to]
        for _, some in groupby(own, attrgetter("version")):
            together = [*some]
            for begin in range(0, len(together), MAX_ALERTS):
                part = tuple(together[begin : begin + MAX_ALERTS])
                yield Message(number, receiver, _id(receiver, part), at, part)
                number += 1


def content(message: Message) -> dict[str, Any]:
    """Return what webhooks and programs get, as values of JSON; ids of receivers are left out."""
    alerts = [{key: item for key, item in asdict(alert).items() if key != "to"} for alert in message.alerts]
    return {"type": "oddsboard.alerts", "id": message.id, "at": message.at, "alerts": alerts}


def _id(receiver: str, alerts: Sequence[Alert]) -> str:
    told = "\n".join([receiver, *(alert.id for alert in alerts)])
    return f"msg_{blake2b(told.encode(), digest_size=16).hexdigest()}"


def _encodable(alert: Alert) -> Alert:
    """Replace lone surrogates, which no UTF-8 has, by question marks; a plug-in's text may have them."""
    texts = {name: _safe(getattr(alert, name)) for name in ("id", "rule", "subject", "title")}
    return replace(alert, details={_safe(key): _safe(item) for key, item in alert.details.items()}, **texts)


def _safe(value: Any) -> Any:
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
