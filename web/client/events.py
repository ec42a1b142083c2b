"""The events that a board yields to its caller: each is of one kind, and none comes twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Struct

from .values import Fixture, Match, Odds, Removal

E = TypeVar("E", bound=Match | Fixture)


class Changed(Struct, Generic[E], frozen=True):
    """An entry or fixture before and after a change."""

    before: E
    now: E


class Gone(Struct, Generic[E], frozen=True):
    """An entry or fixture that left the board, as it was; without `removal` a new whole list lacks it."""

    before: E
    removal: Removal | None


class Move(Struct, Generic[E], frozen=True):
    """A price of an entry that moved; `of` is the entry or fixture as it is now."""

    of: E
    market: str
    entry: str
    bookmaker: str
    outcome: str
    before: float
    now: float


class Changes(Struct, Generic[E], frozen=True):
    """The changes of the board from its last version to this version.

    With `is_whole` it is the difference to a new whole list, with `is_conflated` the difference of several
    commits.
    """

    version: int
    epoch: str
    added: tuple[E, ...]
    changed: tuple[Changed[E], ...]
    removed: tuple[Gone[E], ...]
    is_whole: bool
    is_conflated: bool

    def moves(self) -> Iterator[Move[E]]:
        """Yield each price that moved, by entry and market. Prices that came or left did not move."""
        for changed in self.changed:
            before, now = _prices(changed.before), _prices(changed.now)
            for (market, entry, bookmaker), odds in now.items():
                old = before.get((market, entry, bookmaker), odds)
                for outcome, price in odds.items():
                    if (was := old.get(outcome, price)) != price:
                        yield Move(changed.now, market, entry, bookmaker, outcome, was, price)


class Reset(Struct, frozen=True):
    """Changes since the board's version are not known: `too_old`, `future` or `other_epoch` (a restart).

    `Changes` with the difference to the new whole list follow.
    """

    reason: str


class Linking(Struct, frozen=True):
    """`count` events are still to be compared; until then one match may stand in several fixtures.

    None: the service has just started and shows no fixtures yet.
    """

    pending: int | None


class Cleared(Struct, frozen=True):
    """The last `count` prices of a bookmaker left the board, and why; no reasons are known for fixtures."""

    bookmaker: str
    count: int
    reasons: tuple[str, ...]


class Connected(Struct, frozen=True):
    """The board is current, at this version."""

    version: int


class Disconnected(Struct, frozen=True):
    """The board is not current, and why; its prices are those of the last version."""

    why: str


Event = Changes[E] | Reset | Linking | Cleared | Connected | Disconnected


def _prices(of: Match | Fixture) -> dict[tuple[str, str, str], Odds]:
    """Return the odds by market, entry and bookmaker."""
    if isinstance(of, Match):
        return {("1x2", of.id, of.bookmaker): of.odds}
    return {
        (name, entry.id, entry.bookmaker): entry.odds
        for name, market in of.by_market.items()
        for entry in market.entries
    }
