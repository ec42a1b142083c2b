"""The answers of the tools: short forms of the service's JSON, bounded in their size. Pure.

Every price has its kind (`live` or `collected`) and its age. Times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final

import msgspec

MAX_BYTES: Final = 100_000
"""The longest answer of a tool."""
_TIMES = frozenset({"time", "closed_at", "from_time", "to_time", "after_time", "until_time"})
_OF_MATCH = ("id", "home", "away", "league", "league_id", "in_play")
_encode = msgspec.json.Encoder().encode
Record = dict[str, Any]


def bounded(
    head: Mapping[str, Any], name: str, records: Iterable[Record], narrow: str, total: int = 0
) -> str:
    """Return a JSON object with the records that fit; if some do not, it says so, and how to narrow.

    Pass the `total` number if the service has not sent all.
    """
    every = [_encode(record) for record in records]
    count = max(len(every), total)
    cut = f"not all {count} are shown. {narrow}"
    room = MAX_BYTES - len(_encode({**head, f"{name}_count": count, "shown": count, "cut": cut})) - 20
    shown: list[msgspec.Raw] = []
    for record in every:
        if (room := room - len(record) - 1) < 0:
            break
        shown.append(msgspec.Raw(record))
    more = {} if len(shown) == count else {"cut": cut}
    return _encode({**head, f"{name}_count": count, "shown": len(shown), **more, name: shown}).decode()


def utc(seconds: float | None) -> str | None:
    """Return Unix seconds as a time of RFC 3339."""
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def about(body: Mapping[str, Any], at: float) -> Record:
    """Return the members that all answers have."""
    names = ("version", "note", "league_id", "total", "step")
    found = {name: body[name] for name in names if name in body}
    pending = body.get("linking", {}).get("pending", 0)
    return {**found, "as_of": utc(at), **({"events_still_to_be_linked": pending} if pending else {})}


def by_market(fixture: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each market of a fixture with its members."""
    if "markets" in fixture and "entries" not in fixture:
        yield from fixture["markets"].items()
    else:
        yield fixture.get("market", "1x2"), fixture


def names_match(fixture: Mapping[str, Any], team: str | None) -> bool:
    """Return whether a team's name contains the text, as any bookmaker spells it."""
    if team is None:
        return True
    wanted = team.casefold()
    entries = (entry for _, members in by_market(fixture) for entry in members["entries"])
    spelled = (of.get(side, "") for of in (fixture, *entries) for side in ("home", "away"))
    return any(wanted in name.casefold() for name in spelled)


def fixture_records(fixture: Mapping[str, Any], at: float) -> Iterator[Record]:
    """Yield a fixture's best prices, in each market."""
    for market, of in by_market(fixture):
        updated = {entry["id"]: entry["updated"] for entry in of["entries"]}
        yield {
            **_match(fixture),
            "market": market,
            "bookmakers_count": of["bookmakers_count"],
            "best": {name: _best(best, updated, at) for name, best in of["best"].items()},
            **{
                name: of[name] for name in ("book_sum", "fair", "fair_reason", "in_play_rule") if name in of
            },
            "surebet_profit": None if of["surebet"] is None else of["surebet"]["profit"],
        }


def _match(fixture: Mapping[str, Any]) -> Record:
    found = {name: fixture[name] for name in _OF_MATCH if name in fixture}
    return {**found, "kick_off": utc(fixture["start_time"])}


def _best(best: Mapping[str, Any] | None, updated: Mapping[str, float], at: float) -> Record | None:
    if best is None:
        return None
    changed = min(updated[name] for name in best["ids"])
    return {
        "odds": best["odds"],
        "bookmakers": best["bookmakers"],
        "kind": best.get("prices", "live"),
        "changed_s_ago": max(round(at - changed), 0),
    }


def price_records(of: Mapping[str, Any], ages: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the price of each bookmaker in a market of a fixture; `ages` is the answer about their ages."""
    at = ages["at"]
    for entry in of["entries"]:
        age = ages["entries"].get(entry["id"], {})
        # Another price may have come between the two answers: its age is not the age of this price.
        confirmed = age["confirmed_at"] if age.get("updated") == entry["updated"] else None
        more = ("home", "away", "superseded", "doubts")
        yield {
            **{name: entry[name] for name in ("id", "bookmaker", "odds", "link")},
            "kind": entry["prices"],
            "age_s": None if confirmed is None else round(at - confirmed, 1),
            "changed_s_ago": max(round(at - entry["updated"]), 0),
            **{name: entry[name] for name in more if name in entry},
        }


def surebet_records(fixture: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the surebets of a fixture, in each market."""
    for market, of in by_market(fixture):
        surebet = of["surebet"]
        times = {name: utc(surebet[name]) for name in ("since", "until")}
        legs = [{**leg, "kind": "live"} for leg in surebet["legs"]]
        stakes = {name: of[name] for name in ("stakes", "stakes_reason") if name in of}
        yield {**_match(fixture), "market": market, **surebet, **times, "legs": legs, **stakes}


def value_record(value: Mapping[str, Any], at: float) -> Record:
    """Return a value with kind and age of its price; `at` is in whole seconds, the age is rounded up."""
    found = {name: of for name, of in value.items() if name not in {"start_time", "confirmed"}}
    age_s = max(ceil(at + 1 - value["confirmed"]), 0)
    return {**found, "kick_off": utc(value["start_time"]), "kind": "live", "age_s": age_s}


def line_records(body: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the line of each bookmaker, then the consensus."""
    names = ("bookmaker", "name", "id", "points_count", "thinned", "closing_reason")
    for line in body["lines"]:
        yield {
            **{name: line[name] for name in names if name in line},
            "kind": line["prices"],
            **{name: timed(line[name]) for name in ("first_seen", "newest", "closing") if line[name]},
            **{name: {it: timed(of) for it, of in line[name].items()} for name in ("highest", "lowest")},
            "points": [*map(timed, line["points"])],
        }
    if body["consensus"] is not None:
        yield {"consensus": True, "points": [*map(timed, body["consensus"]["points"])]}


def timed(record: Mapping[str, Any]) -> Record:
    """Return a record whose times are texts."""
    return {name: utc(value) if name in _TIMES else value for name, value in record.items()}


def check_records(body: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the state of each bookmaker."""
    for name, check in body["checks"].items():
        yield {"bookmaker": name, **check}
