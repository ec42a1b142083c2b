"""The simulated matches in several sources: estimates, delays, arbitrages, absences, spellings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import SourceError
from actors.core.messages import Extract, Match
from actors.source_api.kinds import Machine
from actors.sources.simulated.kind import KIND, SimulatedOptions
from actors.sources.simulated.names import Spelling

WALL = 1_763_820_000.0  # a Saturday, 14:00 UTC
KEYS = ("sharp", "standard", "wide")
HOUR = 3600


def _machine(*keys: str, began_s: float = 0.0, **options: object) -> Machine:
    chosen = SimulatedOptions(kind="simulated", **options)  # type: ignore[arg-type]  # given by name
    return KIND.start(chosen, keys or KEYS, Instant(began_s, WALL + began_s))


def _advanced(machine: Machine, seconds: float) -> Mapping[str, Extract]:
    return run_now(machine.advance(Instant(seconds, WALL + seconds)))


def _image(machine: Machine, seconds: float) -> Mapping[str, Extract]:
    _advanced(machine, seconds)
    return machine.image()


def _prices(match: Match) -> tuple[float, float, float]:
    return match.home_price, match.draw_price, match.away_price


def _best_sum(offers: list[Match]) -> float:
    best = [max(_prices(offer)[outcome] for offer in offers) for outcome in range(3)]
    return sum(1 / price for price in best)


def _by_id(extract: Extract) -> dict[str, Match]:
    return {match.source_match_id: match for match in extract.matches}


def _names(extract: Extract) -> list[str]:
    return [*_by_id(extract), *(removal.source_match_id for removal in extract.removals)]


@pytest.mark.long
def test_every_bookmaker_has_some_best_prices() -> None:
    """Within 24 hours each bookmaker has between 10 % and 60 % of the best prices."""
    machine, best = _machine(updates_per_s=1.0), Counter[str]()
    for quarter in range(4 * 24):
        lists = {key: _by_id(extract) for key, extract in _image(machine, quarter * 900.0).items()}
        for name in set.intersection(*(set(shown) for shown in lists.values())):
            offers = {key: _prices(shown[name]) for key, shown in lists.items()}
            for outcome in range(3):
                highest = max(prices[outcome] for prices in offers.values())
                winners = [key for key, prices in offers.items() if prices[outcome] == highest]
                best.update({key: 12 // len(winners) for key in winners})

    shares = {key: best[key] / best.total() for key in KEYS}
    assert all(0.1 <= share <= 0.6 for share in shares.values()), shares


def _arbitrages(seconds: int) -> Iterator[int]:
    """Return the durations, in seconds, of the times at which the best prices were an arbitrage."""
    machine, began = _machine(), dict[str, int]()
    shown: dict[str, dict[str, Match]] = {key: {} for key in KEYS}
    for second in range(seconds):
        touched = set[str]()
        for key, change in _advanced(machine, float(second)).items():
            shown[key] |= _by_id(change)
            touched |= _by_id(change).keys()
            for removal in change.removals:
                shown[key].pop(removal.source_match_id, None)
                touched.add(removal.source_match_id)
        for name in touched:
            offers = [one[name] for one in shown.values() if name in one]
            if len(offers) > 1 and _best_sum(offers) < 1.0:
                began.setdefault(name, second)
            elif name in began:
                yield second - began.pop(name)
    assert all(second - since <= 15 for since in began.values())


@pytest.mark.long
def test_slow_bookmaker_makes_short_arbitrages() -> None:
    """At the default size there is one every few minutes, and it ends when the slowest has followed."""
    lengths = list(_arbitrages(1200))

    assert 2 <= len(lengths) <= 12
    assert 1 <= median(lengths) <= 10
    assert max(lengths) <= 15


@pytest.mark.long
def test_bookmakers_change_at_different_times() -> None:
    """An event of a match changes the sharp bookmaker's prices first and the wide one's last."""
    machine = _machine(matches=100)
    _advanced(machine, 0.0)
    suspended: dict[str, dict[str, float]] = {key: {} for key in KEYS}
    for tick in range(1, 2 * HOUR):
        for key, change in _advanced(machine, tick / 2).items():
            for removal in change.removals:
                if removal.reason == "suspended":
                    suspended[key].setdefault(removal.source_match_id, tick / 2)
    known = set.intersection(*(set(one) for one in suspended.values()))
    behind = {key: [suspended[key][name] - suspended["sharp"][name] for name in known] for key in KEYS}

    assert len(known) > 5
    assert 0.5 <= min(behind["standard"]) <= max(behind["standard"]) <= 6.5
    assert 3.5 <= min(behind["wide"]) <= max(behind["wide"]) <= 15.5
    assert len(set(behind["wide"])) > 3


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


def test_more_matches_include_the_same_ones() -> None:
    """The matches do not depend on how many of them a source lists."""
    few, many = (_image(_machine(matches=count), 60.0)["sharp"] for count in (50, 300))

    names = {(one.home, one.away, one.start_time) for one in many.matches}
    assert {(one.home, one.away, one.start_time) for one in few.matches} - names == set()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(), seconds=st.floats(0.0, 1e8), key=st.sampled_from([*KEYS, "wide-7"]))
def test_any_options_are_valid_at_any_time(seed: int, seconds: float, key: str) -> None:
    """Prices are from 1.01 to 201, book sums pass the integrity gate, and ids are unique."""
    listed = _image(_machine(key, seed=seed, matches=60), seconds)[key]
    names = _names(listed)

    assert len(set(names)) == len(names) == 60
    assert all(1.01 <= price <= 201.0 for match in listed.matches for price in _prices(match))
    assert all(0.95 <= sum(1 / price for price in _prices(match)) <= 1.40 for match in listed.matches)


def test_spellings_change_ids_and_names_only() -> None:
    """The same matches have the same prices and order, other ids, and partly other names."""
    lists = {one: _image(_machine("sharp", spelling=one), 0.0)["sharp"].matches for one in Spelling}
    plain = lists[Spelling.PLAIN]

    for other in (Spelling.SHORT, Spelling.FORMAL):
        pairs = list(zip(plain, lists[other], strict=True))
        assert [(_prices(a), a.start_time) for a, _ in pairs] == [
            (_prices(b), b.start_time) for _, b in pairs
        ]
        assert {a.source_match_id for a, _ in pairs} & {b.source_match_id for _, b in pairs} == set()
        assert 0.2 < sum((a.home, a.away) != (b.home, b.away) for a, b in pairs) / len(pairs) < 0.95
        assert sum(a.league != b.league for a, b in pairs) > 0.2 * len(pairs)


@pytest.mark.long
def test_source_lists_a_share_of_the_matches() -> None:
    """A source lists about that share of the matches, each of them until its end or never."""
    whole, part = _machine("wide", matches=1000), _machine("wide", matches=1000, coverage=0.7)
    everything, some = _image(whole, 0.0)["wide"], _image(part, 0.0)["wide"]

    assert 0.6 < len(some.matches) / len(everything.matches) < 0.8
    assert set(some.matches) < set(everything.matches)
    mentioned = set(_names(some))
    for hour in range(1, 13):
        changes = _advanced(part, hour * 3600.0)["wide"]
        assert {one.source_match_id for one in changes.removals if one.reason == "finished"} <= mentioned
        mentioned |= set(_names(changes))


@pytest.mark.parametrize("seed", [1, 2])
def test_bookmaker_is_absent_for_a_minute(seed: int) -> None:
    """Once in each period it fails for 60 s, never in the first five minutes; then it is back."""
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
