"""The likeness of two names of teams."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.matching.evidence import How, Likeness, likeness
from actors.matching.leagues import league_of
from actors.naming.data import rows
from actors.naming.names import parse, plain
from actors.naming.similarity import similarity
from actors.naming.tables import clubs_of, countries, is_common, weight
from tests.support.builders.events import event

SAME, NEAR, ALIKE, WEAK, OTHER = Likeness.SAME, Likeness.NEAR, Likeness.ALIKE, Likeness.WEAK, Likeness.OTHER


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Bodø/Glimt", "FK Bodo Glimt", SAME),
        ("1. FC Köln", "FC Koeln", SAME),
        ("Man United", "Manchester Utd", SAME),
        ("Nott'm Forest", "Nottingham Forest", SAME),
        ("AaB", "Aalborg", SAME),
        ("U.N.A.M.", "UNAM", SAME),
        ("Qwerty United", "Qwerty Utd", SAME),
        ("Qwerty Praha", "Qwerty Prague", SAME),
        ("Qwertyville", "Qwertyvile", NEAR),
        ("Qwerty Town", "Qwerty", NEAR),
        ("Ivory Coast", "Côte d'Ivoire", SAME),
        ("Turkey", "Türkiye", SAME),
        ("Deutschland", "Germany", SAME),
        ("Allemagne", "Alemania", SAME),
        ("Alemanha", "Germania", SAME),
        ("Pays-Bas", "Niederlande", SAME),
        ("Inghilterra", "Angleterre", SAME),
        ("Elfenbeinküste", "Costa do Marfim", SAME),
        ("Estados Unidos", "USA", SAME),
        ("Südkorea", "Korea Republic", SAME),
        ("IR Iran", "Iran", SAME),
        ("Kyrgyz Republic", "Kyrgyzstan", SAME),
        ("China PR", "China", SAME),
        ("Eq. Guinea", "Equatorial Guinea", SAME),
        ("Central African Rep.", "Central African Republic", SAME),
        ("Congo DR", "RD Congo", SAME),
        ("Guinea", "Guinea-Bissau", OTHER),
        ("Österreich", "Australia", OTHER),
        ("Sudan", "South Sudan", OTHER),
        ("Ireland", "Northern Ireland", OTHER),
        ("FC Andorra", "Andorra", SAME),
        ("CSKA Sofia", "CSKA 1948 Sofia", OTHER),
        ("CA Bastia", "SC Bastia", OTHER),
        ("Man City", "Manchester United", OTHER),
        ("Paris FC", "Paris Saint Germain", OTHER),
        ("Estudiantes LP", "Estudiantes RC", OTHER),
        ("Persik Kediri", "Persita", OTHER),
        ("Suwon FC", "Suwon Samsung Bluewings", OTHER),
        ("Paris FC", "Paris", ALIKE),
        ("Qwerty", "Asdfgh", WEAK),
        ("12 de Octubre", "9 de Octubre", OTHER),
        ("2 de Mayo", "25 de Mayo", WEAK),
        ("Primero de Mayo", "2 de Mayo", OTHER),
        ("Doce de Octubre", "12 de Octubre", SAME),
        ("1º de Agosto", "Primeiro de Agosto", SAME),
        ("12 de Octubre Itaugua", "9 de Octubre", OTHER),
        ("Qwerty 04", "Qwerty 4", SAME),
        ("1. FC Qwerty", "Qwerty 08", NEAR),
        ("Wigan/Leeds", "Leeds", WEAK),
        ("Wigan or Leeds", "Wigan", WEAK),
        ("Qwert/Zuiop", "Qwert Zuiop", SAME),
        ("Al Qwerty", "El Qwerty", NEAR),
        ("RW Qwerty", "Rot-Weiss Qwerty", NEAR),
        ("Qwerty", "Qwerty FC", SAME),
        ("Qwerty", "Qwerty (Xy)", ALIKE),
        ("Qwerty", "Qwerty FF", NEAR),
        ("Qwerty", "Qwerty y", NEAR),
        ("Qwerty y Asdf", "Qwerty Asdf", SAME),
        ("Qwerty", "Qwertyキ", ALIKE),
        ("FK Qwerty", "SK Qwerty", NEAR),
        ("FC Yerevan", "FC Van Yerevan", OTHER),
        ("S. Sudan", "Sudan", OTHER),
        ("Guiana", "Guyana", OTHER),
        ("Somaliland", "Somalia", OTHER),
        ("Virgin Islands", "US Virgin Islands", OTHER),
        ("Virgin Islands", "British Virgin Islands", OTHER),
    ],
)
def test_names(a: str, b: str, expected: Likeness) -> None:
    """Names are compared by words, abbreviations and the tables of clubs, in either order."""
    found = {likeness(*pair, None).likeness for pair in ((parse(a), parse(b)), (parse(b), parse(a)))}

    assert {expected} == found


def test_texts_of_very_many_words_are_alike_only_if_they_are_equal() -> None:
    """A source that lists such texts must not take the linker's time."""
    words = [
        "alpha",
        "bravo",
        "charlie",
        "delta",
        "echo",
        "foxtrot",
        "golf",
        "hotel",
        "india",
        "juliett",
        "kilo",
        "lima",
        "mike",
    ]
    long, other = " ".join(words), " ".join([*words[:-1], "mikes"])

    assert SAME is likeness(parse(long), parse(long.upper()), None).likeness
    assert WEAK is likeness(parse(long), parse(other), None).likeness
    assert WEAK < likeness(parse(long[:20]), parse(f"{long[:20]}s"), None).likeness


