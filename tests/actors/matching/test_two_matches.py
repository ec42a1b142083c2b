"""Two matches that look like one are never linked: crossed teams, other competitions, other classes."""

from __future__ import annotations

import pytest

from tests.support.builders.events import EVEN, SATURDAY, event, groups

DAY, HOUR = 86_400, 3600


@pytest.mark.parametrize(
    ("home", "away", "league"),
    [
        ("Al Ahli Jeddah", "Al Ittihad Jeddah", "Saudi Arabia - Pro League"),
        ("USM Alger", "MC Alger", "Algeria - Ligue 1"),
        ("Hanoi", "Hanoi Police", "Vietnam - V League"),
        ("Adelaide City", "Adelaide Comets", "Australia - NPL South Australia"),
        ("Wydad Fes", "Wydad Casablanca", "Morocco - Botola"),
        ("Vancouver FC", "Vancouver Whitecaps", "Canada - Championship"),
    ],
)
@pytest.mark.parametrize("label", [True, False])
def test_a_match_is_not_that_with_home_and_away_crossed(
    home: str, away: str, league: str, *, label: bool
) -> None:
    """Names that resemble each other fit both ways; also where the tables have one club for both."""
    chances = (0.37, 0.28, 0.35)
    crossed = [
        event("a", home, away, league if label else None, chances=chances),
        event("b", away, home, league if label else None, chances=chances),
    ]
    straight = [event(source, home, away, league, chances=chances) for source in "ab"]

    assert ((), 1) == (groups(*crossed), len(groups(*straight)))


@pytest.mark.parametrize(
    ("home", "away", "league", "other"),
    [
        ("Kaizer Chiefs", "Orlando Pirates", "South Africa Premiership", "South Africa - Diski Challenge"),
        ("Slavia Praha", "Sparta Praha", "Czech Republic - Chance Liga", "Czech Republic - 1. liga žen"),
        ("Selangor", "Kedah", "Malaysia - Super League", "Malaysia - MFL Cup"),
        ("Lyon", "Paris SG", "France - Ligue 1", "France - Première Ligue"),
        ("Real Madrid", "Barcelona", "Spain - La Liga", "Spain - Copa de la Reina"),
        ("Brondby", "Nordsjaelland", "Denmark - Superliga", "Denmark - Elitedivisionen"),
    ],
)
@pytest.mark.parametrize("late_s", [HOUR, DAY, 2 * DAY])
def test_two_labels_that_differ_are_no_moved_match(
    home: str, away: str, league: str, other: str, late_s: int
) -> None:
    """One country is not enough: women, reserves and cups have labels of which nobody knows all."""
    pair = [
        event("a", home, away, league, chances=EVEN),
        event("b", home, away, other, start=SATURDAY + late_s, chances=EVEN),
    ]

    assert () == groups(*pair)
