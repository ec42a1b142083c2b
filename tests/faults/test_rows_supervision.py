"""Section D of docs/faults.md, one test a row: crashes, poison, quarantine, and the end of the process."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import msgspec
import pytest
from quart import Quart
from structlog.testing import capture_logs

from actors.core.errors import CoreFailure
from actors.core.messages import BookmakerId, Scope
from actors.monitoring.status import BoardStatus, ServiceStatus
from actors.runtime.actor import ActorState, ActorStatus
from tests.support.builders.hostile import poison
from tests.support.peers.web import hanging, serving
from tests.support.simulation.readers import VIEWS, Readers, expected, get
from tests.support.simulation.site import POLL_S as SIMULATED_POLL_S
from tests.support.simulation.world import Breakable, World
from tests.support.simulation.world import pass_to as live_to
from tests.support.simulation.world import running as living
from tests.support.systems.failing_tree import Tree, ignore
from tests.support.systems.feed import sheet
from tests.support.systems.process import Service
from tests.support.systems.saboteur import began_at, sabotaged
from tests.support.systems.scripted_service import KEY, ScriptedService, pass_to, running, until
from tests.support.systems.site import NAMES
from tests.support.time.virtual import settle
from tests.support.time.waiting import eventually
from web.server.lifecycle import Exit, Life
from web.server.listener import listen

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
ALDER, BIRCH, CEDAR = "alder", "birch", "cedar"
SCOPE = Scope("odds.csv")

Given = list[tuple[float, float]]
"""When a site answered (monotonic seconds), and with which home price."""


def _moving(service: ScriptedService, name: str) -> Given:
    """Serve another home price each time; return what is served."""
    given: Given = []
    numbers = count(1)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        price = round(1.7 + next(numbers) % 400 / 1000, 3)
        given.append((service.clock.now().mono, price))
        return await serving(sheet(KEY, (price, 3.5, 4.0)))(request)

    service.webs[name].answer = answer
    return given


def _service(poll_interval_s: float = 10.0, stale_after_s: float = 30.0) -> ScriptedService:
    names = (ALDER, BIRCH, CEDAR)
    service = ScriptedService(*names, poll_interval_s=poll_interval_s, stale_after_s=stale_after_s)
    for name in service.webs:
        _moving(service, name)
    return service


def _updates(service: ScriptedService, *names: str) -> list[tuple[str, float, float]]:
    """Return every update of these bookmakers that was published: when it was asked for, and its price."""
    return [
        (one.bookmaker, round(one.received_mono, 6), match.home_price)
        for one in service.published
        if one.bookmaker in names
        for match in one.matches
    ]


async def _others_of(disturb: Callable[[ScriptedService], None], seconds: float) -> tuple[int, int]:
    """Run twice, once with `disturb` in the middle; return updates of the others, and how many differ.

    The two runs are of one loop: all times are taken from their starts.
    """
    runs = []
    for disturbed in (False, True):
        service, began = _service(poll_interval_s=1.0), anyio.current_time()
        async with running(service):
            await pass_to(began + 20)
            if disturbed:
                disturb(service)
            await pass_to(began + 20 + seconds)
        runs.append(
            [(name, round(at - began, 3), price) for name, at, price in _updates(service, BIRCH, CEDAR)]
        )
    kept, seen = Counter(runs[0]), Counter(runs[1])
    return kept.total(), (kept - seen).total() + (seen - kept).total()


def _crashes(logs: list[Any], name: str) -> list[Any]:
    return [one for one in logs if one["event"] == "actor.crashed" and one["actor"] == name]


async def test_d1_an_exception_in_a_bookmakers_actor(figure: Figure) -> None:
    """It is restarted, with one log line that has the stack; the others miss nothing."""
    with capture_logs() as logs:
        updates, missed = await _others_of(lambda service: service.kills.update({ALDER: 3}), 25.0)
    crashes = _crashes(logs, "bookmaker:alder")

    stacks = sum(one["exc_info"].__traceback__ is not None for one in crashes)
    figure(
        f"{len(crashes)} crashes, {stacks} log lines with the stack; others missed {missed} of {updates}"
    )
    assert (3, 3, 0) == (len(crashes), stacks, missed)
    assert updates > 60


async def test_d2_a_payload_that_crashes_its_reader(figure: Figure) -> None:
    """Bytes that crash the decoder, or a bookmaker's actor, at every poll are set aside after two times."""
    polls, crashed, shown = 0, Counter[tuple[str, int]](), dict[str, bool]()
    for mood, actor in (("decode", "source:lists"), ("A", "bookmaker:alder")):
        world = World(2)
        async with living(world):
            began = anyio.current_time()
            await live_to(began + 2.5 * SIMULATED_POLL_S)
            world.site.moods = dict.fromkeys(world.site.moods, mood)
            before = world.site.requests
            await live_to(began + 22.5 * SIMULATED_POLL_S)
            polls += world.site.requests - before
            monitor = (await get(world.app, "/monitor")).body
            shown[actor] = b"set aside" in monitor
        crashed += world.reader.crashed

    most = max(crashed.values())
    figure(f"{polls} polls, at most {most} crashes of an actor by the same bytes; shown in /monitor")
    assert (2, {True}) == (most, set(shown.values()))
    assert polls > 20


