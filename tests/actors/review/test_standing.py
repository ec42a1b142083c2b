"""Likely links whose prices agreed for long: their begin, and the spellings that they suggest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.matches.entries import event_of
from actors.matches.linking import Linking
from actors.matching.event import Event, EventKey
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides, TeamAlias
from actors.matching.rules import Rule
from actors.review.links_file import parse
from actors.review.standing import LOOK_S, StandingLinks, spellings
from actors.review.suggestions import spelling_suggestions
from tests.support.builders.events import event
from tests.support.builders.fixtures import ALDER, BIRCH, ROSTER, TERMS, LinkedBoard
from tests.support.builders.messages import batch, match

HOUR = 3600.0
LEAGUE = "Denmark - Superliga"
PRICES, APART = (2.0, 3.5, 4.0), (2.6, 3.4, 2.8)


class _Looking:
    """A board with one match at two sources, and the memory of their link."""

    def __init__(self) -> None:
        self.board, self.standing, self.mono = LinkedBoard(), StandingLinks(), 0.0
        self.board.linking = Linking(Matcher(Overrides()), TERMS.roster)
        self.relist()

    def relist(
        self, prices: Sequence[float] = PRICES, home: str = "Qwertzy", away: str = "Brondby"
    ) -> None:
        """List and link the match; the home team of the second source is Qwertz."""
        ours = match("a", home=home, away=away, league=LEAGUE, prices=prices)
        theirs = match("b", home="Qwertz", away="Brondby", league=LEAGUE, prices=PRICES)
        self.board.apply(batch([ours], bookmaker=ALDER), batch([theirs], bookmaker=BIRCH))
        self.board.link()

    def look(self, after_s: float = LOOK_S) -> list[float]:
        """Look after `after_s` seconds; return since when each suggested link stands."""
        self.mono += after_s
        now = Instant(self.mono, 1e9 + self.mono)
        run_now(self.standing.look(self.board.state, now))
        return [link.since.mono for link in self.standing.long(now)]

    def event(self, key: EventKey) -> Event | None:
        """Return an event of the board."""
        fixture = self.board.state.of_event(key)
        return None if fixture is None else event_of(fixture, key, ROSTER)


def test_a_link_that_stood_for_an_hour_is_suggested() -> None:
    """The prices agreed at every look in this hour."""
    looking = _Looking()

    assert [[], [], [LOOK_S]] == [looking.look(), looking.look(HOUR - 1), looking.look(LOOK_S)]


@pytest.mark.parametrize(
    "change",
    [{"prices": APART}, {"home": "Qwertzz"}, {"home": "Qwertz"}, {"home": "Else", "away": "Other"}],
)
def test_the_hour_begins_anew_when_prices_part_or_names_change(change: dict[str, Any]) -> None:
    """Another name makes another link, and equal names need no suggestion."""
    looking = _Looking()
    looking.look()
    looking.relist(**change)
    looking.look(HOUR / 2)
    looking.relist()
    looking.look()

    assert [] == looking.look(HOUR - LOOK_S)
    assert 1 == len(looking.look())


def test_it_looks_once_a_minute() -> None:
    """A look at a large board takes time that the linker needs for other work."""
    looking = _Looking()
    looking.look()
    looking.relist(prices=APART)
    looking.look(LOOK_S - 1)
    looking.relist()

    assert 1 == len(looking.look(HOUR))


def test_a_standing_link_is_suggested_as_a_spelling() -> None:
    """The pasted text makes the names the same; for a name that has a table the text is a comment."""
    looking = _Looking()
    looking.look()
    looking.look(HOUR)
    long = looking.standing.long(Instant(looking.mono, 0.0))
    (found,) = run_now(spelling_suggestions(long, looking.event, Overrides(), (), 9))
    by_hand = Overrides((TeamAlias(("Qwertz", "Asdf")),))
    (other,) = run_now(spelling_suggestions(long, looking.event, by_hand, (), 9))

    assert (("Qwertz", "Qwertzy"),) == tuple(team.names for team in parse(found.text).teams)
    assert (1, Rule.ONE_ALIKE, 0.0) == (found.gain, found.link.rule, found.link.price_gap)
    assert '# if they are one team: add "Qwertzy" to the [[team]] that has "Qwertz"\n' == other.text


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (("Qwertzy", "Brondby"), ("Qwertz", "Brondby"), [("Qwertz", "Qwertzy")]),
        (("Qwertzy", "Asdfgh"), ("Qwertz", "Asdfg"), [("Qwertz", "Qwertzy"), ("Asdfg", "Asdfgh")]),
        (("Qwertz Women", "Brondby"), ("Qwertz", "Brondby"), []),
        (("Qwertz II", "Brondby II"), ("Qwertzy", "Brondby"), []),
        (("Qwertz Zork", "Asdf Zork"), ("Qwertz", "Asdf"), []),
        (("Qwertz", "Asdf"), ("Qwertz Zork", "Asdf Zork"), []),
        (("Manchester City", "Brondby"), ("Manchester United", "Brondby"), []),
        (("Iceland", "Brondby"), ("Ireland", "Brondby"), []),
        (("AC Milan", "Brondby"), ("Inter Milan", "Brondby"), []),
    ],
)
def test_no_spelling_is_another_class_or_another_club(
    ours: tuple[str, str], theirs: tuple[str, str], expected: list[tuple[str, str]]
) -> None:
    """If both teams have one word more, no spelling is suggested either: it may be a mark of class."""
    a, b = event("a", *ours), event("b", *theirs)

    assert expected == [*spellings(a, b)]
    assert expected == [*spellings(b, a)]
