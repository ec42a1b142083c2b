"""Names of teams: their plain words, and what is filler in them.

Pure. A `Name` is the same object for every spelling with the same plain words, as long as it is cached; a
spelling with a word in brackets is another.
"""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern

from anyascii import anyascii
from msgspec import Struct

from actors.matching.team_class import TeamClass, split

NAMES = 1 << 16  # names kept: some 16 spellings of each of 4,000 teams

_MISREAD = re.compile("[\u00c2-\u00f4][^\x00-\x7f]").search  # two bytes of UTF-8, each a letter of its own
_LEGAL = re.compile(  # kinds of clubs, which seldom tell two clubs apart
    r"a?[fs]c|cf|ac|as|ss|us|ssc|[fsbnph]k|hnk|gnk|if|ik|il|ff|kf|[fkbjos]k|rcd|cd|ud|sd|ca|cr|ec|se|rc|sv|vf[bl]|ts[vg]"
    r"|fsv|bsc|spvgg|ssv|vv|fcv|kv|krc|rsc|kvc|ks|[mgrl]ks|pf[kc]|sfk|bc|cfc|jk|fbk|sco|og|acsm?|cs[mc]|ogc|rb|kfc|ofk"
    r"|gd|aa|msk|mfk|tj|fbc|djk|tus|tsg|sf|ce|cp|sl|js|mc|hsk|bsv|[aeu]sv|[bwuz]ks|ofc|sfc"
    r"|club|calcio|sad|asd|spa|fut[eb]bol|fotbal|football|futebol|fotboll|clube|clubul|sportklub"
).fullmatch
_SMALL = re.compile(
    r"de|la|le|el|al|los|las|les|of|the|da|do|di|du|del|della|dos|das|and|und|et|og|och|[yieva]|van|von|der|den"
    r"|im|ter|sur|en"
).fullmatch
_CANONICAL = {
    "utd": "united",
    "saint": "st",
    "sankt": "st",
    "sint": "st",
    "ste": "st",
    "munich": "munchen",
    "cologne": "koln",
    "lisboa": "lisbon",
    "praha": "prague",
    "wien": "vienna",
    "beograd": "belgrade",
    "kobenhavn": "copenhagen",
    "moskva": "moscow",
    "milano": "milan",
    "bruxelles": "brussels",
    "brussel": "brussels",
    "brugge": "bruges",
    "internazionale": "inter",
    "bucuresti": "bucharest",
    "warszawa": "warsaw",
    "goteborg": "gothenburg",
    "dinamo": "dynamo",
    "dep": "deportivo",
    "atl": "atletico",
    "athletico": "atletico",
    "ind": "independiente",
    "univ": "universidad",
    "estud": "estudiantes",
    "mineiro": "mg",
    "paranaense": "pr",
    "goianiense": "go",
    "genova": "genoa",
    "zurich": "zurich",
    "firenze": "fiorentina",
    "sevilla": "sevilla",
    "athinai": "athens",
    "nurnberg": "nurnberg",
    "nuremberg": "nurnberg",
    "hanover": "hannover",
    "krakow": "cracow",
    "lodz": "lodz",
    "athenes": "athens",
    "torino": "torino",
    "turin": "torino",
    "napels": "napoli",
    "naples": "napoli",
    "saloniki": "thessaloniki",
    "salonika": "thessaloniki",
    "kyiv": "kiev",
    "kyev": "kiev",
    "weds": "wednesday",
    "alb": "albion",
    "rov": "rovers",
    "wand": "wanderers",
    "kenema": "city",  # Amharic, also Ketema
    "ketema": "city",
}
_LETTERS = str.maketrans({"'": None, "\u2019": None, "`": None, "\u2018": None, "\u02bb": None})
_DIGRAPHS = re.compile("ae|oe|ue|aa")  # other spellings of umlauts and of Scandinavian letters
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_WRITTEN = {
    word: number
    for number, words in {
        1: "primero primeiro",
        2: "dos dois",
        5: "cinco",
        7: "siete sete",
        8: "ocho oito",
        9: "nueve nove",
        11: "once onze",
        12: "doce doze",
        15: "quince quinze",
        24: "veinticuatro",
        25: "veinticinco",
    }.items()
    for word in words.split()
}
_MONTHS = "ener|jane|febr|feve|mar[cz]|abri|ma[yi]|jun|jul|agos|se[pt]|outu|octu|nov|dic|dez"
_DATE = re.compile(  # clubs have the names of days: 12 de Octubre, Primeiro de Agosto
    rf"\b(?:(\d\d?)o?|({'|'.join(_WRITTEN)})) (?=d[eio] (?:{_MONTHS}))"
)
_EITHER = re.compile(r"(?<=\w) ?/ ?(?=\w)| (?:or|oder|ou) ").split  # who will play is not yet known
_FIRST_OF_TWO = (
    r"winn?ers?|losers?|sieger|gewinner|verlierer|winnaars?|verliezers?|vainqueurs?|perdants?|vencedor(?:es)?"
    r"|perdedor(?:es)?|ganador(?:es)?|vincente|vincenti|perdente|vinnare|vinner|vinder|zwyciezca|przegrany"
    r"|pobednik|pobjednik|pobeditel|kazanan|castigatoare|gyoztes|voittaja|runners?[ -]?up"
)
_UNNAMED = re.compile(  # the winner of a match, a place in a group, or nothing
    rf"(?:{_FIRST_OF_TWO})\b.+|.* (?:{_FIRST_OF_TWO}) ?\d*|\W*|(?:.*\W)?tb[acd](?:\W.*)?|n\.? ?n\.?|unknown"
    r"|to be (?:decided|confirmed|announced|determined)|(?:home|away)(?: teams?)?|team \d+|[wl] ?\d+"
    r"|[a-l][1-6]|[1-6](?:st|nd|rd|th)? ?(?:(?:group|gruppe|gr\.?) )?[a-l]"
    r"|(?:qualifier|semi-? ?finalist|quarter-? ?finalist|finalist)s? ?\d*"
).fullmatch
_DOTTED = re.compile(r"\b((?:[a-z]\.){2,}[a-z]?)(?![a-z])")  # F.C., U.N.A.M.


