"""The real HTTP front end on a real socket, over a board that the test fills.

It runs in the test's own event loop, with a clock that the test sets.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2

from actors.alerts.recent import Recent
from actors.archive.archive import Archive, open_archive
from actors.archive.folder import ArchiveSettings
from actors.archive.restart import Configured, Machine
from actors.board.history import HistoryLimits
from actors.board.snapshot import Readable, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock
from actors.core.limits import Limits
from actors.core.messages import Batch, BookmakerId, Match, SourceName
from actors.markets.market import Kind
from actors.matches.history import FixtureHistory
from actors.matches.model import BookmakerInfo, FixtureSettings, first_snapshot, roster_of
from actors.matches.update import FixtureUpdater
from actors.monitoring.status import (
    ArchiveStatus,
    BoardStatus,
    BookmakerStatus,
    LinksStatus,
    ServiceStatus,
    SourceStatus,
)
from actors.runtime.actor import ActorState, ActorStatus
from actors.runtime.membership import ClusterStatus
from tests.support.archive.boards import keep
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock
from tests.support.time.waiting import DEADLINE_S
from web.app import create_app
from web.feeds.subscribers import Audience
from web.protocol.access import Access
from web.protocol.throttle import ClientLimits
from web.server.connections import Caps, Connections
from web.server.listener import address_of, listen
from web.server.servers import serve
from web.server.watch import Watch

FIRST_VERSION = 5000
EPOCH = "0e90c001"
NAMES = {
    BookmakerId("cedar"): "Cédar 足球",
    BookmakerId("alder"): "Alder",
    BookmakerId("birch"): "Birch & Söhne",
}
"""Display names in the order of the configuration, which is not alphabetical."""

SOURCE = SourceName("feed")
MAX_STREAMS = 8


@dataclass
class Answered:
    """An answer as received; header names in lower case, repeated headers joined."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Site:
    """A running front end; `client` requests no compression and follows no redirect."""

    base: str
    client: httpx2.AsyncClient
    clock: ManualClock
    published: Committing
    status: ServiceStatus
    audience: Audience
    connections: Connections
    max_streams: int = MAX_STREAMS
    archive: Archive | None = None

    def apply(self, *batches: Batch) -> int:
        """Apply batches in one commit and return its version; the commit is archived immediately."""
        version = self.published.apply(*batches)
        if self.archive is not None:
            self.archive.writer.step()
        return version

    def publish(self, bookmaker: str, *matches: Match, stale_after_s: float = 30.0) -> int:
        """Apply a complete list of one bookmaker, received now, and return the version."""
        version = self.published.put(bookmaker, *matches, stale_after_s=stale_after_s)
        if self.archive is not None:
            self.archive.writer.step()
        return version

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the server and its clients run until `holds` is true."""
        with anyio.fail_after(5):
            while not holds():
                await anyio.lowlevel.checkpoint()

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        """GET `path`; `if_none_match="..."` sends If-None-Match."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.get(path, headers=sent)

    async def json(self, path: str) -> Any:
        """Return the decoded body of a GET that must succeed."""
        response = await self.get(path)
        assert 200 == response.status_code, response.text
        return response.json()

    async def raw(self, method: str, target: str, *lines: str) -> Answered:
        """Send a request byte for byte; `lines` are its header lines besides Host and Connection."""
        head = "\r\n".join((f"{method} {target} HTTP/1.1", "Host: board", "Connection: close", *lines))
        return parsed(await self.exchange(f"{head}\r\n\r\n".encode("latin-1")))

    async def exchange(self, sent: bytes) -> bytes:
        """Write `sent` on a new connection and return everything received until its end."""
        received = b""
        port = int(self.base.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            with anyio.fail_after(5):
                await stream.send(sent)
                with contextlib.suppress(anyio.EndOfStream):
                    while True:
                        received += await stream.receive()
        return received


def parsed(received: bytes) -> Answered:
    """Split one answer; everything after its head is the body."""
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        key = name.lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    return Answered(int(first.split(" ")[1]), headers, body)


@contextlib.asynccontextmanager
async def open_site(
    board: Readable | None = None,
    names: Mapping[BookmakerId, str] = NAMES,
    limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - a frozen value
    *,
    of_clients: Limits = Limits(),  # noqa: B008 - a frozen value
    caps: Caps = Caps(),  # noqa: B008 - a frozen value
    bind: tuple[str, int | None] = ("127.0.0.1", 0),
    archived: Path | None = None,
    clock: ManualClock | None = None,
    cluster: ClusterStatus | None = None,
    first_version: int = FIRST_VERSION,
    is_linked_first: bool = False,
    access: Access = Access(),  # noqa: B008 - a frozen value
    kinds: Sequence[Kind] = (),
    recent: Recent | None = None,
) -> AsyncIterator[Site]:
    """Serve an empty board of `names` within the block; `board` replaces the function that reads it.

    Other `kinds` of market are read besides 1X2. It is `archived` in a folder, if one is given, and begins
    as the archive says; its end is in order.
    """
    clock = clock or ManualClock()
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SOURCE) for name in names}))
    archive = None if archived is None else site_archive(archived, terms, names, clock, kinds)
    first, begun = first_snapshot(first_version, terms, EPOCH), dict[Kind, Snapshot]()
    if archive is not None:
        first, begun = archive.beginning.snapshot, dict(archive.beginning.markets)
    published = Committing(
        first,
        BoardRules(),
        clock,
        limits,
        advance=FixtureUpdater(terms),
        terms=terms,
        kinds=kinds,
        begun=begun,
    )
    if archive is not None:
        keep(published, archive)
    fixtures = FixtureHistory(first, limits)
    published.follow(fixtures.add, fixtures.digest)
    status = site_status(names, clock.now().wall)
    status.markets = published.markets.counts
    status.cluster, status.is_idle = cluster, (lambda: True) if is_linked_first else None
    if archive is not None:
        status.archive = archive.status
    metrics = status.metrics
    sock, stop = listen(*bind, caps, metrics.counts["oddsboard_http_turned_away_total"]), anyio.Event()
    base = address_of(sock)
    per_client = of_clients.max_streams_per_client
    histories = published.markets.histories
    audience = Audience(published.history, MAX_STREAMS, per_client, fixtures, metrics, markets=histories)
    app = create_app(
        board or published,
        status,
        names,
        clock,
        audience,
        keep_fresh=sock.keep_fresh,
        refusals=sock.refusals,
        watched=Watch(sock.find).around,
        limits=ClientLimits(of_clients),
        past=None if archive is None else archive.past(),
        access=access,
        markets=published.markets.published,
        recent=recent,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, app, sock, stop)
        try:
            headers = {"Accept-Encoding": "identity"}
            url = base if base.startswith("http") else "http://board"
            async with httpx2.AsyncClient(
                base_url=url, headers=headers, trust_env=False, verify=NO_TLS, timeout=DEADLINE_S
            ) as client:
                yield Site(base, client, clock, published, status, audience, sock.held, archive=archive)
        finally:
            await audience.leave()
            stop.set()
    if archive is not None:
        archive.close(is_orderly=True)


