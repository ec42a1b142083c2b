"""The integrity gate: which matches pass, what happens to the others, and how they are counted."""

from __future__ import annotations

from collections import Counter
from math import inf, nan

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import (
    MAX_REFUSED,
    Admission,
    Bounds,
    Reason,
    RefusedMatch,
    admit,
    cleaned,
    fault,
)
from actors.markets.market import Kind
from tests.support.builders.messages import batch, match

BOUNDS = Bounds()
YEAR_2100 = 4_102_444_800


def _admitted(*matches: Match, removals: tuple[Removal, ...] = ()) -> Admission:
    return run_now(admit(batch(matches, removals=removals), BOUNDS))


def test_a_list_of_some_kinds_of_market_says_nothing_of_others() -> None:
    """Otherwise the list would end the prices of kinds that it was not asked for."""
    asked, configured = (Kind.OVER_UNDER,), (Kind.ONE_X_TWO, Kind.OVER_UNDER)
    admitted = run_now(admit(batch(kinds=asked), Bounds(kinds=configured))).batch

    assert asked == admitted.kinds


def _removal(match_id: str, reason: str) -> Removal:
    return Removal(SourceMatchId(match_id), reason)


def test_price_that_is_not_finite_and_above_one_is_refused() -> None:
    """Each of the three prices must be finite and above 1.0; a price slightly above 1.0 is accepted."""
    for price in [1.0, 0.99, 0.0, -0.0, -2.0, nan, inf, -inf, float("1e400"), 1e-320]:
        for place in [0, 1, 2]:
            prices = [2.0, 3.5, 4.0]
            prices[place] = price

            assert Reason.PRICE is fault(match(prices=prices), BOUNDS), (price, place)
    for place in [0, 1, 2]:
        prices = [20.0, 20.0, 20.0]
        prices[place] = 1.0000001

        assert fault(match(prices=prices), BOUNDS) is None, place


def test_book_sum_is_accepted_within_its_bounds() -> None:
    """A book sum of exactly 0.95 or 1.40 is accepted; a sum outside these bounds is refused."""
    for prices, expected in [
        ((2.0, 4.0, 5.0), None),  # exactly 0.95
        ((2.0, 4.0, 5.0001), Reason.BOOK_SUM),
        ((2.0, 2.5, 2.0), None),  # exactly 1.40
        ((2.0, 2.5, 1.9999), Reason.BOOK_SUM),
        ((1000.0, 1000.0, 1000.0), Reason.BOOK_SUM),
        ((1.01, 1.01, 1.01), Reason.BOOK_SUM),
    ]:
        assert expected is fault(match(prices=prices), BOUNDS), (prices, expected)


def test_bounds_of_the_caller_apply() -> None:
    """A source may set its own bounds of the book sum."""
    even = match(prices=(3.0, 3.0, 3.0))

    found = [fault(even, Bounds(1.0, 1.0)), fault(even, Bounds(1.01, 2.0)), fault(even, Bounds(0.1, 0.99))]

    assert [None, Reason.BOOK_SUM, Reason.BOOK_SUM] == found


def test_ids_and_start_times_are_accepted_within_their_bounds() -> None:
    """An id has 1 to 128 letters, digits and `._~-`; a kick-off is after 1970, until 2100, or unknown.

    Another id would break the public id, a URL or a log line. Zero is an unknown kick-off in v1.
    """
    for match_id in ["a", "0", "A-z.0_9~", "x" * 128]:
        assert fault(match(match_id), BOUNDS) is None, match_id
    for match_id in ["", "x" * 129, "a b", "a/b", "a:b", "%41", "ä", "a\n", "a\x00", "\u0661", "\ud800"]:
        assert Reason.MATCH_ID is fault(match(match_id), BOUNDS), match_id
    for start_time in [None, 1, 1_780_000_000, YEAR_2100]:
        assert fault(match(start_time=start_time), BOUNDS) is None, start_time
    for start_time in [0, -1, -(10**27), YEAR_2100 + 1, 3_093_527_980_799, 10**27]:
        assert Reason.START_TIME is fault(match(start_time=start_time), BOUNDS), start_time


