"""Reads the rows of single entries in one market from a day's file, with few objects a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from actors.archive.days.format import number
from actors.archive.days.reading import Reader
from actors.core.messages import BookmakerId
from actors.lines.line import Row
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import Odds

_ROWS_OF_1X2 = (
    "SELECT c.entry, c.version + ?1, m.at, c.listing, c.reason, c.home, c.draw, c.away FROM changes c"
    " CROSS JOIN commits m ON m.version = c.version + ?1"
    " WHERE c.entry IN ({}) AND c.version BETWEEN ?3 - ?1 AND ?2 - ?1 ORDER BY {}c.version"
)
_OTHER_ROWS = (
    "SELECT c.offer, c.version, m.at, c.listing, c.reason, c.price_1, c.price_2, c.price_3"
    " FROM market_changes c CROSS JOIN commits m ON m.version = c.version"
    " WHERE c.offer IN ({}) AND c.version BETWEEN ?3 AND ?2 ORDER BY {}c.version"
)


_CHANGED_IN_1X2 = (
    "SELECT id FROM entries WHERE entry IN (SELECT entry FROM changes WHERE version BETWEEN ? AND ?)"
)
_CHANGED_IN_OTHERS = (
    "SELECT id FROM offers WHERE market = ?3"
    " AND offer IN (SELECT offer FROM market_changes WHERE version BETWEEN ?1 AND ?2)"
)


class EntryRows(Struct):
    """The rows of an entry by version, and its kick-offs (Unix seconds) by the version that set them."""

    bookmaker: BookmakerId
    rows: list[Row]
    starts: list[tuple[int, int | None]]


def entry_rows(
    reader: Reader, market: Market, entry_ids: Collection[str], high: int, low: int = 0
) -> dict[str, EntryRows]:
    """Return the rows of entries between two versions of a day, without entries that the day does not have.

    Raises: sqlite3.Error, ValueError.
    """
    numbers = _numbers(reader, market, entry_ids)
    if not numbers:
        return {}
    sql, key = (_ROWS_OF_1X2, "c.entry") if market == ONE_X_TWO else (_OTHER_ROWS, "c.offer")
    order = f"{key}, " if reader.is_sealed else ""  # the table's own order, so that nothing is sorted
    found = {number: EntryRows(name, [], []) for number, (_, name) in numbers.items()}
    listed = reader.connection.execute(sql.format(_in(found), order), (reader.base, high, low))
    outcomes, newest = len(market.outcomes), dict[int, int]()
    prices_of = lru_cache(maxsize=4096)(_prices_of)  # an entry has few prices, and `number` is slow
    for entry, version, at_ms, listing, reason, *cells in listed.fetchall():
        there = found[entry]
        if listing is None:
            there.rows.append((version, at_ms, None, str(reason)))
            continue
        there.rows.append((version, at_ms, prices_of(outcomes, *cells), None))
        if newest.get(entry) != listing:
            newest[entry] = listing
            there.starts.append((version, listing))
    starts = _starts(
        reader, {listing for there in found.values() for _, listing in there.starts if listing}
    )
    for there in found.values():
        there.starts = [(version, starts[listing]) for version, listing in there.starts if listing]
    return {entry_id: found[number] for number, (entry_id, _) in numbers.items()}


def changed(reader: Reader, market: Market, low: int, high: int) -> Iterator[str]:
    """Yield the ids of the entries in a market that have a row between two versions of a day."""
    if market == ONE_X_TWO:
        found = reader.connection.execute(_CHANGED_IN_1X2, (low - reader.base, high - reader.base))
    elif reader.has_markets:
        found = reader.connection.execute(_CHANGED_IN_OTHERS, (low, high, str(market)))
    else:
        return
    for (entry_id,) in found:
        yield entry_id


def _prices_of(outcomes: int, *cells: float) -> Odds:
    return tuple([number(cell) for cell in cells[:outcomes]])


def cuts(reader: Reader, times_ms: Iterable[int]) -> dict[int, int | None]:
    """Return for each time (Unix milliseconds) the first version at or after it; None if there is none."""
    found: dict[int, int | None] = {}
    low: int | None = reader.base
    sql = "SELECT version FROM commits WHERE version >= ? AND at >= ? ORDER BY version LIMIT 1"
    for time_ms in sorted(times_ms):
        if low is not None:  # otherwise no version is late enough
            row = reader.connection.execute(sql, (low, time_ms)).fetchone()
            low = None if row is None else int(row[0])
        found[time_ms] = low
    return found


def _numbers(
    reader: Reader, market: Market, entry_ids: Collection[str]
) -> dict[int, tuple[str, BookmakerId]]:
    marks = ", ".join("?" * len(entry_ids))
    if market == ONE_X_TWO:
        sql, values = f"SELECT entry, id, bookmaker FROM entries WHERE id IN ({marks})", [*entry_ids]  # noqa: S608 - constants only
    elif reader.has_markets:
        sql = f"SELECT offer, id, bookmaker FROM offers WHERE id IN ({marks}) AND market = ?"  # noqa: S608 - constants only
        values = [*entry_ids, str(market)]
    else:
        return {}
    rows = reader.connection.execute(sql, values)
    return {number: (entry_id, BookmakerId(name)) for number, entry_id, name in rows}


def _starts(reader: Reader, listings: Collection[int]) -> dict[int, int | None]:
    sql = f"SELECT listing, start_time FROM listings WHERE listing IN ({_in(listings)})"  # noqa: S608 - numbers only
    return dict(reader.connection.execute(sql).fetchall())


def _in(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
