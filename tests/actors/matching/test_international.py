"""Competitions of several countries have no country in their labels; one label is one competition."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.core.messages import Scope
from tests.support.builders.events import SATURDAY, event, groups

DAY = 86_400
NATIONS = ("Turkey", "Paraguay"), ("Türkiye", "Paraguay")
CLUBS = ("Al Ahly", "Palmeiras"), ("Al Ahly Cairo", "SE Palmeiras")
Teams = tuple[tuple[str, str], tuple[str, str]]


def _is_linked(teams: Teams, label: str, other: str) -> bool:
    """Return whether matches with these labels are linked though one source is a day late."""
    return bool(
        groups(event("a", *teams[0], label), event("b", *teams[1], other, start=SATURDAY + DAY - 3600))
    )


@pytest.mark.parametrize(
    ("teams", "label", "other"),
    [
        (NATIONS, "FIFA World Cup", "FIFA World Cup"),
        (NATIONS, "FIFA World Cup", "World Cup 2026"),
        (NATIONS, "FIFA World Cup", "World - World Cup - Group D"),
        (NATIONS, "FIFA World Cup Qualifiers - Europe", "Europe - World Cup 2026 Qualification"),
        (NATIONS, "Africa Cup of Nations", "African Nations Cup"),
        (NATIONS, "UEFA Euro Qualification", "Euro 2028 Qualifying"),
        (NATIONS, "Baltic Cup", "Baltic Cup"),
        (NATIONS, "Merdeka Tournament", "Merdeka Tournament"),
        (NATIONS, "CONMEBOL-UEFA Finalissima", "Finalissima"),
        (NATIONS, "Olympics - Football", "Olympic Games - Men"),
        (CLUBS, "FIFA Club World Cup", "Club World Cup 2025"),
        (CLUBS, "UEFA Champions League", "UEFA Champions League 2025/26"),
        (CLUBS, "CAF Champions League", "Africa - CAF Champions League"),
        (CLUBS, "Copa Libertadores", "South America - Copa Libertadores"),
        (CLUBS, "Copa Libertadores", "CONMEBOL Libertadores"),
        (CLUBS, "CONMEBOL Sudamericana", "International Clubs - Copa Sudamericana"),
        (CLUBS, "GCC Champions League", "Gulf Club Champions League"),
        (CLUBS, "African Football League", "CAF African Football League"),
        (CLUBS, "Campeones Cup", "Campeones Cup 2026"),
        (CLUBS, "UNAF Club Cup", "UNAF Club Cup"),
        (CLUBS, "UEFA Women's Champions League", "UEFA Champions League Women"),
    ],
)
def test_labels_of_one_competition_of_several_countries_are_one_league(
    teams: Teams, label: str, other: str
) -> None:
    """The table joins labels, or a federation's name, or (if countries play) the competition's name."""
    assert _is_linked(teams, label, other)


@pytest.mark.parametrize(
    ("teams", "label", "other"),
    [
        (NATIONS, "FIFA World Cup", "FIFA World Cup Qualifiers - Europe"),
        (NATIONS, "FIFA World Cup", "FIFA Women's World Cup"),
        (NATIONS, "UEFA Nations League", "CONCACAF Nations League"),
        (NATIONS, "UEFA Euro", "UEFA Euro U21"),
        (NATIONS, "International Friendlies", "International Friendlies"),
        (NATIONS, "FIFA Friendlies", "FIFA Friendlies"),
        (NATIONS, "World", "World"),
        (NATIONS, "Friendly Tournament", "Friendly Tournament"),
        (NATIONS, "Olympics - Football", "Olympics - Football Women"),
        (CLUBS, "Champions League", "Champions League"),
        (CLUBS, "Copa Libertadores", "Copa Libertadores Femenina"),
        (CLUBS, "Baltic Cup", "Baltic Cup"),
        (CLUBS, "CAF Champions League", "AFC Champions League"),
        (CLUBS, "UEFA", "UEFA"),
        (CLUBS, "FIFA 25 Cup", "FIFA 25 Cup"),
    ],
)
def test_two_competitions_of_several_countries_are_two_leagues(
    teams: Teams, label: str, other: str
) -> None:
    """A label of friendlies, of a region or of simulated football is not one competition either."""
    assert not _is_linked(teams, label, other)


@pytest.mark.parametrize(("key", "is_linked"), [("soccer_some_cup", True), ("soccer_other_cup", False)])
def test_key_of_the_odds_api_is_of_one_competition(key: str, *, is_linked: bool) -> None:
    """Two sources of the API have the same key; the label alone may mean two competitions."""
    a, b = event("a", "Qwerty", "Asdfgh", "Some Cup"), event("b", "Qwerty", "Asdfgh", "Some Cup")
    late = replace(b, scope=Scope(key), start_time=SATURDAY + DAY)

    assert is_linked == bool(groups(replace(a, scope=Scope("soccer_some_cup")), late))
