"""Decisions by hand: which events they are about, by id or by names and day, and when they are doubted."""

from __future__ import annotations

from itertools import permutations

import pytest

from actors.matching.event import Event, EventKey
from actors.matching.overrides import Listing, Overrides, Pair
from actors.matching.rules import DAY, Certainty, Rule
from tests.support.builders.events import SATURDAY, Followed, event, groups, keys

ENGLISH = "England - Premier League"
SATURDAY_0 = SATURDAY // DAY * DAY
A, B = event("a", league=ENGLISH), event("b", "Gunners", "Toffees", None)
ONE = (Listing(A.home, A.away, SATURDAY_0), Listing(B.home, B.away, SATURDAY_0))
NAMED = Pair(A.key, B.key, listed=ONE)


def _again(first: Event, *, start: int | None = SATURDAY, match_id: str = "1", **names: str) -> Event:
    home, away = names.get("home", first.home), names.get("away", first.away)
    return event(first.source, home, away, first.league, match_id=match_id, start=start)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (_again(B, start=SATURDAY + 4 * DAY), Certainty.SURE),
        (_again(B, start=SATURDAY + 4 * DAY + 1), Certainty.LIKELY),
        (_again(B, start=SATURDAY - 38 * DAY), Certainty.LIKELY),
        (_again(B, start=None), Certainty.LIKELY),
        (_again(B, home="Gunners Women", away="Toffees Women"), Certainty.LIKELY),
        (_again(B, home="Gunners U21", away="Toffees U21"), Certainty.LIKELY),
        (_again(B, home="Gunners II", away="Toffees II"), Certainty.LIKELY),
        (event("b", "Gunners", "Toffees", "England - Women's Super League"), Certainty.LIKELY),
    ],
)
def test_a_link_by_hand_is_doubted_days_or_a_class_apart(other: Event, expected: Certainty) -> None:
    """The events stay linked, but no surebet uses the link: an id may mean another match by now."""
    (group,) = groups(A, other, overrides=Overrides(must=(Pair(A.key, B.key),)))

    assert [Certainty.SURE, expected] == [member.certainty for member in group]  # the first member is sure


@pytest.mark.parametrize(
    ("other", "is_linked"),
    [
        (_again(B, match_id="another"), True),
        (_again(B, start=SATURDAY_0 - DAY), True),
        (_again(B, start=SATURDAY_0 + 2 * DAY - 1), True),
        (_again(B, start=SATURDAY_0 - DAY - 1), False),
        (_again(B, start=SATURDAY_0 + 2 * DAY), False),
        (_again(B, start=None), False),
        (_again(B, home="Bologna", away="Torino"), False),
        (_again(B, home="Gunners Women"), False),
        (_again(B, away="toffees"), False),
        (event("c", B.home, B.away), False),
    ],
)
def test_a_decision_with_names_is_about_what_is_listed_so(other: Event, *, is_linked: bool) -> None:
    """The id does not matter: the source, both names as they are listed, and the day must agree."""
    found = groups(A, other, overrides=Overrides(must=(NAMED,)))

    assert [(A.key, other.key)] * is_linked == [keys(group) for group in found]


def test_what_must_not_be_linked_stays_apart_under_another_id() -> None:
    """A source that rebuilds its list gives new ids; a decision by id alone ends with the old ids."""
    first, other = event("a", league=ENGLISH), event("b", league=ENGLISH)
    listed = Listing(first.home, first.away, SATURDAY_0)
    by_names = Overrides(must_not=(Pair(first.key, other.key, listed=(listed, listed)),))
    by_id = Overrides(must_not=(Pair(first.key, other.key),))
    renewed = _again(first, match_id="new")

    assert () == groups(first, other, overrides=by_id) == groups(first, other, overrides=by_names)
    assert () == groups(renewed, other, overrides=by_names)
    assert 1 == len(groups(renewed, other, overrides=by_id))


def test_a_decision_by_names_follows_an_event_that_is_listed_otherwise() -> None:
    """The decision ends when its id becomes another match, and holds again for an event with its names."""
    followed = Followed(Overrides(must=(NAMED,)))
    seen = []
    for changed in (
        [A, B],
        [_again(A, home="Bologna", away="Torino", start=SATURDAY + 38 * DAY)],
        [_again(A, match_id="new")],
    ):
        followed.update(changed)
        seen.append([keys(group) for group in followed.groups()])

    renewed = EventKey(A.source, _again(A, match_id="new").source_match_id)
    assert [[(A.key, B.key)], [], [(renewed, B.key)]] == seen


def test_of_two_events_that_are_listed_so_the_first_is_meant() -> None:
    """A source may list a match twice; the order of arrival does not matter."""
    twice = [_again(A, match_id=name) for name in ("1", "2")]

    assert {((twice[0].key, B.key),)} == {
        tuple(map(keys, groups(*order, overrides=Overrides(must=(NAMED,)))))
        for order in permutations([*twice, B])
    }


def test_two_matches_that_are_listed_so_are_linked_by_kick_off_and_doubted() -> None:
    """Such matches are friendlies of two teams on one day, or simulated matches every 15 minutes."""
    late = [_again(A, match_id="0", start=SATURDAY + 3600), _again(B, match_id="2", start=SATURDAY + 3600)]
    found = groups(A, B, *late, overrides=Overrides(must=(NAMED,)))

    assert {(A.key, B.key), tuple(some.key for some in late)} == set(map(keys, found))
    for group in found:
        assert Certainty.LIKELY in [member.certainty for member in group]


def test_two_of_three_that_must_not_be_one_leave_the_third_to_neither() -> None:
    """The third event is one of two matches, and nothing says which one; a `must` decides it."""
    a, b, c = (event(source, league=ENGLISH) for source in "abc")
    apart = (Pair(a.key, b.key),)

    assert () == groups(a, b, c, overrides=Overrides(must_not=apart))
    found = groups(a, b, c, overrides=Overrides(must_not=apart, must=(Pair(a.key, c.key),)))
    assert [(a.key, c.key)] == [keys(group) for group in found]
    assert [Rule.FIRST, Rule.MUST] == [member.rule for member in found[0]]


def test_the_third_stays_with_the_one_whose_prices_agree() -> None:
    """If the prices show which of the two matches the third event is, no other evidence is needed."""
    a, c = event("a", league=ENGLISH), event("c", league=ENGLISH)
    b = event("b", league=ENGLISH, chances=(0.6, 0.22, 0.18))

    found = groups(a, b, c, overrides=Overrides(must_not=(Pair(a.key, b.key),)))
    assert [(a.key, c.key)] == [keys(group) for group in found]
