"""The lists of a program, as a state machine: lines in, changes of lists out. Pure.

It keeps only the newest state of every list, so no queue can grow. A line that breaks the protocol raises
PayloadError and changes no list: the process must be ended, and the next one begins anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Raw

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.errors import PayloadError
from actors.core.messages import ListId, Match, Prices, Scope, SourceMatchId
from actors.core.validation import Bounds
from actors.markets.market import Kind
from actors.source_api.json_parts import without_half_characters
from actors.source_api.program import ListChange, ProgramOptions
from actors.sources.program.known_list import KnownList
from actors.sources.program.markets import NO_ID, Rejected
from actors.sources.program.wire import (
    Alive,
    AnyLine,
    Begin,
    CompleteList,
    End,
    ListedMatch,
    Remove,
    Said,
    Upsert,
    Withdraw,
    broken,
    read_as_of,
    read_item,
    read_line,
)

MAX_LISTS = 1000  # different names in a source's life, because the board remembers them
MAX_MATCHES = 100_000  # matches in all lists
MAX_REJECTED = 100  # consecutive rejected matches; more are an error of the program
MAX_AHEAD_S = 60.0  # how far a list's own time may be ahead of our clock: it may come from another machine
STALE_EARLY_S = 1.0  # stale matches are removed this early, before their whole list would be withdrawn

Note = Callable[[Scope, Rejected], None]


class OpenList:
    """A complete list without its end so far; `as_of` is its own time (Unix seconds) or None."""

    def __init__(self, list_id: str, as_of: float | None) -> None:
        self.id, self.as_of = list_id, as_of
        self.items: list[Said] = []


class Lists:
    """All lists of a program; they outlive its processes. Calls `note` with each rejected match."""

    def __init__(self, options: ProgramOptions, note: Note = lambda _scope, _rejected: None) -> None:
        of_1x2 = options.book_sum_min, options.book_sum_max
        self._bounds = Bounds(*of_1x2, book_sums=options.book_sums(), kinds=options.kinds)
        self._stale_after_s = options.staleness_s
        self._may_be_live = options.prices is Prices.LIVE
        self._note = note
        self._known: dict[Scope, KnownList] = {}
        self._open: dict[Scope, OpenList] = {}
        self._rejected_in_row = 0
        self._completed = 0
        self.passed_over = Counter[Kind]()  # markets of kinds that are not configured

    def begin(self) -> None:
        """Begin with a new process, which must send each list completely before its changes."""
        self._open.clear()
        self._rejected_in_row = 0
        for known in self._known.values():
            known.is_sent = False

    def receive(self, line: bytes, now: Instant) -> Sliced[None]:
        """Read a line. Raises: PayloadError if it breaks the protocol; then no list has changed."""
        line = without_half_characters(line)
        message = read_line(line)
        scope = Scope(message.scope)
        match message:
            case CompleteList():
                as_of = self._as_of(message, now)
                items = yield from self._items(scope, message.matches, as_of)
                yield from self._complete(message, as_of, items, now)
            case Begin():
                self._list(scope)  # checks that there is room for its name
                self._open[scope] = OpenList(message.id, self._as_of(message, now))
            case ListedMatch():
                begun = self._begun(scope, message)
                begun.items.append(self._item(scope, line, begun.as_of))
                if len(begun.items) > MAX_MATCHES:
                    raise broken(message, f"is more than the {MAX_MATCHES}th")
            case End():
                yield from self._end(scope, message, now)
            case Upsert():
                self._upsert(scope, message, line, now)
            case Remove():
                self._spoken(scope, message).remove(SourceMatchId(message.match), "withdrawn")
            case Alive():
                self._alive(message, now)
            case Withdraw():
                self._open.pop(scope, None)
                self._list(scope).withdraw(message.reason)

    def expire(self, now: Instant) -> None:
        """Drop stale lists, and remove stale matches from the other lists."""
        early_s = min(STALE_EARLY_S, self._stale_after_s / 10)
        for known in self._known.values():
            known.expire(now.mono - self._stale_after_s, early_s)

    def withdraw(self) -> None:
        """Withdraw all lists."""
        for known in self._known.values():
            if known.is_known:
                known.withdraw()

    def changes(self) -> tuple[ListChange, ...]:
        """Return the changes since the last call, at most one for a list."""
        return tuple(filter(None, (known.take_change() for known in self._known.values())))

    def images(self) -> tuple[ListChange, ...]:
        """Return every known list completely; this replaces its pending changes."""
        return tuple(known.image() for known in self._known.values() if known.is_known)

    def scopes(self) -> tuple[Scope, ...]:
        """Return the names of the known lists."""
        return tuple(scope for scope, known in self._known.items() if known.is_known)

    def unfinished(self) -> tuple[Scope, ...]:
        """Return the names of the complete lists without an end so far."""
        return tuple(self._open)

    def _as_of(self, message: CompleteList | Begin | Alive, now: Instant) -> float | None:
        """Return a list's own time (Unix seconds), if any. Raises: PayloadError for an invalid time."""
        as_of = read_as_of(message)
        if as_of is not None and as_of > now.wall + MAX_AHEAD_S:
            raise broken(message, f"has an as_of that is {as_of - now.wall:.0f} s ahead of our clock")
        if not isinstance(message, Alive) and message.collected and self._may_be_live:
            raise broken(message, 'is collected: its table of the configuration needs prices = "collected"')
        return as_of

    def _mono(self, message: AnyLine, as_of: float | None, now: Instant) -> float | None:
        """Return a list's time of confirmation (monotonic seconds); withdraw a stale list, return None."""
        if as_of is None:
            return now.mono
        known = self._list(Scope(message.scope))
        mono = known.mono_of(as_of, now)
        if mono > now.mono - self._stale_after_s:
            return mono
        at = datetime.fromtimestamp(as_of, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        known.withdraw(f"it is as of {at}, longer ago than stale_after_s ({self._stale_after_s:g} s)")
        return None

    def _alive(self, message: Alive, now: Instant) -> None:
        mono = self._mono(message, self._as_of(message, now), now)
        if mono is not None:
            self._spoken(Scope(message.scope), message, is_whole=True).confirm(mono)

    def _items(self, scope: Scope, contents: Sequence[Raw], as_of: float | None) -> Sliced[list[Said]]:
        items = []
        for count, content in enumerate(contents):
            if count % SLICE == 0:
                yield
            items.append(self._item(scope, content, as_of))
        return items

    def _item(self, scope: Scope, content: bytes | Raw, as_of: float | None = None) -> Said:
        item = read_item(content, self._bounds, as_of)
        self.passed_over.update(item.passed_over)
        rejected = [record for record in item.records if isinstance(record, Rejected)]
        for record in rejected:
            self._note(scope, record)
        if len(rejected) < len(item.records):
            self._rejected_in_row = 0
        elif rejected:
            self._rejected_in_row += 1
        if self._rejected_in_row > MAX_REJECTED:
            message = (
                f"{self._rejected_in_row} matches in a row were rejected, the last as {rejected[0].reason}"
            )
            raise PayloadError(f"{message}: {rejected[0].why}", "rejected")
        return item

    def _complete(
        self,
        message: CompleteList | End,
        as_of: float | None,
        items: Sequence[Said],
        now: Instant,
    ) -> Sliced[None]:
        scope = Scope(message.scope)
        known, mono = self._list(scope), self._mono(message, as_of, now)
        if mono is None:
            return
        if mono < known.confirmed_mono:
            ahead_s = known.confirmed_mono - mono
            raise broken(message, f"has an as_of {ahead_s:.0f} s before the time that the list had before")
        self._check_room(sum(len(item.records) for item in items) - len(known.matches))
        self._completed += 1
        list_id = ListId(f"{scope}-{now.wall:.3f}-{self._completed}")
        yield from known.complete(list_id, items, mono)

    def _end(self, scope: Scope, message: End, now: Instant) -> Sliced[None]:
        begun = self._begun(scope, message)
        del self._open[scope]
        if len(begun.items) != message.count:
            raise broken(message, f"has the count {message.count:g}, but {len(begun.items)} matches came")
        yield from self._complete(message, begun.as_of, begun.items, now)

    def _begun(self, scope: Scope, message: ListedMatch | End) -> OpenList:
        begun = self._open.get(scope)
        if begun is None or begun.id != message.id:
            raise broken(message, f"has the id {message.id!r}, which has not begun")
        return begun

    def _upsert(self, scope: Scope, message: Upsert, line: bytes, now: Instant) -> None:
        known = self._spoken(scope, message)
        item = self._item(scope, line)
        if item.match_id is None and (found := _unreadable(item)):
            raise broken(message, f"has no match that can be read: {found}")
        matches = [record for record in item.records if isinstance(record, Match)]
        if new := sum(match.source_match_id not in known.matches for match in matches):
            self._check_room(new)
        known.change(item, now.mono)

    def _spoken(
        self, scope: Scope, message: Upsert | Remove | Alive, *, is_whole: bool = False
    ) -> KnownList:
        known = self._known.get(scope)
        if known is None or not known.is_sent:
            raise broken(message, "came without a complete list of this process that is not stale")
        if is_whole and not known.is_whole:
            raise broken(message, "came after matches of the list were stale")
        return known

    def _list(self, scope: Scope) -> KnownList:
        if (known := self._known.get(scope)) is None:
            if len(self._known) == MAX_LISTS:
                raise PayloadError(f"there are more than {MAX_LISTS} names of lists", "too_many")
            known = self._known[scope] = KnownList(scope)
        return known

    def _check_room(self, more: int) -> None:
        count = more + sum(len(known.matches) for known in self._known.values())
        if count > MAX_MATCHES:
            raise PayloadError(f"there are {count} matches, must be at most {MAX_MATCHES}", "too_many")


def _unreadable(item: Said) -> str:
    """Return why the id of a match is unreadable; "" if it is readable or missing."""
    return next((it.why for it in item.records if isinstance(it, Rejected) and it.why != NO_ID), "")
