"""How many fixtures there are, linked ones, surebets, and links by rule; a chunk is counted once."""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.matches.model import FixtureChunk, FixtureState
from actors.matching.rules import Rule

_CHUNKS = 32  # counted between two yields


class Counts(Struct, frozen=True):
    """`linked` fixtures have two events or more; `links` counts their other events by rule."""

    fixtures: int
    linked: int
    surebets: int
    links: dict[Rule, int]


class Counting:
    """Counts fixtures, in time that depends on what changed since the last time."""

    def __init__(self) -> None:
        self._links: WeakKeyDictionary[FixtureChunk, tuple[int, Counter[Rule]]] = WeakKeyDictionary()

    def count(self, state: FixtureState) -> Sliced[Counts]:
        """Return the counts of a version."""
        fixtures = linked = surebets = 0
        links: Counter[Rule] = Counter()
        for number, chunk in enumerate(state.chunks, 1):
            if (of_chunk := self._links.get(chunk)) is None:
                of_chunk = self._links[chunk] = _links_of(chunk)
            fixtures += len(chunk.fixtures)
            surebets += chunk.surebets
            linked += of_chunk[0]
            links.update(of_chunk[1])
            if number % _CHUNKS == 0:
                yield
        return Counts(fixtures, linked, surebets, {rule: links[rule] for rule in Rule if links[rule]})


def _links_of(chunk: FixtureChunk) -> tuple[int, Counter[Rule]]:
    linked = [one for one in chunk.fixtures.values() if len(one.members) > 1]
    # The member that the others link to is not always the event that the fixture began with.
    rules = (member.rule for one in linked for member in one.members if member.to is not None)
    return len(linked), Counter(rules)
