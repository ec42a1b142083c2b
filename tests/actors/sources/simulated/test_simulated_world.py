"""The simulated matches in several sources: estimates, delays, boosts, absences, spellings, links."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import SourceError
from actors.core.messages import Extract, Match, Scope, SourceMatchId
from actors.matching.event import Event
from actors.matching.leagues import league_of
from actors.source_api.kinds import Machine
from actors.sources.simulated.kind import KIND, SimulatedMachine, SimulatedOptions
from actors.sources.simulated.names import LEAGUES, Spelling, spelled
from tests.support.builders.events import event, groups

WALL = 1_763_820_000.0  # a Saturday, 14:00 UTC
KEYS = ("sharp", "standard", "wide")
HOUR = 3600


def _machine(*keys: str, began_s: float = 0.0, **options: object) -> Machine:
    chosen = SimulatedOptions(kind="simulated", **options)  # type: ignore[arg-type]  # named options
    return KIND.start(chosen, keys or KEYS, Instant(began_s, WALL + began_s))


def _advanced(machine: Machine, seconds: float) -> Mapping[str, Extract]:
    return run_now(machine.advance(Instant(seconds, WALL + seconds)))


def _image(machine: Machine, seconds: float) -> Mapping[str, Extract]:
    _advanced(machine, seconds)
    return machine.image()


def _by_id(extract: Extract) -> dict[str, Match]:
    return {match.source_match_id: match for match in extract.matches}


def _names(extract: Extract) -> list[str]:
    return [*_by_id(extract), *(removal.source_match_id for removal in extract.removals)]


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**64),
    began_s=st.floats(0.0, 30 * HOUR),
    later_s=st.floats(0.0, 3 * HOUR),
    updates_per_s=st.sampled_from([0.5, 5.0, 500.0]),
)
@example(  # a change that the slowest bookmaker sees a moment after the other start
    seed=595188539758487024, began_s=0.2210914713699501, later_s=6374.651446886703, updates_per_s=500.0
)
def test_start_of_a_source_does_not_affect_its_prices(
    seed: int, began_s: float, later_s: float, updates_per_s: float
) -> None:
    """Prices depend on options and time, not on the start or on earlier calls."""
    early, late = (
        _machine(seed=seed, matches=25, updates_per_s=updates_per_s, began_s=began)
        for began in (0.0, began_s)
    )
    end = began_s + later_s
    for machine, times in ((early, (0.0, began_s / 2, end - 5.0, end)), (late, (began_s, end))):
        for seconds in times:
            _advanced(machine, max(seconds, 0.0))

    assert early.image() == late.image()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(), seconds=st.floats(0.0, 1e8), key=st.sampled_from([*KEYS, "wide-7"]))
def test_any_options_are_valid_at_any_time(seed: int, seconds: float, key: str) -> None:
    """Prices are from 1.01 to 201, book sums pass the integrity gate, and ids are unique."""
    listed = _image(_machine(key, seed=seed, matches=60), seconds)[key]
    names = _names(listed)

    assert len(set(names)) == len(names) == 60
    assert all(1.01 <= price <= 201.0 for match in listed.matches for price in match.prices)
    assert all(0.95 <= sum(1 / price for price in match.prices) <= 1.40 for match in listed.matches)


def test_spellings_change_ids_and_names_only() -> None:
    """The same matches have the same prices and order, other ids, and partly other names."""
    lists = {
        spelling: _image(_machine("sharp", spelling=spelling), 0.0)["sharp"].matches
        for spelling in Spelling
    }
    plain = lists[Spelling.PLAIN]

    for other in (Spelling.SHORT, Spelling.FORMAL):
        pairs = list(zip(plain, lists[other], strict=True))
        assert [(a.prices, a.start_time) for a, _ in pairs] == [(b.prices, b.start_time) for _, b in pairs]
        assert {a.source_match_id for a, _ in pairs} & {b.source_match_id for _, b in pairs} == set()
        assert 0.2 < sum((a.home, a.away) != (b.home, b.away) for a, b in pairs) / len(pairs) < 0.95
        assert sum(a.league != b.league for a, b in pairs) > 0.2 * len(pairs)


@pytest.mark.parametrize("spelling", Spelling)
def test_league_is_known_in_each_spelling(spelling: Spelling) -> None:
    """A match that only one source lists has the same heading as its league's other matches."""
    names = [name for _, _, several in LEAGUES for name in several.split(",")]

    leagues = [league_of(Scope(""), spelled(name, spelling), teams=("Home", "Away")) for name in names]

    assert [league_of(Scope(""), name).key for name in names] == [league.key for league in leagues]
    assert all(league.is_known for league in leagues)


