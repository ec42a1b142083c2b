"""What the simulated bookmakers offer, and the two kinds of source that carry it.

A list of the polled source names its matches by scope and number; its body has all bookmakers of the
source. The rows that must be rejected are made here as well, so that the model knows what may be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError, SourceError
from actors.core.messages import Extract, Match, Payload, Removal, Scope, SourceMatchId
from actors.source_api.kinds import PolledKind, TickingKind
from actors.source_api.options import PolledOptions, SourceOptions
from actors.source_api.plan import Target, every

SIZES = {Scope("a"): 42, Scope("b"): 7}
"""Matches that each scope of the polled source lists; only the larger can lose enough to be doubted."""
TICKED = Scope("ticked")
TICK_S = 120.0
BAD_PRICES: tuple[Any, ...] = ("nan", "2,50", 0, 1.0, 0.99, -2, True, None, 1e308, [], {"price": 2.0})
KEYS = ("A", "B")
CRASH = "crash"

Row = tuple[str, str, str | None, tuple[float, float, float], int | None]
"""A match as readers see it: home, away, league, prices, start."""
Rows = dict[str, Row]


class Listed(NamedTuple):
    """One complete list of a scope: by key of the bookmaker the rows that may be shown, and the body."""

    serial: int
    rows: Mapping[str, Rows]
    named: Mapping[str, frozenset[str]]  # with the rejected ones, which are not lost
    body: bytes


class Machine:
    """A view of the ticking bookmaker's matches that survives its actor; `advance` gives what changed."""

    scope = TICKED
    interval_s = TICK_S

    def __init__(self, ticker: Ticker, keys: tuple[str, ...]) -> None:
        self._ticker = ticker
        self._keys = keys
        self._known: Rows = {}

    def image(self) -> Sliced[Mapping[str, Extract]]:
        """Return the whole list."""
        yield
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
    """The ticking bookmaker: its matches now; `on_tick` is called with each list that it gives."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rows: Rows = {}
        self.is_away = False
        self.crashes = 0
        self.on_tick: Callable[[Rows], None] = lambda _: None

    def tick(self, now: Instant) -> Rows:
        """Return the list at `now`; it changes a little. Raises: SourceError, or RuntimeError for a bug."""
        if self.crashes:
            self.crashes -= 1
            raise RuntimeError("the machine broke")
        if self.is_away:
            raise SourceError("away", "away")
        self.rows = changed(self.rows, self.random, TICKED, 40, now.wall)
        self.on_tick(self.rows)
        return self.rows

    def kind(self) -> TickingKind:
        """Return the kind of source of this bookmaker."""
        return TickingKind(
            "ticker", SourceOptions, _any_key, lambda _options, keys, _now: Machine(self, keys)
        )


def changed(rows: Rows, random: Random, scope: str, size: int, wall: float) -> Rows:
    """Return a list after some time: finished matches leave, new ones come up to `size`, prices move."""
    kept = {name: row for name, row in rows.items() if row[4] is None or row[4] > wall - 9000}
    for name in random.sample(sorted(kept), min(len(kept), random.choice((0, 0, 1, 3)))):
        home, away, league, _, start = kept[name]
        kept[name] = (home, away, league, _prices(random), start)
    number = 1 + max((int(name.rpartition("-")[2]) for name in rows), default=0)
    while len(kept) < size:
        kept[f"{scope}-{number}"] = _row(random, number, wall)
        number += 1
    return kept


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
        if items and random.random() < faults:  # the last of two wins
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
        """Read a body. Raises: PayloadError; RuntimeError where the body is made to crash it."""
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
        """Read one bookmaker's part. Raises: PayloadError; RuntimeError where the body is made to."""
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


def _row(random: Random, number: int, wall: float) -> Row:
    start = None if random.random() < 0.1 else int(wall + random.uniform(-3600, 30 * 3600))
    home = "" if random.random() < 0.04 else f"Home {number}"
    league = "Pokal ö" if number % 50 == 0 else random.choice(("League", None))
    return home, f"Away {number}", league, _prices(random), start


def _prices(random: Random) -> tuple[float, float, float]:
    return (
        random.randrange(220, 260) / 100,
        random.randrange(310, 340) / 100,
        random.randrange(230, 280) / 100,
    )


def _any_key(key: str) -> None:
    del key
