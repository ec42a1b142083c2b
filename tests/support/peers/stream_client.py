"""A client of the stream over a raw socket, and a copy of the list that it keeps from the changes."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketStream

from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId
from tests.support.systems.site import NAMES, Answered, parsed
from web.encoding.schemas import match_v2

_LAST_CHUNK = b"0\r\n\r\n"


@dataclass
class Event:
    """One Server-Sent Event as received; `id` and `retry` are None if the event has none."""

    name: str
    data: Any
    raw: bytes
    id: str | None = None
    retry: str | None = None


@dataclass
class Copy:
    """The list of one view, updated by events or by answers to polls; bookmakers in configured order.

    `id` is the id of the last event with a version.
    """

    bookmakers: Sequence[str]
    version: int = -1
    id: str | None = None
    entries: dict[str, bytes] = field(default_factory=dict)
    applied: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        bookmakers: Sequence[str],
        snapshot: Snapshot,
        view: str | None = None,
        shown_as: Mapping[BookmakerId, str] = NAMES,
    ) -> Copy:
        """Return the copy that a client of `view` should have, made from the board itself."""
        names = [BookmakerId(bookmaker) for bookmaker in bookmakers if view in {None, bookmaker}]
        rows = [
            msgspec.to_builtins(match_v2(entry, shown_as[name]))
            for name in names
            for entry in entries_of(snapshot.books[name].chunks)
            if entry.is_named
        ]
        copy = cls(bookmakers)
        version = max(snapshot.books[name].v2_version for name in names)
        copy.replace({"version": version, "matches": rows})
        return copy

    def replace(self, listed: dict[str, Any]) -> None:
        """Replace the copy by a whole list."""
        self.version = listed["version"]
        self.entries = {match["id"]: msgspec.json.encode(match) for match in listed["matches"]}

    def change(self, delta: dict[str, Any]) -> None:
        """Apply a delta, which must follow the present version without a gap or a repeat."""
        assert self.version == delta["since"]
        self.version = delta["version"]
        for match in delta["matches"]:
            self.entries[match["id"]] = msgspec.json.encode(match)
        for match in delta["removed"]:
            self.entries.pop(match["id"], None)

    def take(self, event: Event) -> None:
        """Apply an event; each `changes` event must begin at the present version."""
        if event.name == "snapshot":
            self.replace(event.data)
        elif event.name == "changes":
            assert event.data["version"] > self.version
            self.change(event.data)
        if event.name in {"snapshot", "changes"}:
            version, _, epoch = (event.id or "").partition("-")
            assert str(self.version) == version
            assert self.id is None or self.id.endswith(f"-{epoch}")
            self.id = event.id
            self.applied.append(self.version)

    @property
    def matches(self) -> bytes:
        """The entries as the list endpoint orders them, joined."""
        places = {bookmaker: place for place, bookmaker in enumerate(self.bookmakers)}
        names = sorted(self.entries, key=lambda name: (places[name.partition("_")[0]], name))
        return b",".join(self.entries[name] for name in names)


def shown(delta: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the version of a delta and the ids in it."""
    return delta["version"], [match["id"] for match in (*delta["matches"], *delta["removed"])]


class Connection:
    """An open stream: `head` is its status and headers; events are read one at a time.

    `inflater` reads a compressed stream, and says whether it came to a proper end.
    """

    def __init__(self, socket: SocketStream, head: Answered) -> None:
        self.socket = socket
        self.head = head
        self.inflater = zlib.decompressobj(31) if "content-encoding" in head.headers else None
        self._chunked = head.body
        self._text = b""

    async def event(self) -> Event:
        """Return the next event. Raises: anyio.EndOfStream at the end of the connection."""
        while b"\n\n" not in self._text:
            if not self._dechunk():
                with anyio.fail_after(15):
                    self._chunked += await self.socket.receive()
        raw, _, self._text = self._text.partition(b"\n\n")
        return _event(raw)

    async def named(self, name: str) -> Event:
        """Return the next event with the name `name`, and skip all events before it."""
        while (event := await self.event()).name != name:
            pass
        return event

    async def rest(self) -> list[Event]:
        """Return all events until the answer ends, which it must do correctly."""
        events = []
        while (self._chunked, self._text) != (_LAST_CHUNK, b""):
            if b"\n\n" in self._text or self._dechunk():
                events += [await self.event()] if b"\n\n" in self._text else []
            else:
                with anyio.fail_after(15):
                    self._chunked += await self.socket.receive()
        return events

    def _dechunk(self) -> bool:
        """Move one whole chunk into the buffer if there is one."""
        size, found, rest = self._chunked.partition(b"\r\n")
        length = int(size, 16) if found else 0
        if not length or len(rest) < length + 2:
            return False
        data = rest[:length]
        self._text += data if self.inflater is None else self.inflater.decompress(data)
        self._chunked = rest[length + 2 :]
        return True


@contextlib.asynccontextmanager
async def streaming(base: str, query: str = "", *lines: str) -> AsyncIterator[Connection]:
    """Request a stream and keep it open within the block; `lines` are header lines."""
    head = "\r\n".join((f"GET /api/v2/stream{query} HTTP/1.1", "Host: board", *lines))
    async with await anyio.connect_tcp("127.0.0.1", int(base.rpartition(":")[2])) as socket:
        await socket.send(f"{head}\r\n\r\n".encode("latin-1"))
        received = b""
        with anyio.fail_after(5):
            while b"\r\n\r\n" not in received:
                received += await socket.receive()
        yield Connection(socket, parsed(received))


def events_of(body: bytes) -> list[Event]:
    """Return the events in bytes that end where an event ends."""
    return [_event(raw) for raw in body.split(b"\n\n") if raw]


def _event(raw: bytes) -> Event:
    fields = dict(line.split(b": ", 1) for line in raw.split(b"\n"))
    name, version, retry = (fields.get(key) for key in (b"event", b"id", b"retry"))
    return Event(
        (name or b"message").decode(),
        msgspec.json.decode(fields[b"data"]),
        raw,
        None if version is None else version.decode(),
        None if retry is None else retry.decode(),
    )
