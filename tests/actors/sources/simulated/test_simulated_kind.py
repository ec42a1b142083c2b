"""The simulated source: deterministic, valid in every state, and similar to football."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import msgspec
import pytest

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Extract, Match
from actors.source_api.kinds import Machine
from actors.sources.simulated.bookmaker import FINE, FRACTIONAL, TIERED, Ladder
from actors.sources.simulated.kind import KIND, SimulatedOptions
from actors.sources.simulated.world import (
    World,
)

START = Instant(mono=1_000.0, wall=1_763_820_000.0)  # a Saturday, 14:00 UTC
KEYS = ("sharp", "standard", "wide")
HOUR = 3600.0
ROOT = Path(__file__).parents[4]


class _AtOnce:
    """A machine whose calls run at once, and that has had its first call."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.advance(START)

    def image(self) -> Mapping[str, Extract]:
        return self._machine.image()

    def advance(self, now: Instant) -> Mapping[str, Extract]:
        return run_now(self._machine.advance(now))


def _started(*keys: str, seed: int = 1, matches: int = 240, updates_per_s: float = 20.0) -> _AtOnce:
    options = SimulatedOptions(kind="simulated", seed=seed, matches=matches, updates_per_s=updates_per_s)
    return _AtOnce(KIND.start(options, keys or KEYS, START))


def _after(seconds: float) -> Instant:
    return Instant(START.mono + seconds, START.wall + seconds)


def _book_sum(match: Match) -> float:
    return sum(1 / price for price in match.prices)


def _largest_move(old: Match, new: Match) -> float:
    return max(abs(after / before - 1) for before, after in zip(old.prices, new.prices, strict=True))


def _removed(change: Extract, reason: str) -> set[str]:
    return {removal.source_match_id for removal in change.removals if removal.reason == reason}


def _applied(shown: dict[str, Match], change: Extract) -> dict[str, Match]:
    gone = {removal.source_match_id for removal in change.removals}
    kept = {name: match for name, match in shown.items() if name not in gone}
    return kept | {match.source_match_id: match for match in change.matches}


def test_image_is_the_same_in_another_process() -> None:
    """The image does not depend on the process, in particular not on its string hashes."""
    script = (
        "import msgspec; from actors.core.clock import Instant\n"
        "from actors.sources.simulated import kind as s\n"
        "from actors.core.cooperative import run_now\n"
        "o = s.SimulatedOptions(kind='simulated', matches=30)\n"
        f"machine = s.KIND.start(o, {KEYS}, Instant({START.mono}, {START.wall}))\n"
        f"run_now(machine.advance(Instant({START.mono + 600.0}, 0.0)))\n"
        "print(msgspec.json.encode(machine.image()).decode())"
    )
    other = subprocess.run(  # our own interpreter and a constant script
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )

    machine = _started(matches=30)
    machine.advance(_after(600.0))

    assert other.stdout.strip() == msgspec.json.encode(machine.image()).decode()


def test_prices_depend_on_seed_and_key_alone() -> None:
    """Other keys do not matter; a number in the key makes other estimates for the same matches."""
    alone, among_others = _started("standard"), _started("wide", "standard-2", "standard", "sharp")
    for machine in (alone, among_others):
        machine.advance(_after(HOUR / 2))
    image = among_others.image()
    first, second = image["standard"].matches, image["standard-2"].matches

    assert _started(seed=1).image() != _started(seed=2).image()
    assert alone.image()["standard"] == image["standard"]
    assert [match.source_match_id for match in first] == [match.source_match_id for match in second]
    assert sum(listed.prices != other.prices for listed, other in zip(first, second, strict=True)) > 200


def test_margins_are_those_of_the_styles() -> None:
    """The mean margin is 2.5 % for a sharp book, 5.5 % for a standard one, 8.5 % for a wide one."""
    machine = _started()
    machine.advance(_after(HOUR / 2))
    margins = {key: fmean(map(_book_sum, listed.matches)) - 1.0 for key, listed in machine.image().items()}

    assert margins == pytest.approx({"sharp": 0.025, "standard": 0.055, "wide": 0.085}, abs=0.002)


