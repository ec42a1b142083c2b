"""Boards of several kinds of market that an archive keeps, where a test has no aggregator."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from msgspec.structs import replace

from actors.archive.archive import Archive
from actors.board.validity import BoardRules
from actors.core.clock import Clock
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings
from actors.matches.update import FixtureUpdater
from tests.support.systems.committing import Committing


def archived_boards(
    archive: Archive,
    clock: Clock,
    terms: FixtureSettings,
    kinds: Collection[Kind],
    committed: Callable[[], None] | None = None,
) -> Committing:
    """Return boards of 1X2 and of other `kinds` that go on where an archive begins.

    `committed` is called after each commit, in place of `commit` of the archive.
    """
    begun, rules = archive.beginning, BoardRules()
    advance, markets = FixtureUpdater(terms), begun.markets
    found = Committing(
        begun.snapshot, rules, clock, advance=advance, terms=terms, kinds=kinds, begun=markets
    )
    keep(found, archive, committed)
    return found


def keep(boards: Committing, archive: Archive, committed: Callable[[], None] | None = None) -> None:
    """Have the archive keep all that boards publish; `committed` is as for `archived_boards`."""
    boards.markets = replace(boards.markets, committed=committed or archive.commit)
    boards.admit = archive.admit
    for kind, published in boards.boards.items():
        published.follow(partial(archive.note, kind))
