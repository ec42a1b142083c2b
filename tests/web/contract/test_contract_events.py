"""`/monitor/events`: events of sources and bookmakers, in memory and in the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.archive.folder import Folder
from actors.archive.journal import JournalFile
from actors.core.clock import wall_s
from actors.monitoring.journal import Journal
from actors.runtime.facts import Transition
from tests.support.systems.site import SOURCE, Site, open_site

pytestmark = pytest.mark.anyio

EVENTS = "/monitor/events"
NOW = round(wall_s())


def _lost(at: float) -> Transition:
    return Transition("bookmaker.lost", "birch", at, {"bookmaker": "birch", "error": "no column"})


def _down(at: float, source: str = SOURCE) -> Transition:
    return Transition("source.down", source, at, {"source": source, "error": "refused"})


def _written(folder: Path, journal: Journal) -> None:
    file = JournalFile(Folder.reading(folder), journal)
    file.step()
    file.close()


async def test_events_in_memory_are_newest_first(empty_site: Site) -> None:
    """Without an archive the answer says that events are kept in memory; `to` asks for older events."""
    for transition in (_down(NOW - 9), _lost(NOW)):
        empty_site.status.log.journal.note(transition)

    found = await empty_site.json(EVENTS)
    older = await empty_site.json(f"{EVENTS}?to={NOW}")

    assert ("memory", NOW - 9, ["birch", SOURCE]) == (found["kept"], found["since"], found["subjects"])
    lost = {
        "at": NOW,
        "level": "warning",
        "event": "bookmaker.lost",
        "subject": "birch",
        "bookmakers": ["birch"],
        "fields": {"bookmaker": "birch", "error": "no column"},
    }
    assert [lost, *older["events"]] == found["events"]
    assert [NOW - 9] == [event["at"] for event in older["events"]]


async def test_events_of_earlier_lives_are_in_the_archive(tmp_path: Path) -> None:
    """Events of this run are there too, written or not, each once; a bookmaker has its source's events."""
    earlier = Journal()
    earlier.note(_down(NOW - 9))
    earlier.note(_down(NOW - 8, "another"))
    async with open_site(archived=tmp_path) as site:
        present = site.status.log.journal
        present.note(_down(NOW - 7))
        _written(tmp_path, earlier)
        _written(tmp_path, present)
        present.note(_lost(NOW))

        found = await site.json(EVENTS)
        of_alder = await site.json(f"{EVENTS}?subject=alder")

    assert ("archive", NOW - 9) == (found["kept"], found["since"])
    assert [0, 7, 8, 9] == [NOW - event["at"] for event in found["events"]]
    assert [7, 9] == [NOW - event["at"] for event in of_alder["events"]]
