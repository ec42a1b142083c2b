"""The 21 recorded downloads, served in order to the whole service.

A site serves one file after the other, and the wall clock shows the time of each recording.
The expected board is computed from the files by a simple parser that shares no code with ours.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId
from actors.matches.model import FixtureView, ViewKind, fixtures_of
from tests.support.builders.football_data import (
    BOOKMAKERS,
    FILE,
    SITE,
    Content,
    Offer,
    config,
    content,
    offers,
)
from tests.support.peers.web import Web, conditional
from tests.support.recordings import football_data
from tests.support.systems.virtual_service import VirtualService, configured, until

pytestmark = [pytest.mark.anyio, pytest.mark.recordings]

Shown = dict[Content, tuple[str, float]]
"""The entries of a bookmaker: id and `updated` by content."""


class Expectation:
    """The expected board after each file, and the ids shown before."""

    def __init__(self) -> None:
        self.shown: dict[BookmakerId, dict[Content, float]] = {name: {} for name in BOOKMAKERS}
        self.changed: set[BookmakerId] = set()
        self._ids: dict[tuple[str, str, str, str], str] = {}

    def advance(self, body: bytes, at: float) -> dict[BookmakerId, list[Offer]]:
        """Advance to the next file: unchanged content keeps its time, new content has the file's time."""
        listed = {name: offers(body, code) or [] for name, code in BOOKMAKERS.items()}
        before = self.shown
        self.shown = {
            name: {offer.content: before[name].get(offer.content, at) for offer in found}
            for name, found in listed.items()
        }
        self.changed = {name for name in BOOKMAKERS if before[name].keys() != self.shown[name].keys()}
        return listed

    def check_ids(self, found: list[Offer], shown: Shown, bookmaker: BookmakerId) -> None:
        """Check that an id means one fixture (division, day, home, away) in all files and bookmakers."""
        for offer in found:
            prefix, _, match_id = shown[offer.content][0].partition("_")
            fixture = (offer.division, offer.date, offer.home, offer.away)

            assert prefix == bookmaker
            assert self._ids.setdefault(fixture, match_id) == match_id
        assert len(set(self._ids.values())) == len(self._ids)


def _recorded_at(path: Path) -> float:
    return datetime.strptime(f"{path.stem}+0000", "%Y-%m-%dT%H%M%SZ%z").timestamp()


def _hand_out(web: Web, path: Path) -> None:
    """Serve this file from now on, with ETag and Last-Modified."""
    modified = datetime.strptime(path.stem, "%Y-%m-%dT%H%M%SZ").strftime("%a, %d %b %Y %H:%M:%S GMT")  # noqa: DTZ007
    web.answer = conditional(path.read_bytes(), f'"{path.stem}"', headers={"Last-Modified": modified})


def _shown(board: VirtualService, bookmaker: BookmakerId) -> Shown:
    return {content(entry.match): (entry.id, entry.updated) for entry in board.entries(bookmaker)}


def _view_versions(snapshot: Snapshot) -> dict[BookmakerId, int]:
    assert all(book.v1_version == book.v2_version for book in snapshot.books.values())
    return {name: book.v1_version for name, book in snapshot.books.items()}


async def _accepted(board: VirtualService) -> Snapshot:
    """Wait until all bookmakers have the present file, and return the board."""
    seen = {state.list_id for book in board.snapshot.books.values() for state in book.lists.values()}

    def is_new() -> bool:
        lists = {book.lists[FILE].list_id for book in board.snapshot.books.values() if book.lists}
        return len(lists) == 1 and not lists & seen and len(board.serving()) == len(BOOKMAKERS)

    await until(is_new)
    return board.snapshot


@pytest.mark.long
async def test_recorded_downloads_in_order(tmp_path: Path) -> None:
    """After each file the board shows exactly its content, in a new version only if content changed."""
    stub, *files = football_data("fixtures")
    expected, web = Expectation(), Web()
    _hand_out(web, stub)
    async with configured(tmp_path, config(), web=web, wall=_recorded_at(stub)) as board:
        await board.polls(SITE, 3)
        assert set() == board.serving()
        for path in files:
            board.clock.wall_shift_s += _recorded_at(path) - board.clock.now().wall
            before = board.snapshot
            _hand_out(web, path)
            after = await _accepted(board)
            listed = expected.advance(path.read_bytes(), _recorded_at(path))
            _check_content(board, expected, listed)
            _check_versions(before, after, expected.changed)

        verdicts = board.system.status.board.verdicts
        assert (verdicts["accepted"], verdicts["suspect"]) == (len(files) * len(BOOKMAKERS), 0)
        assert board.source(SITE).failures_total == 0


def _check_content(
    board: VirtualService, expected: Expectation, listed: dict[BookmakerId, list[Offer]]
) -> None:
    for name, found in listed.items():
        shown = _shown(board, name)

        assert {match: updated for match, (_, updated) in shown.items()} == expected.shown[name]
        assert len(shown) == len(board.entries(name)) == len(found)
        assert not {entry.match.league for entry in board.entries(name)} & {
            None,
            *(o.division for o in found),
        }
        expected.check_ids(found, shown, name)


def _check_versions(before: Snapshot, after: Snapshot, changed: set[BookmakerId]) -> None:
    """Check that each commit is one version more, and is the version of a view that changed.

    A last commit may only say that the linker has looked at all events.
    """
    old, new = _view_versions(before), _view_versions(after)
    linked = {fixtures_of(after).version(FixtureView(ViewKind.FIXTURES))} - {before.version}

    assert {name for name in new if new[name] != old[name]} == changed
    assert {new[name] for name in changed} | linked == set(range(before.version + 1, after.version + 1))