def site_archive(
    folder: Path,
    terms: FixtureSettings,
    names: Mapping[BookmakerId, str],
    clock: Clock,
    kinds: Sequence[Kind],
) -> Archive:
    """Open an archive that writes when the site says; the machine was started when the clock showed 0."""
    return open_archive(
        ArchiveSettings(str(folder)),
        ArchiveStatus(),
        clock,
        terms=terms,
        configured={name: Configured("same", title) for name, title in names.items()},
        names=lambda _: names,
        kinds=kinds,
        on_machine=lambda: Machine("boot", clock.now().mono),
    )


def site_status(names: Mapping[BookmakerId, str], now: float) -> ServiceStatus:
    """Open the records of a service with one source for all of these bookmakers."""
    board = BoardStatus(ActorStatus("aggregator"))
    actor = ActorStatus(f"source:{SOURCE}")
    source = SourceStatus(SOURCE, "scripted", is_simulated=False, actor=actor, metrics=board.metrics)
    bookmakers = {
        bookmaker: BookmakerStatus(bookmaker, name, source, ActorStatus(f"bookmaker:{bookmaker}"))
        for bookmaker, name in names.items()
    }
    links = LinksStatus(ActorStatus("linker"))
    actors = [board.actor, links.actor, *(record.actor for record in bookmakers.values()), source.actor]
    for actor in actors:
        actor.become(ActorState.RUNNING, now)
    by_name = {actor.name: actor for actor in actors}
    return ServiceStatus(now, board, {SOURCE: source}, bookmakers, by_name, links)
