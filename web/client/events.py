"""What a board tells its caller: each event is of one kind, and none is told twice."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from .values import Fixture, Match, Removal

E = TypeVar("E", bound=Match | Fixture)


class Changed(Struct, Generic[E], frozen=True):
    """An entry or fixture before and after a change."""

    before: E
    now: E


class Gone(Struct, Generic[E], frozen=True):
    """An entry or fixture that left the board, as it was; without `removal` a new whole list lacks it."""

    before: E
    removal: Removal | None


class Changes(Struct, Generic[E], frozen=True):
    """What changed on the board from its last version to this one.

    With `is_whole` it is the difference to a new whole list, with `is_conflated` that of several commits.
    """

    version: int
    epoch: str
    added: tuple[E, ...]
    changed: tuple[Changed[E], ...]
    removed: tuple[Gone[E], ...]
    is_whole: bool
    is_conflated: bool


class Reset(Struct, frozen=True):
    """Changes since the board's version are not known: `too_old`, `future` or `other_epoch` (a restart).

    `Changes` with the difference to the new whole list follow.
    """

    reason: str


class Linking(Struct, frozen=True):
    """So many events are still to be compared; until then one match may stand in several fixtures.

    None: the service has just started and shows no fixtures yet.
    """

    pending: int | None


class Cleared(Struct, frozen=True):
    """The last `count` prices of a bookmaker left the board, and why; of fixtures no reasons are known."""

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
