"""Answers as tables: flat rows, for data frames, sheets and terminals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .past import ClosingList, LineList, MoverList
from .values import BestPrice, Fixture, FixtureList, Match, MatchList, SurebetList, Value, ValueList

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
Tabular = MatchList | FixtureList | ValueList | LineList | ClosingList | MoverList | Iterable[Any]

TIMES = frozenset({"start_time", "updated", "time", "until", "closed_at", "since_time", "confirmed"})
"""Columns of Unix seconds."""
_OF_VALUE = (
    *("home", "away", "league", "league_id", "start_time", "market", "outcome", "bookmaker", "odds"),
    *("net", "fair", "ev", "kelly", "confirmed", "max_stake", "conditional"),
)


class Table(NamedTuple):
    """Columns, and rows of as many values; None is an empty cell."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def table(answer: Tabular) -> Table:
    """Return an answer, or a board's `listed()`, as a table; each outcome is a column.

    Fixtures have a row for each market, with best prices; surebets have a row for each leg; odds, values,
    lines and closing prices have a row for each price.
    """
    rows = [*_rows(answer)]
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table(columns, [tuple(map(row.get, columns)) for row in rows])


def to_pandas(answer: Tabular) -> DataFrame:
    """Return the table of an answer as a data frame; needs the extra `oddsboard-client[pandas]`."""
    import pandas as pd  # noqa: PLC0415 - an extra

    columns, rows = table(answer)
    frame = pd.DataFrame(rows, columns=[*columns])
    for name in TIMES.intersection(columns):
        frame[name] = pd.to_datetime(frame[name].astype(float), unit="s", utc=True)
    return frame


def _rows(answer: Any) -> Iterator[Row]:
    match answer:
        case SurebetList():
            yield from (row for fixture in answer.fixtures for row in _legs(fixture))
        case FixtureList():
            yield from (row for fixture in answer.fixtures for row in _best(fixture))
        case MatchList():
            yield from map(_match, answer.matches)
        case ValueList():
            yield from map(_value, answer.values)
        case LineList():
            yield from _lines(answer)
        case ClosingList():
            yield from _closings(answer)
        case MoverList():
            yield from _movers(answer)
        case _:
            for entry in answer:
                yield from [_match(entry)] if isinstance(entry, Match) else _best(entry)


def _match(entry: Match) -> Row:
    names = {"id": entry.id, "bookmaker": entry.bookmaker, "home": entry.home, "away": entry.away}
    times = {"start_time": entry.start_time, "updated": entry.updated}
    return {**names, "league": entry.league, **times, **entry.odds}


def _named(fixture: Fixture) -> Row:
    names = {"id": fixture.id, "home": fixture.home, "away": fixture.away, "league": fixture.league}
    return {**names, "league_id": fixture.league_id, "start_time": fixture.start_time}


def _best(fixture: Fixture) -> Iterator[Row]:
    for name, market in fixture.by_market.items():
        row = {**_named(fixture), "market": name, "updated": market.updated or fixture.updated}
        row |= {"bookmakers_count": market.bookmakers_count, "book_sum": market.book_sum}
        for outcome, best in market.best.items():
            row |= _price(outcome, best)
        yield row


def _price(outcome: str, best: BestPrice | None) -> Row:
    """Return a best price, its bookmakers, and whether it is `collected`, which is not an offer of now."""
    if best is None:
        return {outcome: None, f"{outcome} at": None, f"{outcome} prices": None}
    return {
        outcome: best.odds,
        f"{outcome} at": ", ".join(best.bookmakers),
        f"{outcome} prices": best.prices or "live",
    }


def _legs(fixture: Fixture) -> Iterator[Row]:
    for name, market in fixture.by_market.items():
        if (surebet := market.surebet or market.doubted) is None:
            continue
        amounts = (None,) * len(surebet.legs) if market.stakes is None else market.stakes.amounts
        for leg, amount in zip(surebet.legs, amounts, strict=True):
            row = {**_named(fixture), "market": name, "profit": surebet.profit, "until": surebet.until}
            row |= {"doubts": ", ".join(surebet.doubts), "outcome": leg.outcome, "bookmaker": leg.bookmaker}
            row |= {"odds": leg.odds, "share": leg.stake, "amount": amount, "commission": leg.commission}
            yield {**row, "age_s": leg.age_s, "entry": leg.id}


def _value(of: Value) -> Row:
    row = {name: getattr(of, name) for name in _OF_VALUE}
    several = {"reference": ", ".join(of.reference), "doubts": ", ".join(of.doubts)}
    return {"id": of.fixture, **row, **several, "entry": of.id}


def _lines(answer: LineList) -> Iterator[Row]:
    for line in answer.lines:
        for point in line.points:
            row = {"id": line.id, "bookmaker": line.name, "version": point.version, "time": point.time}
            yield {**row, **(point.odds or {}), "absent": point.absent, "reason": point.reason}


def _closings(answer: ClosingList) -> Iterator[Row]:
    for fixture in answer.fixtures:
        names: Row = {"id": fixture.id, "home": fixture.home, "away": fixture.away}
        names |= {"league": fixture.league, "start_time": fixture.start_time, "market": answer.market}
        for of in fixture.closings:
            row = {**names, "bookmaker": of.name, "entry": of.id, **(of.odds or {})}
            row |= {f"fair {outcome}": chance for outcome, chance in (of.fair or {}).items()}
            row |= {f"consensus {outcome}": chance for outcome, chance in (fixture.fair or {}).items()}
            yield {
                **row,
                "closed_at": of.closed_at,
                "on_offer": of.on_offer,
                "reason": of.reason or of.left,
            }


def _movers(answer: MoverList) -> Iterator[Row]:
    for of in answer.fixtures:
        names = {"id": of.id, "home": of.home, "away": of.away, "league": of.league}
        moved = {"outcome": of.outcome, "move": of.move, "since_time": of.since_time}
        before, now = of.fair_before[of.outcome], of.fair_now[of.outcome]
        first = ", ".join(each.name for each in of.bookmakers if each.first)
        yield {**names, "start_time": of.start_time, **moved, "before": before, "now": now, "first": first}
