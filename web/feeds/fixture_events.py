"""What changed of fixtures, as JSON and as events, encoded once for all clients."""

from __future__ import annotations

import msgspec

from actors.core.cooperative import Sliced
from actors.matches.history import FixtureHistory
from actors.matches.model import FixtureView
from web.encoding.fixture_schemas import removed_fixture
from web.encoding.segments import FIXTURES
from web.feeds.events import Frames, Pieces, joined, opening
from web.feeds.fixture_lists import FixturesOf
from web.feeds.lists import Answers

_encode = msgspec.json.Encoder().encode


class FixtureFrames(Frames[FixtureView]):
    """The events of views of fixtures."""

    def __init__(self, history: FixtureHistory, answers: Answers) -> None:
        super().__init__(history, answers)
        self._changes = history

    def listed(self, view: FixtureView) -> FixturesOf:
        """Return the list of a view."""
        return FixturesOf(view)

    def _delta(
        self, view: FixtureView, since: int, *, is_marked: bool
    ) -> Sliced[tuple[int, Pieces] | None]:
        recent = yield from self._changes.since(view, since)
        if recent is None:
            return None
        json = self._answers.fixtures.json
        fixtures = yield from joined(json(one, self._changes.terms) for one in recent.fixtures)
        removed = yield from joined(_encode(removed_fixture(*one)) for one in recent.removed)
        head = opening(recent.version, since, FIXTURES, is_marked=is_marked and recent.is_merged)
        return recent.version, [head, *fixtures, b'],"removed":[', *removed, b"]}"]
