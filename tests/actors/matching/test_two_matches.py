"""Two matches that look like one are never linked: crossed teams, other competitions, other classes."""

from __future__ import annotations

import pytest

from actors.matching.event import Event
from actors.matching.overrides import Overrides, Pair
from actors.matching.rules import Certainty
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


@pytest.mark.parametrize(
    "label",
    [
        *("1. liga žen", "CWSL", "WPSL", "NPLW Victoria", "SheBelieves Cup", "Ligat Nashim"),
        *("Copa de la Reina", "Elitedivisionen", "DStv Diski Challenge", "Kadeti Liga", "Formativas"),
        *("Fuerzas Básicas", "MLS Next", "MFL Cup", "Liga de Tineret", "Elitna Junosheska"),
        *("ESportsBattle", "Virtuals", "Simulation", "EA Sports FC 25", "Cyberfootball", "PES"),
        *("GT Nations League", "eBundesliga", "Legends", "Price Boosts", "Enhanced Odds", "Cards"),
        *("Corner Kicks", "Penalty Shootout", "Draw No Bet"),
    ],
)
def test_marks_of_a_league_keep_its_matches_apart(label: str) -> None:
    """Women, youth, reserves, simulated matches and other markets, at one minute and one price."""
    assert () == groups(event("a", league="Premier League"), event("b", league=label))


def _certainties(*events: Event) -> list[Certainty]:
    """Return how sure each event of the only group is, in order of keys."""
    (group,) = groups(*events)
    return [member.certainty for member in group]


ENGLISH, SURE, PRICED, LIKELY = (
    "England - Premier League",
    Certainty.SURE,
    Certainty.PRICED,
    Certainty.LIKELY,
)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (event("b", league=ENGLISH, start=SATURDAY + 300), [SURE, SURE]),
        (event("b", "Arsenal FC", league=ENGLISH), [SURE, SURE]),
        (event("b", league=ENGLISH, start=SATURDAY + 360), [SURE, LIKELY]),
        (event("b", league=None), [PRICED, PRICED]),
        (event("b", league="England - Some Cup"), [PRICED, PRICED]),
        (event("b", "Arsnal", league=ENGLISH), [SURE, LIKELY]),
    ],
)
def test_sure_are_equal_names_at_one_minute_in_one_league(other: Event, expected: list[Certainty]) -> None:
    """With an unknown league prices have to agree as well."""
    assert expected == _certainties(event("a", league=ENGLISH), other)


def test_members_of_the_sure_core_are_compared_with_each_other() -> None:
    """Two that are each sure with a third, but not with each other, are not both in it."""
    between = event("b", league=ENGLISH, start=SATURDAY + 240)
    late = [event(source, league=ENGLISH, start=SATURDAY + 480) for source in "cd"]

    assert [LIKELY, SURE, SURE, SURE] == _certainties(event("a", league=ENGLISH), between, *late)
    assert [SURE, SURE, LIKELY] == _certainties(event("a", league=ENGLISH), between, late[0])


def test_what_the_operator_links_is_sure() -> None:
    """Names and leagues may be as they like."""
    pair = event("a", league=ENGLISH), event("b", "Gunners", "Toffees", None)
    (group,) = groups(*pair, overrides=Overrides(must=(Pair(pair[0].key, pair[1].key),)))

    assert [SURE, SURE] == [member.certainty for member in group]


@pytest.mark.parametrize("label", ["Premier League", "Bundesliga", "Serie A", "Ligue 1"])
def test_two_plain_labels_of_unknown_countries_may_be_two_leagues(label: str) -> None:
    """They do not make a surebet of two matches whose prices part, nor a moved kick-off one match."""
    a = event("a", "Qwerty", "Asdfgh", label)
    b = event("b", "Qwerty", "Asdfgh", label)

    assert [PRICED, PRICED] == _certainties(a, b)
    assert () == groups(a, event("b", "Qwerty", "Asdfgh", label, start=SATURDAY + DAY))


@pytest.mark.parametrize(
    ("plain", "full", "home", "away"),
    [
        ("Bundesliga", "Austria - Bundesliga", "Austria Klagenfurt", "Wolfsberger AC"),
        ("Serie A", "Ecuador - Serie A", "Orense", "Mushuc Runa"),
        ("Premier League", "Egypt - Premier League", "Al Ahly", "Zamalek"),
        ("Ligue 1", "Tunisia - Ligue 1", "CS Sfaxien", "Stade Tunisien"),
    ],
)
def test_a_plain_label_forbids_no_link(plain: str, full: str, home: str, away: str) -> None:
    """It is not the league of that name which most people know."""
    assert groups(event("a", home, away, plain), event("b", home, away, full))


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (("Persepolis Tehran", "Esteghlal Tehran"), ("Persepolis", "Esteghlal")),
        (("Bolivar La Paz", "The Strongest La Paz"), ("Bolivar", "The Strongest")),
        (("Fasil Kenema", "Bahir Dar Kenema"), ("Fasil City", "Bahir Dar City")),
        (("GD Qwerty", "GD Asdfgh"), ("Qwerty", "Asdfgh")),
        (("Qwerty Bahir Dar", "Asdfgh Bahir Dar"), ("Qwerty", "Asdfgh")),
        (("Qwerty Hong Kong", "Asdfgh Hong Kong"), ("Qwerty", "Asdfgh")),
        (("MSK Qwerty", "MSK Asdfgh"), ("Qwerty", "Asdfgh")),
        (("JS Qwerty", "JS Asdfgh"), ("Qwerty", "Asdfgh")),
    ],
)
def test_a_town_or_legal_form_on_both_teams_is_no_mark(
    marked: tuple[str, str], plain: tuple[str, str]
) -> None:
    """They are one match; an unknown word that is neither makes them two."""
    home, away = plain
    there = event("b", home, away, None)
    league = "Hong Kong - Premier League"  # a part of a town's name may be short for another town

    assert groups(event("a", *marked, league=None), there)
    assert groups(event("a", *marked, league), event("b", home, away, league))
    assert () == groups(event("a", f"{home} Xyz", f"{away} Xyz", None), there)


