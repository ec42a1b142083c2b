"""The mapping of all entries of a book by id, which behaves like a dictionary of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.board.chunks import all_removed, changed, merged
from actors.board.snapshot import Entry, RemovalReason
from actors.core.cooperative import run_now
from tests.support.builders.messages import SCOPE, match


@given(st.sets(st.integers(0, 999), max_size=400))
@settings(deadline=None, max_examples=30)
def test_mapping_equals_the_dictionary_of_its_entries(numbers: set[int]) -> None:
    """The mapping has the same items as a dictionary of the entries, in the board's order."""
    shown = {one.source_match_id: one for one in (match(f"m{number:03}") for number in sorted(numbers))}
    entries = {match_id: Entry(match_id, SCOPE, one, 0.0) for match_id, one in shown.items()}
    gone = all_removed(run_now(changed((), entries)), RemovalReason.STALE)

    assert list(entries.items()) == list(gone.before.items()) == list(merged(gone.before, {}).items())
    assert entries == dict(gone.before) == {one: gone.before[one] for one in gone.before}
    assert dict.fromkeys(entries) == dict(gone.after)
    assert dict.fromkeys(entries, RemovalReason.STALE) == dict(gone.reasons)
    assert (len(entries), list(entries)) == (len(gone.before), list(gone.before))


def test_missing_id_is_not_found() -> None:
    """A missing id has the same results as with a dictionary."""
    gone = all_removed(
        run_now(changed((), {match().source_match_id: Entry("a", SCOPE, match(), 0.0)})),
        RemovalReason.STALE,
    )
    missing = match("other").source_match_id

    assert gone.before.get(missing) is None
    with pytest.raises(KeyError):
        gone.after[missing]


def test_newer_entry_takes_precedence() -> None:
    """Where two mappings are joined, the newer entry counts, whichever of them is a dictionary."""
    entry = Entry("a", SCOPE, match(), 0.0)
    gone = all_removed(run_now(changed((), {entry.source_match_id: entry})), RemovalReason.STALE).after
    plain = {entry.source_match_id: entry, match("b").source_match_id: None}

    assert {entry.source_match_id: None, "b": None} == merged(plain, gone)
    assert plain == merged(gone, plain)
