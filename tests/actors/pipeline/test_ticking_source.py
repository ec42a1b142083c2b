"""The actor of a computed source: first an image, then changes to it, and a new image when needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from random import Random

import anyio
import msgspec
import pytest

from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import SourceError
from actors.core.messages import Batch, BookmakerId, Extract, Removal, Scope, SourceMatchId
from actors.market_fixtures.boards import Drafts
from actors.pipeline.context import SourceContext
from actors.pipeline.ticking_source import TickingSourceActor
from actors.runtime.conflation import Inbox, merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from actors.service.registry import with_exact_values
from actors.source_api.kinds import TickingKind
from actors.source_api.options import SourceOptions
from tests.support.builders.messages import batch, match
from tests.support.systems.committing import Committing
from tests.support.systems.supervision import source_record, supervised
from tests.support.time.virtual import WALL_0, VirtualClock, settle

pytestmark = pytest.mark.anyio

NAMES = (BookmakerId("alder"), BookmakerId("birch"))
SCOPE = Scope("computed")
TICK_S = 0.25


class Counting:
    """A machine whose image and deltas contain the number of calls so far, per key."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.scope = SCOPE
        self.interval_s = TICK_S
        self._keys = keys
        self._advanced = 0
        self._images = 0

    def image(self) -> Mapping[str, Extract]:
        """Return a list of one match."""
        self._images += 1
        return {key: Extract((match(f"{key}-image-{self._images}"),)) for key in self._keys}

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return one upsert and one removal."""
        yield
        del now
        self._advanced += 1
        removal = Removal(SourceMatchId("gone"), "finished")
        return {key: Extract((match(f"{key}-{self._advanced}"),), (removal,)) for key in self._keys}


class Absent(Counting):
    """A machine that fails at its second to fourth call."""

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return the same changes, except at those calls."""
        changes = yield from super().advance(now)
        if 2 <= self._advanced <= 4:
            raise SourceError("away", "away")
        return changes


class Stage:
    """The source with its context, and a board that applies only the deliveries that a test chooses."""

    def __init__(self, machine: Callable[[tuple[str, ...]], Counting] = Counting) -> None:
        self.inboxes: dict[BookmakerId, Inbox] = {
            name: Mailbox(lambda document: document.scope, merged_deliveries) for name in NAMES
        }
        self.published = Committing(Snapshot.empty(1, NAMES), BoardRules(), VirtualClock())
        self.context = SourceContext(
            options=SourceOptions(kind="counting", stale_after_s=12.0),
            keys={name: f"key-{name}" for name in NAMES},
            inboxes=self.inboxes,
            status=source_record(),
            refresh=asyncio.Event(),
            published=self.published,
            clock=VirtualClock(),
            random=Random(1),
        )
        kind = with_exact_values(
            TickingKind("counting", SourceOptions, lambda _: None, lambda _, keys, __: machine(keys))
        )
        assert isinstance(kind, TickingKind)
        self.child = ChildSpec(self.context.status.actor, lambda: TickingSourceActor(kind, self.context))

    def take(self, name: BookmakerId) -> Batch:
        """Apply the delivery for `name`, which must be present."""
        delivery = self.inboxes[name].get_nowait()
        assert isinstance(delivery, Batch)
        return delivery

    def change_board(self, change: Callable[[Drafts], object]) -> None:
        """Apply `change` to a draft of the board, and publish the result."""
        board = self.published.board()
        change(board)
        self.published.commit(board)

    async def play(self, ticks: int, *, accept: bool) -> str:
        """Let the source tick; return "I" for each image for alder and "." for each delta.

        With `accept` the board applies all of them.
        """
        seen = ""
        for _ in range(ticks):
            await settle()
            for name in NAMES:
                offer = self.take(name)
                if accept:
                    self.change_board(partial(_apply, offer))
                if name == NAMES[0]:
                    seen += "I" if offer.complete else "."
            await anyio.sleep(TICK_S)
        await settle()
        return seen


def _apply(offer: Batch, board: Drafts) -> None:
    run_now(board.apply(offer, VirtualClock().now()))


