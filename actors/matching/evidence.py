"""What speaks for and against one match, and how alike two names are by words and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import product

from msgspec import Struct
from rapidfuzz.distance import JaroWinkler, Levenshtein
from rapidfuzz.process import extract

from actors.matching.names import FORMS, Name, are_equal, without_form
from actors.matching.tables import (
    are_spelled,
    clubs_in,
    countries_of,
    countries_of_several,
    country_of,
    is_common,
    is_known,
    is_spelling,
    weight,
    without_towns,
)

NEAR_FROM = 0.8
ALIKE_FROM = 0.5
REDUCED = 0.95  # the highest similarity of names of which something was left out
PAIRS = 1 << 15  # pairs of names whose likeness is kept

WORD_PAIRS = 1 << 13  # pairs of words whose similarity is kept
STEMS = 1 << 12  # names whose stems are kept: those of the matches of some hours
STEM = 3  # letters

MOST_WORDS = 12  # the longest real names have eight; pairs of more would take the linker's time

_LITTLE = 0.3  # what similar letters count without a word in common
_ONE_SIDED = 0.35  # how much words count that only the longer name has
_OF_TOWN = 0.12  # the same, if they are a town
_SHORT = 3  # letters of initials: with two, "St" is Sloboda Tuzla, but for ...
_PAIRS = frozenset({"mk", "rw", "sw", "bw"})  # ... Milton Keynes, red, black and blue with white
INITIALS = 5  # letters of words that may be initials or shortened
_ALIKE_LETTERS, _ALIKE_STARTS = 0.7, 0.9  # the least share of letters in common, and by Jaro-Winkler
_LONG = 4  # letters of a word that is long enough for a comparison letter by letter


class Likeness(IntEnum):
    """How alike two names of teams are."""

    OTHER = -1  # two clubs
    WEAK = 0
    ALIKE = 1
    NEAR = 2
    SAME = 3


class How(StrEnum):
    """Why two names are as alike as they are."""

    EQUAL = "equal"
    TABLE = "table"  # spellings of one club, or of two
    GIVEN = "given"  # an alias of the operator
    SIMILAR = "similar"


class LeagueEvidence(StrEnum):
    """What two leagues' labels say."""

    SAME = "same"
    CONCLUDED = "concluded"  # the same, if the country is that of the only clubs that the table knows
    UNKNOWN = "unknown"  # a source gives no label, or none with a country
    UNCLEAR = "unclear"  # two labels, which may mean two competitions or teams of two classes
    DIFFERENT = "different"


class NameEvidence(Struct, frozen=True, gc=False):
    """Two names of one side; `similarity` is 0 to 1."""

    likeness: Likeness
    similarity: float
    how: How


class Evidence(Struct, frozen=True, gc=False):
    """All evidence about two events, a and b.

    `kickoff_delta_s` is b's kick-off less a's, None if one is unknown; `country` 1 if both leagues are of
    one country, -1 if of two, else 0; `price_gap` the largest difference of the three probabilities.
    """

    home: NameEvidence
    away: NameEvidence
    kickoff_delta_s: int | None
    league: LeagueEvidence
    country: int
    price_gap: float | None


_GLUED = [(slice(size, None), slice(size)) for size in range(1, 5)]
_GLUED += [(slice(-size), slice(-size, None)) for size in range(1, 5)]  # the rest of a name, and a mark
EQUAL = NameEvidence(Likeness.SAME, 1.0, How.EQUAL)
_OF_ANOTHER = NameEvidence(Likeness.WEAK, _LITTLE, How.SIMILAR)
_OF_TABLE = NameEvidence(Likeness.SAME, 1.0, How.TABLE)


@lru_cache(maxsize=PAIRS)
def likeness(a: Name, b: Name, country: str | None) -> NameEvidence:
    """Return how alike two names are, in leagues of that country if it is known."""
    if _are_two(a) != _are_two(b):
        return _OF_ANOTHER
    if a.text == b.text:
        return EQUAL
    clubs, others = clubs_in(country, a), clubs_in(country, b)
    alike = similarity(a, b)
    if (ours := country_of(a)) and (theirs := country_of(b)):  # Ireland is not Iceland
        return _OF_TABLE if ours == theirs else NameEvidence(Likeness.OTHER, alike, How.TABLE)
    if len(clubs) == len(others) == 1:
        return _OF_TABLE if clubs == others else _of_two_clubs(a, b, alike)
    return _by_words(a, b, alike)


def _of_two_clubs(a: Name, b: Name, alike: float) -> NameEvidence:
    words, others = {*a.text.split()}, {*b.text.split()}
    is_left_out = (words <= others or others <= words) and not any(map(str.isdigit, words ^ others))
    if a.joined == b.joined and is_left_out:  # Paris and Paris FC: one is short for two
        return NameEvidence(Likeness.ALIKE, NEAR_FROM, How.TABLE)
    return NameEvidence(Likeness.OTHER, alike, How.TABLE)


