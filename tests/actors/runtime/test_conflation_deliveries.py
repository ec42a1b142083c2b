"""The deliveries that wait for a bookmaker: the newest document, or merged deltas and confirmations."""

from __future__ import annotations

from actors.core.messages import Document, ListId
from actors.runtime.conflation import merged_batches, merged_deliveries
from tests.support.builders.messages import SCOPE, batch, match, withdrawn
from tests.support.time.virtual import WALL_0


def _document(list_id: str = "list-1", mono: float = 0.0) -> Document:
    return Document(SCOPE, ListId(list_id), object(), WALL_0 + mono, mono, 30.0)


def test_newest_document_waits() -> None:
    """A document is a complete list: a newer one replaces any waiting delivery, an older one never does."""
    old, new = _document("list-1", 1.0), _document("list-2", 2.0)
    older_batches = [batch(received_mono=1.0), batch(complete=False, received_mono=1.0)]

    assert new is merged_deliveries(old, new)
    assert new is merged_deliveries(new, old)
    assert all(new is merged_deliveries(one, new) is merged_deliveries(new, one) for one in older_batches)


def test_later_of_two_documents_at_one_instant_counts() -> None:
    """Documents with equal receive times are ordered by arrival."""
    first, second = _document("list-1"), _document("list-2")

    assert second is merged_deliveries(first, second)


def test_newer_complete_batch_replaces_a_document() -> None:
    """A complete list replaces an older one, whether it is a document or a batch."""
    new = batch([match("a")], received_mono=1.0)

    assert new is merged_deliveries(_document(), new)
    assert new is merged_deliveries(new, _document())


def test_confirmation_moves_the_time_of_its_document() -> None:
    """A waiting document is confirmed like a batch, with the lifetime of the confirmation."""
    document = _document("list-1")
    confirmation = batch(complete=False, received_mono=9.0, stale_after_s=20.0)

    merged = merged_deliveries(document, confirmation)

    assert Document(SCOPE, document.list_id, document.content, WALL_0, 9.0, 20.0) == merged


def test_batches_on_delivery_are_merged_as_batches() -> None:
    """A stream's deltas are conflated before a bookmaker in the same way as after it."""
    old, new = batch([match("a")]), batch([match("b")], complete=False, received_mono=1.0)

    assert merged_batches(old, new) == merged_deliveries(old, new)


def test_waiting_list_is_outdated_by_a_newer_confirmation_of_another() -> None:
    """A source confirms the list on the board: no older waiting delivery may replace that list.

    This happens to a quarantined bookmaker: body A is on the board, B waits, then A comes again.
    """
    confirmation = batch(complete=False, list_id="list-1", received_mono=9.0)
    document = _document("list-2", 1.0)
    complete = batch([match("a")], list_id="list-2", received_mono=1.0)

    assert confirmation == merged_deliveries(document, confirmation)
    assert confirmation == merged_batches(complete, confirmation)


def test_newer_withdrawal_replaces_a_waiting_document() -> None:
    """Of a document and a withdrawal the newer one counts."""
    gone, older, newer = withdrawn(received_mono=2.0), _document(mono=1.0), _document(mono=3.0)

    assert gone is merged_deliveries(older, gone) is merged_deliveries(gone, older)
    assert newer is merged_deliveries(gone, newer) is merged_deliveries(newer, gone)
