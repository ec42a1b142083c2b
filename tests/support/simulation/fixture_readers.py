"""Readers of fixtures and surebets: each version that was seen leads to the newest.

The changes since a version are asked for by poll or by stream.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter, defaultdict
from math import inf
from random import Random
from typing import Any, NamedTuple

import anyio
import msgspec
from hypercorn.typing import ASGIFramework

from actors.matches.model import OF_EVERY_MARKET, FixtureView, ViewKind
from tests.support.peers.stream_client import Event, events_of
from tests.support.simulation.readers import CHANGES, Names, Readers
from tests.support.systems.front_end import asgi_scope, asked, get

PATHS = {ViewKind.FIXTURES: "/api/v2/fixtures", ViewKind.SUREBETS: "/api/v2/surebets"}
REMEMBERED = 12
"""The number of remembered versions of a view since which changes are asked for."""

Shown = dict[str, bytes]
Asked = tuple[str, str]


class Seen(NamedTuple):
    """A view in a reader's copy: the JSON of its fixtures by id."""

    version: int
    fixtures: Shown


class FixtureReaders:
    """One reader for each view; `counts` counts the reads."""

    def __init__(self, app: ASGIFramework, random: Random, names: Names) -> None:
        self.views = [FixtureView(kind, name) for kind in OF_EVERY_MARKET for name in (None, *names)]
        self.counts: Counter[str] = Counter()
        self._app = app
        self._random = random
        self._readers = Readers(app, random, names)
        self._seen: defaultdict[FixtureView, list[Seen]] = defaultdict(list)
        first, second, *_ = names
        forms = (
            f"bookmaker={first},{second}",
            f"fair={first}",
            f"bookmaker={first},{second}&fair={second}",
        )
        self._forms: list[Asked] = [(path, form) for path in PATHS.values() for form in forms]
        self._forms += [(PATHS[ViewKind.SUREBETS], f"{form}&doubted=1") for form in ("", forms[0])]
        self._bodies: dict[tuple[str, str], tuple[Asked, int]] = {}  # by path and tag
        self._made: set[tuple[FixtureView, int, int, bool]] = set()  # view, from, to, by a poll

    async def read(self, view: FixtureView) -> Seen | None:
        """Read a view in both codings; None if nobody is serving."""
        path, query = PATHS[view.kind], _query(view).removeprefix("&")
        status, document = await self._readers.read((path, view.bookmaker))
        self.counts[f"read {view.kind} {status}"] += 1
        if status != 200:
            return None
        packed = await get(self._app, path, query, accept_encoding="gzip")
        assert f'"{document["version"]}-' in packed.headers["etag"].replace("-gzip", "")
        assert document == msgspec.json.decode(gzip.decompress(packed.body)), (
            f"{view}: gzip is another body"
        )
        fixtures = {fixture["id"]: msgspec.json.encode(fixture) for fixture in document["fixtures"]}
        seen = Seen(document["version"], fixtures)
        known = self._seen[view]
        if seen.version not in {before.version for before in known}:
            known.append(seen)
            if len(known) > REMEMBERED:
                del known[self._random.randrange(REMEMBERED)]
        return seen

    async def read_form(self) -> None:
        """Read a list in another form: one tag always has the same bytes, and belongs to a single form."""
        path, query = asked = self._random.choice(self._forms)
        answer = await get(self._app, path, query)
        self.counts[f"form {answer.status}"] += 1
        if answer.status == 200:
            tag = answer.headers["etag"]
            seen = asked, zlib.crc32(answer.body)
            assert seen == self._bodies.setdefault((path, tag), seen), f"{asked}: {tag} has two bodies"

    async def resume(self, view: FixtureView, epoch: str, oldest: int) -> None:
        """Follow the changes from a version that was seen, and compare the result with the newest list.

        `oldest` is the version since which changes are known. Raises: AssertionError.
        """
        newest = await self.read(view)
        if newest is None:
            return
        since = self._random.choice(self._seen[view])
        is_poll = self._random.random() < 0.5
        # A finished answer is kept while the view does not change, whatever the history drops.
        made = view, since.version, newest.version, is_poll
        is_known = since.version >= oldest or made in self._made
        if is_poll:
            token = f"since={since.version}-{epoch}&view={view.kind}{_query(view)}"
            answer = await get(self._app, CHANGES, token)
            self.counts[f"changes {answer.status}"] += 1
            assert (200 if is_known else 410) == answer.status, f"{view} since {since.version}"
            if answer.status == 410:
                return
            found = _changed(since, msgspec.json.decode(answer.body))
            self._made.add(made)
        else:
            events = await stream_from(
                self._app, f"view={view.kind}{_query(view)}", f"{since.version}-{epoch}"
            )
            self.counts[events[0].name] += 1
            found = _followed(since, events, is_known=is_known)
            if events[0].name == "changes":
                self._made.add(made)
        assert newest.version == found.version, f"{view}: {since.version} led to {found.version}"
        assert [*newest.fixtures.items()] == _in_order(found.fixtures), f"{view}: not {newest.version}"


async def stream_from(app: ASGIFramework, query: str, last_event_id: str) -> list[Event]:
    """Return the first events of a stream: one, or a reset and a snapshot."""
    body = b""

    with anyio.CancelScope() as scope:

        async def send(message: Any) -> None:
            nonlocal body
            body += message.get("body", b"")
            if body.endswith(b"\n\n") and events_of(body)[-1].name != "reset":
                scope.cancel()

        headers = [(b"last-event-id", last_event_id.encode())]
        await app(asgi_scope("/api/v2/stream", query, headers), asked(), send)  # type: ignore[arg-type]
    return events_of(body)


def _followed(since: Seen, events: list[Event], *, is_known: bool) -> Seen:
    """Return a client's fixtures after these events."""
    last = events[-1]
    assert (events[0].name == "reset") != is_known, f"{events[0].name} since {since.version}"
    if last.name == "heartbeat":
        assert since.version == last.data["version"]
        return since
    assert (last.id or "").startswith(f"{last.data['version']}-")
    if last.name == "changes":
        return _changed(since, last.data)
    fixtures = {fixture["id"]: msgspec.json.encode(fixture) for fixture in last.data["fixtures"]}
    return Seen(last.data["version"], fixtures)


def _changed(since: Seen, delta: dict[str, Any]) -> Seen:
    assert since.version == delta["since"]
    fixtures = since.fixtures | {
        fixture["id"]: msgspec.json.encode(fixture) for fixture in delta["fixtures"]
    }
    for removal in delta["removed"]:
        assert removal["id"] not in {fixture["id"] for fixture in delta["fixtures"]}
        assert ("into" in removal) == (removal["reason"] == "merged"), removal
        assert since.version < removal["version"] <= delta["version"]
        fixtures.pop(removal["id"], None)
    return Seen(delta["version"], fixtures)


def _in_order(fixtures: Shown) -> list[tuple[str, bytes]]:
    def place(item: tuple[str, bytes]) -> tuple[float, str]:
        start = msgspec.json.decode(item[1])["start_time"]
        return inf if start is None else start, item[0]

    return sorted(fixtures.items(), key=place)


def _query(view: FixtureView) -> str:
    return "" if view.bookmaker is None else f"&bookmaker={view.bookmaker}"