async def test_d2b_a_batch_that_crashes_the_board(figure: Figure) -> None:
    """It is dropped, its list asked for again; a second one quarantines its bookmaker alone."""
    service, began = _service(poll_interval_s=10.0), anyio.current_time()
    async with running(service):
        await pass_to(began + 25)
        service.system.bus.publish(poison(ALDER, SCOPE, service.clock.now().mono))
        await settle()
        at_once = [len(service.entries(name)) for name in (ALDER, BIRCH, CEDAR)]
        again_s = await until(lambda: service.entries(ALDER)) - began - 25
        await pass_to(began + 60)
        service.system.bus.publish(poison(ALDER, SCOPE, service.clock.now().mono))
        await settle()
        states = {name: one.actor.state for name, one in service.system.status.bookmakers.items()}
        aggregator = service.system.status.board.actor.state

    def disturb(service: ScriptedService) -> None:
        for _ in range(2):
            service.system.bus.publish(poison(ALDER, SCOPE, service.clock.now().mono))

    updates, missed = await _others_of(disturb, 25.0)
    figure(
        f"back after {again_s:.1f} s, the second quarantined its bookmaker alone;"
        f" others missed {missed} of {updates} updates"
    )
    assert ([0, 1, 1], ActorState.RUNNING) == (at_once, aggregator)
    assert again_s <= 1.0
    assert [ActorState.QUARANTINED, ActorState.RUNNING, ActorState.RUNNING] == list(states.values())
    assert (0, True) == (missed, updates > 60)


async def test_d3_a_crash_loop(figure: Figure) -> None:
    """An actor that crashes at everything is quarantined, shown as a warning, and readmitted."""
    service = ScriptedService(ALDER, poll_interval_s=5.0)
    _moving(service, ALDER)
    with capture_logs() as logs:
        async with running(service):
            await pass_to(10)
            service.kills[ALDER] = 1_000_000
            await pass_to(610)
            actor = service.system.status.bookmakers[BookmakerId(ALDER)].actor
            restarts = actor.starts - 1
            health = msgspec.json.decode((await service.get("/health")).body)["checks"][ALDER]
            service.kills.clear()
            back_s = await until(lambda: service.entries(ALDER), 1.0) - 610
    edges = Counter(one["event"] for one in logs if one.get("actor") == "bookmaker:alder")

    times = edges["actor.quarantined"]
    figure(f"{restarts} restarts in 10 min, {times} quarantines, back {back_s:.0f} s after the fault ended")
    assert 3 < restarts <= 12
    assert ("quarantined", "fail") == (health["state"], health["status"])
    assert times == edges["actor.readmitted"] > 1


