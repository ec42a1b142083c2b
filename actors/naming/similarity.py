"""The similarity of two team names by their words; distinctive words weigh more."""

from __future__ import annotations

from functools import lru_cache

from rapidfuzz.distance import JaroWinkler, Levenshtein
from rapidfuzz.process import extract

from actors.naming.names import Name
from actors.naming.tables import is_common, weight, without_towns

WORD_PAIRS = 1 << 13  # cached similarities
STEMS = 1 << 12  # cached names: the names in the matches of some hours
STEM = 3  # letters of a stem; also the words that give initials
MOST_WORDS = 12  # the longest real names have eight; comparing longer names would take too long
LITTLE = 0.3  # weight of similar letters without a common word
_ONE_SIDED = 0.35  # weight of words that only the longer name has
_TOWN_ONLY = 0.12  # the same weight, if the words are a town
_SHORT = 3  # least letters of initials, except `_PAIRS`: "St" is not Sloboda Tuzla
_PAIRS = frozenset({"mk", "rw", "sw", "bw"})  # Milton Keynes; red, black and blue with white
INITIALS = 5  # letters of words that may be initials or shortened
_ALIKE_LETTERS, _ALIKE_STARTS = 0.7, 0.9  # least share of common letters; least Jaro-Winkler similarity
_LONG = 4  # shortest word that is compared letter by letter


@lru_cache(maxsize=STEMS)
def stems(name: Name) -> frozenset[str]:
    """Return the first letters of the uncommon words, and the initials of the first three words.

    Names without a common stem are not compared any further.
    """
    rare = [word for word in name.words if not is_common(word)] or name.words
    initials = ["".join([word[:1] for word in name.words[:STEM]])] if len(name.words) >= STEM else []
    return frozenset([*(word[:STEM] for word in rare), *initials])


def similarity(a: Name, b: Name) -> float:
    """Return 0 to 1: the share of the names' words that resemble each other; rare words weigh more.

    A word that only the longer name has weighs about a third of a mismatch on both sides, a town less.
    """
    if a.joined != b.joined and (a.either or b.either):
        return LITTLE  # Wigan/Leeds is not the team Leeds
    if a.numbers and b.numbers and a.numbers.isdisjoint(b.numbers):
        return LITTLE
    if a.joined == b.joined:
        return 1.0
    return _similarity(a.words, b.words)


def _similarity(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    if a == b or "".join(a) == "".join(b):
        return 1.0
    if len(a) > MOST_WORDS or len(b) > MOST_WORDS:
        return LITTLE * Levenshtein.normalized_similarity("".join(a), "".join(b))
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
        return LITTLE * Levenshtein.normalized_similarity("".join(a), "".join(b))
    return score / (matched + _left_over([a[i] for i in left], [b[j] for j in right]))


def _left_over(a: list[str], b: list[str]) -> float:
    """Return the weight against a match of the words that resemble nothing in the other name."""
    fewer, more = sorted((sum(map(weight, a)), sum(map(weight, b))))
    if fewer == 0 < more and not without_towns(frozenset(a or b)):
        return _TOWN_ONLY * more
    return fewer + _ONE_SIDED * (more - fewer)


def _spelled_out(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return `a` with initials replaced by the words of `b` that they stand for, or None."""
    for i, word in enumerate(a):
        if (_SHORT <= len(word) <= _LONG or word in _PAIRS) and word not in b:
            for j in range(len(b) - len(word) + 1):
                if "".join(other[:1] for other in b[j : j + len(word)]) == word:
                    return a[:i] + b[j : j + len(word)] + a[i + 1 :]
    return None


@lru_cache(maxsize=WORD_PAIRS)
def of_words(a: str, b: str) -> float:
    """Return the similarity of two words: 0, or 0.55 to 1 for equal, shortened or nearly equal words."""
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
    """Return the words that `of_words` finds alike; for words up to `INITIALS` letters only some."""
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
