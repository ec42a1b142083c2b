"""The aggregator with boards of other markets: overdue prices, too many lines, and poison batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.chunks import entries_of
from actors.board.history import HistoryLimits
from actors.board.snapshot import Linked, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.market_fixtures.boards import LINES, MarketBoards, market_boards
from actors.market_fixtures.model import markets_of
from actors.market_fixtures.update import MarketUpdater
from actors.markets.market import Kind, market_of
from actors.matches.model import first_snapshot
from actors.runtime.actor import ActorState
from tests.support.builders.fixtures import ADVANCING, ALDER, BIRCH, TERMS
from tests.support.builders.markets import BTTS, KINDS, OU25, listed, of_markets
from tests.support.builders.messages import batch, match
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio

OU = Kind.OVER_UNDER
A, B = match("a"), match("b")
HOSTILE = match("hostile", home="Hostile")


class _Breaking(MarketUpdater):
    """An updater that cannot make fixtures of the totals of one match."""

    def __call__(
        self,
        base: Snapshot,
        books: Books,
        noted: Noted,
        links: object,
        now: Instant | None,
        *,
        version: int,
        is_present: bool = True,
    ) -> Sliced[Linked | None]:
        for differences in noted.values():
            if any(new is not None and new.match.home == "Hostile" for new in differences.after.values()):
                raise RuntimeError("no fixture can be made of it")
        return super().__call__(base, books, noted, links, now, version=version, is_present=is_present)


def _stage(rules: BoardRules = BoardRules()) -> AggregatorStage:  # noqa: B008 - a frozen value
    def markets(first: Snapshot, ask: Callable[[Any], None]) -> MarketBoards:
        limits, clock = HistoryLimits(), VirtualClock()
        made = market_boards(first, TERMS, KINDS, rules=rules, clock=clock, limits=limits, request=ask)
        return replace(made, updaters={**made.updaters, OU: _Breaking(TERMS)})

    return AggregatorStage(first=first_snapshot(1000, TERMS), advance=ADVANCING, markets=markets)


def _shown(stage: AggregatorStage, kind: Kind) -> list[str]:
    snapshot = stage.published.newest if kind is Kind.ONE_X_TWO else stage.markets.published[kind].newest
    return [entry.id for book in snapshot.books.values() for entry in entries_of(book.chunks)]


async def test_batch_of_whose_markets_no_fixtures_can_be_made_is_dropped() -> None:
    """The list of that batch is withdrawn from all boards and its bookmaker is blamed; other lists stay."""
    stage = _stage()
    stage.intake.put_nowait(listed(B, *of_markets(B, OU25, BTTS), bookmaker=BIRCH))
    async with supervised(stage.child):
        await settle()
        stage.intake.put_nowait(listed(A, *of_markets(HOSTILE, OU25), bookmaker=ALDER))
        await settle()
        changed = of_markets(B, OU25, BTTS, odds=(2.0, 1.8))
        stage.intake.put_nowait(listed(B, *changed, bookmaker=BIRCH, at=0.1))
        await settle()

        assert ([ALDER], 1, ActorState.RUNNING) == (
            stage.blamed,
            stage.status.board.dropped.number,
            stage.status.board.actor.state,
        )
        assert [["birch_b"], ["birch_b over_under:2.5"], [], ["birch_b btts"]] == [
            _shown(stage, kind) for kind in KINDS
        ]
        (fixture,) = markets_of(stage.markets.published[OU].newest)
        assert (2.0, 1.8) == fixture.listed[0].match.prices


async def test_there_is_room_for_several_lines_of_each_match() -> None:
    """Lines for which there is no room are counted, as matches are."""
    stage = _stage(BoardRules(max_matches=1))
    lines = [A.of_market(market_of(OU, 0.5 + number), (1.9, 1.9)) for number in range(LINES + 3)]
    both = [*of_markets(A, BTTS), *of_markets(B, BTTS)]
    stage.intake.put_nowait(listed(A, *lines, *both, bookmaker=ALDER))
    async with supervised(stage.child):
        await settle()

        assert (LINES, 1) == (len(_shown(stage, OU)), len(_shown(stage, Kind.BTTS)))
        assert 4 == stage.status.bookmakers[ALDER].rejected["too_many"]


async def test_read_of_an_overdue_board_of_another_market_asks_for_a_turn() -> None:
    """The read gets the board without overdue prices, although no timer has fired yet."""
    stage = _stage()
    totals = replace(batch(of_markets(A, OU25), stale_after_s=0.4), kinds=(OU,))
    stage.intake.put_nowait(totals)
    async with supervised(stage.child):
        await settle()
        shown = _shown(stage, OU)
        await anyio.sleep(0.4)
        snapshot = await stage.markets.published[OU].read()

        assert (["alder_a over_under:2.5"], 0) == (shown, snapshot.books[ALDER].count)
