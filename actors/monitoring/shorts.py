"""Short names of bookmakers, for places too narrow for their full names. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TypeVar

MAX_SHORT = 9  # characters, the length of "Ladbrokes"

Id = TypeVar("Id", bound=str)


def shorts_of(names: Mapping[Id, str], given: Mapping[Id, str]) -> dict[Id, str]:
    """Return a short name of at most `MAX_SHORT` characters for each bookmaker, in the order of `names`.

    No two short names are equal, ignoring case. The `given` names are kept, and must differ. Any other
    bookmaker gets the first form of its name (`_forms`) that no other bookmaker would get; if there is
    none, a number is added. So a short name depends on all names, but on the order of names only if it has
    a number.
    """
    shorts = {name: given[name] for name in names if name in given}
    taken = {short.casefold() for short in shorts.values()}
    forms = {name: list(_forms(text)) for name, text in names.items() if name not in given}
    for turn in range(_TURNS):
        asked = {name: forms[name][turn] for name in forms if name not in shorts}
        times = Counter(form.casefold() for form in asked.values())
        for name, form in asked.items():
            if form and times[form.casefold()] == 1 and form.casefold() not in taken:
                shorts[name] = form
                taken.add(form.casefold())
    for name in (name for name in forms if name not in shorts):
        numbered = (_cut(forms[name][_BEGINNING], str(number)) for number in count(1))
        shorts[name] = next(form for form in numbered if form.casefold() not in taken)
        taken.add(shorts[name].casefold())
    return {name: shorts[name] for name in names}


_TURNS, _BEGINNING = 5, 3


def _forms(name: str) -> Iterator[str]:
    """Yield the five forms of a name, "" for a form that is too long or needs more words.

    "Betfair Exchange (UK)" has the forms "", "Betfair", "BetfairEU", "BetfairEx" and "BetfairUK".
    """
    plain = re.sub(r"(?<=.) \([^)]*\)$", "", name)
    words = re.sub(r"[()]", "", name).split() or [name]
    joined = "".join(words)
    yield plain if len(plain) <= MAX_SHORT else ""
    yield words[0] if len(words[0]) <= MAX_SHORT else ""
    yield _cut(words[0], "".join(word[0] for word in words[1:])[:3]) if len(words) > 1 else ""
    yield joined[:MAX_SHORT]
    yield _cut(joined, joined[-2:]) if len(joined) > MAX_SHORT else ""


def _cut(text: str, end: str) -> str:
    """Return `end` after as much of `text` as `MAX_SHORT` allows."""
    return text[: MAX_SHORT - len(end)] + end
