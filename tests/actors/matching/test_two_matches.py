"""Two matches that look like one are never linked: crossed teams, other competitions, other classes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.matching.event import Event
from actors.matching.overrides import Overrides, Pair
from actors.matching.rules import Certainty, Rule
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
    """Similar names fit both ways, also where the tables have one club for both names."""
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
    """One country is not enough: nobody knows all the labels of women, reserves and cups."""
    pair = [
        event("a", home, away, league, chances=EVEN),
        event("b", home, away, other, start=SATURDAY + late_s, chances=EVEN),
    ]

    assert () == groups(*pair)


def _certainties(*events: Event) -> list[Certainty]:
    """Return the certainty of each event of the only group, in order of keys."""
    (group,) = groups(*events)
    return [member.certainty for member in group]


ENGLISH, SURE, LIKELY = "England - Premier League", Certainty.SURE, Certainty.LIKELY


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (event("b", league=ENGLISH, start=SATURDAY + 300), [SURE, SURE]),
        (event("b", "Arsenal FC", league=ENGLISH), [SURE, SURE]),
        (event("b", league=ENGLISH, start=SATURDAY + 360), [SURE, LIKELY]),
        (event("b", league=None), [SURE, LIKELY]),
        (event("b", league="Premier League"), [SURE, LIKELY]),
        (event("b", league="England"), [SURE, LIKELY]),
        (event("b", league="England - Some Cup"), [SURE, LIKELY]),
        (event("b", "Arsenal (N)", league=ENGLISH), [SURE, LIKELY]),
        (event("b", "Arsenal 1886", league=ENGLISH), [SURE, LIKELY]),
        (event("b", "Arsnal", league=ENGLISH), [SURE, LIKELY]),
    ],
)
def test_sure_are_equal_names_at_one_minute_in_one_league(other: Event, expected: list[Certainty]) -> None:
    """A concluded, missing or unknown fact makes a link likely at most, whatever the prices."""
    assert expected == _certainties(event("a", league=ENGLISH), other)


def test_names_that_are_short_for_two_clubs_of_one_country_each_are_likely_at_most() -> None:
    """Most lists mean the best known club, but a cup may have two such matches."""
    cup = "Brazil - Copa do Brasil"
    ambiguous, telling = (
        [event(source, "Botafogo", away, cup) for source in "ab"] for away in ("América", "Bahia")
    )

    assert ([SURE, LIKELY], [SURE, SURE]) == (_certainties(*ambiguous), _certainties(*telling))
    assert () == groups(ambiguous[0], replace(ambiguous[1], chances=(0.1, 0.3, 0.6)))


def test_members_of_the_sure_core_are_compared_with_each_other() -> None:
    """Two events that are each sure with a third, but not with each other, are not both in the core."""
    between = event("b", league=ENGLISH, start=SATURDAY + 240)
    late = [event(source, league=ENGLISH, start=SATURDAY + 480) for source in "cd"]

    assert [LIKELY, SURE, SURE, SURE] == _certainties(event("a", league=ENGLISH), between, *late)
    assert [SURE, SURE, LIKELY] == _certainties(event("a", league=ENGLISH), between, late[0])


def test_what_the_operator_links_is_sure() -> None:
    """The names and leagues of the events do not matter."""
    pair = event("a", league=ENGLISH), event("b", "Gunners", "Toffees", None)
    (group,) = groups(*pair, overrides=Overrides(must=(Pair(pair[0].key, pair[1].key),)))

    assert [SURE, SURE] == [member.certainty for member in group]


@pytest.mark.parametrize("label", ["Premier League", "Bundesliga", "Serie A", "Ligue 1"])
def test_two_plain_labels_of_unknown_countries_may_be_two_leagues(label: str) -> None:
    """With such labels a link is likely at most, and a match with a moved kick-off is not linked."""
    a = event("a", "Qwerty", "Asdfgh", label)
    b = event("b", "Qwerty", "Asdfgh", label)

    assert [SURE, LIKELY] == _certainties(a, b)
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
    """A plain label need not mean the league of that name which most people know."""
    assert groups(event("a", home, away, plain), event("b", home, away, full))


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (("Persepolis Tehran", "Esteghlal Tehran"), ("Persepolis", "Esteghlal")),
        (("Bolivar La Paz", "The Strongest La Paz"), ("Bolivar", "The Strongest")),
        (("Fasil Kenema", "Bahir Dar Kenema"), ("Fasil City", "Bahir Dar City")),
        (("Malmö FF", "Kalmar FF"), ("Malmö", "Kalmar")),
        (("Qwerty FC", "Asdfgh FC"), ("Qwerty", "Asdfgh")),
        (("Qwerty City", "Asdfgh"), ("Qwerty", "Asdfgh")),
    ],
)
def test_what_the_tables_spell_or_every_list_leaves_out_is_no_mark(
    marked: tuple[str, str], plain: tuple[str, str]
) -> None:
    """The tables must spell the word for these very clubs; a word of one team alone is no mark either."""
    assert groups(event("a", *marked, league=None), event("b", *plain, league=None))


UNKNOWN_MARKS = (
    *("{} [x]", "[q] {}", "女{}", "w{}", "{} *", "- {}", "{}(xy)", "{} \uff08乙\uff09", "{} k", "{} C"),
    *(
        "Qx {}",
        "MSK {}",
        "JS {}",
        "{} Bahir Dar",
        "{} Mvd",
        "{} UY",
        "{}U21",
        "{}/2",
        "{}!",
        "{}レディース",
    ),
)
"""Marks that `tests/support/lookalikes.py` does not have."""


@pytest.mark.parametrize("mark", UNKNOWN_MARKS)
@pytest.mark.parametrize("teams", [("Arsenal", "Chelsea"), ("Qwerty", "Asdfgh"), ("上海海港", "北京国安")])
@pytest.mark.parametrize("label", [None, "Club Friendlies", "England - FA Cup"])
def test_what_both_teams_of_one_list_have_alone_is_a_mark(
    mark: str, teams: tuple[str, str], label: str | None
) -> None:
    """Such words mark women, youth, reserves, simulation or another market: nobody knows all of them."""
    home, away = (mark.format(team) for team in teams)

    assert () == groups(event("a", *teams, label), event("b", home, away, label))


@pytest.mark.parametrize(
    ("home", "away", "mark"),
    [
        ("KV Mechelen", "Genk", "(kv)"),
        ("Malmö FF", "Hammarby", "(FF)"),
        ("SonderjyskE", "Brondby", "(E)"),
        ("SønderjyskE", "Vejle", "E"),
    ],
)
def test_a_word_of_a_name_does_not_explain_what_both_teams_have(home: str, away: str, mark: str) -> None:
    """The mark of women may be a word of the name of one of the teams."""
    plain = event("a", home, away, league=None)

    assert () == groups(plain, event("b", f"{home} {mark}", f"{away} {mark}", league=None))
    assert () == groups(plain, event("b", f"{home.title()} {mark}", f"{away} {mark}", league=None))
    assert groups(plain, event("b", home.title(), away, league=None))


@pytest.mark.parametrize("mark", ["{}Xy", "{}xy", "Xy{}", "{}女", "{}ж"])
def test_letters_glued_to_towns_that_one_list_has_alone_are_a_mark(mark: str) -> None:
    """None of these words is in the other list, and no table has them."""
    label = "Tajikistan - Vysshaya Liga"
    plain = event("a", "Istiklol", "Ravshan", label)
    towns = (mark.format(town) for town in ("Dushanbe", "Kulob"))
    home, away = (f"{team} {town}" for team, town in zip(("Istiqlol", "Ravshan"), towns, strict=True))

    assert () == groups(plain, event("b", home, away, label))
    assert groups(plain, event("b", "Istiqlol Dushanbe", "Ravshan Kulob", label))


def test_a_mark_in_other_letters_is_no_code_of_a_country() -> None:
    """Two Cyrillic letters read as CHN, which is a country's code after a club's name."""
    plain = event("a", "Tianjin Teda", "Wuhan Three Towns", league=None)

    assert () == groups(
        plain, event("b", "Tianjin Jinmen Tiger [чн]", "Wuhan Three Towns [чн]", league=None)
    )
    assert groups(plain, event("b", "Tianjin Jinmen Tiger [Chn]", "Wuhan Three Towns [Chn]", league=None))


def test_an_article_of_a_name_explains_no_mark() -> None:
    """Al is an article in both names, and here also a mark."""
    label = "UAE - Pro League"
    plain = event("a", "Shabab Al-Ahli Dubai", "Al Wasl", label)

    assert () == groups(plain, event("b", "Shabab Al Ahli (Al)", "Al-Wasl Dubai (Al)", label))
    assert groups(plain, event("b", "Shabab Al Ahli", "Al-Wasl Dubai", label))


def test_letters_glued_to_a_name_that_ends_in_them_are_a_mark() -> None:
    """ADT is a club of Tarma, and here the same letters are also a mark."""
    label = "Peru - Liga 1"
    plain = event("a", "Cusco FC", "ADT", label)

    assert () == groups(plain, event("b", "CuscoAdt", "ADT TarmaAdt", label))
    assert groups(plain, event("b", "Cusco", "ADT Tarma", label))


def test_letters_glued_to_the_form_of_a_club_are_a_mark() -> None:
    """BK stands in front of the name here, and the mark stands in front of BK."""
    label = "Sweden - Allsvenskan"
    plain = event("a", "Djurgardens IF", "Hacken", label)

    assert () == groups(plain, event("b", "nDjurgarden", "nBK Häcken", label))
    assert groups(plain, event("b", "Djurgarden", "BK Häcken", label))


@pytest.mark.parametrize("word", ["City", "Rovers", "Sport"])
def test_a_word_of_many_clubs_is_a_mark_if_both_teams_of_one_list_have_it_alone(word: str) -> None:
    """This holds also beside names that are spelled differently."""
    label = "Tajikistan - Vysshaya Liga"
    plain, other = event("a", "Qwertyuiop", "Asdfghjkl", label), ("Qwertyuyop", "Asdfghjkel")

    assert () == groups(plain, event("b", f"{other[0]} {word}", f"{other[1]} {word}", label))
    assert groups(plain, event("b", f"{other[0]} {word}", other[1], label))


def test_a_match_with_unknown_marks_does_not_cost_the_true_partner_its_link() -> None:
    """The match with marks is no candidate, however alike it is otherwise."""
    a, b = event("a", league=ENGLISH), event("b", league=ENGLISH)
    marked = event("b", "Arsenal (kv)", "Everton (kv)", ENGLISH, match_id="2")

    (group,) = groups(a, b, marked)

    assert [a.key, b.key] == [member.key for member in group]


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
    """Both matches may be played at one minute, at about the same prices."""
    pair = [event(source, home, away, label) for source, label in zip("ab", labels, strict=True)]

    assert is_linked == bool(groups(*pair))


@pytest.mark.parametrize(
    ("home", "away", "labels", "is_linked"),
    [
        ("San Martín", "Gimnasia y Esgrima", (None, None), False),
        ("San Martín", "Gimnasia y Esgrima", ("Argentina - Primera Nacional", None), False),
        ("San Martín", "Gimnasia y Esgrima", ("Argentina - Some Cup", "Argentinian Some Cup"), False),
        ("San Martín", "Estudiantes", ("Argentina - Primera Nacional",) * 2, False),
        ("San Martín", "Sarmiento", ("Argentina - Torneo Federal A",) * 2, False),
        ("Independiente", "Racing", ("Argentina - Liga Profesional",) * 2, True),
        ("San Martín de Tucumán", "Gimnasia y Esgrima", (None, None), True),
        ("Hibernian", "Rangers", (None, None), True),
    ],
)
def test_namesakes_of_one_country_are_told_apart_by_their_towns_alone(
    home: str, away: str, labels: tuple[str | None, str | None], *, is_linked: bool
) -> None:
    """This holds if several clubs of the country have each name; equal labels do not make one match."""
    pair = [event(source, home, away, label) for source, label in zip("ab", labels, strict=True)]

    assert is_linked == bool(groups(*pair))


@pytest.mark.parametrize("away", ["Wigan/Leeds", "Leeds / Wigan", "Wigan or Leeds"])
def test_a_match_against_one_of_two_teams_is_not_that_against_one(away: str) -> None:
    """When the match is listed, nobody knows which of the two teams will play."""
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
    """Two cups may have such matches at one minute, and labels rarely name the country."""
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
    """Slavija, Sarajevo and Slavija Sarajevo are three clubs; Bodø/Glimt is a single club."""
    assert () == groups(event("a", away="Slavija/Sarajevo"), event("b", away="Slavija Sarajevo"))
    assert groups(event("a", away="Bodø/Glimt"), event("b", away="Bodo Glimt"))


def test_numbers_in_names_count() -> None:
    """The names of two clubs differ only in a day of October."""
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
    """Such a link is never sure. If one kick-off is known, the other match may be on any day."""
    found = groups(event("a", league=ENGLISH, start=None), other)

    assert [LIKELY] * is_linked == [group[-1].certainty for group in found]


def test_teams_of_one_name_but_for_its_legal_form_are_not_crossed() -> None:
    """Both lists have exactly the same texts in the same places."""
    pair = [event(source, "VV Qwerty", "Qwerty", "Netherlands - Eredivisie") for source in "ab"]
    crossed = event("b", "Qwerty", "VV Qwerty", "Netherlands - Eredivisie")

    assert (1, 0) == (len(groups(*pair)), len(groups(pair[0], crossed)))


def test_teams_that_only_a_word_tells_apart_which_one_leaves_out_are_not_linked() -> None:
    """Nobody can say which team is Qwerty Football Club; in the other pair a year of foundation says it."""
    pair = event("a", "Qwerty", "Qwerty FC", None), event("b", "Qwerty Football Club", "Qwerty", None)
    derby = (
        event("a", "CSKA Sofia", "CSKA 1948 Sofia", None),
        event("b", "CSKA Sofia", "FC CSKA 1948 Sofia", None),
    )

    assert () == groups(*pair)
    assert groups(*derby)


@pytest.mark.parametrize("label", [None, "Premier League", "France - National"])
def test_names_that_are_short_for_two_clubs_on_both_sides_are_not_linked(label: str | None) -> None:
    """Paris may be Paris FC, and Bastia may be CA Bastia, but both together mean another match."""
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
    """If the label names no country, the table of clubs does."""
    assert () == groups(event("a", home, away, None), event("b", home, away, label))
    assert groups(event("a", home, away, None), event("b", home, away, "Some Cup"))


@pytest.mark.parametrize("label", ["England - Premier League", "Price Boosts", "Specials", None])
def test_a_duplicate_at_boosted_prices_does_not_cost_the_match_its_link(label: str | None) -> None:
    """Of a source's two listings, the one with the label and the prices of the other sources is linked."""
    league = "England - Premier League"
    first, other = (event(source, "Arsenal", "Everton", league, chances=EVEN) for source in "ac")
    real = event("b", "Arsenal", "Everton", league, match_id="1", chances=EVEN)
    boosted = event("b", "Arsenal", "Everton", label, match_id="2", chances=(0.3, 0.35, 0.35))

    (group,) = groups(first, real, boosted, other)

    assert [first.key, real.key, other.key] == [member.key for member in group]


