"""What changed, as JSON and as events of a stream: encoded once, shared by all who are told.

Pure but for its memory: the JSON of each change, which stays with it, and the events of the newest
version of each view. Server-Sent Events as the HTML standard has them (9.2, Server-sent events).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from actors.history import Change, History
from actors.messages import BookmakerId
from web.answers import Answers, View
from web.schemas import Removed, match_v2
from web.segments import Api

MAX_KNOWN = 64
"""Events kept of a view's newest version: one for each version that clients come from."""

_encode = msgspec.json.Encoder().encode


class Frames:
    """Makes and keeps events; `names` are the display names, `answers` has the lists."""

    def __init__(self, history: History, names: Mapping[BookmakerId, str], answers: Answers) -> None:
        self._history = history
        self._names = names
        self._answers = answers
        self._known: dict[BookmakerId | None, _Known] = {}

    def delta(self, view: BookmakerId | None, since: int, *, is_marked: bool = False) -> bytes:
        """Give what changed in a view after `since`, which must not be below its oldest version.

        With `is_marked` it says so where several commits are merged.
        """
        version = max(self._history.latest(view), since)
        matches: list[bytes] = []
        removed: list[bytes] = []
        for change in self._history.since(view, since):
            (matches if change.entry is not None else removed).append(self._encoded(change))
        mark = b'"conflated":true,' if is_marked and self._history.is_merged(view, since) else b""
        return b'{"version":%d,"since":%d,%b"matches":[%b],"removed":[%b]}' % (
            version,
            since,
            mark,
            b",".join(matches),
            b",".join(removed),
        )

    def changes(self, view: BookmakerId | None, since: int) -> bytes:
        """Give the event that leads from `since` to the view's newest version."""
        known = self._newest(view)
        frame = known.changes.get(since)
        if frame is None:
            if len(known.changes) >= MAX_KNOWN:
                known.changes.clear()
            data = self.delta(view, since, is_marked=True)
            frame = known.changes[since] = _event("changes", data, known.version)
        return frame

    async def snapshot(self, view: BookmakerId | None) -> tuple[int, list[bytes]]:
        """Give the view's newest version, and the event with its whole list in pieces."""
        version, parts = await self._answers.listed(View(Api.V2, view))
        pieces = [_head("snapshot", version), *parts, _END]
        return version, [b"".join(pieces)] if len(parts) == 1 else pieces

    def _newest(self, view: BookmakerId | None) -> _Known:
        version = self._history.latest(view)
        known = self._known.get(view)
        if known is None or known.version != version:
            known = self._known[view] = _Known(version)
        return known

    def _encoded(self, change: Change) -> bytes:
        if change.json is None:
            name = self._names[change.bookmaker]
            if change.entry is not None:
                change.json = _encode(match_v2(change.entry, name))
            else:
                change.json = _encode(Removed(change.id, name, str(change.departure), change.version))
        return change.json


class _Known:
    def __init__(self, version: int) -> None:
        self.version = version
        self.changes: dict[int, bytes] = {}


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
