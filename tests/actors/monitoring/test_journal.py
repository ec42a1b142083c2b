"""The newest transitions, as /monitor shows them: bounded, without secrets, without stacks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import structlog

from actors.monitoring.journal import MAX_CHARS, MAX_EVENTS, MAX_FIELDS, EventReport
from actors.runtime.facts import announce
from tests.support.configured_log import configured

log = structlog.get_logger()


def _noted(*transitions: tuple[str, Mapping[str, object]]) -> tuple[EventReport, ...]:
    """Return the events noted for transitions (kind and fields); the log itself is thrown away."""
    with Path(os.devnull).open("w", encoding="utf-8") as stream, configured(stream, ("hunter2",)) as status:
        for kind, fields in transitions:
            announce(log, kind, "info" if kind == "program.remarked" else "", **fields)
        return status.journal.events


def test_the_newest_events_are_kept_in_order() -> None:
    """The oldest of too many events are dropped, and remarks of programs are not kept."""
    many = [("source.recovered", {"attempts": at}) for at in range(MAX_EVENTS + 5)]

    events = _noted(*many, ("program.remarked", {"line": "x"}))

    assert [str(at) for at in range(5, MAX_EVENTS + 5)] == [event.fields["attempts"] for event in events]
    assert {("info", "source.recovered")} == {(event.level, event.event) for event in events}


def test_an_event_has_short_texts_without_secrets_and_stacks() -> None:
    """Fields are cut, a list or mapping becomes a text of its items, and the count of fields is limited."""
    fields = {
        "error": "x" * 5000,
        "url": "https://host/?key=hunter2",
        "names": ["a", "b"],
        "counts": {"x": 1},
        "path": "\udcff",
    }
    many = {f"field_{at}": at for at in range(100)}

    short, crash, full = _noted(
        ("source.down", fields),
        ("actor.crashed", {"exc_info": ValueError("x"), "actor": "linker"}),
        ("source.planned", many),
    )

    assert (MAX_CHARS, "…") == (len(short.fields["error"]), short.fields["error"][-1])
    found = [short.fields[name] for name in ("url", "names", "counts", "path")]
    assert ["https://host/?key=***", "a, b", "x: 1", "?"] == found
    assert ("linker", {"actor": "linker"}) == (crash.subject, crash.fields)
    assert MAX_FIELDS == len(full.fields)


def test_an_event_names_all_its_bookmakers() -> None:
    """Bookmakers beyond the end of the shortened text are named too, because events are found by them."""
    all_of_source = [f"bookmaker-{number}" for number in range(200)]

    single, many = _noted(
        ("bookmaker.lost", {"bookmaker": "cedar"}),
        ("bookmaker.withdrawn", {"source": "feed", "bookmakers": all_of_source}),
    )

    assert (("cedar",), tuple(all_of_source)) == (single.bookmakers, many.bookmakers)
