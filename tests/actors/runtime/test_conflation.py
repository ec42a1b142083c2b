"""Conflation: a merged batch has the effect of its parts, and the newest content counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Document, ListId, Match, Removal, SourceMatchId
from actors.runtime.conflation import merged_batches, merged_deliveries
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match, withdrawn
from tests.support.time.virtual import WALL_0

IDS = ("a", "b", "c")
MATCHES = st.lists(
    st.builds(match, st.sampled_from(IDS), prices=st.sampled_from(((2.0, 3.5, 4.0), (2.1, 3.4, 3.9)))),
    max_size=3,
    unique_by=lambda listed: listed.source_match_id,
)
GONE = st.sets(st.sampled_from(IDS), max_size=2)
KINDS = st.sampled_from(("complete", "delta", "delta", "confirmation", "withdrawn"))
STEPS = st.lists(st.tuples(KINDS, MATCHES, GONE), min_size=1, max_size=6)


class Listed(NamedTuple):
    """One list of the oracle: its id, its home prices, when it was confirmed."""

    list_id: str
    prices: dict[str, float]
    confirmed: float


def _applied(state: Listed, change: Batch) -> Listed:
    if change.withdrawn:
        return Listed("", {}, change.received_mono)  # no later batch refers to this list id
    if change.complete:
        return Listed(change.list_id, _prices(change.matches), change.received_mono)
    if change.list_id != state.list_id:
        return state
    gone = {removal.source_match_id for removal in change.removals}
    kept = {name: price for name, price in state.prices.items() if name not in gone}
    return Listed(state.list_id, kept | _prices(change.matches), change.received_mono)


def _prices(matches: Iterable[Match]) -> dict[str, float]:
    return {listed.source_match_id: listed.home_price for listed in matches}


def _removals(*match_ids: str) -> list[Removal]:
    return [Removal(SourceMatchId(match_id), "withdrawn") for match_id in match_ids]


def _batches(steps: list[tuple[str, list[Match], set[str]]]) -> list[Batch]:
    """Return batches as one source would send them, in order; every complete list has its own id."""
    made: list[Batch] = []
    list_id = "list-0"
    for at, (kind, matches, gone) in enumerate(steps, start=1):
        if kind == "complete":
            list_id = f"list-{at}"
            made.append(batch(matches, list_id=list_id, received_mono=float(at)))
            continue
        if kind == "withdrawn":
            made.append(withdrawn(list_id=list_id, received_mono=float(at)))
            continue
        names = {match.source_match_id for match in matches}
        changes = (matches, _removals(*sorted(gone - names))) if kind == "delta" else ([], [])
        made.append(
            batch(changes[0], removals=changes[1], list_id=list_id, complete=False, received_mono=float(at))
        )
    return made


@given(shown=MATCHES, steps=STEPS)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_merged_batch_has_the_effect_of_all(
    shown: list[Match], steps: list[tuple[str, list[Match], set[str]]]
) -> None:
    """Applying batches merged in any groups gives the same list as applying each in turn."""
    before = Listed("list-0", _prices(shown), 0.0)
    batches = _batches(steps)

    assert reduce(_applied, batches, before) == _applied(before, reduce(merged_batches, batches))


@given(shown=MATCHES, steps=STEPS, at=st.integers(0, 5))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_batches_in_the_wrong_order_are_reordered(
    shown: list[Match], steps: list[tuple[str, list[Match], set[str]]], at: int
) -> None:
    """Two neighbouring batches have the same effect in the wrong order as in the right order."""
    before = Listed("list-0", _prices(shown), 0.0)
    batches = _batches(steps)
    at %= len(batches)
    state = reduce(_applied, batches[:at], before)
    pair = batches[at : at + 2]

    assert reduce(_applied, pair, state) == _applied(state, reduce(merged_batches, reversed(pair)))


@given(steps=STEPS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_merged_batch_contains_no_match_twice(steps: list[tuple[str, list[Match], set[str]]]) -> None:
    """A match is either upserted or removed, once."""
    merged = reduce(merged_batches, _batches(steps))

    names = [listed.source_match_id for listed in merged.matches]
    names += [removal.source_match_id for removal in merged.removals]
    assert sorted(set(names)) == sorted(names)


def test_withdrawal_is_no_confirmation() -> None:
    """A withdrawal is not a confirmation, although it contains no match either."""
    assert (False, True) == (withdrawn().is_confirmation, batch(complete=False).is_confirmation)


def test_image_stays_an_image() -> None:
    """Whatever is merged into an image, it stays an image, and an image is never suspect."""
    old = batch([match("a"), match("b")], is_image=True)
    change = batch(removals=_removals("a"), complete=False, received_mono=1.0)
    confirmation = batch(complete=False, received_mono=1.0)

    merged = [merged_batches(old, delivered) for delivered in (change, confirmation)]

    assert [(True, True)] * 2 == [(delivered.complete, delivered.is_image) for delivered in merged]


@pytest.mark.parametrize("is_complete", [True, False])
def test_change_of_another_list_is_not_merged(*, is_complete: bool) -> None:
    """The change belongs to another list, so the waiting list no longer holds."""
    waiting = batch([match("a")], list_id="list-1", complete=is_complete)
    newer = batch([match("b")], list_id="list-2", complete=False, received_mono=1.0)

    assert newer == merged_batches(waiting, newer)


@pytest.mark.parametrize("stale_after_s", [20.0, 60.0])
def test_confirmation_sets_the_lifetime(stale_after_s: float) -> None:
    """The merged batch becomes stale when its newest part does, before or after the first part would."""
    confirmation = batch(complete=False, received_mono=9.0, stale_after_s=stale_after_s)

    merged = merged_batches(batch([match("a")]), confirmation)

    assert (9.0, stale_after_s) == (merged.received_mono, merged.stale_after_s)


CHANGES = st.lists(
    st.tuples(MATCHES, GONE, st.sampled_from((None, WALL_0 - 9.0, WALL_0 + 1.5))), min_size=1, max_size=6
)


@given(changes=CHANGES)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_merged_changes_have_the_time_of_their_content(
    changes: list[tuple[list[Match], set[str], float | None]],
) -> None:
    """For a list without readers so far, merged or not, matches and `updated` are equal."""
    made = [batch([])]
    for at, (matches, gone, source_time) in enumerate(changes, start=1):
        dated = [msgspec.structs.replace(listed, source_time=source_time) for listed in matches]
        names = {listed.source_match_id for listed in matches}
        removals = _removals(*sorted(gone - names))
        made.append(batch(dated, removals=removals, complete=False, received_mono=at / 2))

    assert _updated(*made) == _updated(reduce(merged_batches, made))


def _updated(*batches: Batch) -> dict[str, float]:
    board = Board(Snapshot.empty(1000, (BOOKMAKER,)), BoardRules())
    for change in batches:
        run_now(board.apply(change, Instant(5.0, WALL_0 + 5.0)))
    return {
        entry.id: entry.updated
        for entry in entries_of(run_now(board.finish(START)).books[BOOKMAKER].chunks)
    }


def _document(list_id: str = "list-1", mono: float = 0.0) -> Document:
    return Document(SCOPE, ListId(list_id), object(), WALL_0 + mono, mono, 30.0)


def test_confirmation_moves_the_time_of_its_document() -> None:
    """A waiting document is confirmed like a batch, with the lifetime of the confirmation."""
    document = _document("list-1")
    confirmation = batch(complete=False, received_mono=9.0, stale_after_s=20.0)

    merged = merged_deliveries(document, confirmation)

    assert Document(SCOPE, document.list_id, document.content, WALL_0, 9.0, 20.0) == merged


def _received(mono: float) -> Document:
    return _document(f"list-{mono}", mono)


def test_newer_of_two_whole_deliveries_counts() -> None:
    """A document, a complete list and a withdrawal each replace an older delivery, whatever it is.

    Of two deliveries at one instant, the later arrival counts.
    """

    def complete(mono: float) -> Batch:
        return batch([match("a")], received_mono=mono, list_id=f"list-{mono}")

    def gone(mono: float) -> Batch:
        return withdrawn(received_mono=mono)

    def confirmation(mono: float) -> Batch:
        return batch(complete=False, received_mono=mono)

    whole: list[Callable[[float], Document | Batch]] = [_received, complete, gone]
    for make_old, make_new in product([*whole, confirmation], whole):
        old, new, equal = make_old(1.0), make_new(2.0), make_new(1.0)

        assert new is merged_deliveries(old, new) is merged_deliveries(new, old)
        assert equal is merged_deliveries(old, equal)


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