def test_namesakes_are_told_apart_by_the_country() -> None:
    """Everton alone may mean two clubs; in Chile it means one."""
    here, full = parse("Everton"), parse("Everton de Viña del Mar")

    assert (How.TABLE, Likeness.OTHER) != (
        likeness(here, full, None).how,
        likeness(here, full, None).likeness,
    )
    assert Likeness.SAME is likeness(here, full, "chile").likeness


@pytest.mark.parametrize(("a", "b"), [("NYCFC", "New York City"), ("New York RB", "New York Red Bulls")])
@pytest.mark.parametrize("country", ["united-states", None])
def test_spellings_by_hand_are_of_the_countries_of_the_clubs(a: str, b: str, country: str | None) -> None:
    """This holds whether the country of the league is known or not."""
    found = likeness(parse(a), parse(b), country)

    assert (Likeness.SAME, How.TABLE) == (found.likeness, found.how)


@pytest.mark.parametrize(
    ("a", "b", "country"),
    [
        ("Estudiantes BA", "Estudiantes LP", "argentina"),
        ("Sportivo Trinidense", "River Plate", "paraguay"),
        ("Levanger", "Egersund", "norway"),
        ("Karlbergs BK", "FBK Karlstad", "sweden"),
        ("Hirnyk", "Hirnyk-Sport", "ukraine"),
        ("Diyarbekirspor", "Diyarbak\u0131rspor", "turkey"),
        ("CSKA 1948", "CSKA Sofia", "bulgaria"),
    ],
)
def test_a_club_is_not_what_the_larger_table_has_it_as_a_spelling_of(a: str, b: str, country: str) -> None:
    """The two clubs may play on the same day, in one league."""
    assert Likeness.OTHER is likeness(parse(a), parse(b), country).likeness


def test_a_club_of_its_own_keeps_its_other_spellings() -> None:
    """The club keeps its spellings in the larger table, but none of the club that it was parted from."""
    for a, b in (("Estudiantes BA", "Estudiantes de Caseros"), ("Košice", "FC Košice")):
        assert Likeness.SAME is likeness(parse(a), parse(b), None).likeness


@pytest.mark.parametrize("league", ["ecuador", None])
def test_code_behind_a_club_says_of_which_country_it_is(league: str | None) -> None:
    """Betfair writes such codes; they count also if the league, such as a continent's, has no country."""
    coded = parse("Barcelona (Ecu)")

    assert Likeness.SAME is likeness(coded, parse("Barcelona SC Guayaquil"), league).likeness
    assert Likeness.SAME is not likeness(coded, parse("FC Barcelona"), None).likeness
    assert Likeness.OTHER is likeness(parse("Nacional (Uru)"), parse("Nacional (Par)"), None).likeness
    assert frozenset() == clubs_of(parse("Barcelona (Uru)"))


def test_all_tables_have_the_same_countries() -> None:
    """Each word for a country is plain, and means one country."""
    words = [word for _, names, adjectives in countries() for word in names + adjectives]
    clubs = {row[0] for name in ("clubs.tsv", "aliases_seed.tsv") for row in rows(name)}
    leagues = {row[1] for row in rows("leagues_seed.tsv")} - {""}
    codes = [row[3] for row in rows("countries.tsv") if row[3]]

    assert set() == (clubs | leagues) - {country for country, _, _ in countries()}
    assert len(codes) == len({*codes})
    assert all(re.fullmatch("[a-z]{3}", code) for code in codes)
    assert len(words) == len({*words})
    assert words == [" ".join(re.findall("[a-z0-9]+", plain(word))) for word in words]


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_a_name(a: str, b: str) -> None:
    """Any text that a source sends is read as a name, and is the same as itself."""
    name, other = parse(a), parse(b)

    assert 0.0 <= similarity(name, other) <= 1.0
    assert name.words
    assert likeness(name, name, None).likeness is Likeness.SAME


def test_rare_words_weigh_more() -> None:
    """A word of no club weighs most, and the word United weighs hardly anything."""
    weights = [weight(word) for word in ("united", "albion", "qwertyuiop")]

    assert all(a < b for a, b in pairwise(weights))
    assert [True, False] == [is_common("united"), is_common("qwertyuiop")]


