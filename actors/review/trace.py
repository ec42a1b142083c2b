"""Traces an id: its entry on the board, or why there is none, and similar ids. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from heapq import nlargest

from msgspec import Struct
from msgspec.structs import replace

from actors.board.chunks import beginning_with, find
from actors.board.history import Change, ListHistory
from actors.board.snapshot import Book, Entry, RemovalReason, Snapshot
from actors.board.validity import ListState
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId, SourceMatchId, SourceName
from actors.core.nearest import did_you_mean
from actors.markets.market import Market, parsed
from actors.matches.model import FixtureState
from actors.matching.event import EventKey, FixtureId
from actors.monitoring.rejections import KeptRejected
from actors.monitoring.status import BookmakerStatus

NEAREST = 5


class Absence(StrEnum):
    """Why an id has no entry: a reason of removals, or one of two other reasons."""

    WITHDRAWN = RemovalReason.WITHDRAWN.value
    SUSPENDED = RemovalReason.SUSPENDED.value
    STALE = RemovalReason.STALE.value
    REJECTED = RemovalReason.REJECTED.value
    FINISHED = RemovalReason.FINISHED.value
    UNNAMED = RemovalReason.UNNAMED.value
    NEVER_SEEN = "never_seen"
    UNKNOWN_BOOKMAKER = "unknown_bookmaker"


class Absent(Struct, frozen=True):
    """Why version 2 of the list does not show an id; `since` (Unix seconds) if known."""

    reason: Absence
    why: str
    since: float | None = None


class Left(Struct, frozen=True):
    """An entry that has left the board; `at` (Unix seconds) and `reason` if known."""

    entry: Entry
    at: float | None = None
    reason: RemovalReason | None = None


class Traced(Struct, frozen=True):
    """All that the board, its history and the records have about an id.

    `entry` is on the board; if it is not shown, `absent` says why. `change` is its last change since
    version `oldest`; `state` is the state of its list. While it is rejected, `rejected` has the reason, and
    `refused` the match if its prices are known. `before` is the archived entry before it left.
    """

    id: str
    bookmaker: BookmakerId
    entry: Entry | None = None
    change: Change | None = None
    state: ListState | None = None
    rejected: str | None = None
    refused: KeptRejected | None = None
    absent: Absent | None = None
    before: Entry | None = None

    @property
    def known(self) -> Entry | None:
        """The entry, or the archived entry before it left."""
        return self.entry or (self.before if self.change is None else self.change.before)


class TracedMarket(Struct, frozen=True):
    """A market of a match other than 1X2: it is on the board of `snapshot`, rejected now, or gone."""

    market: Market
    known: Traced
    snapshot: Snapshot | None = None


def traced(
    snapshot: Snapshot,
    record: BookmakerStatus,
    given: str,
    *,
    change: Change | None,
    oldest: int,
    now: Instant,
) -> Traced:
    """Return what is known about `given`, an id of the bookmaker of `record`."""
    book, match_id = snapshot.books[record.id], SourceMatchId(given.partition("_")[2])
    entry = find(book.chunks, match_id)
    known = entry or (None if change is None else change.before)
    state = None if known is None else book.lists.get(known.scope)
    rejected = record.rejections.reason_of(match_id)
    kept = [] if rejected is None else [*record.newest_rejected]
    refused = next((match for match in reversed(kept) if match.match.source_match_id == match_id), None)
    left = None if change is None or change.entry is not None else change
    if entry is not None:
        absent = _not_shown(entry, state, left, now)
    elif rejected is not None:
        why = f"its price is not believed: {rejected}"
        absent = Absent(Absence.REJECTED, why, None if left is None else left.at)
    elif left is not None:
        absent = Absent(Absence(left.reason.value), _why_left(left, state), left.at)
    else:
        absent = Absent(Absence.NEVER_SEEN, _why_never(book, oldest))
    return Traced(given, record.id, entry, change, state, rejected, refused, absent)


def split(given: str) -> tuple[str, Market | None]:
    """Split an id into the id of the 1X2 prices and the market behind it, if any."""
    entry_id, _, text = given.rpartition(" ")
    try:
        return (entry_id, parsed(text)) if entry_id else (given, None)
    except ValueError:
        return given, None  # for example a part of two teams' names


def traced_markets(
    snapshots: Iterable[Snapshot],
    record: BookmakerStatus,
    given: str,
    changes: Iterable[Change] = (),
    archived: Iterable[str] = (),
) -> list[TracedMarket]:
    """Return what is known about the other markets of a match, by line; markets that have left come last.

    Each snapshot is of one kind of market. `changes` are their last changes; `archived` are archived ids.
    """
    event_id, last = SourceMatchId(given.partition("_")[2]), {change.id: change for change in changes}
    found: dict[Market, TracedMarket] = {}
    for snapshot in snapshots:
        book = snapshot.books[record.id]
        for entry in beginning_with(book.chunks, f"{event_id} "):
            state = book.lists.get(entry.scope)
            known = Traced(entry.id, record.id, entry, last.get(entry.id), state)
            found[entry.match.market] = TracedMarket(entry.match.market, known, snapshot)
    kept = {match.match.source_match_id: match for match in record.newest_rejected}
    for match_id, reason in record.rejections.markets_of(event_id).items():
        _, market = split(match_id)
        if market is not None and market not in found:
            entry_id = f"{given} {market}"
            known = Traced(
                entry_id, record.id, change=last.get(entry_id), rejected=reason, refused=kept.get(match_id)
            )
            found[market] = TracedMarket(market, known)
    left: dict[Market, TracedMarket] = {}
    for entry_id in dict.fromkeys((*last, *archived)):
        _, market = split(entry_id)
        if market is not None and market not in found:
            left[market] = TracedMarket(market, Traced(entry_id, record.id, change=last.get(entry_id)))
    return [of[market] for of in (found, left) for market in sorted(of)]


def remembered(found: Traced, reason: RemovalReason, at: float, before: Entry | None) -> Traced:
    """Return `found` with the archived entry, which left before the history's oldest version."""
    absent = found.absent
    if absent is None or absent.reason is not Absence.NEVER_SEEN:
        return found
    why = f"it left then, as the archive has it; {absent.why}"
    return replace(found, absent=Absent(Absence(reason.value), why, at), before=before)


