"""Alerts, and messages made of them."""

from __future__ import annotations

from typing import Any

from actors.alerts.alert import Alert, State
from actors.alerts.message import Message, messages_of
from tests.support.time.virtual import WALL_0


def alert(number: int = 1, *to: str, **others: Any) -> Alert:
    """Return an alert with its own subject and version."""
    given: dict[str, Any] = {
        "id": f"sure 4711-{number} {number}",
        "rule": "sure",
        "when": "surebet",
        "state": State.FIRING,
        "version": number,
        "at": WALL_0,
        "subject": f"4711-{number}",
        "title": f"Surebet {number}: Ajax v PSV",
        "details": {"home": "Ajax", "away": "PSV", "profit": 0.02},
        "to": to or ("a",),
    }
    return Alert(**{**given, **others})


def message(*alerts: Alert) -> Message:
    """Return the first message that these alerts make."""
    return next(messages_of(alerts or (alert(),), 0, WALL_0))
