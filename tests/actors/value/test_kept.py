"""Kept values: equal to values that are computed anew, whatever changes and however time passes."""

from __future__ import annotations

import sys
from random import Random

from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.cooperative import SLICE
from actors.matches.model import FixtureState
from actors.matching.event import FixtureId
from actors.value.kept import KeptValues
from actors.value.values import values_of
from tests.support.builders.valued import NOW, START, Offer, books_of, fixture_of, terms_of

PRICES = [(2.0, 3.6, 4.0), (2.2, 3.4, 3.8), (1.9, 3.8, 4.3)]


def test_kept_values_are_those_of_the_present() -> None:
    """This holds after a price, a confirmation, a failed attempt or a wait, before and after kick-off."""
    random, offers = Random(1), {f"b{number}": Offer(PRICES[number % 3]) for number in range(6)}
    terms = terms_of(offers)
    kept, fixture, now = KeptValues(terms), fixture_of(offers), NOW
    counts = set[int]()
    for _ in range(600):
        name = random.choice([*offers])
        now = Instant(now.mono + random.choice([0, 1, 10]), now.wall + random.choice([0, 1, 20]))
        match random.choice(["price", "confirmation", "failure", "time"]):
            case "price":
                offers[name] = replace(offers[name], prices=random.choice(PRICES))
                fixture = fixture_of(offers)
            case "confirmation":
                offers[name] = replace(offers[name], age_s=NOW.mono - now.mono, is_trusted=True)
            case "failure":
                offers[name] = replace(offers[name], is_trusted=False)

        found = kept.values(fixture, books_of(offers), now)

        counts.add(len(found))
        assert values_of(fixture, books_of(offers), terms, now) == [*found]
    assert now.wall > START
    assert len(counts) > 2


def test_values_of_gone_fixtures_are_dropped() -> None:
    """The oldest are dropped if more fixtures are kept than twice those of the board, plus a slice."""
    offers = {"b0": Offer(PRICES[0])}
    kept, fixture, books = KeptValues(terms_of(offers)), fixture_of(offers), books_of(offers)
    first = replace(fixture, id=FixtureId("0"))
    counted = sys.getrefcount(first)
    kept.values(first, books, NOW)
    for number in range(1, SLICE):
        kept.values(replace(fixture, id=FixtureId(str(number))), books, NOW)
    kept.fit(state := FixtureState(1, kept.terms.fixtures))
    held = sys.getrefcount(first)
    kept.values(replace(fixture, id=FixtureId("new")), books, NOW)
    kept.fit(state)

    assert held > sys.getrefcount(first) == counted