async def test_d4_every_bookmaker_is_quarantined(figure: Figure) -> None:
    """The service warns while lists hold, then says 503; it lives on, and all come back."""
    # A quarantine takes 60 s, and they begin within a few polls of each other: lists hold 30 s of it.
    service, seen = _service(poll_interval_s=5.0), list[tuple[int, int, str]]()
    async with running(service):
        await pass_to(25)
        service.kills.update(dict.fromkeys((ALDER, BIRCH, CEDAR), 4))
        for second in range(26, 200, 2):
            await pass_to(second)
            health, live = await service.get("/health"), await service.get("/health/live")
            states = {await service.state(name) for name in (ALDER, BIRCH, CEDAR)}
            what = "quarantined" if states == {"quarantined"} else "live" if states == {"live"} else ""
            seen.append((health.status, live.status, what))
    down = [status for status, _, what in seen if what == "quarantined"]

    lives = sum(status == 200 for _, status, _ in seen)
    figure(
        f"all quarantined for {2 * len(down)} s: /health 200 for {2 * down.count(200)} s, then 503;"
        f" /health/live 200 at {lives} of {len(seen)} looks, 0 exits"
    )
    assert [200] * down.count(200) + [503] * down.count(503) == down
    assert (True, True, len(seen)) == (down.count(200) > 1, down.count(503) > 10, lives)
    assert (200, 200, "live") == seen[-1]


@pytest.mark.parametrize("reads", [500, pytest.param(10_000, marks=pytest.mark.long)])
async def test_d5_the_aggregator_crashes_once(reads: int, figure: Figure) -> None:
    """No read fails, no version falls, and the next version is not late."""
    service, statuses = _service(poll_interval_s=0.1, stale_after_s=5.0), Counter[int]()
    record, versions = Breakable(service.clock), list[tuple[float, int]]()
    service.system.status.board.verdicts = record
    async with running(service):
        await pass_to(5)
        for number in range(reads):
            record.is_broken = record.is_broken or number == reads // 2
            answer = await service.get()
            statuses[answer.status] += 1
            versions.append((anyio.current_time(), msgspec.json.decode(answer.body)["version"]))
            await anyio.sleep(0.01)
        crashes = service.system.status.board.actor.crashes
    new = [at for (at, version), (_, old) in zip(versions[1:], versions, strict=False) if version != old]
    gap_s = max(after - before for before, after in pairwise(new))

    failed = reads - statuses[200]
    figure(f"{failed} of {reads:,} reads not 200, versions never fell, longest gap {gap_s * 1e3:.0f} ms")
    assert ({200: reads}, 1) == (statuses, crashes)
    assert sorted(version for _, version in versions) == [version for _, version in versions]
    assert gap_s <= 0.2


async def test_d6_the_aggregator_crashes_without_a_batch_to_blame(figure: Figure) -> None:
    """The fourth crash in a minute is a failure of the core, within five seconds."""

    class Unwritable(Counter[str]):
        def __setitem__(self, key: str, value: int) -> None:
            raise RuntimeError("the record is broken")

    service = _service(poll_interval_s=1.0)
    with pytest.RaisesGroup(CoreFailure, flatten_subgroups=True):
        async with running(service):
            await pass_to(15)
            service.system.status.board.verdicts = Unwritable()
            await anyio.sleep(60)

    took_s = anyio.current_time() - 15
    crashes = service.system.status.board.actor.crashes
    figure(f"a core failure at crash {crashes}, after {took_s:.1f} s")
    assert (4, True) == (crashes, took_s <= 5.0)


BROKEN_AGGREGATOR = """
def broken(*_):
    raise RuntimeError("broken")
sys.modules["actors.pipeline.aggregator"].record_turn = broken
"""