@pytest.mark.parametrize(("key", "ladder"), [("sharp", FINE), ("standard", TIERED), ("wide", FRACTIONAL)])
def test_each_style_has_its_own_price_steps(key: str, ladder: Ladder) -> None:
    """Every price is one of the style's steps, which go up from 1.01 to 201."""
    listed = {price for match in _started().image()[key].matches for price in match.prices}

    assert listed <= set(ladder)
    assert (1.01, 201.0, sorted(set(ladder))) == (ladder[0], ladder[-1], list(ladder))


@pytest.mark.parametrize("updates_per_s", [0.5, 4.0])
def test_prices_move_at_the_configured_rate(updates_per_s: float) -> None:
    """About `updates_per_s` prices of the sharp bookmaker change in a second; without time none does."""
    machine = _started("sharp", updates_per_s=updates_per_s)
    changed = sum(len(machine.advance(_after(tick * 1.0))["sharp"].matches) for tick in range(1, 1801))

    assert machine.advance(_after(1800.0)) == machine.advance(_after(1.0)) == {"sharp": Extract(())}
    assert 0.75 < changed / 1800 / updates_per_s < 1.3


def test_ended_matches_are_replaced() -> None:
    """As many new matches come; in two days almost all change. An id always means the same match."""
    machine = _started("sharp", matches=120, updates_per_s=0.1)
    first = {match.source_match_id for match in machine.image()["sharp"].matches}
    meaning: dict[str, tuple[str, str, int | None]] = {}
    finished: list[str] = []
    for tick in range(1, 2 * 24 * 6):
        removals = machine.advance(_after(tick * 600.0))["sharp"].removals
        finished += [removal.source_match_id for removal in removals if removal.reason == "finished"]
        image = machine.image()["sharp"]
        assert 120 == len(image.matches) + len(image.removals)
        for match in image.matches:
            content = match.home, match.away, match.start_time
            assert content == meaning.setdefault(match.source_match_id, content)

    assert len(set(finished)) == len(finished) > 120
    assert len(first.difference(finished)) < 40
    assert [name for name in meaning if not re.fullmatch(r"[A-Za-z0-9._~-]{1,128}", name)] == []


