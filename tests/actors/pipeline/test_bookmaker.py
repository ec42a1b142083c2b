"""The bookmaker actor publishes its part of each document on the bus."""

from __future__ import annotations

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId, Extract, Removal
from tests.support.builders.messages import batch, match
from tests.support.systems.bookmaker_stage import BookmakerStage
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import WALL_0, settle

pytestmark = pytest.mark.anyio


async def test_document_becomes_a_complete_batch() -> None:
    """The batch has the document's scope, list, times and staleness, and the record counts it."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        await anyio.sleep(3)
        stage.offer((match("m1"), match("m2")))
        await settle()

    assert [batch([match("m1"), match("m2")], received_mono=3.0)] == stage.published
    assert (1, WALL_0 + 3, None) == (
        stage.status.batches.number,
        stage.status.last_batch_at,
        stage.status.error,
    )


async def test_rejected_match_is_counted_and_becomes_a_removal() -> None:
    """The integrity gate checks every batch; the status has the number of rejections, with their prices."""
    stage = BookmakerStage()

    async with supervised(stage.child):
        for _ in range(2):
            stage.offer((match("good"), match("bad", prices=(1.0, 3.0, 4.0))))
            await settle()

    (first, _) = stage.published
    assert ((match("good"),), (Removal(match("bad").source_match_id, "price"),)) == (
        first.matches,
        first.removals,
    )
    assert {"price": 2} == stage.status.rejected
    assert [(1.0, 3.0, 4.0)] == [
        (found.match.home_price, found.match.draw_price, found.match.away_price)
        for found in stage.status.newest_rejected
    ]


async def test_notes_are_logged_when_they_change() -> None:
    """Notes are logged at most once a minute: the first three, and how many there are."""
    stage = BookmakerStage()
    notes = tuple(f"line {number}: unreadable" for number in range(4))

    with capture_logs() as logs:
        async with supervised(stage.child):
            for seconds, given in (
                (0, notes),
                (61, notes),
                (0, notes[1:]),
                (61, notes[1:]),
                (61, ()),
                (0, notes),
            ):
                await anyio.sleep(seconds)
                stage.offer(Extract((match(),), notes=given))
                await settle()

    told = [(line["count"], line["notes"]) for line in logs if line["event"] == "bookmaker.noted"]
    assert [(4, "; ".join(notes[:3])), (3, "; ".join(notes[1:])), (4, "; ".join(notes[:3]))] == told


async def test_deltas_and_confirmations_pass_unchanged() -> None:
    """A batch from a source is not extracted again, and a confirmation stays a confirmation."""
    stage = BookmakerStage()
    change, confirmation = batch([match()], complete=False), batch(complete=False, scope="other")

    async with supervised(stage.child):
        stage.inbox.put_nowait(change)
        stage.inbox.put_nowait(confirmation)
        await settle()

    assert ([change, confirmation], []) == (stage.published, stage.extracted)


async def test_unreadable_part_is_an_error_until_the_next_readable_one() -> None:
    """A PayloadError publishes nothing, and is logged once when it begins and once when it ends."""
    stage = BookmakerStage()
    errors: list[str | None] = []

    with capture_logs() as logs:
        async with supervised(stage.child):
            for content in (PayloadError("no column"), PayloadError("no price"), (), ()):
                stage.offer(content)
                await settle()
                errors.append(stage.status.error)

    assert ["no column", "no price", None, None] == errors
    assert [
        ("bookmaker.lost", "bookmaker:alder", "alder", "no column"),
        ("bookmaker.recovered", "bookmaker:alder", "alder", None),
    ] == [(line["event"], line["actor"], line["bookmaker"], line.get("error")) for line in logs]
    assert (2, 2) == (len(stage.published), stage.status.batches.number)
    assert [BookmakerId("alder")] * 2 == [failure.bookmaker for failure in stage.failures]
