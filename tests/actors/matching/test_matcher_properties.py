"""The groups depend only on events, memory and overrides, not on the changes that led to them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from random import Random

import pytest

from actors.matching import clustering
from actors.matching.event import Event, EventKey
from actors.matching.overrides import Listing, Overrides, Pair
from actors.matching.rules import DAY
from actors.naming.data import rows
from actors.naming.tables import spellings
from actors.review.explanation import explain
from tests.support.builders.events import EVEN, SATURDAY, Followed, any_event, event, groups, keys

FEW = 3  # each club of a test has more spellings than this


def _overrides(random: Random) -> Overrides:
    def pair() -> Pair:
        return Pair(any_event(random).key, any_event(random).key)

    return Overrides(must=tuple(pair() for _ in range(2)), must_not=tuple(pair() for _ in range(2)))


def _walk(
    random: Random, overrides: Overrides, draw: Callable[[], Event], steps: int, compared: int = 1
) -> None:
    """Change events at random; once in `compared` steps compare the groups with linking all events anew."""
    followed, here = Followed(overrides), dict[EventKey, Event]()
    for step in range(steps):
        changed = {some.key: some for some in (draw() for _ in range(random.choice((0, 1, 1, 2, 5))))}
        others = sorted(here.keys() - changed.keys())
        left = random.sample(others, min(len(others), random.choice((0, 1, 2))))
        here = {key: some for key, some in here.items() if key not in left} | changed
        followed.update(changed.values(), left)
        if step % compared == 0:
            whole = groups(*(here[key] for key in sorted(here)), overrides=overrides)
            assert set(whole) == followed.groups()


@pytest.mark.parametrize("seed", range(24))
def test_incremental_is_the_same_as_from_nothing(seed: int) -> None:
    """The groups are those of the present events, whatever events came, changed and left before."""
    random = Random(seed)
    _walk(random, _overrides(random) if seed % 2 else Overrides(), lambda: any_event(random), 120, 2)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", [0, 1, 4, 8])
def test_incremental_is_the_same_as_from_nothing_for_long(seed: int, *, is_whole: bool) -> None:
    """The same holds over 40,000 steps in all (with `--whole` 100,000)."""
    random, steps = Random(seed), 25_000 if is_whole else 10_000
    _walk(random, _overrides(random) if seed % 2 else Overrides(), lambda: any_event(random), steps, 10)


@pytest.mark.parametrize("seed", range(20))
def test_decisions_by_names_hold_whatever_comes_and_goes(seed: int) -> None:
    """After each change the groups are the same as if all events were linked anew."""
    random, day = Random(seed), SATURDAY // DAY * DAY

    def pair() -> Pair:
        first, other = any_event(random), any_event(random)
        listed = [Listing(some.home, some.away, day) for some in (first, other)]
        return Pair(first.key, other.key, listed=(listed[0], listed[1]))

    overrides = Overrides(must=tuple(pair() for _ in range(6)), must_not=tuple(pair() for _ in range(6)))
    _walk(random, overrides, lambda: any_event(random), 30)


def _respelled(random: Random, clubs: list[list[str]]) -> Event:
    """Return the listing of one of many sources, for the match of two clubs or of their reserves."""
    home, away = (random.choice(spellings(club)) for club in clubs)
    mark = random.choice(("", "", "", "", " II"))
    return event(
        random.choice("abcdefghijkl"),
        home + mark,
        away + mark,
        random.choice(("Ekstraklasa", "Poland - Ekstraklasa", None)),
        match_id=mark or "1",
        start=SATURDAY + 60 * random.choice((0, 0, 0, 1, 10, 20)),
        chances=random.choice((EVEN, EVEN, (0.42, 0.29, 0.29), (0.5, 0.25, 0.25), None)),
    )


@pytest.mark.parametrize("seed", range(30))
def test_many_spellings_of_few_matches_are_the_same_as_from_nothing(seed: int) -> None:
    """The shown links of a group, and its possible members, do not depend on the order of arrival."""
    random = Random(seed)
    clubs = random.sample([row for row in rows("clubs.tsv") if len(spellings(row)) > FEW], 2)
    _walk(random, Overrides(), lambda: _respelled(random, clubs), 60)


@pytest.mark.parametrize("seed", range(10))
def test_a_piece_of_many_listings_is_parted_as_one_of_few(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listing in a piece is compared only with listings that resemble it, and no link is missing."""
    random = Random(seed)
    events = list(
        {candidate.key: candidate for candidate in (any_event(random, 8, 10) for _ in range(80))}.values()
    )
    overrides = _overrides(random) if seed % 3 == 0 else Overrides()
    expected = groups(*events, overrides=overrides)
    monkeypatch.setattr(clustering, "FEW", 0)

    assert expected == groups(*events, overrides=overrides)
    assert expected


