"""The fixtures of markets other than 1X2 after a record. Pure, in slices.

After each record they have followed the record's 1X2 fixtures, so that no process ever has to sort them all
anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.snapshot import Linked, Snapshot
from actors.cluster.wire.fixtures import side_links_of
from actors.cluster.wire.records import MarketsRecord
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.market_fixtures.boards import OTHERS
from actors.market_fixtures.following import followed
from actors.market_fixtures.model import first_of_kind, markets_of
from actors.market_fixtures.update import MarketUpdater
from actors.markets.market import Kind
from actors.matches.model import fixtures_of


def following(board: Snapshot, main: Snapshot) -> Snapshot:
    """Return the board of another kind, marked as up to date with this 1X2 board."""
    state, fixtures = markets_of(board), fixtures_of(main)
    return (
        board if state.followed is fixtures else replace(board, fixtures=replace(state, followed=fixtures))
    )


def empty_markets(main: Snapshot) -> dict[Kind, Snapshot]:
    """Return the boards of the other kinds at the beginning of an epoch, for this 1X2 board."""
    terms = fixtures_of(main).terms
    return {kind: following(first_of_kind(main, terms), main) for kind in OTHERS}


def beside(
    boards: Mapping[Kind, Snapshot], changed: Mapping[Kind, Snapshot], main: Snapshot
) -> dict[Kind, Snapshot]:
    """Return the other kinds' boards after a record; boards that no source reads only get its version."""
    version, made_at = main.version, main.made_at
    return {
        kind: following(changed[kind], main)
        if kind in changed
        else replace(board, version=version, made_at=made_at)
        for kind, board in boards.items()
    }


def linked_markets(
    boards: Mapping[Kind, Snapshot],
    changes: Mapping[Kind, tuple[Books, Noted]],
    main: tuple[Snapshot, Snapshot],
    updaters: Mapping[Kind, MarketUpdater],
    record: MarketsRecord,
    *,
    now: Instant | None,
) -> Sliced[dict[Kind, Linked | None]]:
    """Return the new fixtures of each kind after a record; None if they are unchanged.

    `main` is the 1X2 board before and after, `changes` are the books of each kind with their differences.
    `now` is the matcher's time, None if unknown.
    """
    (before, after), some = main, next(iter(changes))
    follow = yield from followed(
        markets_of(boards[some]),
        before.fixtures,
        fixtures_of(after),
        after.fixture_changes,
        [*changes.values()],
        links=None if record.sides is None else side_links_of(record.sides),
    )
    made: dict[Kind, Linked | None] = {}
    version, is_present = after.version, record.tick is not None
    for kind, (books, noted) in changes.items():
        made[kind] = yield from updaters[kind](
            boards[kind], books, noted, follow, now, version=version, is_present=is_present
        )
    return made
