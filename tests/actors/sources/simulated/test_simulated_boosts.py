"""Boosts of the demo: nearly always there is a surebet, by prices that a bookmaker might really have."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Match, SourceMatchId
from actors.sources.simulated.kind import SimulatedMachine, SimulatedOptions

DEFAULT = Path(__file__).parents[4] / "config" / "default.toml"
WALL = 1_795_890_000.0
HOUR_S = 3_600
Lists = dict[str, dict[str, Match]]


def _machines(start: float) -> dict[str, SimulatedMachine]:
    """Return the sources of the default configuration by the key of their bookmakers."""
    raw: dict[str, Any] = tomllib.loads(DEFAULT.read_text("utf-8"))
    keys = {entry["source"]: entry["key"] for entry in raw["bookmakers"].values()}
    return {
        keys[name]: SimulatedMachine(
            msgspec.convert({**table, "away_every_s": None}, SimulatedOptions),
            (keys[name],),
            Instant(0.0, start),
        )
        for name, table in raw["sources"].items()
    }


def _through(seconds: int, every_s: int) -> Iterator[Lists]:
    """Yield the lists of all bookmakers as time passes: matches by their places in the world."""
    machines, lists = _machines(WALL), Lists()
    for second in range(0, seconds, every_s):
        for key, machine in machines.items():
            run_now(machine.advance(Instant(float(second), WALL + second)))
            lists[key] = {_place(it.source_match_id): it for it in machine.image()[key].matches}
        yield lists


def _place(match_id: SourceMatchId) -> str:
    """Return what the ids of all sources have in common: the time of listing and the slot."""
    bits = {"s": 0, "x": 173_561, "m": 94_207}[match_id[0]]
    return f"{match_id[1:8]} {int(match_id[8:]) ^ bits}"


def _surebets(lists: Lists) -> list[float]:
    """Return what each match gains whose best prices win whatever happens."""
    found = []
    for place in set().union(*lists.values()):
        prices = [every[place].prices for every in lists.values() if place in every]
        total = sum(1 / max(of_outcome) for of_outcome in zip(*prices, strict=True))
        if total < 1:
            found.append(1 / total - 1)
    return found


def test_the_demo_has_a_surebet_at_most_times() -> None:
    """In an hour, and within two minutes; none gains more than is believed."""
    found = [_surebets(lists) for lists in _through(HOUR_S, 30)]

    assert sum(map(bool, found)) > 0.9 * len(found)
    assert any(found[:4])
    assert max(gain for gains in found for gain in gains) < 0.10


def test_a_boost_depends_on_the_time_alone() -> None:
    """A source that starts later shows the same."""
    *_, lists = _through(210, 10)
    for key, machine in _machines(WALL + 200).items():
        run_now(machine.advance(Instant(0.0, WALL + 200)))

        assert lists[key] == {_place(it.source_match_id): it for it in machine.image()[key].matches}
