"""Conflation: merges a waiting batch or document with a newer one.

Pure. A newer complete list replaces the waiting one; a newer delta is merged match by match; a confirmation
only changes the time of receipt and the period of validity. Older content never replaces newer content.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from actors.core.messages import Batch, Document, Match, Scope
from actors.runtime.mailbox import Mailbox

Inbox = Mailbox[Scope, Document | Batch]
"""An item in a bookmaker's mailbox: the newest document of a scope, or changes and confirmations merged."""


def merged_batches(old: Batch, new: Batch) -> Batch:
    """Return a batch with the effect of `old` and then `new`, both of the same bookmaker and scope."""
    if new.received_mono < old.received_mono:
        old, new = new, old
    if new.complete or new.withdrawn:
        return new
    if old.withdrawn:
        return old  # after a withdrawal changes and confirmations have no list to apply to
    if new.list_id != old.list_id:
        return new  # `new` belongs to another list, so `old` is obsolete
    if new.is_confirmation:
        return _confirmed(old, new)
    matches = {match.source_match_id: _dated(match, old.received_at) for match in old.matches}
    removals = {removal.source_match_id: removal for removal in old.removals}
    for removal in new.removals:
        matches.pop(removal.source_match_id, None)
        removals[removal.source_match_id] = removal
    for match in new.matches:
        removals.pop(match.source_match_id, None)
        known = matches.get(match.source_match_id)
        # An unchanged match keeps its earlier source time.
        if known is None or known != msgspec.structs.replace(match, source_time=known.source_time):
            matches[match.source_match_id] = match
    return msgspec.structs.replace(
        new,
        complete=old.complete,
        is_image=old.is_image,
        matches=tuple(matches.values()),
        removals=tuple(removals.values()),
    )


def merged_deliveries(old: Document | Batch, new: Document | Batch) -> Document | Batch:
    """Return the newer of two documents for a bookmaker, or two batches merged."""
    if isinstance(old, Batch) and isinstance(new, Batch):
        return merged_batches(old, new)
    if new.received_mono < old.received_mono:
        old, new = new, old
    if isinstance(new, Document) or new.complete or new.withdrawn:
        return new
    return _confirmed(old, new) if new.list_id == old.list_id else new


_Delivery = TypeVar("_Delivery", Document, Batch, Document | Batch)


def _confirmed(old: _Delivery, new: Batch) -> _Delivery:
    new_times = {"received_mono": new.received_mono, "stale_after_s": new.stale_after_s}
    if isinstance(old, Batch):
        return msgspec.structs.replace(old, **new_times, delay_s=new.delay_s)
    return msgspec.structs.replace(old, **new_times)


def _dated(match: Match, received_at: float) -> Match:
    """Keep the original receipt time as the source time; the merged batch has a later receipt time."""
    if match.source_time is not None and match.source_time <= received_at:
        return match
    return msgspec.structs.replace(match, source_time=received_at)
