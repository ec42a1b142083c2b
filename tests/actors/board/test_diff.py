"""The differences that a batch makes: which entries change, and which changes readers see."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.board.diff import Diff, complete_changes
from actors.board.snapshot import Book, Chunk, Entry
from actors.core.cooperative import run_now
from actors.core.messages import Match, Scope
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

NEVER = WALL_0 - 10_800
"""Kick-offs up to then are over; the builders make none of them."""

OVER = int(NEVER)
Prices: TypeAlias = dict[str, float | None]


def _entry(shown: Match, scope: str = SCOPE, updated: float = WALL_0) -> Entry:
    return Entry(f"alder_{shown.source_match_id}", Scope(scope), shown, updated, updated)


def _book(*entries: Entry) -> Book:
    chunks = run_now(Chunk.changed((), {entry.source_match_id: entry for entry in entries}))
    return Book(1, 1, chunks=chunks)


def _complete(book: Book, *matches: Match) -> Diff:
    return run_now(complete_changes(book, batch(matches), {}, NEVER))


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

        assert {before.source_match_id: _entry(different)} == _complete(_book(before), different).after


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