async def test_deltas_refer_to_a_first_image() -> None:
    """Every bookmaker gets the complete list of its own key at once; deltas have the id of that list."""
    stage = Stage()

    async with supervised(stage.child):
        await settle()
        _, image = [stage.take(name) for name in NAMES]
        await anyio.sleep(TICK_S)
        await settle()
        change = stage.take(NAMES[1])

    only = [match("key-birch-image-1")]
    expected = batch(only, bookmaker="birch", scope=SCOPE, list_id=image.list_id, stale_after_s=12.0)
    assert msgspec.structs.replace(expected, is_image=True, kinds=()) == image
    assert (False, False, image.list_id, TICK_S) == (
        *(change.complete, change.is_image, change.list_id),
        change.received_mono,
    )
    assert (match("key-birch-2"),) == change.matches
    assert ("gone",) == tuple(removal.source_match_id for removal in change.removals)


async def test_image_that_does_not_arrive_is_repeated_with_increasing_delays() -> None:
    """An image is repeated after three seconds, then twice as long each time, up to a third of 12 s.

    While the board holds the list only deltas are sent; then the first delay counts again.
    """
    stage = Stage()

    async with supervised(stage.child):
        assert "I" + 11 * "." == await stage.play(12, accept=False)
        assert 2 * ("I" + 15 * ".") == await stage.play(32, accept=False)
        assert "I" + 99 * "." == await stage.play(100, accept=True)
        stage.change_board(lambda board: run_now(board.withdraw(NAMES[0], SCOPE)))
        assert ".I" + 11 * "." + "I.." == await stage.play(16, accept=False)


async def test_request_is_answered_with_an_image() -> None:
    """After `refresh` is set the next delivery is an image with a new list id, and `refresh` is cleared."""
    stage = Stage()

    async with supervised(stage.child):
        await settle()
        first = stage.take(NAMES[0])
        stage.context.refresh.set()
        await anyio.sleep(TICK_S)
        await settle()
        second = stage.take(NAMES[0])

    assert (True, False) == (second.complete, stage.context.refresh.is_set())
    assert first.list_id != second.list_id


async def test_withdrawn_list_is_sent_again() -> None:
    """When a list is withdrawn, the next tick sends an image again, to that bookmaker only."""
    stage = Stage()

    async with supervised(stage.child):
        await stage.play(8, accept=True)
        stage.change_board(lambda board: run_now(board.withdraw(NAMES[0], SCOPE)))
        _, before = [stage.take(name) for name in NAMES]
        await anyio.sleep(TICK_S)
        await settle()
        lost, other = [stage.take(name) for name in NAMES]

    assert (True, False) == (lost.complete, other.complete)
    assert before.list_id == other.list_id


async def test_every_tick_counts_as_a_success() -> None:
    """The record has the attempts, the payloads and the last success."""
    stage = Stage()

    async with supervised(stage.child):
        await anyio.sleep(10)
        await settle()
        status = stage.context.status

    expected = (41, 41, 0, WALL_0 + 10)
    assert expected == (
        status.attempts.number,
        status.payloads.number,
        status.failures,
        status.last_success_at,
    )


async def test_machine_may_fail_for_a_while() -> None:
    """Failures are counted and deliver nothing; the actor goes on and delivers the next result."""
    stage = Stage(Absent)
    status = stage.context.status
    async with supervised(stage.child):
        await settle()
        stage.take(NAMES[0])
        await anyio.sleep(3 * TICK_S)
        await settle()
        while_away = (
            status.attempts.number,
            status.payloads.number,
            status.failures,
            status.last_error,
            status.is_down,
        )
        offered = stage.inboxes[NAMES[0]].depth
        await anyio.sleep(TICK_S)
        await settle()

        assert (4, 1, 3, "away", True) == while_away
        assert (0, 1) == (offered, stage.inboxes[NAMES[0]].depth)
        assert (2, 0, None, False) == (
            status.payloads.number,
            status.failures,
            status.last_error,
            status.is_down,
        )
        assert (1, 0) == (status.actor.starts, status.actor.crashes)
