"""What changed, as JSON and as Server-Sent Events (HTML standard, 9.2), encoded once for all clients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from itertools import islice
from typing import Generic, Protocol, TypeVar

import anyio
import msgspec

from actors.board.history import Change, History
from actors.board.snapshot import RemovalReason
from actors.core.cooperative import SLICE, Sliced, run_sliced
from actors.core.messages import BookmakerId
from web.encoding.schemas import Bye, Heartbeat, Removed, Reset, ResetReason, match_v2
from web.encoding.segments import MATCHES, UNENCODABLE, WHOLE_BYTES, Api, UnencodableError
from web.feeds.lists import Answers, Listed, View

MAX_KNOWN_BYTES = 4 * 1024 * 1024  # events kept of a view, one for each version that clients have
Pieces = list[bytes]  # one text, in several pieces if it is long, so that a stream need not join it

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", contravariant=True)

_encode = msgspec.json.Encoder().encode


class Versioned(Protocol[K_contra]):
    """A history: the newest version of a view, and the oldest since which its changes are known."""

    epoch: str

    def latest(self, view: K_contra) -> int:
        """Return the view's own version."""
        ...

    def oldest(self, view: K_contra) -> int:
        """Return the oldest version since which all changes of the view are known."""
        ...


class Frames(ABC, Generic[K]):
    """Makes and keeps the events of views; `answers` has the lists."""

    def __init__(
        self, history: Versioned[K], answers: Answers, max_known_bytes: int = MAX_KNOWN_BYTES
    ) -> None:
        self.history = history
        self._max_known_bytes = max_known_bytes
        self._answers = answers
        self._known: dict[K, _Known] = {}
        self._making = anyio.Lock(fast_acquire=True)

    @abstractmethod
    def listed(self, view: K) -> Listed:
        """Return the list of a view."""

    @abstractmethod
    def _delta(self, view: K, since: int, *, is_marked: bool) -> Sliced[tuple[int, Pieces] | None]:
        """Return what changed in a view after `since`, with its newest version; None if it is not known."""

    async def delta(self, view: K, since: int) -> Pieces | None:
        """Return what changed in a view after `since` as JSON; None if the history does not say it."""
        made = await self._made(view, since, is_marked=False)
        return None if made is None else made[1]

    async def changes(self, view: K, since: int) -> tuple[int, Pieces] | None:
        """Return the view's newest version and the event from `since` to it; None if it is not known."""
        known = self._newest(view)
        if since not in known.changes:
            async with self._making:
                known = self._newest(view)
                if since not in known.changes:  # still, after the others that waited
                    made = await self._made(view, since, is_marked=True)
                    if made is None:
                        return None
                    version, data = made
                    event = _event("changes", data, self._id(version))
                    if version == (known := self._newest(view)).version:
                        known.keep(since, event, self._max_known_bytes)
                    return version, event
        return known.version, known.changes[since]

    async def snapshot(self, view: K) -> tuple[int, Pieces]:
        """Return the view's newest version, and the event with its whole list."""
        version, parts = await self._answers.listed(self.listed(view))
        return version, _event("snapshot", [*parts], self._id(version))

    def _id(self, version: int) -> bytes:
        return b"%d-%b" % (version, self.history.epoch.encode())

    def _newest(self, view: K) -> _Known:
        version, known = self.history.latest(view), self._known.get(view)
        if known is None or known.version != version:
            known = self._known[view] = _Known(version)
        return known

    async def _made(self, view: K, since: int, *, is_marked: bool) -> tuple[int, Pieces] | None:
        while True:
            try:
                return await run_sliced(self._delta(view, since, is_marked=is_marked))
            except UnencodableError as error:
                await self._answers.reject(error)


class ListFrames(Frames[BookmakerId | None]):
    """The events of the odds lists; `names` are the display names."""

    def __init__(
        self,
        history: History,
        names: Mapping[BookmakerId, str],
        answers: Answers,
        max_known_bytes: int = MAX_KNOWN_BYTES,
    ) -> None:
        super().__init__(history, answers, max_known_bytes)
        self._changes = history
        self._names = names

    def listed(self, view: BookmakerId | None) -> View:
        """Return the list of a view."""
        return View(Api.V2, view)

    def _delta(
        self, view: BookmakerId | None, since: int, *, is_marked: bool
    ) -> Sliced[tuple[int, Pieces] | None]:
        recent = yield from self._changes.since(view, since)
        if recent is None:
            return None
        matches = yield from joined(self._encoded(one) for one in recent.changes if one.entry is not None)
        removed = yield from joined(self._encoded(one) for one in recent.changes if one.entry is None)
        head = opening(recent.version, since, MATCHES, is_marked=is_marked and recent.is_merged)
        return recent.version, [head, *matches, b'],"removed":[', *removed, b"]}"]

    def _encoded(self, change: Change) -> bytes:
        if change.json is None:
            name = self._names[change.bookmaker]
            if change.entry is None:
                change.json = _encode(
                    Removed(change.id, name, change.reason or RemovalReason.WITHDRAWN, change.version)
                )
            else:
                try:
                    change.json = _encode(match_v2(change.entry, name))
                except UNENCODABLE as error:
                    raise UnencodableError(change.bookmaker, change.entry, error) from error
        return change.json


def opening(version: int, since: int, name: bytes, *, is_marked: bool) -> bytes:
    """Return how changes begin, up to the first entry."""
    mark = b'"conflated":true,' if is_marked else b""
    return b'{"version":%d,"since":%d,%b"%b":[' % (version, since, mark, name)


def joined(encoded: Iterator[bytes]) -> Sliced[Pieces]:
    """Return entries as pieces of a list, encoding them in slices."""
    pieces = list[bytes]()
    while some := [*islice(encoded, SLICE // 2)]:
        pieces.append(b"," * bool(pieces) + b",".join(some))
        yield
    return pieces


class _Known:
    """The events that lead to one version of a view, by the version that they start from."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.changes: dict[int, Pieces] = {}
        self._bytes = 0

    def keep(self, since: int, event: Pieces, max_bytes: int) -> None:
        size = sum(map(len, event))
        if self._bytes + size > max_bytes:
            self.changes.clear()
            self._bytes = 0
        self.changes[since] = event
        self._bytes += size


def reset(reason: ResetReason, version: int) -> Pieces:
    """Return the event before a snapshot; without an id, because the client does not have that yet."""
    return _event("reset", [_encode(Reset(reason, version))])


def heartbeat(version: int) -> Pieces:
    """Return the event that says that `version` is still the newest."""
    return _event("heartbeat", [_encode(Heartbeat(version))])


def bye(version: int, retry_ms: int) -> Pieces:
    """Return the last event before the service ends, with the milliseconds to wait before reconnecting."""
    (event,) = _event("bye", [_encode(Bye(version, retry_ms))])
    return [b"retry: %d\n%b" % (retry_ms, event)]


def _event(name: str, data: Pieces, event_id: bytes | None = None) -> Pieces:
    head = b"" if event_id is None else b"id: %b\n" % event_id
    pieces = [b"%bevent: %b\ndata: " % (head, name.encode()), *data, b"\n\n"]
    return pieces if sum(map(len, data)) > WHOLE_BYTES else [b"".join(pieces)]
