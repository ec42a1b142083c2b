"""The state of a list: which batches it accepts, and how they confirm it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from actors.board.diff import Verdict
from actors.board.validity import ListState, deadline_of
from actors.core.clock import Instant
from actors.core.messages import Batch, ListId, SourceMatchId

RESTORED = ListId("\0restored")
"""The id of a list from before a restart: only its first complete list replaces it."""


def refusal_of(batch: Batch, state: ListState | None, now: Instant) -> Verdict | None:
    """Return why a batch is not applied to a list; None if it is applied."""
    if not deadline_of(batch) > now.mono:  # written so that NaN counts as late
        return Verdict.LATE
    if state is not None and batch.received_mono < state.confirmed_mono:
        return Verdict.OUTDATED
    if not batch.complete and (state is None or state.withdrawn or state.list_id != batch.list_id):
        return Verdict.UNFOUNDED
    return None


def is_stale_news(batch: Batch, state: ListState | None, now: Instant) -> bool:
    """Return whether a batch is newer than the list, but already stale.

    The list may have a later deadline: sources are polled less often far from a kick-off.
    """
    is_newer = state is not None and batch.received_mono > state.confirmed_mono
    return is_newer and deadline_of(batch) <= now.mono


def confirmed_by(
    batch: Batch, state: ListState | None, whole_from: float = -inf, *, is_cut: bool = False
) -> ListState:
    """Return the state of a list after `batch`; only a complete list makes it whole again."""
    if state is not None and not batch.complete:
        whole_from, is_cut = max(whole_from, state.whole_from), is_cut or state.is_cut
        vouched = _vouched_after(state, batch)
    else:
        vouched = _vouched(batch)
    failed_mono = -inf if state is None else state.failed_mono
    return ListState(
        batch.list_id,
        batch.received_mono,
        batch.stale_after_s,
        whole_from=whole_from,
        is_cut=is_cut,
        vouched=vouched,
        failed_mono=failed_mono,
        delay_s=batch.delay_s,
    )


def _vouched(batch: Batch) -> Mapping[SourceMatchId, float]:
    """Return when the source last confirmed each match's prices, by our clock, if the source says so."""
    if batch.answered_at is None:
        return {}
    offset = batch.received_mono - batch.answered_at
    return {
        match.source_match_id: min(match.source_time + offset, batch.received_mono)
        for match in batch.matches
        if match.source_time is not None
    }


def _vouched_after(state: ListState, change: Batch) -> Mapping[SourceMatchId, float]:
    """Return when the source last confirmed each match's prices, after a change of some."""
    vouched = _vouched(change)
    if not (state.vouched or vouched):
        return state.vouched
    changed = {match.source_match_id for match in change.matches}
    kept = {name: at for name, at in state.vouched.items() if name not in changed}
    return {**kept, **vouched}