def test_suspended_match_comes_back_with_other_prices() -> None:
    """After a goal a match leaves every list, each at its own time, and returns with new prices."""
    machine = _started(updates_per_s=5.0)
    suspended_by: dict[str, set[str]] = {key: set() for key in KEYS}
    shown = _applied({}, machine.image()["wide"])
    suspended: dict[str, Match] = {}
    moved: list[float] = []
    for tick in range(1, 300):
        changes = machine.advance(_after(tick * 10.0))
        for key, change in changes.items():
            suspended_by[key] |= _removed(change, "suspended")
        for match in changes["wide"].matches:
            if match.source_match_id in suspended:
                moved.append(_largest_move(suspended.pop(match.source_match_id), match))  # noqa: PERF401
        gone = {removal.source_match_id for removal in changes["wide"].removals}
        suspended |= {name: match for name, match in shown.items() if name in gone}
        shown = _applied(shown, changes["wide"])

    assert len(moved) > 10
    assert fmean(moved) > 0.2
    sharp, standard, wide = suspended_by.values()
    assert len((sharp | standard | wide) - (sharp & standard & wide)) <= 3


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_some_matches_have_missing_fields(seed: int) -> None:
    """About 2 % have no league, 2 % no start, 0.5 % one empty name, at the start and a day later."""
    for matches, seconds in ((100, 0.0), (1000, 24 * HOUR)):
        machine = _started("sharp", seed=seed, matches=matches, updates_per_s=0.1)
        machine.advance(_after(seconds))
        listed = machine.image()["sharp"].matches

        assert sum(match.league is None for match in listed) == pytest.approx(matches * 0.02, abs=2)
        assert sum(match.start_time is None for match in listed) == pytest.approx(matches * 0.02, abs=2)
        assert sum("" in (match.home, match.away) for match in listed) in range(1, matches // 180 + 2)


@pytest.mark.parametrize("slots", [1, 240, 241, 2000])
def test_there_are_enough_teams_for_all_fixtures(slots: int) -> None:
    """The requested number of fixtures can be made at one moment, at any hour."""
    world = World(1, slots, 1.0)
    for hour in range(0, 24, 6):
        at = int(1000 * (START.wall + hour * HOUR))
        fixtures = [world.fixture(slot, at) for slot in range(slots)]
        teams = Counter(team.number for fixture in fixtures for team in (fixture.home, fixture.away))

        assert (2 * slots, {1}) == (len(teams), set(teams.values()))


@pytest.mark.long
def test_long_gap_has_bounded_work_and_the_same_fixtures() -> None:
    """The number of updates is bounded, and the fixtures do not depend on the calls or on the rate."""
    silent, awake = _started(updates_per_s=100_000.0), _started(updates_per_s=1.0)
    silent.advance(_after(6 * HOUR))  # 2,160 million updates if all were computed
    for tick in range(1, 31):
        awake.advance(_after(6 * HOUR * tick / 30))

    def names(machine: _AtOnce) -> list[tuple[str, str, str]]:
        return [(m.source_match_id, m.home, m.away) for m in machine.image()["wide"].matches]

    assert len(names(silent)) > 200
    assert len(set(names(silent)) ^ set(names(awake))) <= 3  # nearly decided matches may differ


def test_long_gap_ends_with_a_correct_delta() -> None:
    """Matches that began and ended within a gap are in no delta; a list is in the order of its ids."""
    machine = _started("sharp", matches=50)
    first = machine.image()["sharp"]
    before = _applied({}, first)
    known = before.keys() | _removed(first, "suspended")
    change = machine.advance(_after(10 * 24 * HOUR))["sharp"]
    listed = machine.image()["sharp"]

    names = [match.source_match_id for match in listed.matches]
    assert sorted(names) == names
    assert _applied(before, change) == {match.source_match_id: match for match in listed.matches}
    assert _removed(change, "finished") <= known


def test_key_is_a_style_with_an_optional_number() -> None:
    """A hyphen and up to three digits may follow the style; the error says what was found."""
    for key in ["sharp", "standard", "wide", "sharp-1", "wide-999", "standard-007"]:
        KIND.check_key(key)
    wrong = [
        "sharpwide",
        "",
        "Sharp",
        "sharp-",
        "sharp-1234",
        "sharp 1",
        "sharp-1\n",
        "sharp-\u0661",
        "B365",
    ]
    for key in wrong:
        with pytest.raises(ValueError, match=r"must be sharp, standard or wide") as refusal:
            KIND.check_key(key)
        assert repr(key) in str(refusal.value)


def test_options_are_bounded() -> None:
    """The actor ticks once per update, but at least once and at most 10 times a second."""
    for updates_per_s, interval_s in [(1000.0, 0.1), (20.0, 0.1), (4.0, 0.25), (1.0, 1.0), (0.01, 1.0)]:
        options = SimulatedOptions(kind="simulated", matches=1, updates_per_s=updates_per_s)
        machine = KIND.start(options, KEYS, START)
        assert interval_s == pytest.approx(machine.interval_s)
        assert machine.scope == "simulated"
    for name, value in [
        *(("matches", 0), ("matches", 250_001), ("updates_per_s", 0), ("updates_per_s", float("inf"))),
        *(("updates_per_s", float("nan")), ("seed", "one"), ("speed", 2)),
    ]:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"kind": "simulated", name: value}, KIND.options)
