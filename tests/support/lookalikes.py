"""Two matches that look like one, made independently of the linker: no code of `actors.matching` is here.

Names come from `links/*.tsv`, each in two spellings. Half of the marks are random strings of one to four
letters in eight scripts. Kinds have the numbers of the findings that they came from.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random

from msgspec import Struct

FORMS = frozenset(["fc", "afc", "cf", "sc", "sk", "fk", "bk", "club", "фк", "ск", "бк", "φκ", "σκ", "βκ"])
"""Forms that every list may leave out."""
KNOWN = frozenset(["w", "v", "f", "b", "ii", "a", "2", "3", "y", "j", "r", "fa", "фа"])
"""Marks that are known and tried elsewhere, and the form of many clubs of Malaysia."""
SCRIPTS = (
    *("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшэюя", "αβγδεζηθικλμνξοπρστυφχψω"),
    *("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "אבגדהוזחטיכלמנסעפצקרשת", "女子足青年队二预备乙丙丁东西南北"),
    *("アイウエオカキクケコサシスセソタチツテトレディユース", "가나다라마바사아자차카타파하여자"),
)
MOST_LETTERS = 4  # the most letters of a mark
PLACES = (
    *(
        "{mark} {name}",
        "{name} {mark}",
        "{name} ({mark})",
        "({mark}) {name}",
        "{name} [{mark}]",
        "{name}{mark}",
    ),
    *(
        "{mark}{name}",
        "{name}/{mark}",
        "{name} \uff08{mark}\uff09",
        "{name} {wide}",
        "{name}-{mark}",
        "{name} {mark}.",
    ),
)
MARKS = (
    *(
        "{} (kv)",
        "{} Kv.",
        "{} (N)",
        "{} n",
        "{} FF",
        "{} F.F.",
        "{} SF",
        "{}/2",
        "{} ET",
        "{} (ET)",
        "{} (E)",
    ),
    *("{} VFL", "{} (K)", "{} (k)", "{} K", "{} (Ž)", "{} Ž", "{} (C)", "{} C", "{} F", "{} (س)", "{} (נ)"),
    *("{}女足", "{} 女子", "{}二队", "{}B队", "{}预备队", "{}青年队", "{}U21", "{}レディース", "{}ユース"),
    *(
        "{}U21",
        "{}U23",
        "{}W",
        "{}2",
        "{} Dam",
        "{} (Bayan)",
        "{} ♀",
        "{} (до 21)",
        "{} (21)",
        "{} 21",
        "{} <21",
    ),
    *("{}!", "$ {}", "{} &", "{} ~", "{} @", "{} ⚽", "{} ②"),
)
TWO_COUNTRIES = (  # clubs of both countries can have these names
    *(("Al Nasr", "Al Wahda", "UAE", "Saudi Arabia", "Pro League"),),
    *(("Al Shabab", "Al Nasr", "Saudi Arabia", "Oman", "Professional League"),),
    *(("Flamurtari", "Besa", "Albania", "Kosovo", "Superliga"),),
    *(("Al Jazira", "Al Wahda", "UAE", "Jordan", "Pro League"),),
    *(("Al Wahda", "Al Ittihad", "UAE", "Syria", "Premier League"),),
    *(("Sporting", "Benfica", "Portugal", "Cape Verde", "Primeira Divisao"),),
    *(
        ("Radnik", "Javor", "Serbia", "Bosnia", "Superliga"),
        ("Rudar", "Celik", "Montenegro", "Bosnia", "Liga"),
    ),
    *(("Libertad", "Olimpia", "Paraguay", "Honduras", "Primera"),),
    *(("Platense", "Victoria", "Honduras", "El Salvador", "Primera"),),
    *(("Police", "Army", "Rwanda", "Uganda", "Premier League"),),
    *(
        ("Everton", "Rangers", "England", "Chile", "Primera"),
        ("Arsenal", "Racing", "Argentina", "Uruguay", "Liga"),
    ),
)
OF_ARGENTINA = ("San Martin", "Gimnasia", "Estudiantes", "Sarmiento", "San Martín", "Gimnasia y Esgrima")
STATES = (
    *("Carioca", "Piauiense", "Potiguar", "Pernambucano", "Gaucho", "Catarinense", "Amazonense"),
    *("Roraimense", "Cearense", "Baiano"),
)
OF_STATES = (
    ("Flamengo", "Fluminense"),
    ("America", "Santa Cruz"),
    ("Comercial", "Operario"),
    ("Sao Jose", "Juventude"),
)
FRIENDLY = (
    *("Vriendschappelijk", "Harjoitusottelut", "Φιλικά", "Giao hữu", "友谊赛", "親善試合", "Amicaux"),
    *("Приятелски", "Priateľské", "Товариські", "Miqësore", "Testkamper", "Pre-season"),
    *("Test match", "Oefenwedstrijden", "Sparingi", "Barátságos", "Dostluk", "Draugiškos", "Trofeo"),
)
OTHER_MARKETS = (
    *("Virtuelle Liga", "Virtuel Liga", "Wirtualna Liga", "Sanal Lig", "虚拟联赛", "电竞", "バーチャル"),
    *("Instant Football", "eサッカー", "Weiterkommen", "Qualifié", "Awans", "Postup", "Проход"),
    *("Incl. ET", "Tie Winner", "1 период", "Olympics", "CHAN", "NCAA", "Student League"),
    *("Εικονικό", "Sýndardeild", "Avanza", "Går videre", "Jatkoon", "Továbbjutás", "Tur Atlar", "晋级"),
    *("1ª Parte", "1. halvlek", "1. HZ", "HT", "前半", "Олимпиада", "Asian Games"),
)
COUNTRIES = (
    *(("Sudan", "S. Sudan"), ("Guyana", "Guiana"), ("Virgin Islands", "British Virgin Islands")),
    *(("Saint Martin", "Sint Maarten"), ("Somalia", "Somaliland"), ("Ireland", "Northern Ireland")),
    *(("Virgin Islands", "US Virgin Islands"), ("Congo", "DR Congo"), ("Korea", "North Korea")),
)


class Shown(Struct, frozen=True):
    """A match as a list shows it; `late_s` is how much later it begins than the other match."""

    home: str
    away: str
    label: str | None
    late_s: int = 0


class Lookalike(Struct, frozen=True):
    """Two matches; `may_be_linked` if nothing but prices and labels tells them apart."""

    kind: str
    first: Shown
    other: Shown
    may_be_linked: bool = False


def lookalike(random: Random) -> Lookalike:
    """Return two matches of a random kind; half of the kinds are marks."""
    kind = random.choice([*KINDS]) if random.random() < 0.5 else "K1 L1 L2 L3"
    return KINDS[kind](random, kind)


@lru_cache(maxsize=1)
def _teams() -> list[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Return label, both spellings of the home team, and both spellings of the away team."""
    found = []
    for table in ("spellings", "more_spellings"):
        with (Path(__file__).parent / "links" / f"{table}.tsv").open(encoding="utf-8") as lines:
            found += [
                (
                    f"{row['country']} - {row['league']}",
                    (row["home"], row["other home"]),
                    (row["away"], row["other away"]),
                )
                for row in csv.DictReader(lines, delimiter="\t")
            ]
    marked = (" B", " II", " 2", ".")  # marks of the names themselves, and abbreviated words
    return [row for row in found if not any(name.endswith(marked) for name in (*row[1], *row[2]))]


