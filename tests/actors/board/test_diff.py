"""The differences that a batch makes: which entries change, and which changes readers see."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.board.diff import Diff, Entries, complete_changes, delta_changes, is_other
from actors.board.snapshot import Book, Chunk, Entry, RemovalReason
from actors.board.validity import has_kicked_off
from actors.core.cooperative import run_now
from actors.core.messages import Match, Removal, Scope, SourceMatchId
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

NEVER = WALL_0 - 10_800
"""Kick-offs up to then are over; the builders make none of them."""

OVER = int(NEVER)
NOTHING: Entries = {}
Prices: TypeAlias = dict[str, float | None]


def _entry(shown: Match, scope: str = SCOPE, updated: float = WALL_0) -> Entry:
    return Entry(f"alder_{shown.source_match_id}", Scope(scope), shown, updated, updated)


def _book(*entries: Entry) -> Book:
    chunks = run_now(Chunk.changed((), {entry.source_match_id: entry for entry in entries}))
    return Book(1, 1, chunks=chunks)


def _complete(book: Book, *matches: Match, seen: Entries = NOTHING) -> Diff:
    return run_now(complete_changes(book, batch(matches), seen, NEVER))


def _delta(
    book: Book, matches: Iterable[Match] = (), *, gone: Iterable[str] = (), seen: Entries = NOTHING
) -> Diff:
    removals = [Removal(SourceMatchId(name), "withdrawn") for name in gone]
    change = batch(matches, removals=removals, complete=False)
    return run_now(delta_changes(book, change, seen, NEVER))


def _found(
    *pairs: tuple[Entry | None, Entry | None], finished: int = 0, taken_from: Iterable[str] = ()
) -> Diff:
    found = Diff(finished=finished, taken_from=set(map(Scope, taken_from)))
    for old, new in pairs:
        if new is not None:
            found.before[new.source_match_id], found.after[new.source_match_id] = old, new
        elif old is not None:
            reason = RemovalReason.FINISHED if finished else RemovalReason.WITHDRAWN
            found.remove(old.source_match_id, old, reason)
    return found


def test_complete_list_adds_changes_and_removes() -> None:
    """New, different and missing matches make a difference; equal ones do not."""
    equal, old, absent = match("equal"), match("old"), match("absent")
    new, different = match("new"), match("old", prices=(2.1, 3.5, 4.0))

    found = _complete(_book(_entry(equal), _entry(old), _entry(absent)), equal, different, new)

    changes = [(None, _entry(new)), (_entry(old), _entry(different)), (_entry(absent), None)]
    assert _found(*changes) == found


def test_complete_list_affects_its_scope_only() -> None:
    """Entries of another scope stay although the list does not contain them."""
    found = _complete(_book(_entry(match("a")), _entry(match("b"), scope="other")), match("a"))

    assert _found() == found


def test_delta_changes_only_its_own_matches() -> None:
    """A delta changes its upserts and removals; all other entries stay."""
    book = _book(_entry(match("a")), _entry(match("b")), _entry(match("c")))

    found = _delta(book, [match("a", home="Other")], gone=["b", "unknown"])

    upsert, removal = (_entry(match("a")), _entry(match("a", home="Other"))), (_entry(match("b")), None)
    assert _found(upsert, removal) == found


@pytest.mark.parametrize("complete", [True, False])
def test_move_to_another_scope_is_invisible(*, complete: bool) -> None:
    """A match with equal content in another scope belongs to that scope and keeps its `updated`."""
    before = _entry(match("a"), scope="other", updated=1.0)
    book = _book(before)

    found = _complete(book, match("a")) if complete else _delta(book, [match("a")])

    assert _found((before, _entry(match("a"), updated=1.0)), taken_from=["other"]) == found


def test_every_field_of_the_content_counts() -> None:
    """Content is home, away, league, the three odds and the kick-off; new content has a new `updated`."""
    for different in [
        match(home="Other"),
        match(away="Other"),
        match(league=None),
        match(start_time=None),
        match(prices=(2.01, 3.5, 4.0)),
        match(prices=(2.0, 3.51, 4.0)),
        match(prices=(2.0, 3.5, 4.01)),
    ]:
        before = _entry(match(), updated=1.0)

        assert _found((before, _entry(different))) == _complete(_book(before), different), different


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("arriving", "updated"), [(match("a"), 1.0), (match("a", home="Other"), WALL_0), (match("b"), WALL_0)]
)
def test_entry_removed_before_the_commit_comes_back_unchanged(
    arriving: Match, updated: float, *, complete: bool
) -> None:
    """An entry removed by an earlier batch of the same commit keeps its `updated` if its content stays."""
    seen = {SourceMatchId("a"): _entry(match("a"), scope="other", updated=1.0)}

    found = _complete(_book(), arriving, seen=seen) if complete else _delta(_book(), [arriving], seen=seen)

    assert _found((None, _entry(arriving, updated=updated))) == found


def test_readers_see_content_and_time() -> None:
    """Two entries differ for readers by content or `updated`, not by scope or the source's time."""
    for old, new, expected in [
        (None, None, False),
        (_entry(match()), _entry(match(source_time=5.0), scope="other"), False),
        (_entry(match()), _entry(match(), updated=1.0), True),
        (_entry(match()), _entry(match(league=None)), True),
        (None, _entry(match()), True),
        (_entry(match()), None, True),
    ]:
        assert expected is is_other(old, new), (old, new)