@pytest.mark.parametrize(
    ("label", "competition", "country"),
    [
        ("Premier League", None, None),
        ("England - Premier League", "eng.1", "england"),
        ("EPL", "eng.1", "england"),
        ("Turkey / Süper Lig", "tur.1", "turkey"),
        ("Dutch Eredivisie", "ned.1", "netherlands"),
        ("La Liga - Spain", "esp.1", "spain"),
        ("Brazil Série A", "bra.1", "brazil"),
        ("Northern Ireland NIFL Premiership", "nir.1", "northern-ireland"),
        ("Northern Ireland NIFL Championship", None, "northern-ireland"),
        ("Ecuadorian Serie A", "ecu.1", "ecuador"),
        ("Ecuador - LigaPro", "ecu.1", "ecuador"),
        ("USA - National Women's Soccer League", "usa.w1", "united-states"),
        ("Ireland First Division", "irl.2", "ireland"),
        ("Denmark - 1st Division", "den.2", "denmark"),
        ("Trinidad & Tobago Pro League", None, "trinidad-n-tobago"),
        ("DR Congo Linafoot", None, "congo-dr"),
        ("South Sudan Premier League", None, "south-sudan"),
        ("Papua New Guinea NSL", None, "papua-new-guinea"),
        ("Europe UEFA Champions League", "uefa.cl", None),
        ("Friendlies", None, None),
        (None, None, None),
    ],
)
def test_leagues(label: str | None, competition: str | None, country: str | None) -> None:
    """A label names a competition of the table, or at least a country."""
    candidate = event("a", league=label)
    league = league_of(candidate.scope, label)

    assert (competition, country) == (league.competition, league.country)


def test_labels_with_the_same_country_and_words_are_one_league() -> None:
    """The source of a label does not matter."""
    candidate, other = event("a"), event("b")
    labels = ("Uruguay Segunda", "Segunda - Uruguay")

    assert 1 == len(
        {league_of(who.scope, label).key for who, label in zip((candidate, other), labels, strict=True)}
    )


@pytest.mark.parametrize(
    ("label", "home", "away", "competition", "country"),
    [
        ("Premier League", "Arsenal", "Everton", "eng.1", "england"),
        ("Premier League", "Al Ahly", "Zamalek", "egy.1", "egypt"),
        ("Premier League", "Wigan Athletic", "Qwerty", "eng.1", "england"),
        ("Premier League", "Qwerty", "Asdfgh", None, None),
        ("Premier League", "Al Jaish", "Tishreen", None, None),
        ("Liga", "Qwerty", "Asdfgh", None, None),
        ("Liga 2", "Pirata", "Alianza Universidad", "per.2", "peru"),
        ("Premier League", "Wigan Athletic", "Zamalek", None, None),
        ("Bundesliga", "Sturm Graz", "Rapid Wien", "aut.1", "austria"),
        ("Bundesliga", "Bayern", "Dortmund", "ger.1", "germany"),
        ("Serie A", "Emelec", "LDU Quito", "ecu.1", "ecuador"),
        ("Championship", "Cardiff City", "Millwall", "eng.2", "england"),
        ("Superliga", "Brondby", "Nordsjaelland", "den.1", "denmark"),
        ("Some Cup", "Brondby", "Nordsjaelland", None, "denmark"),
        ("Some Cup", "Brondby", "Qwerty", None, None),
        ("Austria - Bundesliga", "Bayern", "Dortmund", "aut.1", "austria"),
        (None, "Brondby", "Nordsjaelland", None, "denmark"),
    ],
)
def test_a_label_of_several_countries_is_of_that_whose_clubs_play(
    label: str | None, home: str, away: str, competition: str | None, country: str | None
) -> None:
    """The table of clubs decides by both clubs, or by one club of a country with such a league.

    Otherwise the competition is unknown.
    """
    candidate = event("a", home, away, league=label)
    league = league_of(candidate.scope, label, None, (home, away))

    assert (competition, country) == (league.competition, league.country)


def test_clubs_of_a_league_may_be_of_the_neighbouring_country() -> None:
    """The table has Cardiff in Wales, but the club plays in England."""
    assert Likeness.SAME is likeness(parse("Cardiff"), parse("Cardiff City"), "england").likeness


@pytest.mark.parametrize("name", ["Atlético Madrid", "Köln", "León", "Lanús", "FC Zürich", "Málaga", "Sīf"])
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_name_read_in_the_wrong_encoding_is_the_same(name: str, encoding: str) -> None:
    """One bookmaker's site may read UTF-8 as Latin-1, and another site may misread the result once more."""
    try:
        misread = name.encode().decode(encoding)
    except UnicodeDecodeError:
        misread = name.encode().decode("latin-1")

    assert parse(name) is parse(misread) is parse(misread.encode().decode("latin-1"))


@pytest.mark.parametrize("name", ["Ñublense", "São Paulo", "Öster", "Ærø", "Århus"])
def test_name_that_was_read_well_stays(name: str) -> None:
    """A letter with an accent alone is no sign of a wrong encoding."""
    assert parse(plain(name)) is parse(name)


def test_words_without_a_reading_of_their_own_stay_apart() -> None:
    """Transliteration loses the letters of such words, or they read as the legal form of a club."""
    words = [parse(name).words for name in ("\u30fc", "\u0640", "\u05e1\u05e7", "SK")]

    assert len(words) == len({*words})