def _mark(random: Random, teams: tuple[tuple[str, str], ...]) -> str:
    """Return a mark with a place for the name: half of the marks are random, some are a word of a name."""
    if random.random() < 0.5:
        return random.choice(MARKS)
    letters = random.choice(SCRIPTS)
    mark = "".join(random.choices(letters, k=random.randint(1, 4)))
    if random.random() < 0.1:
        words = [word for a, _ in teams for word in (*a.split(), a[-1]) if len(word) <= MOST_LETTERS]
        mark = random.choice([word for word in words if _is_in_all_or_none(word, teams)] or [mark])
    if mark.lower() in FORMS | KNOWN or not mark.isalpha():
        return _mark(random, teams)
    mark = random.choice((mark, mark.upper(), mark.title()))
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in mark)
    return random.choice(PLACES).format(mark=mark, wide=wide, name="{}")


def _is_in_all_or_none(mark: str, teams: tuple[tuple[str, str], ...]) -> bool:
    """Return whether both spellings of each team have the word equally often."""
    return all(a.lower().count(mark.lower()) == b.lower().count(mark.lower()) for a, b in teams)


def _marked(random: Random, kind: str) -> Lookalike:
    """Both teams of one list have a mark; the two lists may spell the names differently."""
    label, home, away = random.choice(_teams())
    mark, labels = (
        _mark(random, (home, away)),
        (label, label, label.partition(" - ")[2], "Club Friendlies", None),
    )
    spelled = [random.choice(names) for names in (home, away, home, away)]
    first = Shown(spelled[0], spelled[1], random.choice(labels))
    other = Shown(mark.format(spelled[2]), mark.format(spelled[3]), random.choice((first.label, *labels)))
    return Lookalike(kind, *_ordered(random, first, other))


