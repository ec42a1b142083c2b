"""Team names: their plain words, without filler.

Pure. All spellings with the same plain words share one cached `Name`, unless a word is in brackets.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from sys import intern

from anyascii import anyascii
from msgspec import Struct

from actors.naming.data import rows
from actors.naming.team_class import TeamClass, split

NAMES = 1 << 16  # cached names: about 16 spellings of each of 4,000 teams

_MISREAD = re.compile("[\u00c2-\u00f4][^\x00-\x7f]").search  # two UTF-8 bytes read as two letters
_LEGAL = re.compile(  # kinds of clubs, which seldom distinguish two clubs
    r"a?[fs]c|cf|ac|as|ss|us|ssc|[fsbnph]k|hnk|gnk|if|ik|il|ff|kf|[fkbjos]k|rcd|cd|ud|sd|ca|cr|ec|se|rc|sv|vf[bl]|ts[vg]"
    r"|fsv|bsc|spvgg|ssv|vv|fcv|kv|krc|rsc|kvc|ks|[mgrl]ks|pf[kc]|sfk|bc|cfc|jk|fbk|sco|og|acsm?|cs[mc]|ogc|rb|kfc|ofk"
    r"|gd|aa|msk|mfk|tj|fbc|djk|tus|tsg|sf|ce|cp|sl|js|mc|hsk|bsv|[aeu]sv|[bwuz]ks|ofc|sfc"
    r"|club|calcio|sad|asd|spa|fut[eb]bol|fotbal|football|futebol|fotboll|clube|clubul|sportklub"
).fullmatch
FORMS = frozenset(["fc", "afc", "cf", "sc", "sk", "fk", "bk", "club"])
"""Kinds of clubs that lists add and omit freely, and that no list uses as a mark of class.

Labelled pairs need all these forms except CF and BK, and no pair contradicts one. FF, SF, KV and VFL are
marks in some lists.
"""
_SMALL = re.compile(
    r"de|la|le|el|al|los|las|les|of|the|da|do|di|du|del|della|dos|das|and|und|et|og|och|[yieva]|von|der|den"
    r"|im|ter|sur|en"
).fullmatch
_LATIN = "a-zA-Z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff"
_OTHER_SCRIPT = re.compile(  # a mark in letters of another script, in front of a name or behind it
    rf"\b([^\W\d_{_LATIN}]+)(?=[{_LATIN}0-9])|(?<=[{_LATIN}0-9])([^\W\d_{_LATIN}]+)\b"
)
_OTHER_LETTERS = re.compile(rf"[^\W\d_{_LATIN}]+")
_LATIN_LETTER = re.compile(f"[{_LATIN}]").search
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u04ff]+").fullmatch  # these alphabets spell the form FK, too
_GLUED = re.compile(r"(?<=[a-z]{2})(?=u-?(?:1[2-9]|2[0-3])(?!\w)|\d{1,2}(?!\w))")  # ChelseaU21, Lech2
_CAPITAL = re.compile(r"(?:(?<=[a-z\u00df-\u00ff]{3})|(?<=\d\d))(?=[A-Z](?!\w))")  # SpainW, Wil 1900W
_LETTERS = str.maketrans({"'": None, "\u2019": None, "`": None, "\u2018": None, "\u02bb": None})
_DIGRAPHS = re.compile("ae|oe|ue|aa")  # spellings of umlauts and of Scandinavian letters
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_STATE_CODE = 2  # letters: the code of a state, as in "(MG)", identifies no player
_COUNTRY_CODE = 3  # letters, as in "Barcelona (Ecu)"
_WORDS = re.compile(  # signs are words, too, but those inside names are not: Brighton & Hove, "Zenit"
    r"[a-z0-9]+|[*+#^!@$%=~|]|(?<!\S)[&?-]+$|^[&?-]+(?!\S)"
).findall
_EITHER = re.compile(r"(?<=\w) ?/ ?(?=\w)| (?:or|oder|ou) ").split  # one of two teams will play
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
_DOTTED = re.compile(r"\b((?:[a-z]\.){2,}[a-z]?)(?![a-z])")  # such as F.C., U.N.A.M.


class Name(Struct, frozen=True, eq=False, gc=False):
    """A team's name, parsed.

    `text` has all words without marks of class, `joined` the distinctive words without spaces. `core` has
    every word that may distinguish two teams, also short words, numbers and words in brackets. It lacks the
    `FORMS`, which are in `forms`, and small words in the middle. Two names have the same words only if
    `exact`, the core without spaces, is equal. `numbers` excludes years: 12 de Octubre is not 9 de Octubre.
    `either` lists the possible teams where one of them will play, as in "Wigan/Leeds". `is_unnamed` marks a
    placeholder such as "Winner QF1".
    """

    text: str
    words: tuple[str, ...]
    team: TeamClass
    joined: str
    core: tuple[str, ...]
    exact: str
    forms: frozenset[str]
    in_brackets: frozenset[str]
    numbers: frozenset[int] = frozenset()
    either: tuple[Name, ...] = ()
    is_unnamed: bool = False

    @property
    def is_explained(self) -> bool:
        """Whether a word in brackets distinguishes teams of one name: a simulated match's player."""
        return any(len(word) > _STATE_CODE for word in self.in_brackets)


