"""Damaged answers of The Odds API: a recorded answer with a few matches damaged as programs damage JSON.

A place is a match, a bookmaker, a market and an outcome: its name (the displayed team, or the draw) and
point. Fields may be
missing, repeated or of another type, dates and names changed, and parts doubled, merged or reordered.
No price may be shown at a place where the undamaged answer has another price or none.

Each match is damaged at most once. Damage that makes another answer of equal validity is left out, since
no parser can detect it: swapped outcome names, another number as a price, another bookmaker's key.
Swapping the home and the away team of a match moves no price to another name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Any

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Match
from actors.markets.market import Kind
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.damage import Trial
from tests.support.builders.json_damage import (
    Table,
    change_type,
    double_field,
    double_item,
    get,
    merge_items,
    one_of,
    parts_of,
    put,
    remove_field,
    remove_item,
    reorder,
    table_of,
    tables_of,
    text_of,
)
from tests.support.builders.reading import decoded, judged
from tests.support.builders.the_odds_api import ALL_MARKETS, API_KEY
from tests.support.recordings import the_odds_api

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports="football", markets=ALL_MARKETS)
MAX_MATCHES = 3
MAX_BOOKMAKERS = 5
SEVERAL = "each match"

Damage = Callable[[Random, list[Any]], None]
"""A function that damages a list of one or more matches in place."""

Prices = Mapping[tuple[str, str], Mapping[tuple[str, str, float | None], float]]
"""The price of each outcome by its market, name and point, for each match id and bookmaker key."""


def trial(random: Random, kind: str | None = None) -> Trial:
    """Damage some matches of a recorded answer and compare each shown price with the undamaged ones."""
    kind = random.choice(KINDS) if kind is None else kind
    matches = _chosen(random)
    unharmed = _prices(matches)
    tables = [table_of(match) for match in matches]
    if kind == SEVERAL:
        parts = [[table] for table in tables]
        for part in parts:
            random.choice([*_DAMAGES.values()])(random, part)
        tables = [table for part in parts for table in part]
    else:
        _DAMAGES[kind](random, tables)
    comma, colon = random.choice(((",", ":"), (", ", ": "), (",\n ", ":")))
    return _judged(kind, text_of(tables, comma, colon).encode(), unharmed)


def _judged(kind: str, body: bytes, unharmed: Prices) -> Trial:
    rejected: Counter[str] = Counter()
    try:
        slate = decoded(KIND, OPTIONS, body)
    except PayloadError:
        return Trial(kind, 0, Counter(["answer"]), ())
    accepted, wrong, kinds = 0, [], set[Kind]()
    for key in sorted({key for _, key in unharmed}):
        extract = run_now(KIND.extract(slate, key, OPTIONS))
        admission = judged(KIND, key, OPTIONS, extract)
        rejected.update(extract.passed_over)
        rejected.update(admission.rejected)
        accepted += len(admission.batch.matches)
        kinds |= {match.market.kind for match in admission.batch.matches}
        wrong += [
            f"{key}: {match} in {body!r}"
            for match in admission.batch.matches
            if not _stands(match, unharmed.get((match.event_id, key), {}))
        ]
    return Trial(kind, accepted, rejected, tuple(wrong), frozenset(kinds))


def _stands(match: Match, prices: Mapping[tuple[str, str, float | None], float]) -> bool:
    line = match.market.line
    places: list[tuple[str, str, float | None]] = [
        ("h2h", name, None) for name in (match.home, "Draw", match.away)
    ]
    if match.market.kind is Kind.OVER_UNDER:
        places = [("totals", name, line) for name in ("Over", "Under")]
    elif line is not None:
        places = [("spreads", match.home, line), ("spreads", match.away, -line)]
    return [*match.prices] == [prices.get(place) for place in places]


@cache
def recorded() -> list[list[Any]]:
    """Read the recorded football answers, including those of matches in play."""
    paths = [*the_odds_api(), *the_odds_api("in_play*"), *the_odds_api("2026-04-16-markets/*.json")]
    return [answer for answer in (json.loads(path.read_bytes()) for path in paths) if answer]


def _chosen(random: Random) -> list[Any]:
    """Choose some consecutive matches, and some consecutive bookmakers of each."""
    answer = random.choice(recorded())
    first = random.randrange(len(answer))
    chosen = []
    for match in answer[first : first + random.randint(1, MAX_MATCHES)]:
        at = random.randint(0, max(len(match["bookmakers"]) - MAX_BOOKMAKERS, 0))
        chosen.append({**match, "bookmakers": match["bookmakers"][at : at + MAX_BOOKMAKERS]})
    return chosen


def _prices(matches: list[Any]) -> Prices:
    return {
        (match["id"], lines["key"]): {
            (market["key"], " ".join(outcome["name"].split()), outcome.get("point")): outcome["price"]
            for market in lines["markets"]
            for outcome in market["outcomes"]
        }
        for match in matches
        for lines in match["bookmakers"]
    }


def _spoil_price(random: Random, matches: list[Any]) -> None:
    table, _ = one_of(random, matches, "price")
    price = float(get(table, "price"))
    forms = [f"{price}", f"{price}".replace(".", ","), f"{price:+}", f"{price} ", "7/4", "+175", "EVS"]
    put(table, "price", random.choice([*forms, None, True, 0, -price, 1 / price, 1e308, [price]]))


def _spoil_point(random: Random, matches: list[Any]) -> None:
    """Make a point something that is no line; in a market without points, spoil a price."""
    if not tables_of(matches, "point"):
        _spoil_price(random, matches)
        return
    table, _ = one_of(random, matches, "point")
    point = float(get(table, "point"))
    forms = [f"{point}", f"{point:+}", f"{point}".replace(".", ","), f"{point} goals", point + 0.1, [point]]
    put(table, "point", random.choice([*forms, -point - 30, None, True, 1e308, Table([("point", point)])]))


def _move_date(random: Random, matches: list[Any]) -> None:
    table, _ = one_of(random, matches, "commence_time", "last_update")
    name = random.choice([name for name, _ in table if name in {"commence_time", "last_update"}])
    at = datetime.fromisoformat(get(table, name))
    moved = at + random.choice((-1, 1)) * timedelta(seconds=random.choice((1, 60, 3600, 86400, 3 * 10**8)))
    forms = [f"{moved:%Y-%m-%dT%H:%M:%SZ}", f"{moved:%Y-%m-%dT%H:%M:%S}", f"{moved:%d/%m/%Y}"]
    odd = ["", "soon", "0000-00-00T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
    put(table, name, random.choice([*forms * 3, *odd]))


def _names(matches: list[Any]) -> list[str]:
    found = [value for table in parts_of(matches) if isinstance(table, Table) for name, value in table
             if name in {"home_team", "away_team"}]  # fmt: skip
    return [*found, *(f"{name} FC" for name in found), "Draw", "draw", "Tie", "", "Over", "Under"]


def _rename_outcome(random: Random, matches: list[Any]) -> None:
    table, _ = one_of(random, matches, "price")
    put(table, "name", random.choice(_names(matches)))


def _rename_team(random: Random, matches: list[Any]) -> None:
    table, _ = one_of(random, matches, "home_team")
    if random.random() < 0.3:
        home, away = get(table, "home_team"), get(table, "away_team")
        put(table, "home_team", away)
        put(table, "away_team", home)
    else:
        put(table, random.choice(("home_team", "away_team")), random.choice(_names(matches)))


_DAMAGES: Mapping[str, Damage] = {
    "remove a field": remove_field,
    "double a field": double_field,
    "change a type": change_type,
    "spoil a price": _spoil_price,
    "spoil a point": _spoil_point,
    "move a date": _move_date,
    "rename an outcome": _rename_outcome,
    "rename a team": _rename_team,
    "remove a part": remove_item,
    "double a part": double_item,
    "merge parts": merge_items,
    "reorder": reorder,
}
KINDS = (*_DAMAGES, SEVERAL)
