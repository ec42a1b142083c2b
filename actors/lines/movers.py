"""The move of a fixture's consensus between two versions, and the bookmakers that followed it.

Pure. Both consensuses use the same entries: those that count at both versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.lines.consensus import Past, Terms, chances_of, consensus_of, consensus_points, counting
from actors.lines.line import Moment, Point
from actors.lines.links import Bookmakers, Link, entry_ids
from actors.markets.odds import Odds, of_all_winners
from actors.matches.fair import MIN_BOOKMAKERS
from actors.matching.event import Chances


class Move(Struct, frozen=True):
    """The move of a fixture since an earlier version: the move of the outcome with the largest change.

    The chances are for winning outcomes; both use the entries with the ids `compared`.
    """

    begin: Moment
    outcome: int
    before: Chances
    after: Chances
    compared: tuple[str, ...]

    @property
    def change(self) -> float:
        """The change of the outcome's chance."""
        return self.after[self.outcome] - self.before[self.outcome]


class Follower(Struct, frozen=True):
    """An entry of the fixture: its prices at the beginning and now; None while it was not on the board.

    At `followed` its own chance had first moved by half of the consensus's move. With `is_compared` the
    consensuses include it; `is_first` marks the included entries that followed first.
    """

    id: str
    bookmaker: BookmakerId
    before: Odds | None
    now: Odds | None
    followed: Moment | None
    is_compared: bool
    is_first: bool = False


def move_between(
    terms: Terms, then: tuple[Moment, Mapping[str, Odds]], now: tuple[Moment, Mapping[str, Odds]]
) -> Move | None:
    """Return the move between two moments, from the prices (by id) that count at each.

    None if nothing moved, or if fewer than three prices count at both.
    """
    (begin, odds_then), (end, odds_now) = then, now
    both = [entry_id for entry_id in odds_then if entry_id in odds_now]
    if len(both) < MIN_BOOKMAKERS or all(odds_then[name] == odds_now[name] for name in both):
        return None
    before = consensus_of(terms, [odds_then[name] for name in both], begin.at_ms).chances
    after = consensus_of(terms, [odds_now[name] for name in both], end.at_ms).chances
    if before is None or after is None or before == after:
        return None
    shown = of_all_winners(terms.market, before), of_all_winners(terms.market, after)
    changes = [abs(of_after - of_before) for of_before, of_after in zip(*shown, strict=True)]
    return Move(begin, changes.index(max(changes)), *shown, tuple(both))


def move_of(terms: Terms, past: Past, end: Moment) -> Move | None:
    """Return the move from the first version of the past with a consensus to the moment `end`."""
    points = consensus_points(terms, past, end.version)
    first = next((point for point in points if point.chances is not None), None)
    if first is None:
        return None
    begin = Moment(first.version, first.at_ms)
    then, now = counted_at(past, begin.version), counted_at(past, end.version)
    return move_between(terms, (begin, then), (end, now))


def counted_at(past: Past, version: int) -> dict[str, Odds]:
    """Return the prices (by id) that count at a version; none if the live prices are unknown."""
    odds = {entry_id: price_at(points, version) for entry_id, points in past.lines.items()}
    return counting(odds, *members_at(past, version)) or {}


def members_at(past: Past, version: int) -> tuple[tuple[Link, ...], Bookmakers]:
    """Return the members of a fixture, and the bookmakers, at a version."""
    links = next((row.links for row in reversed(past.links) if row.version <= version), ())
    bookmakers = next((row.bookmakers for row in reversed(past.rosters) if row.version <= version), {})
    return links, bookmakers


def price_at(points: Sequence[Point], version: int) -> Odds | None:
    """Return the price of a line at a version."""
    return next((point.odds for point in reversed(points) if point.version <= version), None)


def followers(terms: Terms, past: Past, move: Move, end: Moment) -> list[Follower]:
    """Return the entries of the members at the end, in the order of the configuration."""
    found = [*_followers(terms, past, move, end)]
    seen = [entry.followed.version for entry in found if entry.is_compared and entry.followed is not None]
    first = min(seen, default=None)
    return [
        Follower(
            *(entry.id, entry.bookmaker, entry.before, entry.now, entry.followed, entry.is_compared),
            entry.is_compared and entry.followed is not None and entry.followed.version == first,
        )
        for entry in found
    ]


def _followers(terms: Terms, past: Past, move: Move, end: Moment) -> Iterator[Follower]:
    for entry_id, (name, _) in entry_ids(*members_at(past, end.version)).items():
        points = past.lines.get(entry_id, ())
        before, now = price_at(points, move.begin.version), price_at(points, end.version)
        if before is None and now is None:
            continue
        followed = None if before is None else _followed(terms, points, before, move)
        yield Follower(entry_id, name, before, now, followed, entry_id in move.compared)


def _followed(terms: Terms, points: Sequence[Point], before: Odds, move: Move) -> Moment | None:
    """Return the first moment when an entry had moved half as much in the same direction."""
    own, half = _chance(terms, before, move.outcome), abs(move.change) / 2
    sign = 1 if move.change > 0 else -1
    for point in points:
        if point.version > move.begin.version and point.odds is not None:
            moved = sign * (_chance(terms, point.odds, move.outcome) - own)
            if moved >= half:
                return Moment(point.version, point.at_ms)
    return None


def _chance(terms: Terms, odds: Odds, outcome: int) -> float:
    return of_all_winners(terms.market, chances_of(terms, odds))[outcome]