@pytest.mark.parametrize(
    ("league", "short"),
    [
        ("Argentina - Liga Profesional", "BA"),
        ("Argentina - Liga Profesional", "B.A."),
        ("Bolivia - Primera Division", "(LP)"),
        ("Uruguay - Primera Division", "Mvd"),
        ("Uruguay - Primera Division", "UY"),
        ("Iran - Pro League", "Teh"),
        ("Indonesia - Liga 1", "Jkt"),
        ("Germany - Bundesliga", "DEU"),
    ],
)
def test_what_is_short_for_a_large_town_or_the_country_on_both_teams_is_no_mark(
    league: str, short: str
) -> None:
    """In leagues of that country: elsewhere it may be a mark of class that nobody knows."""
    marked = f"Qwerty {short}", f"Asdfgh {short}"

    assert groups(event("a", *marked, league), event("b", "Qwerty", "Asdfgh", league))
    assert () == groups(
        event("a", *marked, "Iceland - 1. deild"), event("b", "Qwerty", "Asdfgh", "Iceland - 1. deild")
    )


@pytest.mark.parametrize(
    ("home", "away", "labels", "is_linked"),
    [
        ("AEK", "Aris", ("Super League", "First Division"), False),
        ("AEK", "Aris", (None, "Greece - Super League"), False),
        ("AEK", "Aris", ("Greece - Super League", "Super League Greece"), True),
        ("Racing", "River Plate", (None, None), False),
        ("Racing Montevideo", "River Plate", (None, None), True),
    ],
)
def test_namesakes_of_two_countries_are_told_apart_by_labels_alone(
    home: str, away: str, labels: tuple[str | None, str | None], *, is_linked: bool
) -> None:
    """Both matches may be on at one minute, at about the same prices."""
    pair = [event(source, home, away, label) for source, label in zip("ab", labels, strict=True)]

    assert is_linked == bool(groups(*pair))


@pytest.mark.parametrize(
    ("home", "away", "labels", "is_linked"),
    [
        ("San Martín", "Gimnasia y Esgrima", (None, None), False),
        ("San Martín", "Gimnasia y Esgrima", ("Argentina - Primera Nacional", None), False),
        ("San Martín", "Gimnasia y Esgrima", ("Argentina - Some Cup", "Argentinian Some Cup"), True),
        ("San Martín de Tucumán", "Gimnasia y Esgrima", (None, None), True),
        ("Hibernian", "Rangers", (None, None), True),
    ],
)
def test_namesakes_of_one_country_are_told_apart_by_labels_alone(
    home: str, away: str, labels: tuple[str | None, str | None], *, is_linked: bool
) -> None:
    """Where several of its clubs have the very names of both teams; they play in two of its leagues."""
    pair = [event(source, home, away, label) for source, label in zip("ab", labels, strict=True)]

    assert is_linked == bool(groups(*pair))


@pytest.mark.parametrize("away", ["Wigan/Leeds", "Leeds / Wigan", "Wigan or Leeds"])
def test_a_match_against_one_of_two_teams_is_not_that_against_one(away: str) -> None:
    """Which of them will play is not known when it is listed."""
    assert () == groups(event("a", away=away), event("b", away="Leeds"))


@pytest.mark.parametrize(
    ("home", "away"),
    [
        ("Winner QF1", "Winner QF2"),
        ("W49", "W50"),
        ("1A", "2nd Group B"),
        ("Group A Winner", "Group B Runner-up"),
        ("Sieger Halbfinale 1", "Sieger Halbfinale 2"),
        ("Semi-finalist 1", "Semi-finalist 2"),
        ("Team 1", "Team 2"),
        ("TBC", "TBD"),
        ("To be decided", "N.N."),
    ],
)
def test_teams_that_nobody_knows_yet_are_never_linked(home: str, away: str) -> None:
    """Two cups have such matches at one minute, and labels rarely say of which country they are."""
    assert () == groups(event("a", home, away, "Cup"), event("b", home, away, "Cup"))
    assert () == groups(event("a", "Arsenal", away), event("b", "Arsenal", away))


