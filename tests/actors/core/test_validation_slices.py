"""The integrity gate validates many matches at a time, with the same results as one at a time."""

from __future__ import annotations

from collections import Counter
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.core.cooperative import SLICE, run_now
from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import Bounds, admit, cleaned, fault
from tests.support.builders.messages import batch, match

BOUNDS = Bounds()
NAMES = st.sampled_from(
    ["Alder", "A|der", "", " ", "|", "Al\tder", "A  b", "é", "x" * 128, "x" * 129, "a\n"]
)
IDS = ["m 1", "", "m1\n", "a\nb", "x" * 128 + "\n" + "y" * 128, "é", "m" * 129]
MATCHES = st.builds(
    match,
    st.sampled_from(
        [f"m{number}" for number in range(12)]
        + ["m 1", "", "m1\n", "a\nb", "x" * 128 + "\ny", "é", "m" * 129]
    ),
    home=st.just("Home") | NAMES,
    away=st.just("Away") | NAMES,
    league=st.none() | NAMES | st.just("Unknown"),
    prices=st.just((2.0, 3.5, 4.0)) | st.sampled_from([(1.0, 3.5, 4.0), (nan, 2.0, 3.0), (9.0, 9.0, inf)]),
    start_time=st.none() | st.sampled_from([0, 1, 4_102_444_800, 4_102_444_801]),
    source_time=st.none() | st.sampled_from([nan, inf, 1.0]),
)
REMOVALS = st.builds(
    Removal, st.sampled_from([SourceMatchId("m1"), SourceMatchId("m2")]), st.just("incomplete")
)

Judged = tuple[dict[SourceMatchId, Match], dict[SourceMatchId, str], Counter[str]]


def _one_by_one(matches: list[Match], removals: list[Removal]) -> Judged:
    """Validate by the rules as written: the last match of an id counts, unless one was unreadable."""
    accepted: dict[SourceMatchId, Match] = {}
    removed: dict[SourceMatchId, str] = {one.source_match_id: one.reason for one in removals}
    rejected = Counter(one.reason for one in removals)
    for one in matches:
        match_id = one.source_match_id
        rejected["duplicate"] += match_id in accepted or match_id in removed
        if match_id in {removal.source_match_id for removal in removals}:
            continue
        accepted.pop(match_id, None)
        removed.pop(match_id, None)
        if (reason := fault(one, BOUNDS)) is None:
            accepted[match_id] = cleaned(one)
        else:
            removed[match_id] = reason
            rejected[reason] += 1
    return accepted, removed, +rejected


@pytest.mark.long
@given(st.lists(MATCHES, max_size=8), st.lists(REMOVALS, max_size=2))
@settings(max_examples=500)
def test_slice_gives_the_same_verdicts_as_single_matches(
    matches: list[Match], removals: list[Removal]
) -> None:
    """Each match of a slice is accepted, cleaned, rejected and counted as if it were alone."""
    admission = run_now(admit(batch(matches, removals=removals), BOUNDS))
    accepted = {one.source_match_id: one for one in admission.batch.matches}
    removed = {one.source_match_id: one.reason for one in admission.batch.removals}

    assert _one_by_one(matches, removals) == (accepted, removed, admission.rejected)


def test_one_name_in_thousands_is_cleaned() -> None:
    """A name is cleaned wherever it stands in a slice, also at its edges."""
    for name in [" Alder", "Alder ", "Al  der", "Al\u202eder", "A\u0308lder", "x" * 129]:
        for place in [0, SLICE - 1, SLICE, 3 * SLICE]:
            matches = [match(f"m{number}") for number in range(4 * SLICE)]
            matches[place] = match("odd", home=name)
            shown = run_now(admit(batch(matches), BOUNDS)).batch.matches

            assert [cleaned(one) for one in matches] == list(shown), (name, place)
            assert name not in {one.home for one in shown}, (name, place)