def _are_two(name: Name) -> bool:
    """Return whether a name is of two clubs, one of which will play, and not as Bodo/Glimt is."""
    return bool(name.either) and all(map(is_spelling, name.either))


def likeness_by_words(a: Name, b: Name) -> NameEvidence:
    """Return how alike two names are, whatever the tables say."""
    return EQUAL if a.text == b.text else _by_words(a, b, similarity(a, b))


def _by_words(a: Name, b: Name, alike: float) -> NameEvidence:
    if are_equal(a, b):
        return EQUAL
    alike = min(alike, REDUCED)
    level = (
        Likeness.NEAR if alike >= NEAR_FROM else Likeness.ALIKE if alike >= ALIKE_FROM else Likeness.WEAK
    )
    return NameEvidence(level, alike, How.SIMILAR)


def are_of_several_countries(home: Name, away: Name) -> bool:
    """Return whether clubs of several countries have both names: AEK v Aris. A label must say which."""
    return len(countries_of(home) & countries_of(away)) > 1


def are_of_several(home: Name, away: Name, country: str | None) -> bool:
    """Return whether two pairs of clubs of one country may have these names: San Martín v Estudiantes.

    One of the names is that of several clubs there, the other at least short for several. `country` is that
    of the league, if it is known.
    """
    there = countries_of_several(home) & countries_of_several(away, is_short=True)
    there |= countries_of_several(home, is_short=True) & countries_of_several(away)
    return bool(there) and (country is None or country in there)


def have_marks(home: Name, away: Name, other_home: Name, other_away: Name) -> bool:
    """Return whether both teams of an event have something that neither of the other event has.

    That is a word, a digit, a letter or a bracket, also glued to a name: an unknown mark of class. A form
    that every list may leave out is none. What one team has in its name by itself, as KV Mechelen has, does
    not explain what both have.
    """
    if (_more(home, other_home) & _more(away, other_away)) or _share_an_end(
        _unexplained(home, other_home), _unexplained(away, other_away)
    ):
        return True
    if not (home.in_brackets <= {*other_home.core} or away.in_brackets <= {*other_away.core}):
        return True
    return (
        _are_glued(home, other_home, away, other_away)
        or _are_glued(away, other_away, home, other_home)
        or any(
            are_spelled(home.exact[part], away.exact[part]) and not are_spelled(home.exact, away.exact)
            for part, mark in _GLUED
            if home.exact[mark] == away.exact[mark]
        )
    )


def _more(name: Name, plain: Name) -> Counter[str]:
    """Return the words that a name has more often than the other."""
    return Counter(name.core) - Counter(plain.core)


def _unexplained(name: Name, plain: Name) -> list[str]:
    """Return the words of a name that no table has, and none of the other name resembles."""
    return [
        word
        for word in name.core
        if not is_known(word) and not any(of_words(word, other) for other in plain.core)
    ]


def _share_an_end(words: list[str], others: list[str]) -> bool:
    """Return whether two words begin or end alike: a mark may be glued to towns that only one list has."""
    return any(a[0] == b[0] or a[-1] == b[-1] for a, b in product(words, others))


def _are_glued(name: Name, plain: Name, opponent: Name, plain_opponent: Name) -> bool:
    """Return whether letters are glued to a plain name, and to its opponent's."""
    has_more = bool(Counter(opponent.text.split()) - Counter(plain_opponent.text.split()))
    return any(
        _is_between(opponent, *added) and (has_more or not _is_between(plain_opponent, *added))
        for added in _added(name, plain)
    )


def _is_between(name: Name, front: str, behind: str) -> bool:
    """Return whether a name begins and ends with these letters, as written or as compared: PoAe, PoA."""
    return any(
        letters.startswith(front) and letters.endswith(behind)
        for letters in (name.exact, name.text.replace(" ", ""))
    )


def _added(name: Name, plain: Name) -> Iterator[tuple[str, str]]:
    """Yield what may be glued to a plain name or to a word of it, in front and behind."""
    words = {*plain.core, *plain.text.split()}
    long_words = {*name.core, *name.text.split()} - words
    for long, short in ((name.exact, plain.exact), *product(sorted(long_words), sorted(words))):
        if len(short) > 1 and short in long:
            front, _, behind = long.partition(short)
            if (front or behind) and not {front, behind} <= {"", *FORMS}:
                yield front, without_form(behind)
    for word in (name.core[0], name.core[-1]):  # written apart from this one, glued to its opponent
        if word in long_words and len(word) <= _LONG and word not in FORMS:
            yield ("", word) if word == name.core[-1] else (word, "")


