"""The JSON of fixtures and of their links, and what becomes of an entry that cannot be encoded."""

from __future__ import annotations

import pytest

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
