"""Values on a replica: times of confirmations are given by the matcher's clock, and never too late."""

from __future__ import annotations

from math import inf

import pytest

from actors.cluster.liveness import MatcherClock
from actors.cluster.replay import shown
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, SourceName
from actors.matches.model import BookmakerInfo, FixtureSettings, fixtures_of, roster_of
from actors.matches.surebets import Doubt
from actors.value.values import Value, ValueTerms, values_of
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR
from tests.support.builders.records import AHEAD_S, MATCHER, OTHER, Cluster
from tests.support.time.virtual import WALL_0

OTHERS = (BIRCH, CEDAR, BookmakerId("dogwood"))
TERMS = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(name)) for name in (ALDER, *OTHERS)}))
FAIR, HIGH = (1.9, 3.8, 3.8), (2.1, 3.6, 3.5)
LATE_S = 0.4
"""The time from a replica's look to its answer."""


class _Replica(Cluster):
    """Four bookmakers that listed a match at the time 1, one of them at a high price, and a replica."""

    def __init__(self) -> None:
        super().__init__(TERMS)
        self.matcher = MatcherClock()
        self.tick(0.0)
        for name in self.collectors:
            self.collectors[name].list(HIGH if name == ALDER else FAIR, 1.0)
        self.link()
        self.look(1.5)

    def look(self, at: float) -> None:
        """Let the matcher tick at that time, and answer a look that the replica sent before."""
        self.tick(at)
        self.matcher.ticked(MATCHER, at + AHEAD_S, at - LATE_S, at)

    def values(self, at: float) -> tuple[list[Value], float]:
        """Return the values at that time by the replica's clock, and when the first price was confirmed."""
        snapshot = shown(self.state, lambda _: inf, self.matcher)
        (fixture,) = fixtures_of(snapshot)
        found = values_of(fixture, snapshot.books, ValueTerms(TERMS), Instant(at, WALL_0 + at))
        return found, snapshot.books[ALDER].vouched_mono(fixture.entries[ALDER])


def test_a_replica_has_the_value_of_a_confirmed_price() -> None:
    """The price's confirmation time is the earliest one that the bounds of the clocks allow."""
    (value,), confirmed = _Replica().values(2.0)

    assert (ALDER, "1", 2.1, OTHERS, ()) == (
        *(value.bookmaker, value.outcome, value.price),
        *(value.members, value.doubts),
    )
    assert pytest.approx(1.0 - LATE_S) == confirmed


def test_a_value_is_doubted_once_its_price_may_be_too_old() -> None:
    """A list holds for 30 s; a confirmation that reached the replica ends the doubt."""
    replica = _Replica()
    for name in OTHERS:
        replica.collectors[name].confirm(20.0)
    (before,), _ = replica.values(30.5)
    (after,), _ = replica.values(30.7)
    replica.collectors[ALDER].confirm(31.0)
    replica.look(31.5)
    (again,), _ = replica.values(32.0)

    assert [(), (Doubt.AGE,), ()] == [value.doubts for value in (before, after, again)]


def test_a_value_ends_when_an_attempt_failed_or_no_clock_is_known() -> None:
    """A failure and a new matcher arrive with a version; the new matcher's times cannot be compared yet."""
    failed, foreign = _Replica(), _Replica()
    failed.collectors[ALDER].fail(2.0)
    foreign.tick(2.0, OTHER)

    assert [[], []] == [replica.values(2.5)[0] for replica in (failed, foreign)]
