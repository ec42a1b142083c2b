"""The whole service in virtual time, on simulated odds or on sites and an exchange that the test scripts.

service = ScriptedService("alder", "birch")
async with running(service):
service.webs["alder"].answer = hanging
await pass_to(60)

async with configured(folder, text, web=Web(serving(b"..."))) as service:
await until(service.serving)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup
from hypercorn.typing import ASGIFramework

from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules
from actors.core.messages import Batch, BookmakerId, Failure, SourceName
from actors.monitoring.status import BookmakerState, SourceStatus
from actors.pipeline.aggregator import TICK_S
from actors.service.recorder import Recorder
from actors.service.settings import BookmakerSettings, ServerSettings, Settings, SourceSettings, load
from actors.service.system import System
from actors.source_api.kinds import PolledKind
from actors.sources.football_data import kind as football_data
from actors.sources.the_odds_api import kind as the_odds_api
from actors.transports.polling import Transport
from tests.support.builders.football_data import Odds, sheet
from tests.support.builders.the_odds_api import event, market
from tests.support.peers.exchange import Exchange
from tests.support.peers.web import Web, serving
from tests.support.systems.front_end import UNLIMITED, Answer, front_end, get
from tests.support.systems.site import NAMES
from tests.support.time.virtual import WALL_0, VirtualClock, settle
from web.feeds.subscribers import Audience
from web.protocol.throttle import ClientLimits

OpenTransport = Callable[[], AbstractAsyncContextManager[Transport]]

POLL_S, TIMEOUT_S, STALE_AFTER_S = 10.0, 5.0, 30.0
KEY = "B365"
SPORT = "soccer_epl"
SOME: Odds = (1.9, 3.4, 4.2)
ODDS = "/api/v2/odds"
EXPIRE_S = 7000.0
THREE = ("alder", "birch", "cedar")
CONFIG = """
[board]
expire_after_kickoff_s = 7000.0

[sources.simulated]
kind = "simulated"
seed = 7
matches = 30
updates_per_s = 1.0

[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"

[bookmakers.birch]
name = "Birch"
source = "simulated"
key = "standard"

[bookmakers.cedar]
name = "Cedar"
source = "simulated"
key = "wide"
"""


class VirtualService:
    """The service in virtual time: all is real except the sockets.

    `webs` are the sites of polled sources, by source; streams connect to the `exchange`. `kills` are
    crashes of bookmakers to come; `published` has every batch, `versions` the versions. `tasks` run
    beside it.
    """

    tasks: TaskGroup

    def __init__(
        self,
        settings: Settings,
        *,
        webs: Mapping[str, Web] = {},
        exchange: Exchange | None = None,
        clock: VirtualClock | None = None,
        random: Random | None = None,
        transports: Mapping[SourceName, OpenTransport] = {},
        **more: Any,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.webs = webs
        self.exchange = exchange or Exchange()
        self.system = System(
            settings,
            self.clock,
            random or Random(1),
            transports={
                **{SourceName(name): self._transport(name, settings) for name in webs},
                **transports,
            },
            streams=dict.fromkeys(settings.sources, (self.exchange.connect, self.exchange.open_web)),
            **more,
        )
        self.kills: Counter[str] = Counter()
        self.published: list[Batch] = []
        self.versions: list[int] = []
        self.system.bus.subscribe(self._take)
        self.names = {name: bookmaker.name or name for name, bookmaker in settings.bookmakers.items()}
        self.audience = Audience(self.system.published.history, 100, 100, self.system.fixture_history)

    @cached_property
    def app(self) -> ASGIFramework:
        """The front end."""
        parts = (self.system.published, self.system.status, self.names, self.clock, self.audience)
        return front_end(*parts, limits=ClientLimits(UNLIMITED), review=self.system.review).asgi_app

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that a reader gets now."""
        return self.system.published.newest

    def source(self, name: str) -> SourceStatus:
        """Return the record of a source."""
        return self.system.status.sources[SourceName(name)]

    def entries(self, *names: str) -> list[Entry]:
        """Return the entries of these bookmakers that a reader sees."""
        books = map(self.snapshot.books.__getitem__, map(BookmakerId, names))
        return [entry for book in books for chunk in book.chunks for entry in chunk.entries]

    def states(self) -> list[BookmakerState]:
        """Return the state of every bookmaker."""
        return list(self.system.status.observe(self.snapshot, self.clock.now()).values())

    def serving(self) -> set[BookmakerId]:
        """Return the bookmakers that have a list on the board."""
        return {name for name, book in self.snapshot.books.items() if book.is_serving}

    async def polls(self, name: str, count: int) -> None:
        """Let time pass until a source has polled `count` more times, and the last poll is answered."""
        wanted = self.source(name).attempts.number + count
        await until(lambda: self.source(name).attempts.number >= wanted)

    async def confirmations(self, name: str, count: int) -> None:
        """Let time pass until a source has confirmed its lists `count` more times."""
        wanted = self.source(name).confirmations.number + count
        await until(lambda: self.source(name).confirmations.number >= wanted)

    def batches(self, *names: str) -> list[int]:
        """Return how many batches each of these bookmakers has published."""
        return [self.system.status.bookmakers[BookmakerId(name)].batches.number for name in names]

    def rejected(self, name: str) -> Counter[str]:
        """Return how many matches of a bookmaker were rejected so far, by reason."""
        return Counter(self.system.status.bookmakers[BookmakerId(name)].rejected)

    async def get(self, path: str = ODDS, query: str = "", **headers: str) -> Answer:
        """GET a path of the front end."""
        return await get(self.app, path, query, **headers)

    async def shown(self, name: str) -> list[Any]:
        """Return the matches of a bookmaker as a client gets them; none after 503."""
        answer = await self.get(ODDS, f"bookmaker={name}")
        assert answer.status in {200, 503}, answer
        matches: list[Any] = msgspec.json.decode(answer.body)["matches"] if answer.status == 200 else []
        return matches

    async def state(self, name: str) -> str:
        """Return the state of a bookmaker in /health."""
        checks = msgspec.json.decode((await self.get("/health")).body)["checks"]
        return str(checks[name]["state"])

    def _transport(self, name: str, settings: Settings) -> OpenTransport:
        return partial(self.webs[name].connect, settings.sources[SourceName(name)], self.clock)

    def _take(self, batch: Batch | Failure) -> None:
        if isinstance(batch, Failure):
            return
        self.versions.append(self.snapshot.version)
        if self.kills[batch.bookmaker]:
            self.kills[batch.bookmaker] -= 1
            raise RuntimeError("killed")
        self.published.append(batch)


@asynccontextmanager
async def running(service: VirtualService) -> AsyncIterator[None]:
    """Run the service within the block, and check that its version never decreases."""
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.system.supervisor.run)
        service.tasks = tasks
        yield
        await service.system.supervisor.stop()
        await service.audience.leave()
        tasks.cancel_scope.cancel()
    assert sorted(service.versions) == service.versions


