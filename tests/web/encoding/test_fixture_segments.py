"""The JSON of fixtures and of their links: what is kept of it, and what becomes of a bad entry."""

from __future__ import annotations

import gc

import pytest

from actors.core.cooperative import SLICE, run_now
from actors.fixtures.state import FixtureView, Kind
from tests.support.builders.fixtures import ALDER, BIRCH, TERMS, LinkedBoard
from tests.support.builders.messages import batch, match
from web.encoding.fixture_segments import FixtureSegments
from web.encoding.segments import UnencodableError


def test_name_that_only_links_show_takes_its_own_list_off() -> None:
    """A fixture has the names of its first source; that of another can be bad and only be in the links."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.apply(batch([match("b", league="\ud800")], bookmaker=BIRCH))
    board.link()
    (fixture,) = board.fixtures()
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})

    with pytest.raises(UnencodableError) as raised:
        segments.links(fixture, TERMS)

    assert segments.json(fixture, TERMS)
    assert (BIRCH, "birch_b") == (raised.value.bookmaker, raised.value.entry.id)


def test_json_is_made_once_for_a_fixture() -> None:
    """Only that of the fixture that changed is made again."""
    board = LinkedBoard()
    board.apply(batch([match("a"), match("b")], bookmaker=ALDER))
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})
    before = [segments.json(one, TERMS) for one in board.state]

    board.apply(batch([match("a"), match("b", prices=(9.0, 3.4, 4.2))], bookmaker=ALDER))
    after = [segments.json(one, TERMS) for one in board.state]

    assert [True, False] == sorted((one is other for one, other in zip(before, after, strict=True)))[::-1]
    assert all(segments.json(one, TERMS) is made for one, made in zip(board.state, after, strict=True))


def test_json_of_fixtures_that_are_gone_is_dropped() -> None:
    """However many come and go, what is kept is in proportion to what is there."""
    board, view = LinkedBoard(), FixtureView(Kind.FIXTURES)
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})
    for day in range(8):
        board.apply(batch([match(f"{day}-{count}") for count in range(SLICE)], bookmaker=ALDER))
        run_now(segments.runs(view, board.state))

        assert len(segments._json) <= 3 * SLICE


def test_fixtures_are_nothing_to_the_garbage_collector() -> None:
    """With 250,000 of them a collection of all would stop the loop for most of a second."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))

    assert not any(gc.is_tracked(one) for one in board.state)
