"""An alert: what a rule says to its receivers, as a plain value."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class State(StrEnum):
    """Whether the condition of a rule began to hold, or ended."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Alert(Struct, frozen=True):
    """A transition of a rule and its subject.

    `id` is "<rule> <subject> <version>", the same after a crash; `when` is the kind of the rule. The
    transition happened at `at` (Unix seconds); `version` was the newest then. `subject` is one text:
    fixture id, market, outcome, bookmaker, or source. `title` is one line of plain text; it has names, so
    each form of receiver escapes it. `details` has names, league, kick_off, market, outcome, bookmaker,
    odds, before, ev, profit and the like. `to` are ids of receivers.
    """

    id: str
    rule: str
    when: str
    state: State
    version: int
    at: float
    subject: str
    title: str
    details: Mapping[str, str | int | float | bool | None]
    to: tuple[str, ...]