@asynccontextmanager
async def configured(
    folder: Path,
    text: str,
    *,
    web: Web | None = None,
    exchange: Exchange | None = None,
    wall: float = WALL_0,
    out: Path | None = None,
    tick_s: float = TICK_S,
) -> AsyncIterator[VirtualService]:
    """Run the service of a configuration within the block; all polled sources ask `web`.

    The wall clock begins at `wall` (Unix seconds). The service records to `out`, if given. With a longer
    `tick_s` the aggregator has fewer idle turns, which are most of the work of long lives.
    """
    config = folder / "oddsboard.toml"
    config.write_text(text, "utf-8")
    settings, clock = load(config, {}), VirtualClock(wall)
    webs = dict.fromkeys(map(str, settings.sources), web or Web())  # sources of other kinds ask no web
    with ExitStack() as stack:
        record = None if out is None else stack.enter_context(Recorder.open(out, settings, clock)).of
        service = VirtualService(
            settings, webs=webs, exchange=exchange, clock=clock, record=record, tick_s=tick_s
        )
        async with running(service):
            yield service


def simulated(folder: Path) -> AbstractAsyncContextManager[VirtualService]:
    """Run three simulated bookmakers within the block."""
    return configured(folder, CONFIG)


class ScriptedService(VirtualService):
    """Sources with one bookmaker each, of the source's name; `webs` are the sites of the sources.

    At first each site serves one match at the prices `SOME`. With `api_key` they use The Odds API, else
    files of football_data.
    """

    def __init__(
        self,
        *names: str,
        api_key: str = "",
        rules: BoardRules = BoardRules(),  # noqa: B008 - a frozen value
        random: Random | None = None,
        tick_s: float = 1.0,
        **options: float,
    ) -> None:
        shown = {name: NAMES.get(name, name.title()) for name in map(BookmakerId, names)}
        first = listing(SOME) if api_key else sheet(KEY, SOME)
        webs = {name: Web(serving(first)) for name in names}
        settings = _settings(shown, api_key, rules, options)
        super().__init__(settings, webs=webs, random=random, tick_s=tick_s)

    async def polled(self, name: str, body: bytes) -> None:
        """Serve a body from now on, and let time pass until it has been polled once."""
        self.webs[name].answer = serving(body)
        await self.webs[name].reached()
        await settle()


def listing(*prices: Odds) -> bytes:
    """Return an answer of The Odds API with one match for each triple of prices."""
    return events(*(offered(f"m{number}", prices=price) for number, price in enumerate(prices, 1)))


def events(*given: Any) -> bytes:
    """Return an answer of The Odds API with these matches; bytes are written unchanged."""
    return b"[%b]" % b",".join(
        body if isinstance(body, bytes) else json.dumps(body).encode() for body in given
    )


def offered(
    match_id: str, home: str = "Home", away: str = "Away", prices: Iterable[Any] = SOME, **more: str
) -> Any:
    """Return a match of The Odds API that the bookmaker of a scripted service offers."""
    return event(match_id, home, away, {KEY: [market(home, away, prices)]}, **more)


async def pass_to(second: float) -> None:
    """Let time pass up to a given second, until nothing is under way."""
    await anyio.sleep(second - anyio.current_time())
    await settle()


async def until(what: Callable[[], object], step_s: float = 0.1) -> float:
    """Let time pass in equal steps until `what` holds, for 1000 s at most; return that moment."""
    with anyio.fail_after(1000.0):
        while not what():
            await pass_to(round(anyio.current_time() + step_s, 1))
    return anyio.current_time()


def _settings(
    names: Mapping[BookmakerId, str], api_key: str, rules: BoardRules, options: dict[str, float]
) -> Settings:
    kind: PolledKind = the_odds_api.KIND if api_key else football_data.KIND
    given: dict[str, Any] = {
        "kind": kind.name,
        "poll_interval_s": POLL_S,
        "timeout_s": TIMEOUT_S,
        "stale_after_s": STALE_AFTER_S,
        **({"api_key": api_key, "sports": [SPORT]} if api_key else {}),
        **options,
    }
    sources = {
        SourceName(name): SourceSettings(
            kind, msgspec.convert({**given, "url": f"http://{name}.example/odds.csv"}, kind.options)
        )
        for name in names
    }
    bookmakers = {
        BookmakerId(name): BookmakerSettings(SourceName(name), KEY, shown) for name, shown in names.items()
    }
    return Settings(ServerSettings(), rules, sources, bookmakers)