@pytest.mark.long
def test_d6_the_process_ends_with_70(tmp_path: Path, figure: Figure) -> None:
    """So does the real process."""
    with sabotaged(tmp_path, BROKEN_AGGREGATOR) as service:
        code = service.process.wait(30)
        took_s = time.time() - began_at(tmp_path)
        crashes = len(service.events("actor.crashed"))

    figure(f"a real process ended with {code} after {took_s:.1f} s and {crashes} crashes")
    assert (70, 4) == (code, crashes)
    assert took_s < 10


async def test_d7_an_actor_that_ignores_cancellation(figure: Figure) -> None:
    """It is abandoned and logged, and the others are stopped."""
    service, released = _service(), anyio.Event()

    async def deaf(request: httpx2.Request) -> httpx2.Response:
        with anyio.CancelScope(shield=True):
            await released.wait()
        return await hanging(request)

    with capture_logs() as logs:
        async with running(service):
            await pass_to(15)
            service.webs[ALDER].answer = deaf
            await service.webs[ALDER].reached()
            began = anyio.current_time()
            await service.system.supervisor.stop()
            took_s = anyio.current_time() - began
            states = Counter(actor.state for actor in service.system.status.actors.values())
            released.set()

    lines = [(one["actor"], one["waited_s"]) for one in logs if one["event"] == "actor.abandoned"]
    figure(f"stopped in {took_s:.1f} s: 1 of {states.total()} actors abandoned, {len(lines)} log line")
    assert [("source:alder", 2.0)] == lines
    assert {ActorState.ABANDONED: 1, ActorState.STOPPED: 7} == states
    assert took_s <= 2.5


@pytest.mark.long
def test_d8_an_actor_that_blocks_the_loop(tmp_path: Path, figure: Figure) -> None:
    """The log names the blocking line within a second, and afterwards how long it took."""
    with sabotaged(tmp_path, "time.sleep(3)") as service:
        lagged = eventually(lambda: _blocked_by_us(service), "it is noticed")
        eventually(lambda: _lasted_s(service) > 2.0, "it is over")
        code = service.stop()
    noticed_s = datetime.fromisoformat(lagged["timestamp"]).timestamp() - began_at(tmp_path)

    lasted_s = _lasted_s(service)
    figure(f"noticed after {noticed_s:.2f} s with the stack, counted as {lasted_s:.1f} s")
    assert ("source:saboteur", 0) == (lagged["task"], code)
    assert re.search(r"/saboteur\.py:[0-9]+ decode$", lagged["stack"], re.MULTILINE)
    assert noticed_s < 3.0 < lasted_s + 0.5


def _blocked_by_us(service: Service) -> Any:
    return next((one for one in service.events("loop.lagged") if "saboteur.py" in one["stack"]), None)


def _lasted_s(service: Service) -> float:
    return max((float(one["lagged_for_s"]) for one in service.events("loop.recovered")), default=0.0)


class Ending(Tree):
    """A tree that ends by itself."""

    async def run(self, *, task_status: Any) -> None:
        """Start and return."""
        task_status.started()
        await anyio.lowlevel.checkpoint()


@pytest.mark.real_time
async def test_d9_the_supervisor_or_the_server_ends(figure: Figure) -> None:
    """Whatever part ends without being asked to, the process ends with 70."""
    codes, longest_s = list[Exit](), 0.0
    for case in ("the core fails", "the supervisor ends", "the server fails"):
        tree = Ending() if case == "the supervisor ends" else Tree()
        sock = listen("127.0.0.1", 0)
        if case == "the core fails":
            tree.fails.set()
        if case == "the server fails":
            os.close(sock.fileno())
        status = ServiceStatus(0.0, BoardStatus(ActorStatus("aggregator")), {}, {}, {})
        app = Quart("oddsboard", static_folder=None)
        began = time.perf_counter()
        with capture_logs() as logs:
            codes.append(await Life(tree, app, sock, status, 0.0, lambda: None, ignore).run())
        longest_s = max(longest_s, time.perf_counter() - began)
        assert ["service.failed"] == [one["event"] for one in logs if one["log_level"] == "critical"]

    figure(f"{len(codes)} of 3 ways ended with 70, at most {longest_s:.2f} s after")
    assert [Exit.CORE] * 3 == codes
    assert longest_s < 5.0


