"""Readers of the simulated service: lists by view with their tags, and changes since known versions.

`names` are display names in the order of the configuration.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec
from hypercorn.typing import ASGIFramework

from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.core.messages import BookmakerId
from tests.support.peers.stream_client import Copy
from tests.support.systems.front_end import Answer, get
from tests.support.systems.site import NAMES

Names = Mapping[BookmakerId, str]

V2, V1, CHANGES = "/api/v2/odds", "/api/odds", "/api/v2/changes"
VIEWS = [(path, name) for path in (V2, V1) for name in (None, *NAMES)]

FOREIGN = 0.2
"""The share of the requests for changes that also use another epoch."""

View = tuple[str, BookmakerId | None]


class Readers:
    """One reader for each view; each keeps all that it has seen, so that no tag ever has two bodies."""

    def __init__(self, app: ASGIFramework, random: Random, names: Names = NAMES) -> None:
        self._app = app
        self._random = random
        self._names = names
        self._bodies: defaultdict[View, dict[str, int]] = defaultdict(dict)
        self._tags: dict[View, str] = {}
        self._versions: dict[View, int] = {}
        self._copies: dict[BookmakerId | None, Copy] = {}
        self.reads = 0

    async def read(self, view: View) -> tuple[int, dict[str, Any]]:
        """Read a view twice, the second time with its tag; return status and document."""
        self.reads += 1
        path, name = view
        query = "" if name is None else f"bookmaker={name}"
        had = self._tags.get(view)
        answer = await get(self._app, path, query, **({} if had is None else {"if_none_match": had}))
        if answer.status == 304:
            assert had == answer.headers["etag"], "304 for another tag"
            answer = await get(self._app, path, query)
            assert (had, 200) == (answer.headers.get("etag"), answer.status), "a false 304"
        if answer.status != 200:
            assert 503 == answer.status, f"{view}: {answer.status}"
            assert "retry-after" in answer.headers
            return answer.status, {}
        return answer.status, self._checked(view, answer)

    async def follow(self, view: BookmakerId | None, epoch: str) -> Copy:
        """Update the copy of a view by its changes, or if that fails by the list; return the copy."""
        copy = self._copies.get(view)
        filter_ = "" if view is None else f"&bookmaker={view}"
        if copy is not None:
            if self._random.random() < FOREIGN:
                foreign = await get(self._app, CHANGES, f"since={copy.version}-zz{filter_}")
                assert 410 == foreign.status, "changes since a version of another epoch"
            answer = await get(self._app, CHANGES, f"since={copy.version}-{epoch}{filter_}")
            assert answer.status in {200, 410}, answer.status
            if answer.status == 200:
                copy.change(msgspec.json.decode(answer.body))
                return copy
        answer = await get(self._app, V2, filter_.lstrip("&"))
        copy = Copy([*self._names])
        if answer.status == 200:
            copy.replace(msgspec.json.decode(answer.body))
            self._copies[view] = copy
        else:
            self._copies.pop(view, None)
        return copy

    def _checked(self, view: View, answer: Answer) -> dict[str, Any]:
        tag, checksum = answer.headers["etag"], zlib.crc32(answer.body)
        assert checksum == self._bodies[view].setdefault(tag, checksum), f"{view}: {tag} has two bodies"
        document: dict[str, Any] = msgspec.json.decode(answer.body)
        version = document["version"]
        assert version >= self._versions.get(view, 0), f"{view}: version fell to {version}"
        assert tag.startswith(f'"{version}-'), f"{view}: {tag} at {version}"
        kind = "matches" if view[0] in {V1, V2} else "fixtures"
        assert document[f"{kind}_count"] == len(document[kind])
        if version == self._versions.get(view):
            assert tag == self._tags[view], f"{view}: version {version} has two tags"
        self._versions[view], self._tags[view] = version, tag
        return document


def expected(view: View, snapshot: Snapshot, names: Names = NAMES) -> bytes:
    """Return the matches that a list must have, made from the board itself."""
    path, name = view
    if path == V2:
        return b"[%b]" % Copy.of([*names], snapshot, name, names).matches
    return msgspec.json.encode(
        [
            {
                "id": entry.id,
                "bookmaker": names[bookmaker],
                "home": entry.match.home,
                "away": entry.match.away,
                "league": entry.match.league or "",
                "odds": [entry.match.home_price, entry.match.draw_price, entry.match.away_price],
                "start_time": entry.match.start_time or 0,
                "updated": entry.updated,
            }
            for bookmaker in (names if name is None else [name])
            for entry in entries_of(snapshot.books[bookmaker].chunks)
        ]
    )