class Name(Struct, frozen=True, eq=False, gc=False):
    """A team's name; `text` has all its words without marks of class, `joined` the telling ones, no spaces.

    `is_explained`: a word in brackets that is no mark of class says which team of that name it is. In
    simulated football that is the player: "Arsenal (Kodak)". The code of a state, as in "(MG)", is none.
    `numbers` are those that are no year: 12 de Octubre is not 9 de Octubre. `either` are the teams that it
    may name, one of which will play, as "Wigan/Leeds". `is_unnamed`: it names none yet, as "Winner QF1".
    """

    text: str
    words: tuple[str, ...]
    filler: frozenset[str]
    years: frozenset[str]
    team: TeamClass
    joined: str
    is_explained: bool
    numbers: frozenset[int] = frozenset()
    either: tuple[Name, ...] = ()
    is_unnamed: bool = False


def plain(text: str) -> str:
    """Return a text in lower case ASCII without apostrophes."""
    return anyascii(text).lower().translate(_LETTERS)


@lru_cache(maxsize=NAMES)
def parse(name: str) -> Name:
    """Return the parts of a name as a source spells it, in the encoding that was meant."""
    name = _well_read(name)
    text, team = split(given := plain(name))
    text = _DOTTED.sub(lambda found: found[1].replace(".", ""), text)
    text = " ".join(re.findall("[a-z0-9]+", text))
    in_brackets = " ".join(_IN_BRACKETS.findall(given))
    is_explained = not {*re.findall("[a-z0-9]{3,}", in_brackets)}.isdisjoint(text.split())
    either = tuple(map(parse, parts)) if len(parts := _EITHER(name)) > 1 else ()
    return _name(text or name.strip() or "?", team, is_explained, either, bool(_UNNAMED(given.strip())))


def _well_read(name: str) -> str:
    """Return a name whose UTF-8 was read as Latin-1 or cp1252, even twice, as it was meant; others stay."""
    if _MISREAD(name) is None:
        return name
    for encoding in ("cp1252", "latin-1"):
        try:
            return _well_read(name.encode(encoding).decode())
        except UnicodeError:
            continue
    return name


@lru_cache(maxsize=NAMES)
def _name(
    text: str,
    team: TeamClass,
    is_explained: bool,  # noqa: FBT001 - fields
    either: tuple[Name, ...],
    is_unnamed: bool,  # noqa: FBT001
) -> Name:
    dates = [int(number) if number else _WRITTEN[word] for number, word in _DATE.findall(text)]
    rest = _DATE.sub("", text)
    parts = rest.split()
    words = [_canonical(part) for part in parts if not (_LEGAL(part) or _SMALL(part) or part.isdigit())]
    if words:
        left = {part for part in parts if _LEGAL(part)}
        digits = [part for part in parts if part.isdigit()]
        years = {part for part in digits if len(part) == len("1899")}
        # The 1 of 1. FC says nothing.
        numbers = {int(part) for part in digits if part not in years and part != "1"}
    else:
        words, left, years, numbers = [*parts], set(), set(), set[int]()
    numbers.update(dates)
    shared = tuple([intern(word) for word in words])
    joined = "".join(words)
    return Name(
        *(text, shared, frozenset(left), frozenset(years), team, joined, is_explained),
        *(frozenset(numbers), either, is_unnamed),
    )


def _canonical(word: str) -> str:
    folded = _DIGRAPHS.sub(lambda found: found[0][0], word)
    return _CANONICAL.get(word) or _CANONICAL.get(folded, folded)


def may_be_one(a: Name, b: Name) -> bool:
    """Return whether what was left out allows one club: CA Bastia is not SC Bastia, CSKA 1948 not CSKA."""
    have_numbers_in_common = not a.numbers or not b.numbers or not a.numbers.isdisjoint(b.numbers)
    have_forms_in_common = not a.filler or not b.filler or not a.filler.isdisjoint(b.filler)
    return a.years == b.years and have_numbers_in_common and have_forms_in_common


def are_one(a: Name, b: Name) -> bool:
    """Return whether nothing tells two names apart but what one of them leaves out: Arsenal, Arsenal FC."""
    return a.joined == b.joined and may_be_one(a, b)
