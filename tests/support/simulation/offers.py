"""The offers of the simulated bookmakers, and the two kinds of source that carry them.

A list of the polled source names its matches by scope and number; its body has all bookmakers of the
source. All sources list the same real matches, each under spellings of its own. The rows that must be
rejected are made here as well, so that the model knows what may be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError, SourceError
from actors.core.messages import BookmakerId, Extract, Match, Payload, Removal, Scope, SourceMatchId
from actors.source_api.kinds import PolledKind, TickingKind
from actors.source_api.options import PolledOptions, SourceOptions
from actors.source_api.plan import Target, every
from tests.support.systems import site

SIZES = {Scope("a"): 42, Scope("b"): 7}
"""Matches in each scope of the polled source; only the larger scope can lose enough to be doubted."""
TICKED, AGAIN = Scope("ticked"), Scope("again")
"""The scopes of the two ticking sources."""
TICK_S = 120.0
DOGWOOD = BookmakerId("dogwood")
NAMES = {**site.NAMES, DOGWOOD: "Dogwood"}
BAD_PRICES: tuple[Any, ...] = ("nan", "2,50", 0, 1.0, 0.99, -2, True, None, 1e308, [], {"price": 2.0})
KEYS = ("A", "B")
CRASH = "crash"

_SPELLINGS = {TICKED: 1, AGAIN: 2}
_CLUBS = [
    (name, *others.split("|"))
    for line in Path("actors/naming/data/aliases_seed.tsv").read_text("utf-8").splitlines()[1:]
    for _, name, others in [line.split("\t")]
]

Row = tuple[str, str, str | None, tuple[float, float, float], int | None]
"""A match as readers see it: home, away, league, prices, start."""
Rows = dict[str, Row]


class Listed(NamedTuple):
    """One complete list of a scope: by bookmaker key the rows that may be shown, and the body."""

    serial: int
    rows: Mapping[str, Rows]
    named: Mapping[str, frozenset[str]]  # names of all rows; rejected rows are not lost
    body: bytes


class Calendar:
    """The real matches by number: their teams and kick-offs, equal for all bookmakers."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._starts: dict[int, int | None] = {}
        self._first = 1

    def first(self, wall: float) -> int:
        """Return the lowest number of a match that is not over."""
        while is_over(self._start(self._first, wall), wall):
            self._first += 1
        return self._first

    def row(self, number: int, scope: str, wall: float) -> Row:
        """Return a match as a scope lists it; now and then a youth match, moved, or without a name."""
        random, start, spelling = self.random, self._start(number, wall), _SPELLINGS.get(Scope(scope), 0)
        home, away = (clubs[spelling % len(clubs)] for clubs in _pair(number))
        roll = random.random()
        if roll < 0.08:
            home = f"{home} U21" if roll < 0.04 else ""
        if roll > 0.9 and start is not None:
            start += random.choice((-1800, 600, 3600, 90_000))
        league = "Pokal ö" if number % 50 == 0 else random.choice(("League", None))
        return home, away, league, _prices(random), start

    def _start(self, number: int, wall: float) -> int | None:
        if number not in self._starts:
            is_known = self.random.random() > 0.1
            start = int(wall + self.random.uniform(-3600, 30 * 3600)) if is_known else None
            self._starts[number] = start
        return self._starts[number]


