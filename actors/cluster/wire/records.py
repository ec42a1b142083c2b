"""The wire format of a cluster: records of the log, and the state of a checkpoint. Pure.

MessagePack; structs are arrays, so that field names are not sent. All processes of a board have the same
`FORMAT`. Times are Unix seconds published by sources and collectors, or monotonic seconds of the matcher's
clock, which each process relates to its own clock by ticks alone (`liveness.py`).

Markets other than 1X2 come last, in types of their own. A record or state without them has exactly the
bytes of a release that knows only 1X2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Struct, defstruct
from msgspec.structs import astuple, replace

from actors.board.snapshot import Chunk, Entry, RemovalReason
from actors.cluster.store import CollectorId
from actors.cluster.wire.fixtures import WireFixtures, WireLinks
from actors.cluster.wire.markets import WireMarketFixtures, WireSides
from actors.core.cooperative import Sliced
from actors.core.match_codec import FIELDS, values_of
from actors.core.messages import BookmakerId, Match, Scope, SourceMatchId
from actors.markets.market import Kind, parsed
from actors.markets.odds import Odds

UNENCODABLE = (ValueError, OverflowError)
FORMAT: Final = 5
"""The number changes with the form of records, and with the results of equal records."""


_OneXTwoEntry: Any = defstruct(
    "_OneXTwoEntry",
    [("scope", Scope), ("updated", float), ("received_at", float | None), *FIELDS.items()],
    frozen=True,
    array_like=True,
    gc=False,
)


class WireEntry(_OneXTwoEntry):  # type: ignore[misc]  # its fields are those of `Match`, not listed again
    """An entry: `Entry` without its id, and the fields of its match in their order.

    In a market other than 1X2, which its id names, the prices are in `odds` only.
    """

    odds: Odds = ()


class WireTimes(Struct, frozen=True, array_like=True):
    """The earliest confirmation of a list (monotonic seconds of the matcher), and its validity (seconds).

    `vouched` has the times of the source's last confirmations of single matches, if the source says so.
    """

    confirmed_mono: float
    holds_s: float
    vouched: dict[SourceMatchId, float] = {}


class WireList(Struct, frozen=True, array_like=True, gc=False):
    """The state of a list: withdrawn or not, how often it was not believed, and its times.

    It `is_failing` while the newest attempt to get it failed. Without times its prices take no part in
    surebets.
    """

    withdrawn: bool
    doubted: int
    is_failing: bool = False
    times: WireTimes | None = None


class Tick(Struct, frozen=True, array_like=True, gc=False):
    """The matcher's clocks after reading that `round`: everything due by then has ended."""

    mono: float
    wall: float
    round: int


class BookRecord(Struct, frozen=True, array_like=True):
    """The changes of a bookmaker: new states of entries, entries that left with the reasons, lists.

    `lists` has the lists that differ or have entries here; the others are unchanged.
    """

    entries: tuple[WireEntry, ...] = ()
    gone: tuple[tuple[SourceMatchId, RemovalReason], ...] = ()
    lists: dict[Scope, WireList] = {}


class Record(Struct, frozen=True, array_like=True):
    """A commit of a collector, by bookmaker, or links; with `leaves` all of its lists are withdrawn.

    It was made at `at` (Unix seconds), by its machine's clock. Times in it use the monotonic clock of the
    collector `clock`. Only the matcher's ticks have a `tick`.
    """

    collector: CollectorId
    books: dict[BookmakerId, BookRecord] = {}
    leaves: bool = False
    links: WireLinks | None = None
    at: float = 0.0
    clock: CollectorId | None = None
    tick: Tick | None = None


class MarketsRecord(Record, frozen=True, array_like=True):
    """A commit with markets other than 1X2: `markets` is like `books`, by kind; or links of side events."""

    markets: dict[Kind, dict[BookmakerId, BookRecord]] = {}
    sides: WireLinks | None = None


class WireBook(Struct, frozen=True, array_like=True):
    """A book: the versions of its views, its collector, its lists, and its chunks with their cuts."""

    v1_version: int
    v2_version: int
    collector: CollectorId | None
    lists: dict[Scope, WireList]
    chunks: tuple[bytes, ...]


class WireState(Struct, frozen=True, array_like=True):
    """The state after a record, which was made at `at` (Unix seconds).

    Times use the clock of the collector `clock`; `tick` is that collector's newest tick.
    """

    version: int
    sub: int
    books: dict[BookmakerId, WireBook]
    fixtures: WireFixtures
    at: float
    clock: CollectorId | None
    tick: Tick | None


