"""Names and labels that mark women, youth and reserves, and names that only look like such marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from actors.core.messages import Scope
from actors.matching.leagues import league_of
from actors.naming.data import rows
from actors.naming.names import parse, plain
from actors.naming.tables import countries
from actors.naming.team_class import FIRST, SIMULATED, TeamClass, differ, of_league

WOMEN = TeamClass(women=True)
SECOND = TeamClass(second=True)


def test_a_mark_counts_where_it_is_one() -> None:
    """Short marks count only at the end or in brackets; the name is read without its marks."""
    for name, team, words in [
        *(
            (f"Arsenal{mark}", WOMEN, "arsenal")
            for mark in (" W", " (W)", " Women", " Ladies", " W FC", " (F)")
        ),
        *(
            (f"Real Betis {mark}", WOMEN, "real betis")
            for mark in ("Femenino", "Féminas", "Frauen", "Fem.")
        ),
        *(
            (f"Hannover 96 {mark}", TeamClass(second=True, age="19"), "hannover 96")
            for mark in ("U19", "Under 19", "U-19", "P19", "Onder 19")
        ),
        *(
            (f"Torino {mark}", SECOND, "torino")
            for mark in ("Primavera", "II", "B", "(A)", "Res.", "Reserves", "2", "Youth", "Yth", "(mol)")
        ),
        ("Havant & W", FIRST, "havant w"),
        ("Jong Ajax", SECOND, "ajax"),
        ("Ajax II FC", SECOND, "ajax"),
        ("Chelsea W U21", TeamClass(women=True, second=True, age="21"), "chelsea"),
        ("Bilbao Athletic", SECOND, "bilbao"),
        ("Juventus Next Gen", SECOND, "juventus"),
        *(
            (name, FIRST, plain(name))
            for name in ("W Sydney", "Willem II", "Boca Juniors", "Sub Marina", "Primavera")
        ),
        *((f"Ajax{mark}", WOMEN, "ajax") for mark in (" (V)", " V")),
        *(
            (name, SECOND, "dynamo kyiv")
            for name in ("Dynamo-2 Kyiv", "Dynamo Kyiv-2", "Dynamo II Kyiv", "Dynamo-III Kyiv")
        ),
        ("Kapaz FK-2", SECOND, "kapaz fk"),
        ("Klubi 04-2", SECOND, "klubi 04"),
        ("Talleres C-2", SECOND, "talleres c"),
        ("Molde 2 IK", SECOND, "molde ik"),
        ("Willem II 2", SECOND, "willem ii"),
        ("Juan Aurich II", SECOND, "juan aurich"),
        ("Nacional B (Uru)", SECOND, "nacional uru"),
        ("Botafogo II (SP)", SECOND, "botafogo sp"),
        ("Arsenal W (Eng)", WOMEN, "arsenal eng"),
        ("Willem II (Ned)", FIRST, "willem ii ned"),
        *(
            (name, TeamClass(second=True, age="21"), "england")
            for name in (
                "England-21",
                "England U.21",
                "England U/21",
                "England до 21",
                "England (до 21)",
                "EnglandU21",
            )
        ),
        ("England (до 21)", TeamClass(second=True, age="21"), "england"),
        ("England-21 (W)", TeamClass(women=True, second=True, age="21"), "england"),
        *((f"Arsenal {mark}", TeamClass(other=True), "arsenal") for mark in ("SRL", "Esports", "(Futsal)")),
        *(
            (name, FIRST, plain(name))
            for name in ("Juan Pablo II College", "Joao Paulo II", "Clube do 15 de Novembro", "Mainz 05")
        ),
        ("Schalke-04", FIRST, "schalke 04"),
        ("Hannover-96", FIRST, "hannover 96"),
        ("Podbeskidzie B-B", FIRST, "podbeskidzie b b"),
        ("Arsenal (N)", FIRST, "arsenal n"),
        ("Lech2", SECOND, "lech"),
    ]:
        assert (team, words) == (parse(name).team, parse(name).text.removesuffix(" fc")), (name, team)


def _of(label: str) -> TeamClass:
    """Return the class of teams that a label names."""
    return league_of(Scope("all"), label).team


@pytest.mark.parametrize(
    ("team", "labels"),
    [
        (
            WOMEN,
            (
                *("Czech Republic - 1. liga žen", "Slovakia. I. liga žien", "Hrvatska 1. HNLŽ"),
                *("SŽNL", "Australia NPLW Victoria", "France - Première Ligue"),
                *("Spain Copa de la Reina", "Denmark - Elitedivisionen", "China CWSL"),
                *("USA WPSL", "SheBelieves Cup", "Ligat Nashim", "USA - USL Super League"),
                *("Canada Northern Super League", "Belgium - Super League"),
                *("Turkey Kad\u0131nlar Süper Ligi", "Női NB I", "Iceland Besta deild kvenna"),
                *("Adran Premier", "Poland Ekstraliga", "Россия. Суперлига. Женщины"),
                *("Україна. Вища ліга. Жінки", "Ελλάδα Εθνική Γυναικών"),
                *("South Africa Hollywoodbets Super League", "Iran Kowsar League"),
                *("Vietnam - VĐQG Nữ", "India IWL", "Nadeshiko League", "Queens League"),
                *("Algarve Cup", "Eesti Naiste Meistriliiga", "Norway Toppserien"),
                *("Sweden Elitettan", "Sweden Dam Division 1", "Liga BPI"),
                *("FA WSL", "Spain Primera Division Women", "Frauen Bundesliga", "Liga F", "USA NWSL"),
                *("Korea WK-League", "Spain Liga Iberdrola", "Scotland SWPL 1", "Denmark A-Liga"),
                *("Kansallinen Liiga", "Germany Bundesliga (F)", "日本 女子"),
            ),
        ),
        (
            SECOND,
            (
                *("Romania - Liga de Tineret", "Bulgaria - Elitna Junosheska Grupa"),
                *("Russia - MFL", "Mexico - Fuerzas Básicas", "Croatia - Kadeti"),
                *("Uruguay - Formativas", "USA MLS Next", "USA - MLS Next Pro"),
                *("Malaysia - MFL Cup", "Malaysia President's Cup", "DStv Diski Challenge"),
                *("Serbia Omladinska liga", "Slovenia Mladinska liga"),
                *("Turkey Elit Gelişim Ligi", "A2 Ligi", "Liga Revelação", "Copinha"),
                *("Coupe Gambardella", "DFB-Nachwuchsliga", "Torneo Proyección"),
                *("Hungary Tartalékbajnokság", "Россия. Дублёры", "Україна. Юнацька ліга"),
                *("Eesti Noorteliiga", "Polska CLJ", "Romania Liga Elitelor", "Reserveligaen"),
                *("Sweden Ungdomsallsvenskan", "Russia M-Liga", "Japan Prince Takamado Cup"),
                *("Toulon Tournament", "The Central League", "Olympics", "NCAA", "Student League", "CHAN"),
                *("Premier League 2", "Primavera 1", "Reserve League", "UEFA Youth League"),
                *("Brasileiro de Aspirantes", "Belarus Dublers", "Israel Noar Premier League"),
                *("1. liga dorostu", "Россия. Молодежная лига"),
            ),
        ),
        (
            TeamClass(second=True, age="21"),
            ("U21 Divisie 1", "Onder 21", "O21 Divisie", "Greece K21"),
        ),
        (
            SIMULATED,
            (
                *("PES 2021", "GT Nations League", "ESportsBattle", "Virtuals", "eBundesliga"),
                *("eLaLiga", "EA Sports FC 25", "Simulation League", "Cyberfootball"),
                *("Valhalla Cup", "Volta 3x3", "e-Premier League", "eMLS", "Virtual Bundesliga"),
                *("Виртуальный футбол", "Киберфутбол", "Legends", "Kings League"),
                *("Baller League", "Beach Soccer", "LNFS", "Indoor League", "Price Boosts"),
                *("England - Enhanced Odds", "Cards", "Premier League Corner Kicks", "DNB"),
                *("Penalty Shootout", "Draw No Bet", "To Qualify", "Double Chance"),
                *("Bet Builder Specials", "Bundesliga Ecken", "La Liga - Tarjetas"),
                *("Serie A - Calci d'angolo", "Ligue 1 - Mi-temps", "Brasileirão - Escanteios"),
                *("Россия. Премьер-лига. Угловые", "Premier League 2nd Half"),
                *("Süper Lig - İlk Yar\u0131", "Elfmeterschießen", "Cuotas mejoradas"),
                *("Premier League - Overtime", "England - Virtuelle Liga", "Liga Wirtualna", "Sanal Lig"),
                *("虚拟足球", "电竞足球", "バーチャルサッカー", "eサッカー", "Instant Football"),
                *("Weiterkommen", "Qualifié", "Awans", "Postup", "Проход", "Incl. ET", "Tie Winner"),
                "1 период",
                *("England Virtual Premier League", "Premier League SRL", "E-Soccer"),
                *("e-Football H2H GG League", "Esoccer Battle - 8 mins play", "FIFA 23. Cyber League"),
                *("GT Sports League - 12 Min", "FC 25. 5x5 Rush. Superleague", "Electronic Leagues"),
                *("Short Football 4 x 4", "Minifootball", "England - Premier League 1st Half"),
                *("England. Premier League. Yellow cards", "Premier League. Stats. Throw-ins"),
                *("Alternative matches. Premier League", "Beach Soccer Cup"),
            ),
        ),
        (
            FIRST,
            (
                *(
                    "eSwatini - Premier League",
                    "Ivory Coast Première Ligue",
                    "AFC President's Cup",
                    "Malaysia MFL",
                ),
                *("Denmark Superliga", "EPL", "EFL Cup", "Asian Cup", "Cup Winners' Cup"),
                *("Serie A e Serie B", "Turkey Super League", "Championship - Relegation Group"),
                *("Promotion Play-Offs", "Volta Redonda Cup", "Super League"),
                *("Uruguay Segunda División", "Argentina Primera Nacional", "Liga MX", "1. liga"),
                *("Chance Liga",),
                *("Premier League", "2. Bundesliga", "Serie B", "Germany 3 Liga", ""),
                *("World Cup Group F", "Dublin League", "Palm Beach League", "A-Liga"),
                *("FIFA World Cup 2026", "Ulaanbaatar FC 2014", "Uruguay Minas League"),
                *("Statistica Cup",),
            ),
        ),
    ],
)
def test_labels_of_many_languages_and_countries_have_their_marks(
    team: TeamClass, labels: Sequence[str]
) -> None:
    """This holds also for labels that are a mark in one country only."""
    assert {} == {label: found for label in labels if (found := _of(label)) != team}


def test_each_line_of_the_table_of_marks_can_be_read() -> None:
    """Each line has a class, a place, plain marks that occur once, a known or no country, and a source."""
    table = [*rows("marks.tsv")]
    marks = [(row[1], mark, row[3]) for row in table for mark in row[2].split("|")]

    assert {"women", "youth", "reserves", "other"} == {row[0] for row in table}
    assert {"label", "name", "last", "brackets", "own"} == {row[1] for row in table}
    assert set() == {row[3] for row in table} - {country for country, _, _ in countries()} - {""}
    assert [] == [row for row in table if not re.match("(Wikipedia|Wiktionary): .", row[4])]
    assert [] == [mark for _, mark, _ in marks if not re.fullmatch("[a-z0-9*_#= ]+", mark)]
    assert len(marks) == len({*marks})


def test_an_age_differs_only_from_another_age() -> None:
    """A source that says reserves may mean the same team as one that says U21."""
    u19, u21 = TeamClass(second=True, age="19"), TeamClass(second=True, age="21")

    assert [True, False, True, True] == [
        differ(u19, u21),
        differ(u21, SECOND),
        differ(u21, FIRST),
        differ(WOMEN, FIRST),
    ]


def test_marks_of_a_name_and_of_its_league_add_up() -> None:
    """The name may mark women and the league reserves, or the reverse; of two ages the name's counts."""
    u19 = TeamClass(second=True, age="19")

    assert [TeamClass(women=True, second=True)] * 2 + [u19] == [
        parse("Ajax W").team | of_league("reserve league"),
        parse("Jong Ajax").team | of_league("liga f"),
        parse("Ajax U19").team | of_league("u21 divisie"),
    ]