def plain(text: str) -> str:
    """Return a text in lower case ASCII without apostrophes."""
    return anyascii(text).lower().translate(_LETTERS)


@lru_cache(maxsize=NAMES)
def parse(name: str, *, has_towns: bool = False) -> Name:
    """Return the parts of a name as a source spells it, after mending a wrong text encoding.

    With `has_towns` a letter in brackets is a town, not a mark of class: "Sarmiento (J)" is from Junín.
    """
    name = _CAPITAL.sub(" ", _well_read(name))
    name = _OTHER_LETTERS.sub(_readable, _OTHER_SCRIPT.sub(lambda found: f" {found[0]} ", name))
    given = _GLUED.sub(" ", plain(name))
    text, team = split(given, has_towns=has_towns)
    text = _DOTTED.sub(lambda found: found[1].replace(".", ""), text)
    text = " ".join(_WORDS(text))
    in_brackets = frozenset(_WORDS(" ".join(_IN_BRACKETS.findall(given)))).intersection(text.split())
    either = tuple(map(parse, parts)) if len(parts := _EITHER(name)) > 1 else ()
    return _name(text or name.strip() or "?", team, in_brackets, either, bool(_UNNAMED(given.strip())))


def _readable(found: re.Match[str]) -> str:
    """Return a word in other letters, or its code points if transliteration would lose or distort it.

    The word would be distorted if it read as the form of a club, or, in Greek or Cyrillic beside Latin
    letters, as a country's code of three letters.
    """
    word = found[0]
    read = "".join(_WORDS(plain(word)))
    if _GREEK_OR_CYRILLIC(word):
        is_kept = read in FORMS or len(read) != _COUNTRY_CODE or _LATIN_LETTER(found.string) is None
    else:
        is_kept = bool(read) and read not in FORMS
    return word if is_kept else "".join(f"u{ord(letter):x}" for letter in word)


def _well_read(name: str) -> str:
    """Return a name whose UTF-8 was read as Latin-1 or cp1252, even twice, decoded correctly."""
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
    in_brackets: frozenset[str],
    either: tuple[Name, ...],
    is_unnamed: bool,  # noqa: FBT001 - fields
) -> Name:
    parts = text.split()
    words = [part for part in parts if not (_LEGAL(part) or _SMALL(part) or part.isdigit())] or parts
    shared = tuple([intern(_canonical(word)) for word in words])
    digits = [part for part in parts if part.isdigit() and part != "1"]  # "1. FC" distinguishes nothing
    numbers = {int(part) for part in digits if len(part) < len("1899")}
    core, forms = _core(parts, in_brackets), FORMS.intersection(parts)
    return Name(
        *(text, shared, team, "".join(shared), core, "".join(core), forms, in_brackets),
        *(frozenset(numbers), either, is_unnamed),
    )


def _core(parts: list[str], in_brackets: frozenset[str]) -> tuple[str, ...]:
    """Return the words that may distinguish two teams, each in one spelling."""
    ones = {at for at, pair in enumerate(pairwise(parts)) if pair[0] == "1" and pair[1] in FORMS}  # 1. FC
    kept = [part for at, part in enumerate(parts) if at not in ones]
    kept = [part for part in kept if part not in FORMS or part in in_brackets] or kept
    marks = in_brackets | {kept[0], kept[-1]}  # as in SonderjyskE E
    inside = {at for at, part in enumerate(kept[1:-1], 1) if _SMALL(part) and part not in marks}
    words = [_canonical(part.lstrip("0") or part) for at, part in enumerate(kept) if at not in inside]
    return tuple(map(intern, words))


def without_form(letters: str) -> str:
    """Return letters that are glued to a name without the club form in front of them: FCW becomes W."""
    form = next((size for size in (3, 2) if _LEGAL(letters[:size])), 0)
    return letters[form:] or letters


def before_form(letters: str) -> str:
    """Return letters in front of a name without the club form at their end: nBK becomes n."""
    form = "" if _LEGAL(letters) else max(filter(letters.endswith, FORMS), key=len, default="")
    return letters.removesuffix(form) or letters


def _canonical(word: str) -> str:
    folded = _folded(word)
    return _spellings().get(word) or _spellings().get(folded, folded)


def _folded(word: str) -> str:
    return _DIGRAPHS.sub(lambda found: found[0][0], word)


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    """Return one spelling for each word that has several."""
    return {other: _folded(word) for word, others in rows("words.tsv") for other in others.split("|")}


def are_equal(a: Name, b: Name) -> bool:
    """Return whether two names are equal except for a form in only one of them: Arsenal, Arsenal FC."""
    return a.exact == b.exact and (not a.forms or not b.forms or not a.forms.isdisjoint(b.forms))