def test_match_is_over_exactly_at_its_time() -> None:
    """A match is over at that very moment; one without a known kick-off is never over."""
    starts = [99, 100, 101, None]

    assert [True, True, False, False] == [
        has_kicked_off(match(start_time=start), 100.0) for start in starts
    ]


@pytest.mark.parametrize("complete", [True, False])
def test_finished_match_is_not_added(*, complete: bool) -> None:
    """A match that is over on arrival is counted and not shown, and its previous entry is removed."""
    before = _entry(match("a"))
    arriving = (match("a", start_time=OVER), match("b", start_time=OVER), match("c", start_time=OVER + 1))

    found = _complete(_book(before), *arriving) if complete else _delta(_book(before), arriving)

    assert _found((before, None), (None, _entry(arriving[2])), finished=2) == found


IDS = [f"m{number:03}" for number in range(600)]
LISTS = st.dictionaries(st.sampled_from(IDS), st.sampled_from([2.0, 2.1, None]), max_size=600)


@given(st.randoms(use_true_random=False), LISTS, LISTS, st.booleans())
@settings(deadline=None, max_examples=60)
def test_any_list_after_any_other(random: Random, old: Prices, new: Prices, two_scopes: bool) -> None:  # noqa: FBT001
    """For any additions, removals and changes, differences equal those of a plain comparison."""
    others = {name for name in old if two_scopes and random.random() < 0.5}
    before = {
        name: _entry(_priced(name, price), "other" if name in others else SCOPE)
        for name, price in old.items()
    }
    arriving = [_priced(name, price) for name, price in new.items()]
    random.shuffle(arriving)

    found = _complete(_book(*before.values()), *arriving)

    gone = {name for name, entry in before.items() if name not in new and entry.scope == SCOPE}
    over = {name for name, price in new.items() if price is None}
    stay = {name for name in before.keys() & new.keys() if old[name] == new[name] and name not in others}
    assert (gone | (over & old.keys())) == {
        match_id for match_id, entry in found.after.items() if entry is None
    }
    assert found.after.keys() == (gone | over | new.keys()) - (over - old.keys()) - (stay - over)
    assert (len(found.reasons), found.finished) == (len(gone | (over & old.keys())), len(over))


def _priced(match_id: str, price: float | None) -> Match:
    """Return a match with that price, or one that is over if the price is None."""
    return match(match_id, start_time=OVER) if price is None else match(match_id, prices=(price, 3.5, 4.0))