def unknown(given: str, bookmakers: Iterable[BookmakerId]) -> Traced:
    """Return the result for an id of an unconfigured bookmaker."""
    name = given.partition("_")[0]
    near = did_you_mean(name, bookmakers)
    why = f"no bookmaker {name[:64]!r} is configured{near}; an id is BOOKMAKER_ID of its source"
    return Traced(given, BookmakerId(name), absent=Absent(Absence.UNKNOWN_BOOKMAKER, why))


def nearest(snapshot: Snapshot, given: str) -> Sliced[list[Entry]]:
    """Return the entries whose ids begin and end most like `given`, or whose teams' names contain it.

    If `given` names a bookmaker, search only its entries. The id of a fixture, or of an event as SOURCE:ID,
    returns its entries.
    """
    if isinstance(snapshot.fixtures, FixtureState):
        source, _, match_id = given.partition(":")
        key = EventKey(SourceName(source), SourceMatchId(match_id))
        if fixture := snapshot.fixtures.get(FixtureId(given)) or snapshot.fixtures.of_event(key):
            return [*fixture.listed]
    name, wanted, books = BookmakerId(given.partition("_")[0]), given.casefold(), snapshot.books
    found: list[tuple[int, Entry]] = []
    for book in [books[name]] if name in books else books.values():
        for chunk in book.chunks:
            some = [(_likeness(wanted, entry), entry) for entry in chunk.entries]
            found = nlargest(NEAREST, [*found, *some], key=lambda pair: pair[0])
            yield
    return [entry for likeness, entry in found if likeness]


def searched(
    snapshot: Snapshot, history: ListHistory, given: str
) -> Sliced[tuple[list[Entry], list[Left]]]:
    """Return the entries nearest to `given`, and the newest departed entries of these teams."""
    near = yield from nearest(snapshot, given)
    wanted = given.casefold()
    gone = yield from history.left(
        lambda entry: is_named(wanted, entry.match.home, entry.match.away), NEAREST
    )
    return near, [Left(of.before, of.at, of.reason) for of in gone if of.before is not None]


