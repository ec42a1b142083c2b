"""The journal of transitions on disk: whole after a restart, bounded, and harmless when it is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest

from actors.archive import journal
from actors.archive.folder import Folder
from actors.archive.journal import KEPT_S, NAME, About, JournalFile, read_events
from actors.core.clock import wall_s
from actors.monitoring.journal import EventReport, Journal
from actors.runtime.facts import Transition


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a held folder."""
    return Folder.hold(tmp_path)


def _life(folder: Folder, *transitions: Transition) -> JournalFile:
    """Write the transitions of one life of the service."""
    noted = Journal()
    file = JournalFile(folder, noted)
    for transition in transitions:
        noted.note(transition)
        file.step()
    file.close()
    return file


def _event(kind: str, subject: str, at: float, **why: object) -> Transition:
    return Transition(kind, subject, at, why)


def _read(folder: Folder, about: About = About(), before_s: float = inf) -> Sequence[EventReport]:  # noqa: B008 - a frozen value
    return read_events(folder.path, about, before_s, 100).events


def test_events_of_earlier_lives_are_kept(folder: Folder) -> None:
    """All events are read, the newest first, with every field."""
    now = wall_s()
    _life(folder, _event("source.down", "feed", now - 9, source="feed", error="it's refused"))
    _life(folder, _event("source.recovered", "feed", now, source="feed", down_for_s=9.0))

    second, first = _read(folder)

    assert ("source.recovered", "info", "feed") == (second.event, second.level, second.subject)
    assert {"source": "feed", "error": "it's refused"} == first.fields


def test_old_events_are_removed(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events older than two weeks are removed, and the oldest events if there are too many."""
    monkeypatch.setattr(journal, "MAX_ROWS", 2)
    monkeypatch.setattr(journal, "TIDY_S", 0.0)
    now = wall_s()

    _life(folder, _event("source.down", "old", now - KEPT_S - 1), _event("source.down", "kept", now - 1))

    assert ["kept"] == [event.subject for event in _read(folder)]
    _life(folder, *(_event("source.down", f"new-{number}", now) for number in range(2)))
    assert ["new-1", "new-0"] == [event.subject for event in _read(folder)]


def test_events_of_a_bookmaker_have_those_of_its_source(folder: Folder) -> None:
    """Events that name only other bookmakers are left out, even if one id is a part of another id."""
    now = wall_s()
    _life(
        folder,
        _event("source.down", "feed", now, source="feed"),
        _event("bookmaker.withdrawn", "feed", now + 1, source="feed", bookmakers=["bet", "cedar"]),
        _event("bookmaker.withdrawn", "feed", now + 2, source="feed", bookmakers=["bet-at-home"]),
        _event("source.down", "other", now + 3, source="other"),
    )

    about = About("bet", "feed")
    found = _read(folder, about)

    assert [now + 1, now] == pytest.approx([event.at for event in found], abs=0.001)
    assert found == [event for event in _read(folder) if about.has(event)]
    assert [[], []] == [_read(folder, About(no_id)) for no_id in ("", "bet cedar")]


def test_a_damaged_journal_is_set_aside(folder: Folder) -> None:
    """The second look renames the file to a free name; a new file gets the events that had to wait."""
    path, content = folder.path / NAME, b"no database" * 1000
    path.write_bytes(content)
    (older := folder.path / f"{NAME}.bad").write_bytes(b"older")
    noted = Journal()
    file = JournalFile(folder, noted)
    noted.note(_event("source.down", "feed", wall_s()))

    for _ in range(2):  # the second step comes too early for a new try
        file.step()
    after_one_look = path.read_bytes()
    for _ in range(2):
        file._again_s = -inf
        file.step()
    file.close()

    assert content == after_one_look == (folder.path / f"{NAME}.bad1").read_bytes()
    assert ["feed"] == [event.subject for event in _read(folder)]
    assert b"older" == older.read_bytes()


def test_a_journal_that_reads_wrong_for_a_moment_stays(folder: Folder) -> None:
    """The journal goes on once it can be read again; a later error counts as a first error again."""
    path = folder.path / NAME
    _life(folder, _event("source.down", "before", wall_s()))
    whole = path.read_bytes()
    noted = Journal()
    file = JournalFile(folder, noted)
    noted.note(_event("source.down", "after", wall_s()))
    for content in (bytes(len(whole)), whole):
        path.write_bytes(content)
        file._again_s = -inf
        file.step()
    file.close()

    assert ["after", "before"] == [event.subject for event in _read(folder)]
    assert [] == [*folder.path.glob("*.bad*")]


def test_nothing_is_written_to_a_removed_file(folder: Folder) -> None:
    """Events wait until there is a file again; written to the removed file they would be lost."""
    noted = Journal()
    file = JournalFile(folder, noted)
    for number in range(2):
        noted.note(_event("source.down", f"feed-{number}", wall_s()))
        file.step()
        (folder.path / NAME).unlink(missing_ok=True)
    noted.note(_event("source.down", "feed-2", wall_s()))

    file._again_s = -inf
    file.step()
    file.close()

    assert ["feed-2", "feed-1"] == [event.subject for event in _read(folder)]


def test_the_journal_is_read_with_plain_sql(folder: Folder) -> None:
    """Times are Unix seconds, bookmakers are ids with blanks between them, and fields are JSON."""
    _life(folder, _event("bookmaker.withdrawn", "feed", 2e9, bookmakers=["bet", "cedar"]))

    with sqlite3.connect(folder.path / NAME) as connection:
        columns = "datetime(time, 'unixepoch'), bookmakers, json_extract(fields, '$.bookmakers')"
        (row,) = connection.execute(f"SELECT {columns} FROM events")  # noqa: S608 - constants only
    connection.close()

    assert ("2033-05-18 03:33:20", "bet cedar", "bet, cedar") == row
