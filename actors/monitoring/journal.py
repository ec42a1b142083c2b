"""Keeps the newest transitions of the process in bounded memory, with short texts and without secrets.

The archive writes them to disk (`actors/archive/journal.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from msgspec import Struct

from actors.runtime.facts import FACTS, Transition

MAX_EVENTS: Final = 1000
MAX_FIELDS, MAX_CHARS = 12, 300

_OFTEN = frozenset({"program.remarked"})  # up to 60 a minute, which would displace all other events


class EventReport(Struct, frozen=True):
    """A transition of a subject, at Unix seconds; `bookmakers` are all those that it names."""

    at: float
    level: str
    event: str
    subject: str
    bookmakers: tuple[str, ...]
    fields: Mapping[str, str]


class Journal:
    """The newest events, the oldest first; safe in every thread.

    The state is replaced, never changed, so that reading needs no lock.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._noted: tuple[int, tuple[EventReport, ...]] = (0, ())

    def note(self, transition: Transition) -> None:
        """Add a transition, except for remarks of programs."""
        if transition.kind in _OFTEN:
            return
        why = transition.why
        named = why.get("bookmakers", [why["bookmaker"]] if "bookmaker" in why else ())
        event = EventReport(
            round(transition.at, 3),
            FACTS[transition.kind].level.partition(" ")[0],
            transition.kind,
            _text(transition.subject),
            tuple(map(_text, named)) if isinstance(named, list | tuple) else (),
            {_text(name): _text(value) for name, value in [*why.items()][:MAX_FIELDS]},
        )
        with self._lock:
            number, events = self._noted
            self._noted = (number + 1, (*events[1 - MAX_EVENTS :], event))

    @property
    def events(self) -> tuple[EventReport, ...]:
        """The newest events."""
        return self._noted[1]

    def since(self, number: int) -> tuple[int, tuple[EventReport, ...]]:
        """Return how many events there have been, and the kept events after the first `number`."""
        newest, events = self._noted
        return newest, events[max(len(events) - (newest - number), 0) :]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}: {item}" for key, item in value.items()]
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = text.encode("utf-8", "replace").decode()  # no lone surrogates, which JSON and SQLite refuse
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"
