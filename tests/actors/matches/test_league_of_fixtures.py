"""A fixture has one league, however its sources label it."""

from __future__ import annotations

import pytest

from actors.matches.leagues import FixtureLeague, league_of_fixture
from tests.support.builders.fixtures import ALDER, BIRCH, LinkedBoard
from tests.support.builders.messages import batch, match


@pytest.mark.parametrize(
    ("first", "second", "league"),
    [
        ("Premier League", "EPL", FixtureLeague("eng.1", "england")),
        ("EPL", "English Premier League", FixtureLeague("eng.1", "england")),
        ("Division Nine", "England - Division Nine", FixtureLeague("england:divisionnine", "england")),
        ("UNAF Club Cup", "UNAF Club Cup 2026", FixtureLeague("international:unafclubcup", None)),
        ("A-League Men", None, FixtureLeague("aus.1", "australia")),
        ("Categoría Primera A", "Categoria Primera A", FixtureLeague("col.1", "colombia")),
        ("NPL Victoria", "Australia - NPL Victoria", FixtureLeague("aus.npl.vic", "australia")),
        ("Bundesliga", None, FixtureLeague(":Bundesliga", None)),
        ("Ligue 2", None, FixtureLeague(":Ligue 2", None)),
        ("Ligue 2", "French Ligue 2", FixtureLeague("fra.2", "france")),
        ("World Cup 2026", "FIFA World Cup", FixtureLeague("fifa.wc", None)),
        ("Division Nine", None, FixtureLeague(":Division Nine", None)),
        (None, None, FixtureLeague(":", None)),
    ],
)
def test_league_is_what_any_source_knows_of_it(
    first: str | None, second: str | None, league: FixtureLeague
) -> None:
    """A competition of the tables is preferred to a label with a country, and this to another label."""
    board = LinkedBoard()
    home, away = ("Arsenal", "Chelsea") if first == "Premier League" else ("Home", "Away")
    board.apply(batch([match("a", league=first, home=home, away=away)], bookmaker=ALDER))
    board.apply(batch([match("b", league=second, home=home, away=away)], bookmaker=BIRCH))
    board.link()

    (fixture,) = board.fixtures()

    assert league == league_of_fixture(fixture)
