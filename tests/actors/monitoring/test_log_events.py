"""The newest lines of the log, as /monitor shows them: bounded, without secrets, without stacks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import structlog

from actors.monitoring.log_events import MAX_CHARS, MAX_EVENTS, MAX_FIELDS, EventReport
from tests.support.configured_log import configured

log = structlog.get_logger()


def _kept(*lines: tuple[str, str, Mapping[str, object]]) -> tuple[EventReport, ...]:
    """Return what is kept of lines, each a level, an event and fields; the log itself goes nowhere."""
    with Path(os.devnull).open("w", encoding="utf-8") as stream, configured(stream, ("hunter2",)) as status:
        for level, event, fields in lines:
            getattr(log, level)(event, **fields)
        return status.events


def test_the_newest_events_are_kept_in_order() -> None:
    """Not the oldest of many, nor debug lines, texts of others, and remarks of programs."""
    lines = [("info", "source.recovered", {"attempts": at}) for at in range(MAX_EVENTS + 5)]
    others = [("warning", "program.remarked"), ("debug", "board.committed"), ("error", "Not an event: 7")]

    events = _kept(*lines, *((level, event, {}) for level, event in others))

    assert [str(at) for at in range(5, MAX_EVENTS + 5)] == [event.fields["attempts"] for event in events]
    assert {("info", "source.recovered")} == {(event.level, event.event) for event in events}
    assert sorted(events, key=lambda event: event.at) == list(events)


def test_an_event_has_short_texts_without_secrets_and_stacks() -> None:
    """Each field is cut, a list or a mapping is read as its items, and there are some fields at most."""
    fields = {
        "error": "x" * 5000,
        "url": "https://host/?key=hunter2",
        "names": ["a", "b"],
        "counts": {"x": 1},
    }
    many = {f"field_{at}": at for at in range(100)}

    short, crash, full = _kept(
        ("warning", "source.down", fields),
        ("error", "actor.crashed", {"exc_info": ValueError("x"), "stack": "a:1 f", "actor": "linker"}),
        ("info", "source.planned", many),
    )

    assert (MAX_CHARS, "…") == (len(short.fields["error"]), short.fields["error"][-1])
    assert ("https://host/?key=***", "a, b", "x: 1") == (
        short.fields["url"],
        short.fields["names"],
        short.fields["counts"],
    )
    assert {"actor": "linker"} == crash.fields
    assert MAX_FIELDS == len(full.fields)