def _of_argentina(random: Random, kind: str) -> Lookalike:
    home, away = random.sample(OF_ARGENTINA, 2)
    if {home[:3], away[:3]} in ({"San"}, {"Gim"}) or {home, away} == {"Estudiantes", "Sarmiento"}:
        return _of_argentina(random, kind)
    if not {"San Martin", "San Martín", "Gimnasia", "Gimnasia y Esgrima"} & {home, away}:
        return _of_argentina(random, kind)
    label = random.choice(
        ("Argentina - Primera Nacional", "Argentina - Torneo Federal A", "Argentina - Copa")
    )
    return Lookalike(kind, Shown(home, away, label), Shown(home, away, label))


def _of_two_countries(random: Random, kind: str) -> Lookalike:
    home, away, country, _, league = random.choice(TWO_COUNTRIES)
    plain = random.choice((league, None, "Pro League", "Premier League"))
    first = Shown(home, away, random.choice((f"{country} - {league}", league)))
    return Lookalike(kind, *_ordered(random, first, Shown(home, away, plain)), may_be_linked=True)


def _of_two_states(random: Random, kind: str) -> Lookalike:
    home, away = random.choice(OF_STATES)
    first, other = (
        random.choice(("Brazil - {}", "{}")).format(state) for state in random.sample(STATES, 2)
    )
    return Lookalike(kind, Shown(home, away, first), Shown(home, away, other), may_be_linked=True)


def _twice_on_a_day(random: Random, kind: str) -> Lookalike:
    label, home, away = random.choice(_teams())
    word = random.choice(FRIENDLY)
    label = random.choice((word, f"{label.partition(' - ')[0]} - {word}"))
    teams = random.choice(home), random.choice(away)
    late_s = 60 * random.randint(45, 180)
    return Lookalike(
        kind, Shown(*teams, label), Shown(random.choice(home), random.choice(away), label, late_s)
    )


def _another_market(random: Random, kind: str) -> Lookalike:
    label, home, away = random.choice(_teams())
    if not label.partition(" - ")[2]:
        return _another_market(random, kind)
    other = random.choice(
        ("{country} - {market}", "{label} - {market}", "{label} {market}", "{market}")
    ).format(country=label.partition(" - ")[0], label=label, market=random.choice(OTHER_MARKETS))
    return Lookalike(
        kind, *_ordered(random, Shown(home[0], away[0], label), Shown(home[0], away[0], other))
    )


def _of_like_countries(random: Random, kind: str) -> Lookalike:
    first, other = random.choice(COUNTRIES)
    return Lookalike(kind, *_ordered(random, Shown(first, "Kenya", None), Shown(other, "Kenya", None)))


def _of_ages(random: Random, kind: str) -> Lookalike:
    home, away = random.choice(
        (("Россия", "Сербия"), ("Spain", "Italy"), ("Arsenal", "Chelsea"), ("Peru", "Chile"))
    )
    age = random.randint(15, 23)
    form = random.choice(
        ("{} (до {})", "{} ({})", "{} {}", "{} <{}", "{}U{}", "{} U-{}", "{} [{}]", "{} sub{}")
    )
    label = random.choice((None, "Euro", "Friendlies"))
    other = Shown(form.format(home, age), form.format(away, age), label)
    return Lookalike(kind, *_ordered(random, Shown(home, away, label), other))


def _ordered(random: Random, first: Shown, other: Shown) -> tuple[Shown, Shown]:
    return (first, other) if random.random() < 0.5 else (other, first)


KINDS: dict[str, Callable[[Random, str], Lookalike]] = {
    "K1 L1 L2 L3": _marked,
    "K2": _of_ages,
    "K3": _of_argentina,
    "K4 L6": _of_two_countries,
    "L5": _of_two_states,
    "L7": _twice_on_a_day,
    "L8": _another_market,
    "L9": _of_like_countries,
}