def test_bad_match_does_not_affect_the_others() -> None:
    """In a list of 500 matches with one bad price, 499 pass, and the bad match is a counted removal."""
    matches = [match(f"m{number}") for number in range(500)]
    matches[77] = match("m77", prices=(2.0, nan, 4.0))

    admission = _admitted(*matches)

    assert tuple(matches[:77] + matches[78:]) == admission.batch.matches
    assert (_removal("m77", "price"),) == admission.batch.removals
    assert Counter({"price": 1}) == admission.rejected


def test_last_of_two_equal_ids_counts() -> None:
    """If an id occurs twice in a list, the last match is shown, the other is counted (faults.md, B8)."""
    first, other, last = match("a", prices=(2.0, 3.0, 4.0)), match("b"), match("a", prices=(2.1, 3.1, 4.1))

    admission = _admitted(first, other, last)

    assert {"a": last, "b": other} == {listed.source_match_id: listed for listed in admission.batch.matches}
    assert Counter({"duplicate": 1}) == admission.rejected
    assert () == admission.batch.removals


def test_rejected_last_match_removes_the_id() -> None:
    """If a valid match is followed by a rejected one with the same id, the match is removed."""
    admission = _admitted(match("a"), match("a", prices=(1.0, 3.0, 4.0)))

    assert ((), (_removal("a", "price"),)) == (admission.batch.matches, admission.batch.removals)
    assert admission.rejected["price"] == 1


def test_valid_last_match_is_shown() -> None:
    """If a rejected match is followed by a valid match with the same id, the valid match is shown."""
    last = match("a")

    admission = _admitted(match("a", prices=(1.0, 3.0, 4.0)), last)

    assert ((last,), ()) == (admission.batch.matches, admission.batch.removals)
    assert admission.rejected["price"] == 1


def test_removals_of_the_source_keep_their_reasons() -> None:
    """Rejections by the source's parser are counted; suspensions and withdrawals are not rejections."""
    removals = (
        _removal("a", "incomplete"),
        _removal("b", "suspended"),
        _removal("c", "withdrawn"),
        _removal("d", "start_time"),
    )

    admission = _admitted(match("e"), removals=removals)

    assert removals == admission.batch.removals
    assert Counter({"incomplete": 1, "start_time": 1}) == admission.rejected


def test_accepted_match_has_clean_names() -> None:
    """The gate returns the cleaned match, not the original."""
    admission = _admitted(match("a", home="\x1b Home\n", away="A\u202eway", league="Unknown"))

    assert (match("a", home="Home", away="Away", league=None),) == admission.batch.matches


def test_other_fields_of_the_batch_stay() -> None:
    """The gate changes matches and removals, and no other field of a batch."""
    before = batch(
        [match("a"), match("b", home="\x00")], list_id="L", complete=False, received_mono=5.0, scope="s"
    )

    after = run_now(admit(before, BOUNDS)).batch

    assert batch(after.matches, list_id="L", complete=False, received_mono=5.0, scope="s") == after


def test_league_without_a_name_is_none() -> None:
    """An empty league and v2's word for an unknown league both become None."""
    for league in [None, "", " ", "Unknown", " Unknown\u200b", "\x00\u202e"]:
        assert cleaned(match(league=league)).league is None, league


