"""The ledger of a board: the service's list, how current it is, and its changes. Without I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from math import inf
from typing import Any, Generic, TypeVar

from .events import Changed, Changes, Cleared, Connected, Disconnected, Event, Gone, Linking
from .values import Change, Fixture, Match, Removal

E = TypeVar("E", bound=Match | Fixture)


class Order(Enum):
    """How an answer compares with the newest of its epoch."""

    OLDER = auto()
    SAME = auto()
    NEWER = auto()


class Newest:
    """The newest version that was seen of each epoch, because an epoch may come back."""

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}
        self._epoch = ""

    def order(self, version: int, epoch: str) -> Order:
        """Compare an answer with the answers before it."""
        known = self._versions.get(epoch, -1)
        if version == known and epoch == self._epoch:
            return Order.SAME
        return Order.NEWER if version > known else Order.OLDER

    def note(self, version: int, epoch: str) -> None:
        """Take an answer as the newest."""
        self._versions[epoch], self._epoch = version, epoch


class GapError(Exception):
    """Changes do not begin at the board's version."""


class Ledger(Generic[E]):
    """The list of the service at the newest version that was read.

    It is current while `why` is empty and the service has said within `silence_s` that this version is its
    newest; `seen_at` is the time of its last such message, by `now`. With `is_whole` a new version comes
    with a message.
    """

    def __init__(self, silence_s: float, now: Callable[[], float], *, is_whole: bool) -> None:
        self.entries: dict[str, E] = {}
        self.version: int | None = None
        self.epoch = ""
        self.pending: int | None = 0
        self.places: Mapping[str, int] = {}
        self.seen_at, self.why = -inf, "not connected yet"
        self._silence_s, self._now, self._is_whole = silence_s, now, is_whole
        self._counts = Counter[str]()
        self._newest = Newest()
        self._is_lost = False

    @property
    def cursor(self) -> str:
        """Version and epoch as `since` takes them; empty before the first list."""
        return "" if self.version is None else f"{self.version}-{self.epoch}"

    @property
    def age_s(self) -> float:
        """Seconds since the service last said that this version is its newest."""
        return self._now() - self.seen_at

    @property
    def is_fresh(self) -> bool:
        """Whether `age_s` is at most the allowed silence."""
        return self.age_s <= self._silence_s

    def apply(self, change: Change, epoch: str) -> tuple[Order, list[Event[E]]]:
        """Apply a whole list or changes; return the order and the events.

        An answer that is not newer is ignored whole. Raises: GapError.
        """
        if (order := self._newest.order(change.version, epoch)) is not Order.NEWER:
            return order, []
        if change.since is not None and not (epoch == self.epoch and self._follows(change.since)):
            raise GapError(f"changes began at {change.since}-{epoch}, must begin at {self.cursor}")
        self._newest.note(change.version, epoch)
        self.version, self.epoch = change.version, epoch
        shown: Sequence[Any] = change.shown
        gone: dict[str, Removal | None] = {removal.id: removal for removal in change.removed}
        if change.since is None:
            gone = dict.fromkeys(self.entries.keys() - {entry.id for entry in shown})
        linked = [] if change.linking is None else self.link(change.linking.pending)
        return order, [*linked, *self._replaced(change, shown, gone)]

    def link(self, pending: int | None) -> Iterator[Linking]:
        """Note how many events are still to be compared; return an event if this changes."""
        if pending != self.pending:
            self.pending = pending
            yield Linking(pending)

    def prove(self, at: float) -> Iterator[Connected]:
        """Note that the board was the newest at that time."""
        self.seen_at, self._is_lost = max(self.seen_at, at), False
        if self.why and self.version is not None and self.is_fresh:
            self.why = ""
            yield Connected(self.version)

    def lose(self, why: str) -> Iterator[Disconnected]:
        """Note why the board is not current any more; repeated calls return no event."""
        is_news, self.why, self._is_lost = not self._is_lost, why, True
        if is_news:
            yield Disconnected(why)

    def place(self, entry: E) -> tuple[float, str]:
        """Return where an entry stands in the service's list."""
        if isinstance(entry, Match):
            return self.places.get(entry.id.partition("_")[0], len(self.places)), entry.id
        return inf if entry.start_time is None else entry.start_time, entry.id

    def _follows(self, since: int) -> bool:
        """Return whether changes since a version continue the board.

        The version of a league or a line rises without a change of the list, and without a message.
        """
        own = self.version
        return own is not None and (since == own or (since > own and not self._is_whole))

    def _replaced(
        self, change: Change, shown: Sequence[E], gone: Mapping[str, Removal | None]
    ) -> Iterator[Event[E]]:
        """Replace entries; yield the changes, and the bookmakers that have no entry any more."""
        added, changed, removed = list[E](), list[Changed[E]](), list[Gone[E]]()
        before, reasons = Counter[str](), dict[str, dict[str, None]]()
        for entry in shown:
            if (old := self.entries.get(entry.id)) is None:
                added.append(entry)
            elif old != entry:
                changed.append(Changed(old, entry))
                before.update(_bookmakers(old))
            else:
                continue
            self.entries[entry.id] = entry
            self._counts.update(_bookmakers(entry))
        for gone_id, removal in gone.items():
            if (old := self.entries.pop(gone_id, None)) is not None:
                removed.append(Gone(old, removal))
                before.update(_bookmakers(old))
                if isinstance(old, Match) and removal is not None:
                    reasons.setdefault(old.bookmaker, {})[removal.reason] = None
        self._counts.subtract(before)
        if added or changed or removed:
            told = tuple(added), tuple(changed), tuple(removed)
            yield Changes(change.version, self.epoch, *told, change.since is None, change.conflated)
        for bookmaker, count in before.items():
            if not self._counts[bookmaker]:
                del self._counts[bookmaker]
                yield Cleared(bookmaker, count, tuple(reasons.get(bookmaker, ())))


def _bookmakers(entry: Match | Fixture) -> list[str]:
    """Return the bookmaker of each price."""
    if isinstance(entry, Match):
        return [entry.bookmaker]
    return [of.bookmaker for market in entry.by_market.values() for of in market.entries]