@pytest.mark.long
def test_source_lists_a_share_of_the_matches() -> None:
    """A source lists about the share `coverage` of the matches, each until its end or not at all."""
    whole, part = _machine("wide", matches=1000), _machine("wide", matches=1000, coverage=0.7)
    everything, some = _image(whole, 0.0)["wide"], _image(part, 0.0)["wide"]

    few = {(it.home, it.away) for it in _image(_machine("wide", matches=100), 0.0)["wide"].matches}
    assert few <= {(it.home, it.away) for it in everything.matches}  # whatever the number of matches is
    assert 0.6 < len(some.matches) / len(everything.matches) < 0.8
    assert set(some.matches) < set(everything.matches)
    mentioned = set(_names(some))
    for hour in range(1, 13):
        changes = _advanced(part, hour * 3600.0)["wide"]
        assert {
            removal.source_match_id for removal in changes.removals if removal.reason == "finished"
        } <= mentioned
        mentioned |= set(_names(changes))


@pytest.mark.parametrize("seed", [1, 2])
def test_bookmaker_is_absent_for_a_minute(seed: int) -> None:
    """Once in each period the bookmaker fails for 60 s, not in the first five minutes; then it is back."""
    machine, away = (
        _machine("wide", seed=seed, matches=20, updates_per_s=1.0, away_every_s=600.0),
        list[int](),
    )
    reasons = set[str]()
    for second in range(2 * HOUR):
        try:
            _advanced(machine, float(second))
        except SourceError as error:
            reasons.add(error.reason)
            away.append(second)
    starts = [second for second in away if second - 1 not in away]

    assert (300 <= min(away), reasons) == (True, {"away"})
    assert 10 <= len(starts) <= 13
    assert 60 * (len(starts) - 1) <= len(away) <= 60 * len(starts)
    untouched = _machine("wide", seed=seed, matches=20, updates_per_s=1.0)
    assert _image(untouched, 2.0 * HOUR) == _image(machine, 2.0 * HOUR)


DEFAULT = Path(__file__).parents[4] / "config" / "default.toml"
NOON = 1_795_890_000.0
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
    machines, lists = _machines(NOON), Lists()
    for second in range(0, seconds, every_s):
        for key, machine in machines.items():
            run_now(machine.advance(Instant(float(second), NOON + second)))
            lists[key] = {_place(it.source_match_id): it for it in machine.image()[key].matches}
        yield lists


def _place(match_id: SourceMatchId) -> str:
    """Return the part that the ids of all sources share: the time of listing and the slot."""
    bits = {"s": 0, "x": 173_561, "m": 94_207}[match_id[0]]
    return f"{match_id[1:8]} {int(match_id[8:]) ^ bits}"


def _surebets(lists: Lists) -> list[float]:
    """Return the gain of each match whose best prices win with every result."""
    found = []
    for place in set().union(*lists.values()):
        prices = [every[place].prices for every in lists.values() if place in every]
        total = sum(1 / max(of_outcome) for of_outcome in zip(*prices, strict=True))
        if total < 1:
            found.append(1 / total - 1)
    return found


def test_the_demo_has_a_surebet_at_most_times() -> None:
    """Most times of an hour have a surebet, the first two minutes too; no gain is too high to believe."""
    found = [_surebets(lists) for lists in _through(HOUR_S, 30)]

    assert sum(map(bool, found)) > 0.9 * len(found)
    assert any(found[:4])
    assert max(gain for gains in found for gain in gains) < 0.10


def test_a_boost_depends_on_the_time_alone() -> None:
    """A source that starts later shows the same prices."""
    *_, lists = _through(210, 10)
    for key, machine in _machines(NOON + 200).items():
        run_now(machine.advance(Instant(0.0, NOON + 200)))

        assert lists[key] == {_place(it.source_match_id): it for it in machine.image()[key].matches}


OF_SPELLING = {Spelling.PLAIN: "sharp", Spelling.FORMAL: "standard", Spelling.SHORT: "wide"}


def _listed(spelling: Spelling, seed: int) -> list[Event]:
    """Return the matches that a source lists, in the order of the world."""
    options = SimulatedOptions(kind="simulated", seed=seed, matches=240, spelling=spelling)
    machine = KIND.start(options, (OF_SPELLING[spelling],), Instant(0.0, WALL))
    run_now(machine.advance(Instant(0.0, WALL)))
    return [_event(spelling, match) for match in machine.image()[OF_SPELLING[spelling]].matches]


def _event(spelling: Spelling, match: Match) -> Event:
    home, draw, away = 1 / match.home_price, 1 / match.draw_price, 1 / match.away_price
    total = home + draw + away
    return event(
        spelling.value,
        match.home,
        match.away,
        match.league,
        match_id=match.source_match_id,
        start=match.start_time,
        chances=(home / total, draw / total, away / total),
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_match_of_the_demo_is_one_fixture(seed: int) -> None:
    """Each of the three demo sources spells names in its own way, and leaves some team names empty."""
    every = [_listed(spelling, seed) for spelling in OF_SPELLING]
    named = [
        together
        for together in zip(*every, strict=True)
        if all(listed.home and listed.away for listed in together)
    ]
    found = groups(*(listed for together in named for listed in together))

    assert {frozenset(listed.key for listed in together) for together in named} == {
        frozenset(member.key for member in group) for group in found
    }
