"""Rules over a small board: names, values, and no alert after commits that were not seen."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.alerts.alert import Alert, State
from actors.alerts.rules.readings import prices
from actors.alerts.rules.rule import RULES, PriceRule
from actors.alerts.rules.watcher import Watcher
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match
from actors.markets.market import Kind
from actors.matches.model import Fixture
from tests.support.builders.messages import batch, match
from tests.support.rule_lives import NAMES, WatchedBoard, terms_of_life
from tests.support.time.virtual import WALL_0

BOOKMAKERS = {BookmakerId(name): name.title() for name in NAMES}


class _Stage:
    """A board that one rule watches, and the alerts of that rule."""

    def __init__(self, **rule: Any) -> None:
        self.told: list[Alert] = []
        made: Any = msgspec.convert({"name": "r", "to": ["phone"], **rule}, RULES[rule["when"]])
        self.watcher = Watcher([made], BOOKMAKERS, self.told.append)
        self.board = WatchedBoard(terms_of_life(0.0))
        self.number = 0

    def follow(self) -> None:
        """Link the events and let the rule watch from now on; the watcher first compares the boards."""
        self.board.link()
        self.board.watcher = self.watcher
        run_now(self.watcher.compare({Kind.ONE_X_TWO: self.board.snapshot}, self.board.moment()))

    def lists(self, at: float, **lists: tuple[float, float, float] | list[Match]) -> None:
        """Let each bookmaker list one match at the given prices, or the given matches."""
        self.board.now = Instant(at, WALL_0 + at)
        for name, listed in lists.items():
            self.number += 1
            matches = [match(prices=listed)] if isinstance(listed, tuple) else listed
            about: Any = {"bookmaker": name, "list_id": f"{self.number}", "received_mono": at}
            self.board.apply(batch(matches, **about))


def test_commits_that_were_not_seen_fire_nothing() -> None:
    """Afterwards an alert whose price fell is resolved, and a price that rose fires nothing."""
    stage = _Stage(when="price", above=2.5, outcome="1")
    stage.lists(0.0, alder=(2.2, 3.4, 3.0), birch=(2.2, 3.4, 3.0))
    stage.follow()
    stage.lists(1.0, alder=(2.6, 3.4, 3.0))
    assert ["alder_m1 1"] == [told.subject for told in stage.told]

    stage.board.watcher = None
    stage.lists(2.0, alder=(2.2, 3.4, 3.0), birch=(2.6, 3.4, 3.0))
    stage.follow()

    assert [("alder_m1 1", State.RESOLVED)] == [(told.subject, told.state) for told in stage.told[1:]]


@pytest.mark.parametrize(
    ("rule", "prices", "title", "details"),
    [
        (
            {"when": "price", "above": 2.5, "bookmaker": "alder"},
            (2.6, 3.4, 2.4),
            "Home - Away: 1 at Alder is 2.6, was 2.2",
            {"outcome": "1", "bookmaker": "Alder", "odds": 2.6, "before": 2.2, "kick_off": WALL_0 + 86_400},
        ),
        (
            {"when": "surebet", "team": "Home FC"},
            (2.2, 4.4, 3.4),
            "Home - Away: surebet of 2.47 %",
            {"profit": pytest.approx(0.0247, abs=1e-4), "legs": "1 2.2 Birch, X 4.4 Alder, 2 3.4 Alder"},
        ),
        (
            {"when": "value", "min_ev": 0.02},
            (2.5, 3.3, 2.9),
            "Home - Away: 1 at Alder has an expected value of 8.6 %",
            {"outcome": "1", "bookmaker": "Alder", "odds": 2.5, "reference": "consensus"},
        ),
        (
            {"when": "move", "min_move": 0.2, "window_s": 5, "outcome": "1"},
            (1.5, 4.4, 6.0),
            "Home - Away: fair probability of 1 moved +0.5 percentage points in 5 s",
            {"moved": pytest.approx(0.005, abs=1e-3), "window_s": 5, "market": "1x2"},
        ),
        (
            {"when": "move", "min_move": 0.2, "window_s": 5, "outcome": "1"},
            (3.6, 3.4, 2.0),
            "Home - Away: fair probability of 1 moved -0.3 percentage points in 5 s",
            {"moved": pytest.approx(-0.003, abs=1e-3)},
        ),
    ],
)
def test_an_alert_has_the_names_of_the_board(
    rule: dict[str, Any], prices: tuple[float, float, float], title: str, details: dict[str, object]
) -> None:
    """Title and details name the match, the outcome, the bookmaker and the numbers."""
    stage = _Stage(**rule)
    stage.lists(
        0.0, alder=(2.2, 3.4, 3.1), birch=(2.2, 3.4, 3.0), cedar=(2.1, 3.4, 3.0), elm=(2.15, 3.4, 3.0)
    )
    stage.follow()
    stage.lists(1.0, alder=prices)

    (told,) = stage.told
    assert (title, ("phone",), stage.board.snapshot.version) == (told.title, told.to, told.version)
    assert details == {key: told.details[key] for key in details}


@pytest.mark.parametrize(("first", "then"), [("m1", "m2"), ("m2", "m1")])
def test_another_match_in_the_same_place_has_no_former_price(first: str, then: str) -> None:
    """A match does not take over the prices of a match that had its place before."""

    def listed(name: str) -> Fixture:
        stage = _Stage(when="price", above=2.5)
        stage.lists(0.0, alder=[match(name)])
        (fixture,) = stage.board.state
        return fixture

    rule = PriceRule(name="r", to=("phone",), above=2.5)
    found = [about.before for _, _, about in prices(rule, listed(then), listed(first))]

    assert [None] * 3 == found


def test_a_kick_off_is_told_in_time_and_again_if_it_moves() -> None:
    """The alert comes `before_s` before the kick-off; a moved kick-off gets an alert of its own."""
    stage = _Stage(when="kickoff", before_s=60)
    start = int(WALL_0) + 100
    stage.lists(0.0, alder=[match(start_time=start)])
    stage.follow()
    stage.watcher.pass_time(39.0, WALL_0 + 39.0)
    assert [] == stage.told
    stage.watcher.pass_time(40.0, WALL_0 + 40.0)
    stage.lists(50.0, alder=[match(start_time=start + 300)])
    stage.watcher.pass_time(340.0, WALL_0 + 340.0)

    assert [40.0, 340.0] == [told.at - WALL_0 for told in stage.told]
    assert "Home - Away: begins in 60 s" == stage.told[0].title


def test_a_cooldown_begins_when_a_kick_off_was_due() -> None:
    """The cooldown counts from the due time, although the tick that sent the alert came later."""
    stage = _Stage(when="kickoff", before_s=60, cooldown_s=5)
    start = int(WALL_0) + 100
    stage.lists(0.0, alder=[match(start_time=start)])
    stage.follow()
    stage.watcher.pass_time(43.0, WALL_0 + 43.0)
    stage.lists(44.0, alder=[match(start_time=start + 300)])
    stage.lists(46.0, alder=[match(start_time=start)])

    assert [40.0, 46.0] == [told.at - WALL_0 for told in stage.told]


def test_a_rule_of_a_team_ignores_other_matches() -> None:
    """The filter also finds spellings with or without a filler word such as FC, and no other team."""
    stage = _Stage(when="price", above=2.5, team="Rovers FC")
    names = "Rovers", "City", "Rovers 04", "Rovers U21"
    stage.lists(0.0, alder=[match(f"m{number}", home=name) for number, name in enumerate(names)])
    stage.follow()
    dear = [match(f"m{number}", home=name, prices=(2.6, 3.5, 4.0)) for number, name in enumerate(names)]
    stage.lists(1.0, alder=dear)

    assert ["alder_m0 1"] == [told.subject for told in stage.told]
