"""The matches that were rejected last, with what they were."""

from __future__ import annotations

from actors.core.messages import Scope
from actors.core.validation import Reason, RefusedMatch
from actors.monitoring.rejections import MAX_KEPT, KeptRejected, NewestRejected
from tests.support.builders.messages import match


def test_match_that_is_rejected_again_is_told_once() -> None:
    """With its last prices, and its names as they can be shown; only the newest are kept."""
    newest, scope = NewestRejected(), Scope("league")
    for number in range(MAX_KEPT + 1):
        newest.note(scope, [RefusedMatch(match(f"m{number}"), Reason.BOOK_SUM)], number)
    again = match("m1", home=" Home\n", prices=(0.5, 3.0, 4.0))
    newest.note(scope, [RefusedMatch(again, Reason.PRICE)], 99.0)

    *others, last = newest
    assert [f"m{number}" for number in range(2, MAX_KEPT + 1)] == [
        found.match.source_match_id for found in others
    ]
    assert KeptRejected(99.0, scope, match("m1", prices=(0.5, 3.0, 4.0)), Reason.PRICE) == last
