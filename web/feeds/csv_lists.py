"""Lists as CSV (docs/spreadsheets.md), made for single clients from the JSON of the entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.board.snapshot import Snapshot
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId
from actors.matches.forms import Form
from actors.matches.model import FixtureState, FixtureView
from web.encoding.csv_tables import OF_ODDS, FixtureTable, odds_rows
from web.encoding.fixture_segments import FixtureSegments
from web.encoding.list_segments import Api, ListSegments
from web.encoding.segments import gzipped
from web.feeds.fixture_lists import Choice, FixturesOf, some_of
from web.feeds.own_bodies import Content, Making, Room
from web.protocol.negotiation import Coding


def odds_as_csv(
    lists: ListSegments,
    parts: Sequence[tuple[Api, BookmakerId]],
    snapshot: Snapshot,
    version: int,
    coding: Coding,
) -> Making:
    """Return the function that makes the list of these parts as CSV."""

    def make(room: Room) -> Sliced[Content]:
        pieces, size = [OF_ODDS], 0
        for run in (yield from lists.runs(parts, snapshot)):
            for segment in run.segments:
                pieces.append(odds_rows(b"[%b]" % segment.json))
                room(size := size + len(pieces[-1]))
                yield
        lists.forget(snapshot)
        return Content(version, (yield from coded(pieces, coding)), coding)

    return make


def fixtures_as_csv(
    fixtures: FixtureSegments, view: FixturesOf, choice: Choice, state: FixtureState, room: Room
) -> Sliced[list[bytes]]:
    """Return the chosen fixtures of a view as CSV, in pieces. Raises: UnencodableError."""
    table, size = FixtureTable([view.view], view.form), 0
    pieces = [table.head]
    for few in some_of(view, choice, state):
        pieces.append(table.rows([fixtures.formed(shown, view.form, state.terms) for shown in few]))
        room(size := size + len(pieces[-1]))
        yield
    return pieces


def several_as_csv(
    views: Sequence[FixtureView],
    form: Form,
    listed: Callable[[Callable[[Sequence[bytes]], bytes]], Sliced[list[bytes]]],
) -> Sliced[list[bytes]]:
    """Return fixtures in several markets as CSV, in pieces.

    `listed` returns the fixtures; its argument makes one of its JSON for each market.
    """
    table = FixtureTable(views, form)
    return [table.head, *(yield from listed(table.rows))]


def coded(pieces: Sequence[bytes], coding: Coding) -> Sliced[Sequence[bytes]]:
    """Return the pieces of a body in the given coding."""
    return pieces if coding is Coding.IDENTITY else (yield from gzipped(pieces))