@pytest.mark.parametrize(
    ("home", "away", "label", "plain"),
    [
        ("Al Nasr", "Al Wahda", "UAE - Pro League", "Pro League"),
        ("Al Shabab", "Al Nasr", "Saudi Arabia - Pro League", "Professional League"),
        ("Flamurtari", "Besa", "Albania - Superliga", "Superliga"),
        ("Radnik", "Javor", "Serbia - Superliga", None),
    ],
)
def test_a_country_that_is_concluded_from_clubs_proves_nothing(
    home: str, away: str, label: str, plain: str | None
) -> None:
    """The table may lack other clubs of these names: the link is likely, and only while prices agree."""
    a, b = event("a", home, away, label), event("b", home, away, plain)
    apart = event("b", home, away, plain, chances=(0.1, 0.3, 0.6))

    ((_, member),) = groups(a, b)

    assert (Rule.SAME_NAMES, LIKELY) == (member.rule, member.certainty)
    assert () == groups(a, apart)


CLUBS = (
    ("Arsenal", "Everton"),
    ("Chelsea", "Fulham"),
    ("Liverpool", "Burnley"),
    ("Brentford", "Aston Villa"),
)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((), [SURE, SURE]),
        ((("Al Ahly", "Zamalek"),), [SURE, LIKELY]),
        ((("Qwerty", "Asdfgh"),), [SURE, LIKELY]),
    ],
)
def test_a_plain_label_is_of_the_country_of_all_its_matches(
    more: tuple[tuple[str, str], ...], expected: list[Certainty]
) -> None:
    """Four matches of one country, and hardly any other match, show what a source's label means."""
    listed = [
        event("b", *teams, "Premier League", match_id=str(number), start=SATURDAY + number * DAY)
        for number, teams in enumerate((*CLUBS, *more))
    ]

    assert expected == _certainties(event("a", league=ENGLISH), *listed)


