"""What changed, as JSON and as events of a stream: encoded once, shared by all who are told.

Pure but for its memory: the JSON of each change, which stays with it, and the events of the newest
version of each view. Server-Sent Events as the HTML standard has them (9.2, Server-sent events).
"""

from __future__ import annotations

from collections.abc import Mapping

import anyio
import msgspec

from actors.history import Change, History
from actors.messages import BookmakerId
from actors.slices import SLICE, Steps, in_slices
from web.answers import Answers, View
from web.schemas import Removed, match_v2
from web.segments import Api

MAX_KNOWN_BYTES = 4 * 1024 * 1024
"""Events kept of a view's newest version, one for each version that clients come from: not all can be."""

_encode = msgspec.json.Encoder().encode


class Frames:
    """Makes and keeps events; `names` are the display names, `answers` has the lists."""

    def __init__(
        self,
        history: History,
        names: Mapping[BookmakerId, str],
        answers: Answers,
        max_known_bytes: int = MAX_KNOWN_BYTES,
    ) -> None:
        self._history = history
        self._max_known_bytes = max_known_bytes
        self._names = names
        self._answers = answers
        self._known: dict[BookmakerId | None, _Known] = {}
        self._making = anyio.Lock(fast_acquire=True)

    async def delta(self, view: BookmakerId | None, since: int) -> bytes | None:
        """Give what changed in a view after `since`, None if that is too old; waits while it is made."""
        if since < self._history.oldest(view):
            return None
        return await in_slices(self._delta(view, since, is_marked=False))

    async def changes(self, view: BookmakerId | None, since: int) -> tuple[int, bytes] | None:
        """Give the view's newest version, and the event that leads to it from `since`.

        None if `since` is too old. Waits while it is made: by one client for all that come from there.
        """
        known = self._newest(view)
        if since not in known.changes:
            async with self._making:
                known = self._newest(view)
                if since < self._history.oldest(view):
                    return None
                if since not in known.changes:
                    data = await in_slices(self._delta(view, since, is_marked=True))
                    known.keep(since, _event("changes", data, known.version))
        return known.version, known.changes[since]

    async def snapshot(self, view: BookmakerId | None) -> tuple[int, list[bytes]]:
        """Give the view's newest version, and the event with its whole list in pieces."""
        version, parts = await self._answers.listed(View(Api.V2, view))
        pieces = [_head("snapshot", version), *parts, _END]
        return version, [b"".join(pieces)] if len(parts) == 1 else pieces

    def _newest(self, view: BookmakerId | None) -> _Known:
        version = self._history.latest(view)
        known = self._known.get(view)
        if known is None or known.version != version:
            known = self._known[view] = _Known(version, self._max_known_bytes)
        return known

    def _delta(self, view: BookmakerId | None, since: int, *, is_marked: bool) -> Steps[bytes]:
        """Encode what is newest now, though newer things may happen before it is done."""
        history = self._history
        version = max(history.latest(view), since)
        mark = b'"conflated":true,' if is_marked and history.is_merged(view, since) else b""
        matches: list[bytes] = []
        removed: list[bytes] = []
        for count, change in enumerate(history.since(view, since)):
            if count % SLICE == SLICE - 1:
                yield
            (removed if change.entry is None else matches).append(self._encoded(change))
        parts = (version, since, mark, b",".join(matches), b",".join(removed))
        return b'{"version":%d,"since":%d,%b"matches":[%b],"removed":[%b]}' % parts

    def _encoded(self, change: Change) -> bytes:
        if change.json is None:
            name = self._names[change.bookmaker]
            if change.entry is not None:
                change.json = _encode(match_v2(change.entry, name))
            else:
                change.json = _encode(Removed(change.id, name, str(change.departure), change.version))
        return change.json


class _Known:
    def __init__(self, version: int, max_bytes: int) -> None:
        self.version = version
        self.changes: dict[int, bytes] = {}
        self._bytes, self._max_bytes = 0, max_bytes

    def keep(self, since: int, frame: bytes) -> None:
        if self._bytes + len(frame) > self._max_bytes:
            self.changes.clear()
            self._bytes = 0
        self.changes[since] = frame
        self._bytes += len(frame)


def reset(reason: str, version: int) -> bytes:
    """Give the event before a snapshot that replaces what the client has.

    It has no id: whoever is cut off behind it has not got the snapshot.
    """
    return _event("reset", _encode({"reason": reason, "version": version}))


def heartbeat(version: int) -> bytes:
    """Give the event that says that `version` is still what is known."""
    return _event("heartbeat", b'{"version":%d}' % version)


def bye(version: int, retry_ms: int) -> bytes:
    """Give the last event before the service ends, with the milliseconds after which to come back."""
    data = b'{"version":%d,"retry":%d}' % (version, retry_ms)
    return b"retry: %d\n%b" % (retry_ms, _event("bye", data))


def _event(name: str, data: bytes, version: int | None = None) -> bytes:
    return _head(name, version) + data + _END


def _head(name: str, version: int | None) -> bytes:
    head = b"" if version is None else b"id: %d\n" % version
    return b"%bevent: %b\ndata: " % (head, name.encode())


_END = b"\n\n"