@pytest.mark.parametrize(
    ("seeds", "seconds"), [((0,), 30.0), pytest.param((1, 2), 600.0, marks=pytest.mark.long)]
)
async def test_d12_random_kills(seeds: tuple[int, ...], seconds: float, figure: Figure) -> None:
    """Whatever is killed, readers see whole boards, rising versions and only prices that hold."""
    seen = Counter[str]()
    for seed in seeds:
        seen += await _killed_at_random(seed, seconds)

    reads = seen["reads"]
    what = ", ".join(f"{seen[name]} {name}" for name in ("kills", "poisons", "breaks", "hangs"))
    figure(f"{len(seeds)} times {seconds / 60:g} min: {what}; {reads:,} reads, 0 violations")
    assert min(seen[name] for name in ("kills", "poisons", "breaks", "hangs")) > 0


async def _killed_at_random(seed: int, seconds: float) -> Counter[str]:
    random, seen = Random(seed), Counter[str]()
    service = ScriptedService(*NAMES, random=Random(seed), poll_interval_s=1.0)
    given = {name: _moving(service, name) for name in service.webs}
    working = {name: web.answer for name, web in service.webs.items()}
    record, readers = Breakable(service.clock), Readers(service.app, Random(seed))
    service.system.status.board.verdicts = record
    async with running(service):
        began = anyio.current_time()
        await pass_to(began + 5)
        while (now := anyio.current_time()) < began + seconds:
            await pass_to(now + random.expovariate(1 / 1.5))
            for name, answer in working.items():
                if random.random() < 0.3:
                    service.webs[name].answer = answer
            seen[_harm(service, record, random)] += 1
            await _check(service, readers, given, seen)
        record.is_broken = False
        service.kills.clear()
        for name, answer in working.items():
            service.webs[name].answer = answer
        with anyio.fail_after(1800):  # the longest quarantine, twice
            while {"live"} != {await service.state(name) for name in given}:
                await pass_to(anyio.current_time() + 5)
        await _check(service, readers, given, seen)
    return seen


def _harm(service: ScriptedService, record: Breakable, random: Random) -> str:
    """Do one harm, and return its name."""
    name, now = random.choice([*service.webs]), service.clock.now().mono
    match random.choice(("kills", "kills", "bugs", "poisons", "breaks", "hangs")):
        case "kills":
            service.kills[name] += random.choice((1, 1, 2, 5))
            return "kills"
        case "bugs":
            service.webs[name].answer = _buggy
            return "bugs"
        case "poisons":
            kills, service.kills = service.kills, Counter()
            service.system.bus.publish(poison(name, SCOPE, now))
            service.kills = kills
            return "poisons"
        case "breaks" if now - record.crashed_mono > 21.0:  # the fourth in a minute ends the process
            record.is_broken = True
            return "breaks"
        case "hangs":
            service.webs[name].answer = hanging
            return "hangs"
    return "nothing"


async def _buggy(request: httpx2.Request) -> httpx2.Response:
    raise RuntimeError(f"the transport broke at {request.url.path}")


async def _check(
    service: ScriptedService, readers: Readers, given: dict[str, Given], seen: Counter[str]
) -> None:
    """Read every view. Raises: AssertionError for what must not be seen."""
    await settle()
    for view in VIEWS:
        status, document = await readers.read(view)
        seen["reads"] += 1
        if status == 200:
            assert expected(view, service.snapshot) == msgspec.json.encode(document["matches"])
    for name, served in given.items():
        now = service.clock.now().mono
        fresh = {price for at, price in served if at > now - 30.0}
        assert {entry.match.home_price for entry in service.entries(name)} <= fresh
    await readers.follow(None, service.snapshot.epoch)
