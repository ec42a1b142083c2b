"""Fixtures in chunks: as long in JSON as chunks of lists, however many bookmakers list each fixture."""

from __future__ import annotations

from random import Random

import pytest

from actors.board.chunks import CHUNK_SIZE, entries_of
from actors.board.snapshot import Entry
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope
from actors.matches.model import Fixture, FixtureChunk, Highest, Place
from actors.matching.event import FixtureId
from tests.support.builders.messages import match

BOOK = BookmakerId("alder")
LARGEST = 50
ENTRY = Entry("alder_1", Scope("s"), match("1"), 0.0)


def fixture(name: int, start: float, entries: int) -> Fixture:
    """Return a fixture with `entries` entries, of which only the number matters."""
    fixture_id = FixtureId(f"fx{name:05}")
    names, listed = (BOOK,) * entries, (ENTRY,) * entries
    return Fixture(fixture_id, 1, (), names, listed, BOOK, Place(start, fixture_id), Highest())


@pytest.mark.parametrize("seed", range(8))
def test_chunks_have_all_in_order_whatever_changes(seed: int) -> None:
    """Fixtures come, go, grow or get other prices; small and large changes alternate at random."""
    random, last = Random(seed), 0
    chunks: tuple[FixtureChunk, ...] = ()
    now: dict[Place, Fixture] = {}
    for _ in range(150):
        changes, few = dict[Place, Fixture | None](), random.choice((1, 4, 300))
        for shown_fixture in random.sample([*now.values()], min(len(now), random.randrange(few + 1))):
            size = random.choice((1, 1, len(shown_fixture.listed), LARGEST))
            other = fixture(int(shown_fixture.id[2:]), shown_fixture.place.start, size)
            changes[shown_fixture.place] = random.choice((None, other, other))
        for _ in range(random.randrange(few + 1)):
            last += 1
            new = fixture(last, random.choice((0.5, random.random())), random.choice((1, 5, LARGEST)))
            changes[new.place] = new

        before, chunks = chunks, run_now(FixtureChunk.changed(chunks, changes))
        now = {
            place: shown_fixture
            for place, shown_fixture in sorted({**now, **changes}.items())
            if shown_fixture is not None
        }

        assert [*now.values()] == [*entries_of(chunks)]
        assert [*now] == [place for chunk in chunks for place in chunk.keys]
        sizes = [sum(len(entry.listed) + 1 for entry in chunk.entries) for chunk in chunks]
        assert all(CHUNK_SIZE / 4 <= size <= CHUNK_SIZE * 1.5 + LARGEST for size in sizes[1:])
        assert len({*before} - {*chunks}) <= 3 * len(changes), "a change replaces its chunk and a neighbour"
    assert len(chunks) > 10