def left_of_board(snapshot: Snapshot, found: Iterable[Left]) -> list[Left]:
    """Return the first of `found` for each id that is not on the board; only the latest of these."""
    left: dict[str, Left] = {}
    for of in found:
        book = snapshot.books.get(BookmakerId(of.entry.id.partition("_")[0]))
        if book is None or find(book.chunks, of.entry.match.source_match_id) is None:
            left.setdefault(of.entry.id, of)
    return nlargest(NEAREST, left.values(), key=lambda of: of.at or 0.0)


def is_named(wanted: str, home: str, away: str) -> bool:
    """Return whether a lower-case text is a part of the two teams' names."""
    return wanted in f"{home} {away}".casefold()


def _likeness(wanted: str, entry: Entry) -> int:
    """Return the number of characters that an id shares with `wanted` at its begin and its end."""
    if is_named(wanted, entry.match.home, entry.match.away):
        return 2 * len(wanted)
    entry_id = entry.id.casefold()
    begin = _common(wanted, entry_id)
    return begin + _common(wanted[begin:][::-1], entry_id[begin:][::-1])


def _common(a: str, b: str) -> int:
    """Return the length of the common beginning of two texts."""
    shorter = min(len(a), len(b))
    return next((at for at in range(shorter) if a[at] != b[at]), shorter)


def _not_shown(entry: Entry, state: ListState | None, left: Change | None, now: Instant) -> Absent | None:
    """Return why version 2 of the list does not show an entry of the board, None if it does."""
    if not entry.is_named:
        since = None if left is None else left.at
        return Absent(Absence.UNNAMED, "a team has no name: only version 1 of the list shows it", since)
    if state is not None and state.deadline <= now.mono:
        why = "it is overdue and not withdrawn yet: the aggregator is late, and the list is 503 commit_late"
        return Absent(Absence.STALE, why, now.wall - (now.mono - state.deadline))
    return None


def _why_left(left: Change, state: ListState | None) -> str:
    """Return why an entry left; `state` is the present state of its list."""
    known, is_list_gone = left.before, state is not None and state.withdrawn
    kicked_off = None if known is None else known.match.begun_by
    reason, stale_after_s = left.reason, 0.0 if state is None else state.stale_after_s
    texts = _LIST_GONE if is_list_gone and reason in _LIST_GONE else _LEFT
    text = texts[reason]
    if reason is RemovalReason.STALE and not is_list_gone and kicked_off and kicked_off <= left.at:
        text = "it is in play, and its source did not confirm its price in time"
    return text.format(scope="" if known is None else known.scope, stale_after_s=stale_after_s)


_LEFT = {
    RemovalReason.WITHDRAWN: "its source no longer has it in the list {scope!r}",
    RemovalReason.SUSPENDED: "its source suspended it",
    RemovalReason.STALE: "its source did not confirm the list {scope!r} in time; no list since then has it",
    RemovalReason.REJECTED: "its newest price was not believed; no list since then has it",
    RemovalReason.FINISHED: "it is over: its source closed it, or it kicked off longer ago than is shown",
    RemovalReason.UNNAMED: "a team's name became empty",
}
_LIST_GONE = {
    RemovalReason.WITHDRAWN: "its source withdrew the list {scope!r}",
    RemovalReason.STALE: "its source did not confirm the list {scope!r} for {stale_after_s:g} s",
    RemovalReason.REJECTED: "the list {scope!r} has an entry that cannot be shown, and was withdrawn",
}
"""The texts used while the whole list is off the board."""


def _why_never(book: Book, oldest: int) -> str:
    if not book.lists:
        return "nothing of its bookmaker was accepted yet"
    parts = [f"no list of its bookmaker had it since version {oldest}"]
    if withdrawn := sum([state.withdrawn for state in book.lists.values()]):
        parts.append(f"{withdrawn} of its {len(book.lists)} lists are withdrawn now")
    if any(state.doubted for state in book.lists.values()):
        parts.append("its newest list is doubted, because it lost too much at once")
    if any(state.is_cut for state in book.lists.values()):
        parts.append("there is no room for some of its matches (max_matches)")
    return "; ".join(parts)