@pytest.mark.parametrize("away", ["Winner of Leeds", "Vencedor Leeds", "Vainqueur Leeds", "Leeds (TBC)"])
def test_a_match_against_the_winner_of_a_team_is_not_that_against_the_team(away: str) -> None:
    """The opponent of that team may win."""
    assert () == groups(event("a", away="Leeds"), event("b", away=away))


def test_clubs_whose_names_begin_like_a_place_in_a_draw_are_linked() -> None:
    """Home United and Winnersh are clubs."""
    assert groups(event("a", "Home United", "Winnersh"), event("b", "Home United FC", "Winnersh"))


def test_two_clubs_are_not_the_club_that_has_the_names_of_both() -> None:
    """Slavija and Sarajevo are clubs, and so is Slavija Sarajevo; Bodø/Glimt is a single club."""
    assert () == groups(event("a", away="Slavija/Sarajevo"), event("b", away="Slavija Sarajevo"))
    assert groups(event("a", away="Bodø/Glimt"), event("b", away="Bodo Glimt"))


def test_numbers_in_names_count() -> None:
    """Two clubs are named after two days."""
    assert () == groups(event("a", away="12 de Octubre"), event("b", away="9 de Octubre"))
    assert groups(event("a", away="Doce de Octubre"), event("b", away="12 de Octubre"))


@pytest.mark.parametrize(
    ("other", "is_linked"),
    [
        (event("b", league=ENGLISH, start=None), True),
        (event("b", league="Premier League", start=None), True),
        (event("b", "Arsenl", league=ENGLISH, start=None), True),
        (event("b", league=None, start=None), False),
        (event("b", league="England - Some Cup", start=None), False),
        (event("b", league=ENGLISH, start=None, chances=None), False),
        (event("b", league=ENGLISH, start=None, chances=(0.5, 0.25, 0.25)), False),
        (event("b", "Arsenal W", "Everton W", ENGLISH, start=None), False),
        (event("b", league=ENGLISH), False),
    ],
)
def test_without_kick_offs_one_label_and_prices_must_say_it(other: Event, *, is_linked: bool) -> None:
    """It is never sure. With one kick-off known, the other match may be on any day."""
    found = groups(event("a", league=ENGLISH, start=None), other)

    assert [LIKELY] * is_linked == [group[-1].certainty for group in found]


def test_teams_of_one_name_but_for_its_legal_form_are_not_crossed() -> None:
    """Both lists have the very same texts, in the same places."""
    pair = [event(source, "VV Qwerty", "Qwerty", "Netherlands - Eredivisie") for source in "ab"]
    crossed = event("b", "Qwerty", "VV Qwerty", "Netherlands - Eredivisie")

    assert (1, 0) == (len(groups(*pair)), len(groups(pair[0], crossed)))


def test_teams_that_only_a_word_tells_apart_which_one_leaves_out_are_not_linked() -> None:
    """Which of the two is Qwerty Football Club nobody can say, but two years of foundation say it."""
    pair = event("a", "Qwerty", "Qwerty FC", None), event("b", "Qwerty Football Club", "Qwerty", None)
    derby = (
        event("a", "CSKA Sofia", "CSKA 1948 Sofia", None),
        event("b", "CSKA Sofia", "FC CSKA 1948 Sofia", None),
    )

    assert () == groups(*pair)
    assert groups(*derby)


@pytest.mark.parametrize("label", [None, "Premier League", "France - National"])
def test_names_that_are_short_for_two_clubs_on_both_sides_are_not_linked(label: str | None) -> None:
    """Paris may be Paris FC, and Bastia CA Bastia; that both are at once is another match."""
    pair = event("a", "Paris FC", "CA Bastia", label), event("b", "Paris", "Bastia", label)

    assert () == groups(*pair)
    assert groups(pair[0], event("b", "Paris FC", "Bastia", label))


@pytest.mark.parametrize(
    ("home", "away", "label"),
    [
        ("Lyon", "Paris SG", "Première Ligue"),
        ("Zenit", "Spartak Moskva", "MFL"),
        ("Kedah", "Selangor", "President Cup"),
        ("Brondby", "Nordsjaelland", "A-Liga"),
    ],
)
def test_a_mark_of_one_country_counts_where_its_clubs_play(home: str, away: str, label: str) -> None:
    """Without the country in the label, the table of clubs tells it."""
    assert () == groups(event("a", home, away, None), event("b", home, away, label))
    assert groups(event("a", home, away, None), event("b", home, away, "Some Cup"))


@pytest.mark.parametrize("label", ["England - Premier League", "Price Boosts", "Specials", None])
def test_a_duplicate_at_boosted_prices_does_not_cost_the_match_its_link(label: str | None) -> None:
    """Of the two that its source lists, that which is listed and priced as the others' is."""
    league = "England - Premier League"
    first, other = (event(source, "Arsenal", "Everton", league, chances=EVEN) for source in "ac")
    real = event("b", "Arsenal", "Everton", league, match_id="1", chances=EVEN)
    boosted = event("b", "Arsenal", "Everton", label, match_id="2", chances=(0.3, 0.35, 0.35))

    (group,) = groups(first, real, boosted, other)

    assert [first.key, real.key, other.key] == [member.key for member in group]
