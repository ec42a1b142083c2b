"""The share of labelled pairs that linking finds, and that it links no pair wrongly."""

from __future__ import annotations

import csv
from random import Random

import pytest

from actors.core.messages import SourceName
from actors.matching.event import EventKey
from tests.support.builders.events import groups
from tests.support.labelled import HARDER, LINKS, WEEKS, event_of, measured, replaced, spellings, week

pytestmark = pytest.mark.recordings


@pytest.mark.parametrize("name", WEEKS)
def test_a_single_cold_list(name: str) -> None:
    """Each week alone, without memory: recall at least 0.94, precision at least 0.999."""
    found = measured(week(name))

    assert found.recall >= 0.94
    assert len(found.wrong) <= 0.001 * len(found.found)


@pytest.mark.parametrize("way", HARDER)
def test_a_harder_week_has_hardly_a_wrong_link(way: str, *, is_long: bool) -> None:
    """Twins, moved kick-offs, no leagues, double headers, more sources: at most 1 wrong link in 4,000."""
    weeks = WEEKS if is_long else WEEKS[1:2]
    found = [measured(HARDER[way](week(name), Random(name))) for name in weeks]

    assert [] == [result.wrong for result in found if result.wrong]
    assert sum(result.right for result in found) >= 0.94 * sum(
        len(result.labelled.pairs) for result in found
    )


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", HARDER)
def test_harder_weeks_have_hardly_a_wrong_link(way: str, *, is_whole: bool) -> None:
    """The same holds over 10 random weeks of each kind (with `--whole` 20)."""
    seeds = range(20 if is_whole else 10)
    found = [
        measured(HARDER[way](week(name), Random(f"{name} {seed}"))) for name in WEEKS for seed in seeds
    ]

    assert sum(len(result.wrong) for result in found) <= sum(len(result.found) for result in found) / 4000


def test_the_hard_cases() -> None:
    """Each pair that was made by hand is linked or not, as the table says."""
    with (LINKS / "cases.csv").open(encoding="utf-8") as lines:
        cases = list(csv.DictReader(lines))

    linked = {row["case"]: bool(groups(event_of(row, "a"), event_of(row, "b"))) for row in cases}

    wanted = {"link": {True}, "no": {False}, "unsure": {True, False}}
    assert [] == [
        (row["case"], row["why"]) for row in cases if linked[row["case"]] not in wanted[row["want"]]
    ]


@pytest.mark.parametrize("name", WEEKS)
def test_the_names_of_sources_mean_nothing(name: str) -> None:
    """Other names of the sources and another order of the lists make the same groups."""
    labelled = week(name)
    names = {"football_data": "z", "footystats": "b", "openfootball": "b"}
    keys = {
        candidate.key: EventKey(SourceName(names[candidate.source]), candidate.source_match_id)
        for candidate in labelled.events
    }
    renamed = tuple(replaced(event, key=keys[event.key]) for event in labelled.events)

    found = measured(replaced(labelled, events=renamed[::-1]))

    expected = {frozenset(key.source_match_id for key in pair) for pair in measured(labelled).found}
    assert expected == {frozenset(key.source_match_id for key in pair) for pair in found.found}


@pytest.mark.parametrize(("table", "least"), [("spellings", 0.98), ("more_spellings", 0.93)])
@pytest.mark.parametrize("options", [{}, {"is_plain": True}, {"is_labelled": False}])
def test_spellings_of_the_world(table: str, least: float, options: dict[str, bool]) -> None:
    """The pairs are of leagues of all countries, with labels, with plain labels on one side, or without."""
    found = measured(spellings(Random(table), table, **options))

    assert found.recall >= least
    assert [] == found.wrong