def test_one_that_prices_keep_out_is_compared_with_who_joins_later() -> None:
    """The first two events resemble each other, except for their prices; the third event fits both."""
    first = event("s0", "Manchester Utd", "Inter", "Italy Serie A", chances=(0.5, 0.25, 0.25))
    near = event("s1", "Manchester City", "Inter", None, start=SATURDAY + 60, chances=(0.38, 0.31, 0.31))
    third = event("s2", "Manchester Utd", "Inter", "Italy Serie A")

    found = {frozenset(groups(*some)) for some in permutations((first, near, third))}

    assert 1 == len(found)


@pytest.mark.parametrize(
    ("late_s", "first", "other", "between"),
    [
        (0, ("Al Faisaly", "Al Wehdat"), ("Al Faysali", "Al Wihdat"), ("Al Faisaly", "Al Wihdat")),
        (4000, ("Foo Bar", "Xyz Qwe"), ("Bar Foo", "Qwe Xyz"), ("Foo Bar", "Qwe Xyz")),
        (0, ("Qairat", "Shurta"), ("Kairat", "Shorta"), ("Qairat", "Shorta")),
    ],
)
def test_what_was_linked_through_an_event_that_is_gone_is_linked_as_by_a_new_matcher(
    late_s: int, first: tuple[str, str], other: tuple[str, str], between: tuple[str, str]
) -> None:
    """Similar names that begin differently are found through a third event; it leaves no trace behind."""
    a, b, c = (
        event(source, *names, "Jordan League", start=SATURDAY + late_s * (source == "b"))
        for source, names in zip("abc", (first, other, between), strict=True)
    )
    followed = Followed()

    followed.update([a, b, c])
    followed.update((), [c.key])

    assert set(groups(a, b)) == followed.groups()
    explained = explain(followed.linker, a.key, b.key)
    assert explained is not None
    assert explained.is_linked or all(lack for _, lack in explained.lacks)


def test_a_match_that_one_source_lists_twice_alike_is_linked_the_same_in_any_order() -> None:
    """Another source's event finds both listings, whichever of them came first."""
    twice = [event("a", match_id="0", chances=(0.7, 0.2, 0.1)), event("a", match_id="1")]
    found = {frozenset(groups(*order)) for order in permutations([*twice, event("b", chances=None)])}

    assert 1 == len(found)


def test_a_pair_of_an_event_with_itself_says_nothing() -> None:
    """Such an override does not put the event into its piece twice."""
    events = [event("s0"), event("s1"), event("s2", "Leeds", "Hull")]
    overrides = Overrides(must=(Pair(events[0].key, events[0].key),))
    followed = Followed(overrides)
    for candidate in (*events, event("s1", chances=None), event("s0", "Leeds", "Hull")):
        followed.update([candidate])

    (group,) = followed.groups()
    assert keys(group) == (events[0].key, events[2].key)


@pytest.mark.parametrize("seed", range(20))
def test_a_group_has_one_event_of_a_source(seed: int) -> None:
    """Every event is in at most one group, and the members of a group are in the order of their keys."""
    random = Random(seed)
    events = {candidate.key: candidate for candidate in (any_event(random) for _ in range(40))}

    found = groups(*events.values())

    members = [member.key for group in found for member in group]
    assert len(members) == len(set(members))
    for group in found:
        assert len({key.key.source for key in group}) == len(group) > 1
        assert list(group) == sorted(group, key=lambda member: member.key)
        assert all(member.to in {linked.key for linked in group} for member in group[1:])


@pytest.mark.parametrize("seed", range(20))
def test_overrides_are_obeyed(seed: int) -> None:
    """A `must` links its events unless they are kept apart or of one source; a `must_not` parts them."""
    random = Random(seed)
    events = {candidate.key: candidate for candidate in (any_event(random) for _ in range(20))}
    here = sorted(events)
    must = Pair(here[0], next(key for key in here if key.source != here[0].source))
    must_not = tuple(Pair(a, b) for a, b in combinations(here[:6], 2) if {a, b} != {must.a, must.b})

    found = groups(*events.values(), overrides=Overrides(must=(must,), must_not=must_not))

    together = {
        frozenset(pair) for group in found for pair in combinations((member.key for member in group), 2)
    }
    assert frozenset({must.a, must.b}) in together
    assert not any(frozenset({pair.a, pair.b}) in together for pair in must_not)


def test_two_events_of_a_source_are_never_one_by_hand() -> None:
    """If two events of a source must be linked with the same event, the first by key is linked."""
    a, b, c = event("s1", match_id="1"), event("s2"), event("s1", match_id="2")

    found = groups(a, b, c, overrides=Overrides(must=(Pair(a.key, b.key), Pair(b.key, c.key))))

    assert [(a.key, b.key)] == [keys(group) for group in found]
