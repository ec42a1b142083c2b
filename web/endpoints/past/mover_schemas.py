"""The public JSON of the largest moves (docs/api.md). It is long, so it is encoded in steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from actors.archive.lines.movers import AskedMovers, Mover, Movers
from actors.core.messages import BookmakerId
from actors.lines.movers import Follower
from actors.markets.market import Market
from actors.matches.fair import Method
from actors.matches.leagues import UNKNOWN, league_of_fixture
from actors.matching.event import Chances
from web.encoding.csv_text import table, utc
from web.encoding.schemas import Version

ENCODED: Final = 10
"""Fixtures encoded in a step: with 50 bookmakers a millisecond, during which no other thread runs."""
Names = Mapping[BookmakerId, str]
Seconds = Annotated[float, Meta(description="Unix seconds")]
_encode = msgspec.json.Encoder().encode


class MoverEntry(Struct, frozen=True):
    """An entry of the fixture with its prices for the outcome; null if it was not on the board.

    At `followed_at` the board first saw that the entry's own probability had moved by half of the
    consensus's move, in the same direction. `compared` entries are part of both consensuses. `first` marks
    the compared entries that were the first to follow.
    """

    bookmaker: str
    name: str
    id: str
    odds_before: float | None
    odds_now: float | None
    followed_at: Seconds | None
    followed_version: Version | None
    compared: bool
    first: bool


class FixtureMove(Struct, frozen=True):
    """The move of the outcome whose probability moved most, from `since_time` on.

    Both probabilities are medians of the same bookmakers, in number `compared_count`.
    """

    id: str
    home: str
    away: str
    league: str
    league_id: str
    start_time: int | None
    outcome: str
    move: Annotated[float, Meta(description="the change of its probability, below 0 if that fell")]
    fair_before: Mapping[str, float]
    fair_now: Mapping[str, float]
    since_version: Version
    since_time: Seconds
    compared_count: int
    bookmakers: tuple[MoverEntry, ...]


class MoverList(Struct, frozen=True):
    """The fixtures that moved most, the largest move first, then by id."""

    market: str
    method: Method
    window_s: int
    from_version: Version
    from_time: Seconds
    to_version: Version
    to_time: Seconds
    fixtures: list[FixtureMove]
    fixtures_count: int


def shown(found: Movers, asked: AskedMovers, window_s: int, names: Names) -> MoverList:
    """Return the public form; its fixtures are already encoded."""
    of_fixtures: Any = msgspec.Raw(b"[" + b",".join(_steps(found.movers, asked.market, names)) + b"]")
    first, last = found.first, found.last
    return MoverList(
        *(str(asked.market), asked.method, window_s),
        *(first.version, first.at_ms / 1000),
        *(last.version, last.at_ms / 1000),
        *(of_fixtures, len(found.movers)),
    )


_COLUMNS: Final = (
    *("id", "home", "away", "league", "league_id", "start_time_utc", "market"),
    *("outcome", "move", "fair_before", "fair_now", "since_utc", "compared_count"),
    *("bookmaker", "name", "entry_id", "odds_before", "odds_now", "followed_utc", "compared", "first"),
)
"""The names of the columns of moves in CSV."""


def csv_of(found: Movers, market: Market, names: Names) -> Iterator[bytes]:
    """Yield the moves as CSV, a row for each bookmaker of each fixture."""
    return table(_COLUMNS, _records(found, market, names))


def _records(found: Movers, market: Market, names: Names) -> Iterator[dict[str, object]]:
    for of in found.movers:
        it = _mover(of, market, names)
        about = asdict(it) | {"start_time_utc": utc(it.start_time), "market": market}
        about |= {"fair_before": it.fair_before[it.outcome], "fair_now": it.fair_now[it.outcome]}
        about["since_utc"] = utc(it.since_time)
        for entry in it.bookmakers:
            ids = {"id": it.id, "entry_id": entry.id, "followed_utc": utc(entry.followed_at)}
            yield about | asdict(entry) | ids


def _steps(movers: Sequence[Mover], market: Market, names: Names) -> Iterator[bytes]:
    for begin in range(0, len(movers), ENCODED):
        yield _encode([_mover(of, market, names) for of in movers[begin : begin + ENCODED]])[1:-1]


def _mover(of: Mover, market: Market, names: Names) -> FixtureMove:
    match, move = of.fixture.match, of.move
    return FixtureMove(
        *(of.fixture.match_id, match.home, match.away, match.league or UNKNOWN),
        league_of_fixture(of.fixture).id,
        match.start_time,
        market.outcomes[move.outcome],
        round(move.change, 6),
        _by_outcome(market, move.before),
        _by_outcome(market, move.after),
        move.begin.version,
        move.begin.at_ms / 1000,
        len(move.compared),
        tuple([_entry(it, move.outcome, names) for it in of.followers]),
    )


def _by_outcome(market: Market, chances: Chances) -> dict[str, float]:
    return dict(zip(market.outcomes, [round(chance, 6) for chance in chances], strict=True))


def _entry(of: Follower, outcome: int, names: Names) -> MoverEntry:
    followed = of.followed
    return MoverEntry(
        *(of.bookmaker, names.get(of.bookmaker, of.bookmaker), of.id),
        None if of.before is None else of.before[outcome],
        None if of.now is None else of.now[outcome],
        None if followed is None else followed.at_ms / 1000,
        None if followed is None else followed.version,
        *(of.is_compared, of.is_first),
    )