class Machine:
    """A ticking bookmaker's matches in a form that survives its actor; `advance` returns the changes."""

    interval_s = TICK_S

    def __init__(self, ticker: Ticker, keys: tuple[str, ...]) -> None:
        self.scope = ticker.scope
        self._ticker = ticker
        self._keys = keys
        self._known: Rows = {}

    def image(self) -> Mapping[str, Extract]:
        """Return the whole list."""
        return self._all(Extract(tuple(_match(name, row) for name, row in self._known.items())))

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return the changes since the last call. Raises: SourceError while the bookmaker is away."""
        yield
        rows = self._ticker.tick(now)
        new = [_match(name, row) for name, row in rows.items() if self._known.get(name) != row]
        gone = [Removal(SourceMatchId(name), "withdrawn") for name in self._known if name not in rows]
        self._known = dict(rows)
        return self._all(Extract(tuple(new), tuple(gone)))

    def _all(self, extract: Extract) -> Mapping[str, Extract]:
        return dict.fromkeys(self._keys, extract)


class Ticker:
    """A ticking bookmaker with its present matches; `on_tick` is called with each list that it gives."""

    def __init__(self, random: Random, calendar: Calendar, scope: Scope) -> None:
        self.random = random
        self.calendar = calendar
        self.scope = scope
        self.rows: Rows = {}
        self.is_away = False
        self.crashes = 0
        self.on_tick: Callable[[Rows], None] = lambda _: None

    def tick(self, now: Instant) -> Rows:
        """Return the list at `now`, a little changed. Raises: SourceError, or RuntimeError for a bug."""
        if self.crashes:
            self.crashes -= 1
            raise RuntimeError("the machine broke")
        if self.is_away:
            raise SourceError("away", "away")
        self.rows = changed(self.rows, self.calendar, self.scope, 40, now.wall)
        self.on_tick(self.rows)
        return self.rows

    def kind(self) -> TickingKind:
        """Return the kind of source of this bookmaker."""
        return TickingKind(
            f"ticker-{self.scope}",
            SourceOptions,
            _any_key,
            lambda _options, keys, _now: Machine(self, keys),
        )


def changed(rows: Rows, calendar: Calendar, scope: str, size: int, wall: float) -> Rows:
    """Return a list after some time: finished matches leave, new ones come up to `size`, prices move."""
    random = calendar.random
    kept = {name: row for name, row in rows.items() if not is_over(row[4], wall)}
    for name in random.sample(sorted(kept), min(len(kept), random.choice((0, 0, 1, 3)))):
        home, away, league, _, start = kept[name]
        kept[name] = (home, away, league, _prices(random), start)
        if random.random() < 0.2:  # another spelling
            kept[name] = calendar.row(int(name.rpartition("-")[2]), scope, wall)
    last = max((int(name.rpartition("-")[2]) for name in rows), default=calendar.first(wall) - 1)
    for number in count(last + 1):
        if len(kept) >= size:
            return kept
        if not is_over((row := calendar.row(number, scope, wall))[4], wall):
            kept[f"{scope}-{number}"] = row
    raise AssertionError("numbers end")


def is_over(start: int | None, wall: float) -> bool:
    """Return whether bookmakers have taken a match off their lists."""
    return start is not None and start <= wall - 9000


def listed(serial: int, rows: Mapping[str, Rows], random: Random, faults: float) -> Listed:
    """Return the list of these rows; a share `faults` of lists has bad rows, duplicates or odd names."""
    shown = {key: dict(of_one) for key, of_one in rows.items()}
    written: dict[str, list[Any]] = {
        key: [[name, *row] for name, row in of_one.items()] for key, of_one in rows.items()
    }
    named = {key: frozenset(of_one) for key, of_one in rows.items()}
    for key, items in written.items():
        if items and random.random() < faults:
            bad = items[random.randrange(len(items))]
            prices = list(bad[4])
            prices[random.randrange(3)] = random.choice(BAD_PRICES)
            bad[4] = prices
            del shown[key][bad[0]]
        if items and random.random() < faults:  # of two equal ids the last one counts
            again = random.choice(items)
            if again[0] in shown[key]:
                items.insert(
                    random.randrange(items.index(again) + 1), [*again[:4], (2.5, 3.2, 2.9), again[5]]
                )
    return Listed(serial, shown, named, msgspec.json.encode({"serial": serial, **written}))


class Reader:
    """The code of the polled kind; `crashed` counts how often the same bytes crashed the same actor."""

    def __init__(self) -> None:
        self.crashed: Counter[tuple[str, int]] = Counter()

    def kind(self) -> PolledKind:
        """Return the kind of the polled source."""
        targets = tuple(Target(scope, f"http://127.0.0.1:9/{scope}") for scope in SIZES)
        plan = every(lambda _: targets)
        return PolledKind("lists", PolledOptions, _any_key, plan, self.decode, self.extract)

    def decode(self, payload: Payload, options: PolledOptions) -> Sliced[Any]:
        """Read a body. Raises: PayloadError; RuntimeError if the body is made to crash the reader."""
        del options
        yield
        try:
            content = msgspec.json.decode(payload.body)
        except UNREADABLE as error:
            raise PayloadError(f"not a list: {error}") from error
        if not isinstance(content, dict):
            raise PayloadError(f"was {type(content).__name__}, must be an object")
        self._crash(content, "decode")
        return content

    def extract(self, content: Any, key: str, options: PolledOptions) -> Sliced[Extract]:
        """Read one bookmaker's part. Raises: PayloadError; RuntimeError if the body is made to crash it."""
        del options
        yield
        self._crash(content, key)
        if not isinstance(content.get(key), list):
            raise PayloadError(f"{key} was {type(content.get(key)).__name__}, must be an array")
        matches: list[Match] = []
        removals: list[Removal] = []
        for name, home, away, league, prices, start in content[key]:
            if all(type(price) is float for price in prices):
                matches.append(_match(name, (home, away, league, prices, start)))
            else:
                removals.append(Removal(SourceMatchId(name), "price"))
        return Extract(tuple(matches), tuple(removals))

    def _crash(self, content: dict[str, Any], where: str) -> None:
        if content.get(CRASH) == where:
            self.crashed[where, content["serial"]] += 1
            raise RuntimeError(f"{where} broke")


def _match(name: str, row: Row) -> Match:
    home, away, league, prices, start = row
    return Match(SourceMatchId(name), home, away, league, *prices, start)


def _pair(number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the spellings of both teams; each club plays again after a day or more."""
    return _CLUBS[2 * number % len(_CLUBS)], _CLUBS[(2 * number + 1) % len(_CLUBS)]


def _prices(random: Random) -> tuple[float, float, float]:
    """Return prices that mostly agree with others; now and then one allows a surebet, or is far off."""
    prices = [
        random.randrange(220, 260) / 100,
        random.randrange(310, 340) / 100,
        random.randrange(230, 280) / 100,
    ]
    roll = random.random()
    if roll < 0.03:
        prices = [9.0, 5.0, 1.35]
    elif roll < 0.2:
        high = random.randrange(3)
        prices[high] = round(prices[high] * 1.25, 2)
    home, draw, away = prices
    return home, draw, away


def _any_key(key: str) -> None:
    del key
