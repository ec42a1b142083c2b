"""Labelled lists as 5DollarFootballAPI would spell them, read by its kind.

The style is that of its examples: the country before a league's name without a sign between, or no country
at all for a popular league, official names of clubs, ids instead of keys. All texts but these marks are
those of the recordings' lists.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from actors.core.cooperative import run_now
from actors.core.messages import ListId, Payload, Scope, SourceMatchId, SourceName
from actors.core.validation import Bounds, admit
from actors.matching.event import Event, EventKey
from actors.sources.five_dollar_football.kind import KIND
from actors.sources.five_dollar_football.options import FiveDollarFootballOptions
from tests.support.builders.messages import batch
from tests.support.labelled import Labelled, chances_of, replaced
from tests.support.peers.five_dollar_football import fixture_of, result

SOURCE = SourceName("five_dollar_football")
OPTIONS = FiveDollarFootballOptions(kind=KIND.name, api_key="an-invented-key")
_BARE = {
    "England Premier League": "Premier League",
    "English Premier League": "Premier League",
    "Spain La Liga": "La Liga",
    "Germany Bundesliga": "Bundesliga",
    "Italy Serie A": "Serie A",
    "France Ligue 1": "Ligue 1",
}
"""Popular leagues, which have no country in the examples of the document."""


def in_its_style(labelled: Labelled, random: Random) -> Labelled:
    """Return the same with all but the first source's events as this source lists them.

    One without prices gets some to be read, and none of them counts.
    """
    first = [event for event in labelled.events if event.source == "football_data"]
    others = [event for event in labelled.events if event.source != "football_data"]
    ids = {event.key: 190_000_000 + number for number, event in enumerate(others)}
    body = _body([_row(event, ids[event.key], random) for event in others])
    read = {event.source_match_id: event for event in _events(body, others)}
    keys = {key: EventKey(SOURCE, SourceMatchId(str(name))) for key, name in ids.items()}
    events = (
        *first,
        *(
            replaced(read[keys[each.key].source_match_id], chances=each.chances)
            for each in others
            if keys[each.key].source_match_id in read
        ),
    )
    pairs = frozenset(
        (min(pair), max(pair)) for pair in ((keys.get(a, a), keys.get(b, b)) for a, b in labelled.pairs)
    )
    unsure = frozenset(keys.get(key, key) for key in labelled.unsure)
    return replaced(labelled, events=events, pairs=pairs, unsure=unsure)


def _row(event: Event, match_id: int, random: Random) -> dict[str, Any]:
    league = event.league or ""
    label = _BARE.get(league, league) if random.random() < 0.8 else league
    fixture = fixture_of(
        match_id, _club(event.home, random), _club(event.away, random), event.start_time or 0
    )
    prices = [round(0.95 / chance, 3) for chance in event.chances or (0.4, 0.3, 0.3)]
    return {**fixture, "league": {"id": 7, "name": label}, "odds": {"1x2": result(prices)}}


def _club(name: str, random: Random) -> str:
    is_plain = name.replace(" ", "").isalpha()
    return f"{name} FC" if is_plain and len(name) > 4 and random.random() < 0.3 else name


def _body(rows: list[dict[str, Any]]) -> bytes:
    pages = {"page": 1, "per_page": max(len(rows), 1), "count": len(rows), "has_more": False}
    return json.dumps({"success": 1, "data": rows, "pagination": pages}).encode()


def _events(body: bytes, others: list[Event]) -> list[Event]:
    before = min((event.start_time or 0 for event in others), default=0) - 1.0
    payload = Payload(SOURCE, Scope("kick-off.all"), ListId("l"), body, before, 0.0)
    extract = run_now(KIND.extract(run_now(KIND.decode(payload, OPTIONS)), "bet365", OPTIONS))
    admitted = run_now(admit(batch(extract.matches), Bounds())).batch
    return [
        Event(
            EventKey(SOURCE, match.source_match_id),
            *(match.home, match.away, match.league, Scope("all"), match.start_time),
            chances_of(*match.prices),
        )
        for match in admitted.matches
    ]
