"""Why a batch takes matches off the board, in the words that clients are told.

Pure. Sources and the integrity gate give reasons of their own, in detail; they are for operators.
"""

from __future__ import annotations

from actors.board.diff import Found
from actors.board.snapshot import Departure
from actors.messages import Batch, SourceMatchId
from actors.slices import Steps

_SAID = {
    "closed": Departure.FINISHED,
    "finished": Departure.FINISHED,
    "inactive": Departure.SUSPENDED,
    "suspended": Departure.SUSPENDED,
    "withdrawn": Departure.WITHDRAWN,
}
"""Reasons of a removal that are no rejections."""


def departures_of(batch: Batch, found: Found) -> Steps[dict[SourceMatchId, Departure]]:
    """Give for each match that `batch` takes off why it goes.

    One that is listed and goes all the same is past its time; one that nobody mentions is withdrawn.
    """
    if not found.removed:
        return {}
    gone = [match_id for match_id, entry in found.after.items() if entry is None]
    yield
    said = {
        removal.source_match_id: _SAID.get(removal.reason, Departure.REJECTED) for removal in batch.removals
    }
    yield
    over = {match.source_match_id for match in batch.matches} if found.finished else set()
    yield
    return {
        match_id: Departure.FINISHED if match_id in over else said.get(match_id, Departure.WITHDRAWN)
        for match_id in gone
    }
