"""The source kind `replay`: plays a recording inside a running service, once or in a loop.

Its machine plays the recording on its own boards, by the recording's clock, and reports their changes, of
1X2 and the other configured markets. The service's own `[board] expire_after_kickoff_s` still applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Chunk
from actors.core.clock import Instant, elapsed_s
from actors.core.cooperative import BUDGET_S, Sliced
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId, Extract, Match, Offer, Prices, Removal, Scope, SourceMatchId
from actors.markets.market import Kind as MarketKind
from actors.recordings.playback import Playback
from actors.recordings.reader import KindNamed, RecordedSource, open_source
from actors.source_api.kinds import TickingKind, prices_of
from actors.source_api.options import Markets, SourceOptions

INTERVAL_S = 0.1
PAUSE_S = 1.0  # between the end of a recording in a loop and its next begin

Speed = Annotated[float, Meta(gt=0, le=1e9)] | Literal["max"]


class ReplayOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a recording: its file, relative to the working directory, and how it is played.

    `speed` is the number of recorded seconds played in a second. `price` is for historic files (.bz2) only,
    by default `best_back`. `markets` must be among those that the recorded source read. The other options
    apply in addition to the recorded ones.
    """

    path: Annotated[str, Meta(description="The recording, from the working directory of the service.")]
    speed: Annotated[Speed, Meta(description="Recorded seconds played in a second.")] = 1.0
    loop: Annotated[bool, Meta(description='Whether it restarts at the end; not with speed "max".')] = False
    price: Annotated[
        Literal["best_back", "last_traded"] | None,
        Meta(description="The price to read from a historic file of Betfair; not set, the best to back."),
    ] = None
    markets: Markets = (MarketKind.ONE_X_TWO,)


def replay_kind(kind_named: KindNamed) -> TickingKind:
    """Return the kind; `kind_named` finds the kinds of recordings."""

    def opened(options: ReplayOptions) -> RecordedSource:
        return open_source(Path(options.path), kind_named, options.price)

    def start(options: ReplayOptions, keys: tuple[str, ...], now: Instant) -> ReplayMachine:
        return ReplayMachine(opened(options), options, keys, now)

    def check(options: ReplayOptions, keys: tuple[str, ...]) -> None:
        try:
            source = opened(options)
        except ConfigError as error:
            raise ValueError(f"path was {options.path!r}: {error}") from error
        recorded = [bookmaker.key for bookmaker in source.header.bookmakers]
        if unknown := [key for key in keys if key not in recorded]:
            raise ValueError(
                f"path was {options.path!r}, which has no bookmaker with the key {unknown[0]!r},"
                f" must be one of {', '.join(recorded)}"
            )
        read = source.options.kinds
        if unread := [kind for kind in options.kinds if kind not in read]:
            raise ValueError(
                f"markets has {unread[0]}, which the source of {options.path!r} did not read,"
                f" must be of {', '.join(read)}"
            )
        if options.loop and options.speed == "max":
            raise ValueError("loop was true, must be false with speed 'max'")

    def prices(options: ReplayOptions) -> Prices:
        source = opened(options)
        return prices_of(source.kind, source.options)

    def offer_of(key: str, options: ReplayOptions) -> Offer:
        source = opened(options)
        return source.kind.offer_of(key, source.options)

    return TickingKind("replay", ReplayOptions, check_key, start, check, prices, offer_of)


def check_key(key: str) -> None:
    """Raise ValueError for an empty key; `check` compares keys with the recording."""
    if not key:
        raise ValueError("key was '', must be the key of a bookmaker in the recording")


class ReplayMachine:
    """A recording, played by the clock; reports the changes of its own boards, never a part of a payload.

    `interval_s` is 0 while more moments are due. The machine `is_over` after the end: no further change.
    """

    def __init__(
        self, source: RecordedSource, options: ReplayOptions, keys: tuple[str, ...], now: Instant
    ) -> None:
        self.scope = Scope(source.header.source)
        self.interval_s = 0.0
        self.is_over = False
        self._source = source
        self._speed = inf if options.speed == "max" else options.speed
        self._loop = options.loop
        ids = {bookmaker.key: bookmaker.id for bookmaker in source.header.bookmakers}
        self._ids: dict[str, BookmakerId] = {key: ids[key] for key in keys}
        self._kinds = options.kinds
        self._books = Playback((source,), kinds=self._kinds).books
        self._reported = self._books
        self._until_mono = now.mono
        self._is_waiting = False
        self._steps = self._passes(now.mono)

    def image(self) -> Mapping[str, Extract]:
        """Return the lists on the recording's boards."""
        return {
            key: Extract(tuple(_matches(_chunks(self._reported[name])).values()))
            for key, name in self._ids.items()
            if _is_serving(self._reported[name])
        }

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Play the moments due at `now`, for `BUDGET_S` at most; return the changes."""
        self._until_mono = now.mono
        self._is_waiting = False
        began = elapsed_s()
        while not self._is_waiting and elapsed_s() - began < BUDGET_S:
            next(self._steps)
        yield
        self.interval_s = INTERVAL_S if self._is_waiting else 0.0
        before, self._reported = self._reported, self._books
        return {
            key: _changes(before[name], self._reported[name])
            for key, name in self._ids.items()
            if _is_serving(before[name]) or _is_serving(self._reported[name])
        }

    def _passes(self, begin_mono: float) -> Sliced[None]:
        """Play the recording from its first payload, once or in a loop; after its end wait for ever."""
        while True:
            playback = Playback((self._source,), kinds=self._kinds)
            first_mono, due_mono = playback.now().mono, begin_mono
            for moment in playback.moments():
                due_mono = begin_mono + (moment.at.mono - first_mono) / self._speed
                yield from self._wait(due_mono)
                yield from playback.play(moment)
                self._books = playback.books
            begin_mono = due_mono + PAUSE_S if self._loop else inf
            self.is_over = not self._loop
            yield from self._wait(begin_mono)

    def _wait(self, due_mono: float) -> Sliced[None]:
        while self._until_mono < due_mono:
            self._is_waiting = True
            yield


def _is_serving(books: Iterable[Book]) -> bool:
    return any(book.is_serving for book in books)


def _chunks(books: Iterable[Book]) -> tuple[Chunk, ...]:
    return tuple(chunk for book in books for chunk in book.chunks)


def _changes(before: Iterable[Book], after: Iterable[Book]) -> Extract:
    """Return the differences; chunks that both boards have are not compared."""
    first, last = _chunks(before), _chunks(after)
    old, new = set(first), set(last)
    gone = _matches(chunk for chunk in first if chunk not in new)
    came = _matches(chunk for chunk in last if chunk not in old)
    return Extract(
        tuple(match for name, match in came.items() if gone.get(name) != match),
        tuple(Removal(name, "withdrawn") for name in gone if name not in came),
    )


def _matches(chunks: Iterable[Chunk]) -> dict[SourceMatchId, Match]:
    return {entry.source_match_id: entry.match for entry in entries_of(tuple(chunks))}
