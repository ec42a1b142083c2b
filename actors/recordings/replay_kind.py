"""The source kind `replay`: plays one recording inside a running service, again and again if wanted.

A ticking kind: its machine keeps a board of its own, on which the recording is played by the
recording's clock with all that it brings (suspicion, staleness, expiry), and tells what changes on
it. So the service ends with the content that the recording ends with, whatever the speed; except
that matches past the service's own `[board] expire_after_kickoff_s` are not shown, which therefore
has to be raised for recordings of the past. At the end of the recording the last content stays.
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
from actors.core.messages import BookmakerId, Extract, Match, Prices, Removal, Scope, SourceMatchId
from actors.recordings.playback import Playback
from actors.recordings.reader import KindNamed, RecordedSource, open_source
from actors.source_api.kinds import TickingKind, prices_of
from actors.source_api.options import SourceOptions

INTERVAL_S = 0.1
PAUSE_S = 1.0
"""Seconds for which the last content of a recording in a loop is seen before it begins again."""

Speed = Annotated[float, Meta(gt=0, le=1e9)] | Literal["max"]


class ReplayOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a recording: its file, from the working directory of the service, and how it is played.

    `speed` is how many of its seconds pass in one of ours, `max` as many as can; `price` is what
    counts as one in a historic file of the exchange (.bz2), `best_back` where nothing is said. The
    other options hold for what is played as well, beside those that the recording was made with.
    """

    path: str
    speed: Speed = 1.0
    loop: bool = False
    price: Literal["best_back", "last_traded"] | None = None


def replay_kind(kind_named: KindNamed) -> TickingKind:
    """Make the kind; it is handed how to find the kinds that it plays."""

    def start(options: ReplayOptions, keys: tuple[str, ...], now: Instant) -> ReplayMachine:
        return ReplayMachine(open_source(Path(options.path), kind_named, options.price), options, keys, now)

    def check(options: ReplayOptions, keys: tuple[str, ...]) -> None:
        try:
            source = open_source(Path(options.path), kind_named, options.price)
        except ConfigError as error:
            raise ValueError(f"path was {options.path!r}: {error}") from error
        recorded = [one.key for one in source.header.bookmakers]
        if unknown := [key for key in keys if key not in recorded]:
            raise ValueError(
                f"path was {options.path!r}, which has no bookmaker with the key {unknown[0]!r},"
                f" must be one of {', '.join(recorded)}"
            )
        if options.loop and options.speed == "max":
            raise ValueError("loop was true, must be false with speed 'max'")

    def prices(options: ReplayOptions) -> Prices:
        source = open_source(Path(options.path), kind_named, options.price)
        return prices_of(source.kind, source.options)

    return TickingKind(
        name="replay",
        options=ReplayOptions,
        check_key=check_key,
        start=start,
        check=check,
        prices_of=prices,
    )


def check_key(key: str) -> None:
    """Raise ValueError for what cannot be the key of any bookmaker; the recording tells which are."""
    if not key:
        raise ValueError("key was '', must be the key of a bookmaker in the recording")


class ReplayMachine:
    """A recording, played by the clock; what happens on its own board is what it reports.

    An `advance` works for a few milliseconds at most. If the recording is further by then, the next
    one is wanted at once; a payload is never reported by halves.
    """

    def __init__(
        self, source: RecordedSource, options: ReplayOptions, keys: tuple[str, ...], now: Instant
    ) -> None:
        self.scope = Scope(source.header.source)
        self.interval_s = 0.0
        self._source = source
        self._speed = inf if options.speed == "max" else options.speed
        self._loop = options.loop
        ids = {one.key: one.id for one in source.header.bookmakers}
        self._ids: dict[str, BookmakerId] = {key: ids[key] for key in keys}
        self._books: Mapping[BookmakerId, Book] = Playback((source,)).snapshot.books
        self._reported = self._books
        self._until_mono = now.mono
        self._is_waiting = False
        self._steps = self._passes(now.mono)

    def image(self) -> Sliced[Mapping[str, Extract]]:
        """Return the list of every bookmaker that has one on the recording's board."""
        lists: dict[str, Extract] = {}
        for key, name in self._ids.items():
            yield
            if self._reported[name].is_serving:
                entries = entries_of(self._reported[name].chunks)
                lists[key] = Extract(tuple(entry.match for entry in entries))
        return lists

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Play on as far as the recording is at `now`, or as far as a few milliseconds go."""
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
            if before[name].is_serving or self._reported[name].is_serving
        }

    def _passes(self, begin_mono: float) -> Sliced[None]:
        """Play the recording once or for ever, then wait for ever; the first payload comes at once."""
        while True:
            playback = Playback((self._source,))
            first_mono, due_mono = playback.now().mono, begin_mono
            for moment in playback.moments():
                due_mono = begin_mono + (moment.at.mono - first_mono) / self._speed
                yield from self._wait(due_mono)
                yield from playback.play(moment)
                self._books = playback.snapshot.books
            begin_mono = due_mono + PAUSE_S if self._loop else inf
            yield from self._wait(begin_mono)

    def _wait(self, due_mono: float) -> Sliced[None]:
        while self._until_mono < due_mono:
            self._is_waiting = True
            yield


def _changes(before: Book, after: Book) -> Extract:
    """Return the differences; chunks that both have are passed over."""
    old, new = set(before.chunks), set(after.chunks)
    gone = _matches(chunk for chunk in before.chunks if chunk not in new)
    came = _matches(chunk for chunk in after.chunks if chunk not in old)
    return Extract(
        tuple(match for name, match in came.items() if gone.get(name) != match),
        tuple(Removal(name, "withdrawn") for name in gone if name not in came),
    )


def _matches(chunks: Iterable[Chunk]) -> dict[SourceMatchId, Match]:
    return {entry.source_match_id: entry.match for entry in entries_of(tuple(chunks))}
