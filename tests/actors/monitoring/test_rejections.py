"""Which matches are rejected now: of the newest list, and of its changes since."""

from __future__ import annotations

from actors.core.messages import Removal, SourceMatchId
from actors.core.validation import Reason
from actors.monitoring.rejections import MAX_IDS, Rejected, Rejections
from tests.support.builders.messages import batch, match


def _removals(reason: str, *names: str) -> list[Removal]:
    return [Removal(SourceMatchId(name), reason) for name in names]


def _ids(*names: str) -> tuple[SourceMatchId, ...]:
    return tuple(map(SourceMatchId, names))


def test_same_list_again_has_no_more_of_them() -> None:
    """Unlike the counters since the start; what has no id is counted too."""
    rejections = Rejections()
    for _ in range(3):
        refused = batch([match("a")], removals=_removals(Reason.PRICE, "b", "c"))
        rejections.note(refused, {Reason.PRICE: 2, Reason.LAY: 5})

    assert {
        Reason.PRICE: Rejected(2, _ids("b", "c")),
        Reason.LAY: Rejected(5, ()),
    } == rejections.now()


def test_match_that_is_right_again_is_no_longer_rejected() -> None:
    """By a change, or by the next list; other scopes stay."""
    rejections = Rejections()
    for scope in ("one", "two"):
        refused = batch(removals=_removals(Reason.BOOK_SUM, "b", "c"), scope=scope)
        rejections.note(refused, {Reason.BOOK_SUM: 2})
    change = batch([match("b")], removals=_removals(Reason.PRICE, "d"), scope="one", complete=False)
    rejections.note(change, {Reason.PRICE: 1})
    changed = rejections.now()
    rejections.note(batch([match("b")], scope="two"), {})

    assert {
        Reason.BOOK_SUM: Rejected(3, _ids("c", "b", "c")),
        Reason.PRICE: Rejected(1, _ids("d")),
    } == changed
    assert {
        Reason.BOOK_SUM: Rejected(1, _ids("c")),
        Reason.PRICE: Rejected(1, _ids("d")),
    } == rejections.now()


def test_match_that_has_left_is_not_rejected() -> None:
    """Such as one that is suspended: that is no fault of its entry."""
    rejections = Rejections()
    rejections.note(batch(removals=_removals(Reason.PRICE, "b")), {Reason.PRICE: 1})
    rejections.note(batch(removals=_removals("suspended", "b", "c"), complete=False), {})

    assert {} == rejections.now()


def test_few_ids_of_many_are_shown() -> None:
    """All are counted."""
    names = [f"m{number}" for number in range(100)]
    rejections = Rejections()
    rejections.note(batch(removals=_removals(Reason.PRICE, *names)), {Reason.PRICE: 100})

    assert {Reason.PRICE: Rejected(100, _ids(*names[:MAX_IDS]))} == rejections.now()