@pytest.mark.parametrize(
    "label",
    [
        *("Vriendschappelijk", "Φιλικά", "友谊赛", "Pre-season", "Netherlands - Testkamper", "Trofeo"),
        *("Club Friendlies", "Přátelské zápasy", "Товарищеские матчи", "Mecze towarzyskie"),
    ],
)
def test_two_teams_may_meet_twice_on_a_day_if_no_word_says_that_they_play_for_something(label: str) -> None:
    """Nobody knows the word for a friendly in all languages."""
    a = event("a", "Ajax", "Volendam", label)

    assert () == groups(a, event("b", "Ajax", "Volendam", label, start=SATURDAY + HOUR))


@pytest.mark.parametrize(("a", "b"), [("Carioca", "Piauiense"), ("Premier League", "Some Cup")])
def test_two_labels_of_one_country_are_two_leagues_until_prices_say_otherwise(a: str, b: str) -> None:
    """Names alone do not link them: Brazil may have two clubs of each name."""
    first, other = (
        event(source, "Flamengo", "Fluminense", f"Brazil - {label}")
        for source, label in (("a", a), ("b", b))
    )

    assert [SURE, LIKELY] == _certainties(first, other)
    assert () == groups(first, replace(other, chances=None))


def test_a_label_that_is_a_country_alone_forbids_no_moved_kick_off() -> None:
    """Such a label names no other league."""
    a, b = event("a", "Brann", "Molde", "Norway"), event("b", "Brann", "Molde", "Norway - Eliteserien")

    assert groups(a, replace(b, start_time=SATURDAY + HOUR))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("Sarmiento (J)", "Sarmiento Junin"),
        ("San Martin (F)", "San Martin Formosa"),
        ("Qwerty (A)", "Qwerty"),
    ],
)
def test_a_letter_that_one_team_of_argentina_has_in_brackets_is_its_town(short: str, long: str) -> None:
    """If both teams have a letter, or a team of another country has one, it is a mark of class."""
    league = "Argentina - Liga Profesional"
    other = event("b", long, "Boca Juniors", league)

    assert groups(event("a", short, "Boca Juniors", league), other)
    assert () == groups(event("a", short, "Boca Juniors (J)", league), other)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("Corendon Alanyaspor", "Onvo Antalyaspor"), ("Alanyaspor", "Antalyaspor")),
        (("Persik", "Persis"), ("Persik Kediri", "Persis Solo")),
        (("Qwert", "Qwern"), ("Qwert FC", "Qwern FC")),
    ],
)
def test_two_clubs_whose_names_resemble_each_other_are_told_apart(
    a: tuple[str, str], b: tuple[str, str]
) -> None:
    """The names fit better as they stand than with home and away crossed."""
    league = "Turkey - Super Lig"

    assert groups(event("a", *a, league), event("b", *b, league))
    assert () == groups(event("a", *a, league), event("b", *b[::-1], league))
