"""The JSON of fixtures and of their links: what is kept of it, and what becomes of a bad entry."""

from __future__ import annotations

import gc
import json
from random import Random

import pytest

from actors.core.cooperative import SLICE, run_now
from actors.core.messages import Prices
from actors.matches.model import BookmakerInfo, FixtureSettings, FixtureView, ViewKind, roster_of
from actors.matching.rules import Certainty
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ROSTER, TERMS, TWO, LinkedBoard
from tests.support.builders.messages import batch, match
from web.encoding.fixture_forms import Form, whole
from web.encoding.fixture_segments import FixtureSegments
from web.encoding.segments import UnencodableError

NAMES = {ALDER: "Alder", BIRCH: "Birch", CEDAR: "Cedar"}


def test_name_that_cannot_be_encoded_takes_its_own_list_off() -> None:
    """A fixture has the names of its first source; that of another can be bad."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.apply(batch([match("b", league="\ud800")], bookmaker=BIRCH))
    board.link()
    (fixture,) = board.fixtures()
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})

    for making in (segments.links, segments.json):
        with pytest.raises(UnencodableError) as raised:
            making(fixture, TERMS)

        assert (BIRCH, "birch_b") == (raised.value.bookmaker, raised.value.entry.id)


def test_prices_that_cannot_be_reckoned_with_take_their_list_off() -> None:
    """As what cannot be encoded does: everything else is served."""
    board = LinkedBoard()
    board.apply(batch([match("a", prices=(5e-324, 3.5, 4.0))], bookmaker=ALDER))
    (fixture,) = board.fixtures()

    with pytest.raises(UnencodableError) as raised:
        FixtureSegments({ALDER: "Alder"}).json(fixture, TERMS)

    assert (ALDER, "alder_a") == (raised.value.bookmaker, raised.value.entry.id)


def test_json_is_made_once_for_a_fixture() -> None:
    """Only that of the fixture that changed is made again."""
    board = LinkedBoard()
    board.apply(batch([match("a"), match("b")], bookmaker=ALDER))
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})
    before = [segments.json(fixture, TERMS) for fixture in board.state]

    board.apply(batch([match("a"), match("b", prices=(9.0, 3.4, 4.2))], bookmaker=ALDER))
    after = [segments.json(fixture, TERMS) for fixture in board.state]

    assert [True, False] == sorted((body is other for body, other in zip(before, after, strict=True)))[::-1]
    assert all(
        segments.json(fixture, TERMS) is made for fixture, made in zip(board.state, after, strict=True)
    )


@pytest.mark.parametrize("seed", range(8))
def test_json_is_that_of_the_prices_that_are_there(seed: int) -> None:
    """What is kept of bookmakers whose prices stayed makes no difference, whoever comes and goes."""
    board, random, names = LinkedBoard(), Random(seed), NAMES
    kept, has_fair = FixtureSegments(names), False
    for _ in range(30):
        prices = random.choice(((2.2, 3.3, 3.4), (2.1, 3.4, 3.5), (2.3, 3.2, 3.3)))
        some = random.sample("abc", random.randrange(4))
        board.apply(batch([match(name, prices=prices) for name in some], bookmaker=random.choice([*names])))
        board.link()
        anew = FixtureSegments(names)
        for fixture in board.state:
            made = kept.json(fixture, TERMS)
            has_fair = has_fair or b'"fair":null' not in made

            assert anew.json(fixture, TERMS) == made
    assert has_fair


def test_json_of_fixtures_that_are_gone_is_dropped() -> None:
    """However many come and go, what is kept is in proportion to what is there."""
    board, view = LinkedBoard(), FixtureView(ViewKind.FIXTURES)
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})
    for day in range(8):
        board.apply(batch([match(f"{day}-{count}") for count in range(SLICE)], bookmaker=ALDER))
        run_now(segments.runs([view], board.snapshot))

        assert len(segments._made) <= 3 * SLICE


def test_fixtures_are_nothing_to_the_garbage_collector() -> None:
    """With 250,000 of them a collection of all would stop the loop for most of a second."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))

    assert not any(gc.is_tracked(fixture) for fixture in board.state)


@pytest.mark.parametrize(
    ("prices", "certainty", "reason"),
    [
        (Prices.LIVE, Certainty.SURE, None),
        (Prices.COLLECTED, Certainty.SURE, "not_live"),
        (Prices.LIVE, Certainty.LIKELY, "likely_link"),
    ],
)
def test_reference_is_live_and_sure_or_there_is_none(
    prices: Prices, certainty: Certainty, reason: str | None
) -> None:
    """What was collected earlier, or may be of another match, is compared with nothing."""
    board = LinkedBoard()
    board.linker.certainty = certainty
    for name in (ALDER, BIRCH):
        board.apply(batch([match(name)], bookmaker=name))
    board.link()
    (fixture,) = board.fixtures()
    terms = FixtureSettings(roster_of({**ROSTER, ALDER: BookmakerInfo(TWO, prices)}))

    found = json.loads(FixtureSegments(NAMES).formed(whole(fixture), Form(ALDER), terms))

    assert (reason is None) == (found["reference"] is not None)
    assert reason == found.get("reference_reason")
