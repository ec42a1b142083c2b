"""Matches that are rejected now, by the newest list and its changes, and matches rejected last."""

from __future__ import annotations

import pytest

from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import Reason, RefusedMatch
from actors.monitoring.rejections import (
    MAX_IDS,
    MAX_KEPT,
    KeptRejected,
    NewestRejected,
    RejectedNow,
    Rejections,
)
from tests.support.builders.messages import batch, match


def _removals(reason: str, *names: str) -> list[Removal]:
    return [Removal(SourceMatchId(name), reason) for name in names]


def _ids(*names: str) -> tuple[SourceMatchId, ...]:
    return tuple(map(SourceMatchId, names))


def test_same_list_again_has_no_more_of_them() -> None:
    """A repeated list adds no rejections, unlike in the counters; matches without an id count too."""
    rejections = Rejections()
    for _ in range(3):
        refused = batch([match("a")], removals=_removals(Reason.PRICE, "b", "c"))
        rejections.note(refused, {Reason.PRICE: 2, Reason.LAY: 5})

    assert {
        Reason.PRICE: RejectedNow(2, _ids("b", "c")),
        Reason.LAY: RejectedNow(5, ()),
    } == rejections.now()


def test_match_that_is_right_again_is_no_longer_rejected() -> None:
    """A change or the next list ends a rejection; other scopes stay; a match in two scopes counts once."""
    rejections = Rejections()
    for scope in ("one", "two"):
        refused = batch(removals=_removals(Reason.BOOK_SUM, "b", "c"), scope=scope)
        rejections.note(refused, {Reason.BOOK_SUM: 2})
    change = batch([match("b")], removals=_removals(Reason.PRICE, "d"), scope="one", complete=False)
    rejections.note(change, {Reason.PRICE: 1})
    changed = rejections.now()
    rejections.note(batch([match("b")], scope="two"), {})

    assert {
        Reason.BOOK_SUM: RejectedNow(2, _ids("c", "b")),
        Reason.PRICE: RejectedNow(1, _ids("d")),
    } == changed
    assert {
        Reason.BOOK_SUM: RejectedNow(1, _ids("c")),
        Reason.PRICE: RejectedNow(1, _ids("d")),
    } == rejections.now()


def test_match_that_has_left_is_not_rejected() -> None:
    """A suspended match, for example, is not rejected: its entry has no fault."""
    rejections = Rejections()
    rejections.note(batch(removals=_removals(Reason.PRICE, "b")), {Reason.PRICE: 1})
    rejections.note(batch(removals=_removals("suspended", "b", "c"), complete=False), {})

    assert {} == rejections.now()


def test_few_ids_of_many_are_shown() -> None:
    """All rejected matches are counted, but only a few ids are shown."""
    names = [f"m{number}" for number in range(100)]
    rejections = Rejections()
    rejections.note(batch(removals=_removals(Reason.PRICE, *names)), {Reason.PRICE: 100})

    assert {Reason.PRICE: RejectedNow(100, _ids(*names[:MAX_IDS]))} == rejections.now()


def test_match_without_a_name_is_counted_until_it_has_one() -> None:
    """A match without a name is on the board, but version 2 does not show it."""
    rejections = Rejections()
    noted = rejections.note(batch([match("a", home=""), match("b")]), {Reason.PRICE: 1})
    before = rejections.now()
    rejections.note(batch([match("a")], complete=False), {})

    assert {Reason.PRICE: 1, Reason.UNNAMED: 1} == noted
    assert {Reason.UNNAMED: RejectedNow(1, _ids("a")), Reason.PRICE: RejectedNow(1, ())} == before
    assert {Reason.PRICE: RejectedNow(1, ())} == rejections.now()


def test_listed_match_that_is_not_on_offer_is_counted() -> None:
    """A suspended match counts while it is listed; a change that closes the match ends the count."""
    rejections = Rejections()
    rejections.note(batch(removals=_removals("suspended", "b", "c")), {})
    rejections.note(batch(removals=_removals("closed", "b"), complete=False), {})
    rejections.note(batch(removals=_removals("suspended", "d"), complete=False), {})

    assert ({}, {"suspended": 2}) == (rejections.now(), rejections.counts())


def test_lists_that_are_not_on_the_board_do_not_count() -> None:
    """An example is the list of a day that is over, which nobody requests again."""
    rejections = Rejections()
    for scope in ("one", "two"):
        rejections.note(batch(removals=_removals(Reason.PRICE, scope), scope=scope), {})

    assert {Reason.PRICE: 1} == rejections.counts({Scope("two")})


def test_what_the_board_leaves_out_of_a_list_is_counted() -> None:
    """Matches that the board leaves out count until the next list of the scope."""
    rejections = Rejections()
    rejections.note(batch([match("a")], scope="one"), {})
    rejections.note_left_out(Scope("one"), {Reason.PAST: 3, Reason.TOO_MANY: 0})
    before = rejections.counts()
    rejections.note(batch([match("a")], scope="one"), {})

    assert ({Reason.PAST: 3}, {}) == (before, rejections.counts())


@pytest.mark.parametrize(
    ("reason", "shown", "told"),
    [
        ("suspended", 0, "its source lists matches, but none of them can be shown: suspended 1"),
        ("suspended", 1, None),
        (Reason.PAST, 0, None),
        ("finished", 0, None),
        (Reason.UNREADABLE, 1, "one: 1 of its matches cannot be read, the others are shown"),
    ],
)
def test_lists_of_which_nothing_is_shown_say_why(reason: str, shown: int, told: str | None) -> None:
    """Matches long past or far ahead need no message: a source with only these has nothing to show."""
    rejections = Rejections()
    rejections.note(batch(removals=_removals(reason, "b"), scope="one"), {})

    assert told == rejections.in_words({Scope("one")}, shown)


def test_match_that_is_rejected_again_is_told_once() -> None:
    """The match is kept once, with its last prices and clean names; only the newest matches are kept."""
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
