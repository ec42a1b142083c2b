"""Fixtures in chunks: order and sizes after any changes, and what did not change is the same object."""

from __future__ import annotations

from itertools import chain
from random import Random

import pytest

from actors.board.snapshot import Entry
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope
from actors.matches.model import Fixture, Highest, Place
from actors.matches.order import CHUNK_SIZE, Chunks, Firsts, changed
from actors.matching.event import FixtureId
from tests.support.builders.messages import match

BOOK = BookmakerId("alder")
LARGEST = 50
ENTRY = Entry("alder_1", Scope("s"), match("1"), 0.0)


def fixture(name: int, start: float, entries: int) -> Fixture:
    """Return a fixture of so many entries, which only matter by their number."""
    fixture_id = FixtureId(f"fx{name:05}")
    names, listed = (BOOK,) * entries, (ENTRY,) * entries
    return Fixture(fixture_id, 1, (), names, listed, BOOK, Place(start, fixture_id), Highest())


def next_state(
    chunks: Chunks, firsts: Firsts, now: dict[FixtureId, Fixture], then: dict[FixtureId, Fixture]
) -> tuple[Chunks, Firsts]:
    """Return the chunks after all differences between two sets of fixtures."""
    replaced: dict[int, dict[FixtureId, Fixture | None]] = {}
    for at, chunk in enumerate(chunks):
        for name, old in chunk.fixtures.items():
            new = then.get(name)
            if new is not old:
                stays = new is not None and new.place == old.place
                replaced.setdefault(at, {})[name] = new if stays else None
    added = [new for name, new in then.items() if name not in now or now[name].place != new.place]
    return run_now(changed(chunks, firsts, replaced, added))


@pytest.mark.parametrize("seed", range(8))
def test_chunks_have_all_in_order_whatever_changes(seed: int) -> None:
    """Some come, go, move, grow or only have other prices; small and large changes in turn."""
    random, last = Random(seed), 0
    chunks: Chunks = ()
    firsts: Firsts = ()
    now: dict[FixtureId, Fixture] = {}
    for _ in range(150):
        then, few = dict(now), random.choice((1, 4, 300))
        for one in random.sample([*now.values()], min(len(now), random.randrange(few + 1))):
            size, start = random.choice((1, 1, len(one.listed), LARGEST)), one.place.start
            other = fixture(int(one.id[2:]), random.choice((start, start, random.random())), size)
            then |= {one.id: other}
            if random.random() < random.choice((0.3, 0.9)):
                del then[one.id]
        for _ in range(random.randrange(few + 1)):
            last += 1
            new = fixture(last, random.choice((0.5, random.random())), random.choice((1, 5, LARGEST)))
            then[new.id] = new

        before, (chunks, firsts) = chunks, next_state(chunks, firsts, now, then)

        assert [*chain.from_iterable(chunk.fixtures.values() for chunk in chunks)] == sorted(
            then.values(), key=lambda one: one.place
        )
        assert firsts == tuple(chunk.first for chunk in chunks)
        for chunk in chunks:
            assert chunk.first == next(iter(chunk.fixtures.values())).place
            assert chunk.size == sum(len(one.listed) + 1 for one in chunk.fixtures.values())
        assert all(CHUNK_SIZE / 4 <= chunk.size <= CHUNK_SIZE * 1.5 + LARGEST for chunk in chunks[1:])
        changes = [name for name in {**now, **then} if now.get(name) is not then.get(name)]
        assert len({*before} - {*chunks}) <= 3 * len(changes), "a change replaces its chunk and a neighbour"
        now = then
    assert len(chunks) > 10
