"""Random lives of a small board, watched by rules; their alerts are compared with an oracle of HTTP.

Five bookmakers of four sources list two matches at prices near the thresholds. Lists change, are confirmed,
go dark, fail, lose a match; names change, which makes and ends links; kick-offs move; matches begin; rules
change. Each version is served by the encoders of the lists of fixtures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, field

from actors.alerts.alert import Alert
from actors.alerts.rules.rule import RULES, MatchRule
from actors.alerts.rules.transitions import Moment
from actors.alerts.rules.watcher import Commit, Watcher
from actors.board.board import Board
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, SourceName
from actors.markets.market import Kind
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matches.surebets import SurebetRules
from actors.value.kept import KeptValues
from actors.value.values import ValueTerms
from tests.support.builders.fixtures import LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.oracles.rule_transitions import Frame, Json, Told, transitions
from tests.support.time.virtual import WALL_0
from web.encoding.fixture_segments import FixtureSegments
from web.encoding.value_schemas import value_v2

NAMES = ("alder", "birch", "cedar", "dogwood", "elm")
SOURCES = {"alder": "one", "birch": "one"}
COMPANIES = {"cedar": "acme", "dogwood": "acme"}
TEAMS = ("Rovers", "United", "City", "Athletic")
REFERENCES = ("", "elm")
STALE_AFTER_S = 30.0
_SHOWN = {BookmakerId(name): name for name in NAMES}
STEPS = 40


def terms_of_life(min_life_s: float) -> FixtureSettings:
    """Return the settings of a board that believes every surebet after some seconds."""
    roster = {
        BookmakerId(name): BookmakerInfo(
            SourceName(SOURCES.get(name, name)), company=COMPANIES.get(name, "")
        )
        for name in NAMES
    }
    return FixtureSettings(
        roster_of(roster),
        surebets=SurebetRules(min_life_s=min_life_s, max_profit=1.0, max_price_ratio=50.0),
    )


_TERMS = {min_life_s: terms_of_life(min_life_s) for min_life_s in (0.0, 2.0)}


class Lived(Struct):
    """The outcome of some lives: the alerts by kind and state, and each difference from the oracle."""

    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = []


class _Listed(Struct):
    """A match in a bookmaker's list."""

    home: str
    away: str
    start: int
    prices: tuple[float, float, float]
    in_play: bool | None = None


class WatchedBoard(LinkedBoard):
    """A board that passes each commit to a watcher, and each version to an oracle."""

    def __init__(self, terms: FixtureSettings, *, serves_values: bool = True) -> None:
        super().__init__(terms)
        self._references = REFERENCES if serves_values else ()
        self.frames: list[Frame] = []
        self.watcher: Watcher | None = None
        self._order = 0
        self._kept: dict[str, KeptValues] = {}
        self._segments = FixtureSegments(_SHOWN)
        self._segments.fit(self.state)

    def publish(self, board: Board) -> None:
        """Commit, serve the version, and pass on the changes."""
        count = len(self.changes)
        super().publish(board)
        self.serve()
        for changes in self.changes[count:]:
            if self.watcher is not None:
                commit = Commit(Kind.ONE_X_TWO, changes.changes, self.snapshot, self.moment())
                run_now(self.watcher.take(commit))

    def serve(self) -> None:
        """Add the present answers of HTTP, if the version is new."""
        snapshot = self.snapshot
        if not self.frames or self.frames[-1].version != snapshot.version:
            served: list[Json] = [
                msgspec.json.decode(self._segments.json(fixture, self.state.terms))
                for fixture in self.state
            ]
            fixtures = {fixture["id"]: fixture for fixture in served}
            self.frames.append(Frame(snapshot.version, self.now.wall, fixtures, self._all_values()))

    def frame_now(self) -> Frame:
        """Return the present answers of HTTP: values change without a version."""
        return replace(self.frames[-1], at=self.now.wall, values=self._all_values())

    def _all_values(self) -> dict[str, list[Json]]:
        return {reference: self._values(reference) for reference in self._references}

    def _values(self, reference: str) -> list[Json]:
        """Return the values as they are served."""
        by, found = BookmakerId(reference) if reference else None, list[Json]()
        if reference not in self._kept:
            self._kept[reference] = KeptValues(ValueTerms(self.state.terms, by))
        for fixture in self.state:
            for value in self._kept[reference].values(fixture, self.snapshot.books, self.now):
                served = value_v2(value, fixture, _SHOWN, 0.0)
                found.append(msgspec.json.decode(msgspec.json.encode(served)))
        return found

    def moment(self) -> Moment:
        """Return the present moment."""
        self._order += 1
        return Moment(self._order, self.snapshot.version, self.now.mono, self.now.wall)