class WireMarket(Struct, frozen=True, array_like=True):
    """The board of another kind of market than 1X2; the 1X2 books name its collectors."""

    books: dict[BookmakerId, WireBook]
    fixtures: WireMarketFixtures


class WireMarketsState(WireState, frozen=True, array_like=True):
    """A state with the boards of other kinds of market, and their shared side events."""

    markets: dict[Kind, WireMarket] = {}
    sides: WireSides = WireSides()


_encode = msgspec.msgpack.Encoder().encode
_record = msgspec.msgpack.Decoder(MarketsRecord)
_state = msgspec.msgpack.Decoder(WireMarketsState)
_entries = msgspec.msgpack.Decoder(tuple[WireEntry, ...])
_market = lru_cache(maxsize=1024)(parsed)  # more than there are markets


def encoded(record: Record) -> bytes:
    """Return a record as bytes. Raises: ValueError if a text in it cannot be encoded."""
    return _encode(record)


def record_of(
    collector: CollectorId,
    changed: Mapping[Kind, Mapping[BookmakerId, BookRecord]],
    clock: CollectorId | None,
) -> Record:
    """Return the record for a commit that changes these books of each kind of market."""
    main = dict(changed.get(Kind.ONE_X_TWO, {}))
    markets: dict[Kind, dict[BookmakerId, BookRecord]] = {
        kind: dict(books) for kind, books in changed.items() if kind is not Kind.ONE_X_TWO
    }
    if not markets:
        return Record(collector, main, clock=clock)
    return MarketsRecord(collector, main, clock=clock, markets=markets)


def unencodable(books: Mapping[BookmakerId, BookRecord]) -> tuple[BookmakerId, SourceMatchId, str] | None:
    """Return an entry that cannot be encoded (such as half a character) and why; None if all can."""
    try:
        _encode(books)
    except UNENCODABLE:
        for name, book in books.items():
            for entry in book.entries:
                try:
                    _encode(entry)
                except UNENCODABLE as error:
                    return name, entry.source_match_id, str(error)
        raise
    return None


def decoded(data: bytes) -> MarketsRecord:
    """Return the record of these bytes. Raises: MsgspecError."""
    return _record.decode(data)


def wire_entry(entry: Entry) -> WireEntry:
    """Return an entry in wire form."""
    match = entry.match
    values = entry.scope, entry.updated, entry.received_at, *values_of(match)
    made: WireEntry = WireEntry(*values, match.odds) if match.odds else _OneXTwoEntry(*values)
    return made


def entry_of(bookmaker: BookmakerId, wire: WireEntry) -> Entry:
    """Decode an entry of a bookmaker. Raises: ValueError if there is no such market."""
    scope, updated, received_at, *values, odds = astuple(wire)
    match = Match(*values)
    if odds:
        market = _market(match.source_match_id.partition(" ")[2])
        match = replace(match, market=market, odds=odds)
    return Entry(f"{bookmaker}_{match.source_match_id}", scope, match, updated, received_at)


def chunk_bytes(chunk: Chunk) -> bytes:
    """Encode the entries of a chunk."""
    return _encode([wire_entry(entry) for entry in chunk.entries])


def chunk_of(bookmaker: BookmakerId, data: bytes) -> Chunk:
    """Decode a chunk of entries. Raises: MsgspecError."""
    entries = [entry_of(bookmaker, wire) for wire in _entries.decode(data)]
    return Chunk.of([entry.source_match_id for entry in entries], entries)


def state_bytes(state: WireState) -> bytes:
    """Encode a state."""
    return _encode(state)


def state_of(data: bytes) -> WireMarketsState:
    """Decode a state. Raises: MsgspecError."""
    return _state.decode(data)


def chunks_of(bookmaker: BookmakerId, some: Iterable[bytes]) -> Sliced[tuple[Chunk, ...]]:
    """Decode the chunks of a book, in slices."""
    chunks = []
    for data in some:
        chunks.append(chunk_of(bookmaker, data))
        yield
    return tuple(chunks)


def all_chunk_bytes(chunks: Sequence[Chunk]) -> Sliced[tuple[bytes, ...]]:
    """Encode the chunks of a book, in slices."""
    done = []
    for chunk in chunks:
        done.append(chunk_bytes(chunk))
        yield
    return tuple(done)
