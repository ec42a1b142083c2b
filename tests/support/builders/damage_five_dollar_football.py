"""Damaged answers of 5DollarFootballAPI: lists and odds by match, damaged as programs damage JSON.

A price belongs to a match, a market and an outcome at the one moment that counts. No price may be shown
that the undamaged answer does not have there. Fields may be missing, repeated with another value, retyped
or renamed, elements doubled, merged or reordered, and the body cut.

Damage that makes another answer of equal validity is left out, since no parser can detect it: another
number as a price, a line or an id, another moment of the same market.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import SourceMatchId
from actors.markets.market import Kind
from actors.sources.five_dollar_football.kind import KIND
from actors.sources.five_dollar_football.options import IN_PLAY, READ, FiveDollarFootballOptions
from actors.sources.five_dollar_football.prices import ListedMatch
from tests.support.builders.damage import Trial
from tests.support.builders.json_damage import (
    change_type,
    double_field,
    double_item,
    merge_items,
    one_of,
    remove_field,
    reorder,
    table_of,
    text_of,
)
from tests.support.builders.reading import decoded, grouped, judged, prices_of
from tests.support.peers.five_dollar_football import fixture_of, others, result

IS_INVENTED = True
NOW = 1_780_000_000
KINDS_READ: tuple[Kind, ...] = READ
OPTIONS = FiveDollarFootballOptions(kind=KIND.name, api_key="an-invented-key", markets=KINDS_READ)
BEFORE, AFTER, BY_MATCH = "before", "in play", "by match"

Damage = Callable[[Random, Any], None]


def trial(random: Random, kind: str | None = None) -> Trial:
    """Damage an invented answer, and compare each shown price with the undamaged ones."""
    kind = random.choice(KINDS) if kind is None else kind
    form = random.choice((BEFORE, AFTER, BY_MATCH))
    whole = table_of(_answer(random, form))
    unharmed = _shown(form, text_of(whole).encode())[0]
    if kind == "cut the body":
        text = text_of(whole)
        body = text[: random.randrange(len(text))].encode()
    else:
        _DAMAGES[kind](random, whole)
        body = text_of(whole).encode()
    shown, rejected = _shown(form, body)
    wrong = [
        f"{name}: {shown[name]}, was {unharmed.get(name)}, in {body!r}"
        for name in shown
        if shown[name] != unharmed.get(name)
    ]
    return Trial(kind, len(shown), rejected, tuple(wrong))


def _answer(random: Random, form: str) -> Any:
    """Return an answer with prices that are all different, so that a price in a wrong place is found."""
    if form == BY_MATCH:
        odds = {"1x2": _result(random), **_others(random, "closing")}
        books = [
            {"id": 1, "name": slug.title(), "slug": slug, "odds": odds or _others(random, "closing")}
            for slug, odds in (("bet365", None), ("pinnacle", odds), ("other", None))
        ]
        return {"success": 1, "data": {"fixture_id": 7001, "bookmakers": books}}
    rows = []
    for number in range(7001, 7001 + random.randint(1, 4)):
        fixture = fixture_of(number, f"Home {number}", f"Away {number}", NOW + 3600)
        if form == AFTER:
            fixture["status"] = "in_play"
            fixture["odds"] = {"1x2": _result(random, in_play=True), **_others(random, "inplay")}
        else:
            fixture["odds"] = {"1x2": _result(random)}
        rows.append(fixture)
    pages = {"page": 1, "per_page": 50, "count": len(rows), "has_more": False}
    return {"success": 1, "data": rows, "pagination": pages}


def _result(random: Random, *, in_play: bool = False) -> dict[str, Any]:
    closing = [round(random.uniform(2.6, 3.1), 3) for _ in range(3)]
    now = [round(random.uniform(2.6, 3.1), 3) for _ in range(3)]
    return result(closing, now if in_play else None)


def _others(random: Random, moment: str) -> dict[str, Any]:
    found = others(moment)
    for market in found.values():
        for name in market[moment]:
            if name != "line":
                market[moment][name] = round(random.uniform(1.85, 1.98), 3)
    return found


def _shown(form: str, body: bytes) -> tuple[dict[tuple[str, str], tuple[float, ...]], Counter[str]]:
    """Return the prices that pass the gate, by bookmaker and id, with the other fields of their match."""
    if form == BY_MATCH:
        listed = ListedMatch(SourceMatchId("7001"), "Home 7001", "Away 7001", "League", NOW + 3600)
        body, scope = grouped(listed, body=body), "2026-05-28.1"
    else:
        scope = IN_PLAY if form == AFTER else "kick-off.2026-05-28T21:26:40Z"
    try:
        content = decoded(KIND, OPTIONS, body, scope, at=float(NOW))
    except PayloadError:
        return {}, Counter(["answer"])
    shown, rejected = dict[tuple[str, str], tuple[float, ...]](), Counter[str]()
    for key in ("bet365", "pinnacle"):
        extract = run_now(KIND.extract(content, key, OPTIONS))
        admission = judged(KIND, key, OPTIONS, extract)
        rejected.update(extract.passed_over)
        rejected.update(admission.rejected)
        rejected.update(removal.reason for removal in admission.batch.removals)
        shown |= {(key, name): odds for name, odds in prices_of(admission.batch.matches).items()}
    return shown, rejected


def _rename(random: Random, whole: Any) -> None:
    table, _ = one_of(random, whole)
    at = random.randrange(len(table))
    name, old = table[at]
    table[at] = random.choice((f"{name}_", f" {name}", name.upper(), name[:-1], f"{name}_half")), old


_DAMAGES: dict[str, Damage] = {
    "remove a field": remove_field,
    "retype a value": partial(change_type, more=("2.1", [2.1], 1e308, "in_play", "finished")),
    "repeat a field": double_field,
    "rename a field": _rename,
    "double an element": double_item,
    "merge elements": merge_items,
    "reorder": reorder,
}
KINDS = (*_DAMAGES, "cut the body")
