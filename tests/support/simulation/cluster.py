"""Two collectors and three replicas in virtual time, under random faults, with a reader of all machines.

The server is a model (`shared.py`); all else is the real service. Each machine has clocks of its own.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import anyio
import msgspec

from actors.archive.archive import FollowedArchive
from actors.board.published import Published
from actors.board.validity import HOLDS_S
from actors.core import cooperative
from actors.core.cooperative import BUDGET_S
from actors.markets.market import Kind
from actors.matches.model import fixtures_of
from actors.pipeline import aggregator, stream_source
from actors.service import clustering
from actors.service.clustering import Cluster
from actors.service.settings import load
from actors.service.system import System
from tests.support.builders.clusters import CEDAR, two_sources
from tests.support.simulation.archived import Archived, killed, writing
from tests.support.simulation.followed import FollowedBoards
from tests.support.simulation.markets import CONFIG, Markets
from tests.support.simulation.shared import Data, ModelServer, ModelStore, Wire
from tests.support.simulation.truth import Boards
from tests.support.systems.front_end import UNLIMITED, front_end, get
from tests.support.time.virtual import WALL_0, VirtualClock
from web.feeds import own_bodies
from web.feeds.subscribers import Audience
from web.protocol.throttle import ClientLimits

PATHS = (
    ("/api/v2/odds", ""),
    ("/api/odds", ""),
    ("/api/v2/odds", "bookmaker=alder"),
    ("/api/v2/odds", "bookmaker=birch"),
    ("/api/v2/fixtures", ""),
    ("/api/v2/fixtures", "bookmaker=birch"),
    *[
        ("/api/v2/surebets", query)
        for query in ("", "bookmaker=cedar", "bookmaker=alder,birch", "doubted=1", "market=any")
    ],
    *[
        ("/api/v2/fixtures", f"market={markets}")
        for markets in (
            "over_under:2.5",
            "asian_handicap:-0.5",
            "btts&bookmaker=alder",
            "main",
            "1x2,over_under:3.5,asian_handicap:0",
        )
    ],
    ("/api/v2/surebets", "market=over_under:2.5"),
    ("/api/v2/markets", ""),
)
ONE = "/api/v2/fixtures/"
ARCHIVING = "t"
CHECKED = "r"
"""The machine whose boards simple code checks; all bodies are compared between machines."""
CHECKPOINT_RECORDS = 12
"""A low number, so that the log goes back only a few seconds."""
LIFE_S = 60.0
CALM_S = 20.0  # without faults, at the end: everything must be back
READ_S = 0.2
MARGIN_S = 0.1
"""Time for an answer that was begun while its price still held."""
UNAVAILABLE = 503
SLICED = 0.2
"""The share of the possible moments at which a computation lets others run."""


@dataclass
class Life:
    """The results of a life; `fired` counts faults, `checked` counts answers that were compared."""

    violations: list[str] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    checked: int = 0
    answers: int = 0
    archived: int = 0
    """Lists that the archive has as well; `filled` counts restarts after which it has the missed lists."""
    filled: int = 0
    gaps: Counter[str] = field(default_factory=Counter)
    surebets: int = 0
    """Surebets that were shown; `of_markets` are those of other markets. For boards: `FollowedBoards`."""
    of_markets: int = 0
    followed: int = 0
    sides: int = 0
    begun: int = 0
    others: int = 0

    def note(self, machine: str, followed: FollowedBoards) -> None:
        """Add what followers found on the boards of a machine."""
        if followed.broken is not None:
            self.violations.append(f"{machine}: {followed.broken}")
        self.followed += followed.checked
        self.sides += followed.sides
        self.begun += followed.begun
        self.others += followed.others


class _World:
    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.server = ModelServer()
        self.truth, self.markets = Boards(anyio.current_time), Markets(Random(seed))
        self.life = Life()
        self.machines: list[_Machine] = []
        self.bodies: dict[tuple[str, str, str], bytes] = {}
        self._versions: dict[tuple[str, int], int] = {}
        self._copy: Data | None = None

    def config(self, roles: str) -> Path:
        file = self.folder / f"{len(roles)}.toml"
        archive = f'[archive]\npath = "{self.folder}/archive"\n'
        file.write_text(archive + two_sources("redis://model", roles, 1, 1.0) + CEDAR + CONFIG, "utf-8")
        return file

    async def read(self) -> None:
        """Ask any machine for anything, and check the answer against all others."""
        machine = self.random.choice(self.machines)
        path, query = self.random.choice(PATHS)
        if machine.app is None or not machine.wire.is_moving.is_set():
            return
        if path == "/api/v2/markets" and (known := machine.a_fixture(self.random)) is not None:
            path = self.random.choice([path, f"{ONE}{known}"])
        coding = self.random.choice(["identity", "gzip"])
        answer = await get(machine.app, path, query, accept_encoding=coding)
        self.life.answers += 1
        if answer.status == UNAVAILABLE:
            self.life.fired["503"] += 1
            return
        if answer.status in {303, 404} and path.startswith(ONE):
            return  # the machine has gone meanwhile
        where = f"{anyio.current_time():.2f} {machine.name} {path}?{query}"
        raw = (f"{path}?{query}", coding, answer.headers["etag"])
        self.life.checked += raw in self.bodies
        if self.bodies.setdefault(raw, answer.body) != answer.body:
            self.life.violations.append(f"{where}: another body of {raw[2]}")
        version = int(answer.headers["etag"].strip('"').split("-")[0])
        epoch = answer.headers["etag"].strip('"').split("-")[1]
        self._check_version(where, path + query, epoch, version)
        if coding == "identity" and path == "/api/v2/odds":
            self._check_prices(where, msgspec.json.decode(answer.body)["matches"])
        elif coding == "identity" and path.startswith(ONE):
            self._check_fixtures(where, [msgspec.json.decode(answer.body)["fixture"]])
        elif coding == "identity" and path not in {"/api/odds", "/api/v2/markets"}:
            self._check_fixtures(where, msgspec.json.decode(answer.body)["fixtures"])

    def _check_version(self, where: str, view: str, epoch: str, version: int) -> None:
        """Check that no epoch uses a version that a former epoch used."""
        number = int(epoch.removeprefix("e"))
        self._versions[view, number] = max(version, self._versions.get((view, number), 0))
        older = [last for (name, of), last in self._versions.items() if name == view and of < number]
        if max(older, default=0) >= version:
            self.life.violations.append(f"{where}: version {version} was there in a former epoch")

    def _check_prices(self, where: str, matches: list[Any]) -> None:
        for match in matches:
            entry = (match["id"], tuple(match["odds"].values()), match["updated"])
            if (age_s := self.truth.age_s(entry)) > HOLDS_S + MARGIN_S:
                self.life.violations.append(f"{where}: {entry} left {age_s:.2f} s ago")

    def _check_fixtures(self, where: str, fixtures: list[Any]) -> None:
        """Check all fields that are shown of fixtures, in 1X2 and in other markets."""
        for fixture in fixtures:
            shown = dict(fixture.get("markets", {}))
            if "entries" in fixture:
                shown[fixture.get("market", "1x2")] = fixture
            for market, of in shown.items():
                suffix = "" if market == "1x2" else f" {market}"
                entries = [{**entry, "id": f"{entry['id']}{suffix}"} for entry in of["entries"]]
                self._check_prices(where, entries)
                self._check_legs(where, of.get("surebet"), suffix)

    def _check_legs(self, where: str, surebet: Any, suffix: str) -> None:
        self.life.surebets += surebet is not None
        self.life.of_markets += surebet is not None and bool(suffix)
        for leg in () if surebet is None else surebet["legs"]:
            found = f"{leg['id']}{suffix}", leg["odds"]
            if (over_s := self.markets.legs.over_for_s(found)) > HOLDS_S + MARGIN_S:
                self.life.violations.append(f"{where}: {leg} has not counted for {over_s:.2f} s")

    async def harm(self) -> None:
        """Let something fail for a while."""
        of_one = [self._cut, self._cut, self._slow, self._pause, self._kill]
        fault = self.random.choice([*of_one, self._stall, self._stop, self._lose, self._damage, self._fill])
        await fault()

    async def _cut(self) -> None:
        machine = self.random.choice(self.machines)
        wire, fired = machine.wire, machine.wire.fired
        wire.is_cut_there, wire.is_cut_back = self.random.choice(
            [(True, True), (True, False), (False, True)]
        )
        await anyio.sleep(self.random.uniform(0.5, 12.0))
        wire.mend()
        self.life.fired["cut"] += wire.fired > fired

    async def _slow(self) -> None:
        """Delay all that a machine sends and receives."""
        wire = self.random.choice(self.machines).wire
        fired, wire.slow_s = wire.fired, self.random.uniform(0.05, 0.45)
        await anyio.sleep(self.random.uniform(0.5, 12.0))
        wire.mend()
        self.life.fired["slow"] += wire.fired > fired

    async def _pause(self) -> None:
        """Stop a process for a while, mostly so long that it is deposed."""
        machine = self.random.choice(self.machines)
        wire, fired = machine.wire, machine.wire.fired
        wire.is_moving.clear()
        await anyio.sleep(self.random.uniform(0.5, 12.0))
        wire.mend()
        self.life.fired["paused"] += wire.fired > fired

    async def _stall(self) -> None:
        """Let the server answer late, as it does with a disk that is slow to sync."""
        wires = [machine.wire for machine in self.machines]
        fired, late_s = sum(wire.fired for wire in wires), self.random.uniform(0.02, 0.3)
        for wire in wires:
            wire.slow_s = late_s
        await anyio.sleep(self.random.uniform(0.5, 8.0))
        for wire in wires:
            wire.mend()
        self.life.fired["stalled"] += sum(wire.fired for wire in wires) > fired

    async def _kill(self) -> None:
        machine = self.random.choice(self.machines)
        await machine.restart(self.random.uniform(0.0, 8.0))
        self.life.fired["kill"] += 1

    async def _stop(self) -> None:
        """Restart the server after a while, with all its data or with an older copy."""
        data = self.server.data
        if self.random.random() < 0.5 and self._copy is not None:
            data = self._copy
        self.server.is_down = True
        await anyio.sleep(self.random.uniform(0.1, 8.0))
        self.server.is_down = False
        self.server.restart(data)
        self._copy = copy.deepcopy(self.server.data)
        self.life.fired["server"] += 1

    async def _lose(self) -> None:
        """Lose all data, or go back to a copy, while connections stay."""
        self.server.data = (
            copy.deepcopy(self._copy) if self._copy and self.random.random() < 0.5 else Data()
        )
        self._copy = copy.deepcopy(self.server.data)
        self.life.fired["data"] += 1

    async def _damage(self) -> None:
        """Lose a key or a record, or make one unreadable, as if the last damage was a minute ago."""
        data, self.server.paused_until = self.server.data, -inf
        what = self.random.choice(["beats", "leases", "acks", "log", "record", "unreadable"])
        if what == "unreadable" and data.log:
            data.log[-1] = msgspec.structs.replace(data.log[-1], data=b"\xc1")
        elif what == "record" and data.log:
            data.log.pop(self.random.randrange(len(data.log)))
            data.damage = "the server's key 'log' differs from what was stored"
        elif what not in {"record", "unreadable"}:
            getattr(data, what).clear()
            data.damage = f"the server's key {what!r} differs from what was stored"
        self.life.fired["damage"] += 1

    async def _fill(self) -> None:
        self.server.is_full = True
        await anyio.sleep(self.random.uniform(0.5, 8.0))
        self.server.is_full = False
        self.life.fired["memory"] += 1


class _Machine:
    """A process, which may be ended and started again."""

    def __init__(self, world: _World, name: str, roles: str, *, is_archived: bool = False) -> None:
        self.name = name
        self.archive: FollowedArchive | None = None
        self.begun: list[tuple[int, str]] = []
        """The newest version of the archive at each start of the process, and its epoch."""
        self._is_archived = is_archived
        self.wire = Wire(world.random, world.random.choice([0.001, 0.01, 0.1]))
        self.app: Any = None
        self._world, self._roles = world, roles
        self._clock = VirtualClock(WALL_0 + world.random.uniform(-3600.0, 3600.0))
        self._clock.asleep_s = world.random.uniform(0.0, 1e6)
        self._scope = anyio.CancelScope()
        self._pause_s = 0.0
        self._restarted = anyio.Event()

    def a_fixture(self, random: Random) -> str | None:
        """Return the id of a match that has any market here, None if there is none."""
        states = [fixtures_of(board.newest) for board in self._boards.values()]
        names = sorted({fixture.match_id for state in states for fixture in state})
        return random.choice(names) if names else None

    @property
    def _boards(self) -> dict[Kind, Published]:
        return {Kind.ONE_X_TWO: self._system.shown, **self._system.shown_markets.published}

    async def restart(self, pause_s: float) -> None:
        """End the process, and start it again after a while."""
        self._pause_s, self._restarted = pause_s, anyio.Event()
        self._scope.cancel()
        await self._restarted.wait()

    async def run(self) -> None:
        """Run for ever."""
        while True:
            async with self._started(), anyio.create_task_group() as tasks:
                self._scope = tasks.cancel_scope
                if self.archive is not None:
                    tasks.start_soon(writing, self.archive)
                await self._system.supervisor.run()
            await anyio.sleep(self._pause_s)
            self._restarted.set()

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[None]:
        world = self._world
        settings = world.markets.settings(load(world.config(self._roles)))
        store = partial(ModelStore, world.server, self.wire)
        parts = (settings, self._clock)
        cluster = partial(Cluster, *parts, open_store=store, checkpoint_records=CHECKPOINT_RECORDS)
        self._system = system = System(*parts, world.random, cluster=cluster, is_archived=self._is_archived)
        if isinstance(system.archive, FollowedArchive):
            self.archive = system.archive
            self.begun.append((system.archive.newest, system.archive.epoch))
        own = {Kind.ONE_X_TWO: system.published, **system.markets.published}
        boards = {(id(system), kind): board for kind, board in own.items()}
        for place, board in boards.items():
            board.follow(partial(world.truth.follow, place))
        followed = FollowedBoards(self._boards) if self.name == CHECKED else None
        histories, published = system.shown_markets.histories, system.shown_markets.published
        audience = Audience(system.shown.history, 100, 100, system.fixture_history, markets=histories)
        shown = (system.shown, system.status, system.status.names, self._clock, audience)
        app = front_end(*shown, limits=ClientLimits(UNLIMITED), markets=published).asgi_app
        self.app = app if "replica" in self._roles else None
        try:
            yield
        finally:
            self.app = None
            if followed is not None:
                world.life.note(self.name, followed)
            for place in boards:
                world.truth.follow(place, None)
            if self.archive is not None:
                killed(self.archive)


async def lived(folder: Path, seed: int) -> Life:
    """Live the life of a seed, and return what was found."""

    async def harmed(world: _World) -> None:
        with anyio.move_on_after(LIFE_S):
            while True:
                await anyio.sleep(world.random.uniform(1.0, 6.0))
                await world.harm()

    return await _lived(folder, seed, harmed)


async def lived_without(folder: Path, away_s: float, *, is_anew: bool = False) -> Life:
    """Live without the archiving machine for `seconds`; with `is_anew` the server loses its data then."""

    async def away(world: _World) -> None:
        world.markets.calm()
        await anyio.sleep(CALM_S)
        if is_anew:
            world.server.data = Data()
        (machine,) = [machine for machine in world.machines if machine.name == ARCHIVING]
        await machine.restart(away_s)

    return await _lived(folder, 1, away)


@contextmanager
def _seeded(random: Random) -> Iterator[None]:
    """Make all random choices depend on the seed: ids, and the places where computations let others run.

    Otherwise computations pause by processor time, and a life is another one on a busy machine.
    """
    passed_s = 0.0

    def elapsed_s() -> float:
        nonlocal passed_s
        passed_s += BUDGET_S if random.random() < SLICED else 0.0
        return passed_s

    with ExitStack() as patches:
        for module in (cooperative, aggregator, stream_source):
            patches.enter_context(patch.object(module, "elapsed_s", elapsed_s))
        patches.enter_context(patch.object(own_bodies, "worked_s", lambda: 0.0))
        patches.enter_context(
            patch.object(clustering, "token_hex", lambda count: random.randbytes(count).hex())
        )
        yield


async def _lived(folder: Path, seed: int, during: Callable[[_World], Awaitable[None]]) -> Life:
    with _seeded(Random(seed)):
        return await _lived_by(_World(folder, seed), during)


async def _lived_by(world: _World, during: Callable[[_World], Awaitable[None]]) -> Life:
    both, replica = '["collector", "replica"]', '["replica"]'
    roles = {"a": both, "b": both, "r": replica, "s": replica, "t": replica}
    world.machines = [
        _Machine(world, name, of, is_archived=name == ARCHIVING) for name, of in roles.items()
    ]
    async with anyio.create_task_group() as tasks:
        for machine in world.machines:
            tasks.start_soon(machine.run)
        tasks.start_soon(_reading, world)
        await during(world)
        world.server.is_full = world.server.is_down = False
        world.server.paused_until = -inf
        for machine in world.machines:
            machine.wire.mend()
        world.markets.calm()
        await anyio.sleep(CALM_S)
        await _check_back(world)
        tasks.cancel_scope.cancel()
    _check_archive(world)
    return world.life


async def _reading(world: _World) -> None:
    while True:
        await anyio.sleep(world.random.uniform(0.0, READ_S))
        await world.read()


async def _check_back(world: _World) -> None:
    for machine in world.machines:
        answer = await get(machine.app, "/health")
        checks = msgspec.json.decode(answer.body)["checks"]
        states = {name: check["state"] for name, check in checks.items()}
        if set(states.values()) != {"live"}:
            world.life.violations.append(f"{machine.name} is not back: {states}")


def _check_archive(world: _World) -> None:
    """Check that each version in the archive equals the list that was served, and count restarts."""
    (machine,) = [machine for machine in world.machines if machine.name == ARCHIVING]
    assert machine.archive is not None
    archived = Archived(machine.archive)
    archived.compare(world.bodies)
    world.life.violations += archived.wrong
    world.life.archived += archived.found
    world.life.gaps.update(gap.reason for gap in archived.gaps)
    missed = {gap.after for gap in archived.gaps}
    later = [newest for newest, _ in machine.begun[1:]] + [machine.archive.newest]
    world.life.filled = sum(
        newest > 0 and newest not in missed and after > newest
        for (newest, _), after in zip(machine.begun, later, strict=True)
    )
