"""Rows of docs/faults.md, D, that no other test shows: crashes of the aggregator, and at random."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import count, pairwise
from pathlib import Path
from random import Random

import anyio
import anyio.lowlevel
import httpx2
import msgspec
import pytest

from actors.core.messages import Scope
from tests.support.builders.football_data import sheet
from tests.support.builders.hostile import poison
from tests.support.peers.web import hanging, serving
from tests.support.simulation.readers import VIEWS, Readers, expected
from tests.support.simulation.world import Breakable
from tests.support.systems.process import ROOT, simulated, started
from tests.support.systems.site import NAMES
from tests.support.systems.virtual_service import KEY, ScriptedService, pass_to, running
from tests.support.time.virtual import settle
from tests.support.time.waiting import eventually

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


BROKEN = """
import sys
from actors.pipeline import aggregator
from web.__main__ import main
def broken(*_):
    raise RuntimeError("broken")
aggregator.record_turn = broken
main(sys.argv[1:])
"""
"""The service with an aggregator that crashes at every turn."""


@pytest.mark.long
def test_d6_the_process_ends_with_70(tmp_path: Path, figure: Figure) -> None:
    """The fourth crash in a minute that no batch explains ends the real process, within five seconds."""
    serve = ("serve", "--config", str(simulated(tmp_path)), "--bind", "127.0.0.1:0")
    with started([sys.executable, "-c", BROKEN, *serve], ROOT) as service:
        code = service.process.wait(30)
        eventually(lambda: service.events("service.failed"), "the last line of the log")
        crashes = service.events("actor.crashed")
    times = [datetime.fromisoformat(line["timestamp"]) for line in crashes]
    took_s = (times[-1] - times[0]).total_seconds()

    figure(f"a real process ended with {code} at crash {len(crashes)}, {took_s:.1f} s after the first")
    assert (70, 4) == (code, len(crashes))
    assert took_s <= 5.0


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