@pytest.mark.parametrize("source_time", [nan, inf, -inf])
def test_source_time_that_is_not_finite_is_none(source_time: float) -> None:
    """A source's time that is not finite becomes None."""
    assert cleaned(match(source_time=source_time)).source_time is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://some.example/7?a=b#c", True),
        (f"https://some.example/{'a' * 2027}", True),
        (f"https://some.example/{'a' * 2028}", False),
        ("http://some.example/7", False),
        ("javascript:alert(1)", False),
        ("https://user@some.example/7", False),
        ("https://some.example/a b", False),
        ("https://some.example/\u202e", False),
        ("https://", False),
    ],
)
def test_only_addresses_that_are_safe_are_shown(url: str, *, shown: bool) -> None:
    """A safe address is https, ASCII, at most 2 kB, without a user; others are left out of the match."""
    given = msgspec.structs.replace(match(), url=url)

    assert (url if shown else None) == cleaned(given).url


def test_id_with_an_unreadable_occurrence_is_removed() -> None:
    """If one of two occurrences of an id is unreadable, it may be the last, so no price is shown."""
    twice = batch([match("a"), match("b")], removals=[Removal(SourceMatchId("a"), Reason.INCOMPLETE)])

    admission = run_now(admit(twice, BOUNDS))

    assert ["b"] == [listed.source_match_id for listed in admission.batch.matches]
    assert ["a"] == [removal.source_match_id for removal in admission.batch.removals]
    assert {Reason.INCOMPLETE: 1, Reason.DUPLICATE: 1} == admission.rejected


def test_refused_matches_are_told_with_their_prices() -> None:
    """The first refused matches are kept with prices and reason; an unreadable match has no prices."""
    cheap = match("cheap", prices=(0.9, 3.0, 4.0))
    many = [match(f"m{number}", prices=(9.0, 9.0, 9.0)) for number in range(2 * MAX_REFUSED)]
    found = _admitted(match("fine"), cheap, removals=(_removal("torn", Reason.UNREADABLE),))

    assert (RefusedMatch(cheap, Reason.PRICE),) == found.refused
    assert MAX_REFUSED == len(_admitted(*many).refused)


KEY = "k3y-of-the-source"


@pytest.mark.parametrize("text", [KEY, f"a{KEY}b"], ids=["alone", "inside"])
@pytest.mark.parametrize("field", ["home", "away", "league", "url", "source_match_id"])
def test_match_that_repeats_a_secret_of_its_source_is_rejected(field: str, text: str) -> None:
    """The secret may be in any text of the match; the kept copy of the match is masked."""
    leaking = msgspec.structs.replace(match("m1"), **{field: text})
    admission = run_now(admit(batch([leaking, match("m2")]), Bounds(secrets=(KEY,))))

    assert KEY not in repr(admission)
    assert ["m2"] == [it.source_match_id for it in admission.batch.matches]
    assert {Reason.SECRET: 1} == admission.rejected


@pytest.mark.parametrize("field", ["home", "away", "league"])
def test_secret_that_only_cleaning_joins_is_not_shown(field: str) -> None:
    """A name with a control character inside the secret is refused, and masked in rejected matches."""
    leaking = msgspec.structs.replace(match("m1"), **{field: f"{KEY[:3]}\x01{KEY[3:]}"})
    admission = run_now(admit(batch([leaking]), Bounds(secrets=(KEY,))))

    assert ((), {Reason.SECRET: 1}) == (admission.batch.matches, admission.rejected)
    assert "***" == getattr(cleaned(admission.refused[0].match), field)


def test_removal_of_a_source_does_not_repeat_its_secret() -> None:
    """The id of a removal is shown among the rejected matches, so a secret in the id is masked."""
    bounds = Bounds(secrets=(KEY,))
    found = run_now(admit(batch(removals=[_removal(f"m{KEY}", Reason.LAY)]), bounds)).batch.removals

    assert (_removal("m***", Reason.LAY),) == found


@pytest.mark.parametrize(
    "name",
    ["\u0301\u0308", "\u200c\u200d", "\u200d \u0301", " \u200c ", "\u20dd", "\ufe0f", "\u3164", "\u2800"],
)
def test_name_that_shows_nothing_is_empty(name: str) -> None:
    """Marks need a letter and joiners two letters: alone they are no name; the match counts as unnamed."""
    assert "" == cleaned(match(home=name)).home