class Life:
    """One board and some rules over some steps."""

    def __init__(self, random: Random, seed: str, lived: Lived) -> None:
        self._random, self._seed, self._lived = random, seed, lived
        self._kinds = ["price", "price", "surebet", "surebet", "move", "kickoff"]
        if serves_values := random.random() < 0.4:  # values take most of the time of a life
            self._kinds += ["value"] * 4
        self._board = WatchedBoard(_TERMS[random.choice((0.0, 0.0, 2.0))], serves_values=serves_values)
        self._start = int(WALL_0) + random.choice((60, 200, 86_400))
        self._lists = {name: self._list() for name in NAMES}
        self._ids: dict[str, str] = {}
        self._told: list[Alert] = []
        self._rules: dict[str, Json] = {}
        self._begun: dict[str, tuple[int, Frame]] = {}
        """The place of the frame at which each rule began, and the answers of HTTP at that moment."""
        self._expected: list[Told] = []

    def run(self) -> None:
        """Let some bookmakers list their matches, then start the rules, then let anything happen."""
        random, board = self._random, self._board
        for name in NAMES:
            if random.random() < 0.8:
                self._refresh(name)
        board.link()
        board.serve()
        self._rules = {f"r{number}": self._rule(f"r{number}") for number in range(random.randint(2, 6))}
        self._begun = dict.fromkeys(self._rules, (len(board.frames) - 1, board.frame_now()))
        board.watcher = Watcher(_made(self._rules), _SHOWN, self._told.append)
        run_now(board.watcher.compare({Kind.ONE_X_TWO: board.snapshot}, board.moment()))
        for _ in range(STEPS):
            self._step()
        self._pass(random.choice((0.0, 3.0, 40.0)))
        self._check()

    def _step(self) -> None:
        random = self._random
        name = random.choice(NAMES)
        actions: dict[Callable[[str], None], int] = {
            self._change: 50,
            self._refresh: 6,
            self._drop: 6,
            self._withdraw: 4,
            self._fail: 4,
            self._rename: 4,
            self._move: 3,
            self._kick_off: 1,
            self._change_rules: 2,
        }
        random.choices([*actions], [*actions.values()])[0](name)
        if random.random() < 0.8:
            self._board.link()
        self._pass(random.choices((0.0, 0.5, 1.0, 2.0, 5.0, 12.0, 31.0), (12, 5, 8, 6, 3, 1, 1))[0])

    def _pass(self, seconds: float) -> None:
        """Let time pass as the actors do: deadlines of the board, then waits of rules, in their order."""
        board, ends = self._board, self._board.now.mono + seconds
        while board.now.mono < ends:
            now = board.now
            kick_off = now.mono + (board.state.kick_off - now.wall)
            at = min(ends, max(now.mono, min(board.snapshot.valid_until, kick_off, now.mono + 5.0)))
            if self._random.random() < 0.7:
                self._tick(at)
            board.now = Instant(at, WALL_0 + at)
            board.expire()
        if self._random.random() < 0.7:
            self._tick(board.now.mono)

    def _tick(self, until: float) -> None:
        """Wake the rules when something may happen before a time."""
        watcher = self._board.watcher
        assert watcher is not None
        while True:
            mono, wall = watcher.next_due()
            at = min(mono, wall - WALL_0)
            if at >= until:
                return
            watcher.pass_time(at, WALL_0 + at)

    def _list(self) -> dict[str, _Listed]:
        random = self._random
        there = {"a": ("Rovers", "United"), "b": ("City", "Athletic")}
        return {
            match_id: _Listed(home, away, self._start, self._prices(), random.choice((None, None, False)))
            for match_id, (home, away) in there.items()
            if random.random() < (0.95 if match_id == "a" else 0.5)
        }

    def _prices(self) -> tuple[float, float, float]:
        random = self._random
        return (
            random.choice((2.2, 2.4, 2.49, 2.5, 2.52, 2.6, 2.8)),
            random.choice((3.1, 3.3, 3.6, 4.0)),
            random.choice((2.45, 2.9, 3.2, 3.5)),
        )

    def _change(self, name: str) -> None:
        """List other prices, or one other price, or go back to former prices."""
        for listed in self._lists[name].values():
            new, old, at = self._prices(), [*listed.prices], self._random.randrange(3)
            old[at] = new[at]
            listed.prices = (old[0], old[1], old[2])
        self._refresh(name)

    def _refresh(self, name: str) -> None:
        """List the matches as they are."""
        board = self._board
        self._ids[name] = f"{name} {board.now.mono} {board.snapshot.version}"
        matches = [
            match(
                match_id,
                home=listed.home,
                away=listed.away,
                league="Premier",
                prices=listed.prices,
                start_time=listed.start,
                in_play=listed.in_play,
            )
            for match_id, listed in self._lists[name].items()
        ]
        about: Any = {"bookmaker": name, "list_id": self._ids[name], "received_mono": board.now.mono}
        board.apply(batch(matches, **about, stale_after_s=STALE_AFTER_S))

    def _drop(self, name: str) -> None:
        """List one match less, or one match that is new or back."""
        known, every = self._lists[name], self._list()
        match_id = self._random.choice(("a", "b"))
        if match_id in known and self._random.random() < 0.7:
            kept = known.pop(match_id)
            self._refresh(name)
            if self._random.random() < 0.6:
                known[match_id] = kept  # the match comes back at its former prices
        else:
            known |= every
        if self._random.random() < 0.5:
            self._refresh(name)

    def _withdraw(self, name: str) -> None:
        """Take back a bookmaker's whole list."""
        about: Any = {"bookmaker": name, "received_mono": self._board.now.mono}
        self._board.apply(msgspec.structs.replace(batch((), **about), withdrawn=True))

    def _fail(self, name: str) -> None:
        self._board.fail(name, self._board.now.mono)

    def _rename(self, name: str) -> None:
        """Exchange the names of a match, which ends or makes a link."""
        for listed in self._lists[name].values():
            if self._random.random() < 0.5:
                listed.home = self._random.choice(("Rovers", "City", "Rovers B"))
                listed.away = "United" if listed.home != "City" else "Athletic"
        self._refresh(name)

    def _move(self, name: str) -> None:
        """Move the kick-off of a match at every bookmaker, or at one."""
        by_s, match_id = self._random.choice((-40, 30, 300)), self._random.choice(("a", "b"))
        for other in NAMES if self._random.random() < 0.6 else (name,):
            if match_id in self._lists[other]:
                self._lists[other][match_id].start += by_s
                self._refresh(other)

    def _kick_off(self, name: str) -> None:
        """Mark the matches of a bookmaker as live."""
        for listed in self._lists[name].values():
            listed.in_play = True
        self._refresh(name)

    def _rule(self, name: str) -> Json:
        random = self._random
        when = random.choice(self._kinds)
        rule: Json = {"name": name, "when": when, "to": ["x"]}
        rule |= self._perhaps(0.3, "team", *TEAMS) | self._perhaps(0.1, "league", "Premier", "Nowhere")
        rule |= self._perhaps(0.2, "cooldown_s", 5.0, 60.0)
        if when == "kickoff":
            return rule | {"before_s": random.choice((10.0, 45.0, 150.0))}
        rule |= self._perhaps(0.5, "for_s", 0.5, 1.0, 3.0, 10.0)
        if when != "move":
            rule |= self._perhaps(0.3, "bookmaker", *NAMES)
        if when == "value":
            rule |= self._perhaps(0.4, "outcome", "1", "X", "2") | self._perhaps(0.3, "reference", "elm")
            return rule | {"min_ev": random.choice((0.0123, 0.0456))}
        if when == "surebet":
            return rule | {"min_profit": random.choice((0.0, 0.0123, 0.0456))}
        rule |= self._perhaps(0.4, "outcome", "1", "X", "2") | self._perhaps(0.2, "in_play", *(True, False))
        if when == "move":
            window_s = random.choice((3.0, 20.0))
            return rule | {"min_move": random.choice((0.53, 1.17, 2.71)), "window_s": window_s}
        key, limit = random.choice((("above", 2.5), ("above", 2.5), ("below", 3.15), ("below", 2.25)))
        return rule | {key: limit} | self._perhaps(0.2, "hysteresis", 0.0)

    def _perhaps(self, chance: float, key: str, *values: object) -> Json:
        return {key: self._random.choice(values)} if self._random.random() < chance else {}

    def _change_rules(self, _: str) -> None:
        """Read the rules anew: some stay, some are gone, some are new rules with old names."""
        board, random = self._board, self._random
        assert board.watcher is not None
        self._pass(2.0**-10)
        self._tick(board.now.mono)  # so no wait ends exactly at the change
        kept = {name: rule for name, rule in self._rules.items() if random.random() < 0.7}
        for name in self._rules.keys() - kept.keys():
            self._expect(name)
        new = {name: self._rule(name) for name in self._rules if name not in kept and random.random() < 0.7}
        for name in [name for name, rule in new.items() if rule == self._rules[name]]:
            del new[name]
        self._rules = kept | new
        self._begun |= dict.fromkeys(new, (len(board.frames) - 1, board.frame_now()))
        run_now(board.watcher.replace(_made(self._rules), {Kind.ONE_X_TWO: board.snapshot}, board.moment()))

    def _expect(self, name: str) -> None:
        """Add the alerts that a rule should have sent up to now."""
        (place, first), now = self._begun[name], self._board.now.wall
        frames = [first, *self._board.frames[place + 1 :]]
        rule = self._rules[name]
        for of, subject, state, version in transitions(frames, rule, now):
            self._expected.append((of, subject, state, self._version(rule["when"], version)))

    def _version(self, when: str, version: int) -> int:
        """Return a version, or the newest version of its moment for rules that are about times.

        It does not matter whether a time is reached by the first or by the last commit of its moment, and
        a move of just the threshold may reach it one commit later by the digits that HTTP has.
        """
        if when not in {"kickoff", "move"}:
            return version
        frames = self._board.frames
        at = next(frame.at for frame in frames if frame.version == version)
        return max(frame.version for frame in frames if frame.at == at)

    def _check(self) -> None:
        self._tick(self._board.now.mono + 1e-9)
        for name in self._rules:
            self._expect(name)
        told = Counter(
            (each.rule, each.subject, str(each.state), self._version(each.when, each.version))
            for each in self._told
        )
        expected = Counter(self._expected)
        self._lived.told.update(f"{each.when} {each.state}" for each in self._told)
        for kind, some in (("not told", expected - told), ("false", told - expected)):
            self._lived.wrong += [f"{self._seed}: {kind}: {each}; {self._rules}" for each in sorted(some)]
        if len({each.id for each in self._told}) < len(self._told):
            self._lived.wrong.append(f"{self._seed}: two alerts have one id")


def _made(rules: dict[str, Json]) -> list[MatchRule]:
    made: Any = [msgspec.convert(rule, RULES[rule["when"]]) for rule in rules.values()]
    return made  # type: ignore[no-any-return]


def lives(seed: str, count: int) -> Lived:
    """Return the outcome of `count` lives."""
    lived = Lived()
    for number in range(count):
        Life(Random(f"{seed} {number}"), f"{seed} {number}", lived).run()
    return lived
