"""The boards of markets other than 1X2 at the start of the service, with restored lists. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import TypeAlias

from msgspec.structs import replace

from actors.board.board import Board
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules, ListState
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope, SourceMatchId
from actors.market_fixtures.boards import OTHERS, updater_of
from actors.market_fixtures.model import Followed, first_of_kind, markets_of
from actors.market_fixtures.sides import SideEvents, SideUpdate
from actors.markets.market import FORMS, Kind
from actors.matches.model import fixtures_of

Kept: TypeAlias = Mapping[BookmakerId, tuple[Mapping[Scope, ListState], Iterable[Entry]]]
"""The bookmakers' lists that are still valid, with their entries; none of these has kicked off."""


def restored(
    main: Snapshot, kinds: Collection[Kind], kept: Mapping[Kind, Kept], now: Instant
) -> dict[Kind, Snapshot]:
    """Return the boards of these kinds at a start: archived lists, with the version of the 1X2 board."""
    followed = fixtures_of(main)
    terms, boards = followed.terms, dict[Kind, Board]()
    for kind in (kind for kind in OTHERS if kind in kinds):
        base = replace(first_of_kind(main, terms), version=main.version - 1)
        boards[kind] = board = Board(base, BoardRules(), updater_of(kind, terms))
        for name, (lists, entries) in kept.get(kind, {}).items():
            run_now(board.restore(name, lists, entries))
    none, books = SideEvents(), [board.books for board in boards.values()]
    update = SideUpdate(none, followed, followed, terms.roster, books)
    run_now(update.look_at_all())
    sides = run_now(update.finish(None))
    for board in boards.values():
        board.link(Followed(followed, followed, none, sides, changed_sides=update.changed))
    made = {kind: run_now(board.finish(now)) for kind, board in boards.items()}
    return {
        kind: replace(board, version=main.version, differences={}, fixture_changes=None)
        for kind, board in made.items()
    }


def begins_of(kind: Kind, board: Snapshot) -> dict[BookmakerId, dict[SourceMatchId, float]]:
    """Return when matches begin (Unix seconds) by all sources, minus infinity for begun matches.

    This has only kinds where goals before a bet may not count, and no matches of unknown start.
    """
    found: dict[BookmakerId, dict[SourceMatchId, float]] = {}
    for fixture in markets_of(board) if FORMS[kind].count_from_now else ():
        start = min(fixture.place.start, inf if fixture.head is None else fixture.head.kick_off)
        at = -inf if fixture.has_begun else start
        for name, entry in fixture.entries.items() if at < inf else ():
            found.setdefault(name, {})[entry.source_match_id] = at
    return found
