"""The public JSON of values (docs/api.md): prices above what a reference calls fair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from actors.core.messages import event_id_of
from actors.markets.market import may_return
from actors.matches.leagues import UNKNOWN, league_of_fixture
from actors.matches.model import Fixture
from actors.matches.surebets import Doubt
from actors.value.values import Value
from web.encoding.csv_text import listed, table, utc
from web.encoding.schemas import Cursor, Names, Price

Share = Annotated[float, Meta(ge=0, le=1)]
_COLUMNS: Final = (
    *("id", "home", "away", "league", "league_id", "start_time_utc", "market", "outcome"),
    *("entry_id", "bookmaker", "odds", "net", "fair", "ev", "kelly", "confirmed_utc", "reference"),
    *("doubts", "max_stake", "conditional"),
)
"""The names of the columns of values in CSV."""


class ValueV2(Struct, frozen=True):
    """A price above the fair price; `id` is the id of its entry, `fair` its probability by the `reference`.

    A won stake of 1 returns `net` after commission and fee. `ev` is fair x net - 1, `kelly` a share of the
    bank. With `conditional` both are for the part of the stake that is not returned. The source last
    `confirmed` the price at that time (Unix seconds); it is good for `max_stake` USD. With `doubts` the
    value is not believed.
    """

    fixture: str
    home: str
    away: str
    league: str
    league_id: str
    start_time: int | None
    market: str
    outcome: str
    id: str
    bookmaker: str
    odds: Price
    net: float
    fair: Share
    ev: float
    kelly: Share
    confirmed: float
    reference: tuple[str, ...]
    doubts: tuple[Doubt, ...] | UnsetType = UNSET
    max_stake: float | UnsetType = UNSET
    conditional: Literal["not_returned"] | UnsetType = UNSET


class ValueList(Struct, frozen=True):
    """The values: values without doubts first, then the highest `ev` first; at most 200 of `values_count`.

    `reference` is the id of the bookmaker whose fair odds are the reference, or "consensus". A `note` says
    if no match has the requested league, or if too few companies make a consensus.
    """

    reference: str
    min_ev: float
    max_kelly: float
    values: tuple[ValueV2, ...]
    values_count: int
    note: str | UnsetType = UNSET
    league_id: str | UnsetType = UNSET


class ChangedMarket(Struct, frozen=True):
    """A market of a match, by the fixture's id, whose values changed."""

    fixture: str
    market: str


class ValueChanges(Struct, frozen=True):
    """Drop your values of each pair in `changed`, then add `values`. A `complete` answer has all values."""

    cursor: Cursor
    complete: bool
    changed: tuple[ChangedMarket, ...]
    values: tuple[ValueV2, ...]


def value_v2(value: Value, fixture: Fixture, names: Names, confirmed: float) -> ValueV2:
    """Return the public form of a fixture's value; its price was `confirmed` at that time."""
    match, entry = fixture.match, fixture.entries[value.bookmaker]
    most = entry.match.max_stake
    return ValueV2(
        fixture.match_id,
        match.home,
        match.away,
        match.league or UNKNOWN,
        league_of_fixture(fixture).id,
        match.start_time,
        str(fixture.market),
        value.outcome,
        event_id_of(entry.id),
        names[value.bookmaker],
        value.price,
        round(value.net, 6),
        round(value.chance, 6),
        round(value.expected, 6),
        round(value.kelly, 6),
        round(confirmed, 3),
        tuple([names[member] for member in value.members]),
        value.doubts or UNSET,
        UNSET if most is None else most,
        "not_returned" if may_return(fixture.market) else UNSET,
    )


def csv_of(values: Iterable[ValueV2]) -> Iterator[bytes]:
    """Yield values as CSV, a row for each."""
    return table(_COLUMNS, map(_record, values))


def _record(of: ValueV2) -> dict[str, object]:
    times = {"start_time_utc": utc(of.start_time), "confirmed_utc": utc(of.confirmed)}
    several = {"reference": listed(of.reference), "doubts": listed(of.doubts or ())}
    return asdict(of) | times | several | {"id": of.fixture, "entry_id": of.id}