@lru_cache(maxsize=STEMS)
def stems(name: Name) -> frozenset[str]:
    """Return the first letters of the uncommon words, and the initials of the first three words.

    Similar names are found by their stems: names without a common stem are not compared any further.
    """
    rare = [word for word in name.words if not is_common(word)] or name.words
    initials = ["".join([word[:1] for word in name.words[:STEM]])] if len(name.words) >= STEM else []
    return frozenset([*(word[:STEM] for word in rare), *initials])


def similarity(a: Name, b: Name) -> float:
    """Return 0 to 1: how much of the names' words, weighted by rarity, resemble each other.

    Words that only the longer name has count a third of those that each has and the other lacks, and a
    town less.
    """
    if a.joined != b.joined and (a.either or b.either):
        return _LITTLE  # Wigan/Leeds are not Leeds
    if a.numbers and b.numbers and a.numbers.isdisjoint(b.numbers):
        return _LITTLE
    if a.joined == b.joined:
        return 1.0
    return _similarity(a.words, b.words)


def _similarity(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    if a == b or "".join(a) == "".join(b):
        return 1.0
    if len(a) > MOST_WORDS or len(b) > MOST_WORDS:
        return _LITTLE * Levenshtein.normalized_similarity("".join(a), "".join(b))
    if (spelled := _spelled_out(a, b)) is not None:
        return 0.9 * _similarity(spelled, b)
    if (spelled := _spelled_out(b, a)) is not None:
        return 0.9 * _similarity(a, spelled)
    pairs = sorted(
        ((alike, i, j) for i, x in enumerate(a) for j, y in enumerate(b) if (alike := of_words(x, y))),
        reverse=True,
    )
    left, right = set(range(len(a))), set(range(len(b)))
    score = matched = 0.0
    for alike, i, j in pairs:
        if i in left and j in right:
            left.discard(i)
            right.discard(j)
            heavy = max(weight(a[i]), weight(b[j]))
            score += alike * heavy
            matched += heavy
    if not matched:
        return _LITTLE * Levenshtein.normalized_similarity("".join(a), "".join(b))
    return score / (matched + _left_over([a[i] for i in left], [b[j] for j in right]))


def _left_over(a: list[str], b: list[str]) -> float:
    """Return how much speaks against one team in words of two names that nothing in the other resembles."""
    fewer, more = sorted((sum(map(weight, a)), sum(map(weight, b))))
    if fewer == 0 < more and not without_towns(frozenset(a or b)):
        return _OF_TOWN * more
    return fewer + _ONE_SIDED * (more - fewer)


def _spelled_out(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return `a` with initials replaced by the words of `b` that they stand for, None if there are none."""
    for i, word in enumerate(a):
        if (_SHORT <= len(word) <= _LONG or word in _PAIRS) and word not in b:
            for j in range(len(b) - len(word) + 1):
                if "".join(other[:1] for other in b[j : j + len(word)]) == word:
                    return a[:i] + b[j : j + len(word)] + a[i + 1 :]
    return None


@lru_cache(maxsize=WORD_PAIRS)
def of_words(a: str, b: str) -> float:
    """Return 0 to 1, at least 0.55 if above 0: equal, shortened, or nearly equal words."""
    if a == b:
        return 1.0
    short, long = sorted((a, b), key=len)
    size = len(short)
    if size == 1:
        return 0.6 if long[0] == short else 0.0
    if long.startswith(short):
        return {2: 0.75, 3: 0.88}.get(size, 0.93)
    if _is_contraction(short, long):
        return 0.75
    alike = Levenshtein.normalized_similarity(short, long)
    if size >= _LONG and alike >= _ALIKE_LETTERS:
        return 0.95 * alike
    near = JaroWinkler.similarity(short, long)
    return 0.8 * near if size > _LONG and near >= _ALIKE_STARTS else 0.0


def alike_words(word: str, others: list[str]) -> set[str]:
    """Return the other words that `of_words` finds alike; of short words, up to `INITIALS`, not all."""
    found = {other for other in others if other.startswith(word) or word.startswith(other)}
    for scorer, least in (
        (Levenshtein.normalized_similarity, _ALIKE_LETTERS),
        (JaroWinkler.similarity, _ALIKE_STARTS),
    ):
        found.update(
            [match[0] for match in extract(word, others, scorer=scorer, score_cutoff=least, limit=None)]
        )
    return found


def _is_contraction(short: str, long: str) -> bool:
    """Return whether `short` is `long` with letters left out, such as Rvs for Rovers."""
    if (
        not (_SHORT <= len(short) <= _LONG + 1 <= len(long))
        or short[0] != long[0]
        or short[-1] not in long[len(long) // 2 :]
    ):
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)
