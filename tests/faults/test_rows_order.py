"""Section C of docs/faults.md, one test a row: order, repetition, staleness, clocks, too many updates."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import anyio
import pytest

from actors.board.board import Board, BoardRules
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId
from actors.core.validation import Bounds, admit
from tests.support.builders.betfair import SUCCESS, Json, change, delta, heartbeat, image, market, offers
from tests.support.builders.boards import START
from tests.support.builders.football_data import extracted
from tests.support.builders.hostile import Matches, with_matches
from tests.support.builders.messages import batch, match
from tests.support.builders.the_odds_api import API_KEY
from tests.support.peers.http import http_peer, respond
from tests.support.peers.web import conditional, hanging, serving
from tests.support.recordings import football_data
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.feed import Odds, configured, running_feed, sheet
from tests.support.systems.playback import BOOKMAKERS
from tests.support.systems.scripted_service import (
    KEY,
    SOME,
    STALE_AFTER_S,
    ScriptedService,
    events,
    offered,
    pass_to,
    running,
    until,
)
from tests.support.systems.stream_stage import EXCHANGE, StreamStage
from tests.support.systems.stream_stage import running as streaming
from tests.support.systems.supervision import supervised
from tests.support.time.virtual import VirtualLoop, settle
from tests.support.time.waiting import eventually, let_pass

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
MARKETS = [f"1.{number}" for number in range(20)]


def _jump(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.jump(seconds)


@pytest.mark.parametrize("updates", [500, pytest.param(5_000, marks=pytest.mark.long)])
async def test_c2_everything_twice(updates: int, figure: Figure) -> None:
    """A repeated message of a stream, and a repeated list, make no version; the end is the oracle's."""
    random, stage, changes = Random(2), StreamStage(), 0
    oracle = dict.fromkeys(MARKETS, (2.0, 3.5, 4.0))
    async with streaming(stage):
        for message in [image(*map(market, MARKETS), id=None)] * 2:
            stage.wire.say(message)
        await settle()
        first = stage.version
        for number in range(updates):
            name = random.choice(MARKETS)
            old = oracle[name][0]
            new = round(random.uniform(1.8, 2.2), 1)
            oracle[name] = (new, 3.5, 4.0)
            changes += old != new
            for _ in range(2):
                stage.wire.say(delta(change(name, offers(oracle[name])[0]), id=None))
            if number % 20 == 0:
                await anyio.sleep(0.1)
            await settle()
        shown = _prices(stage.context.published.newest, EXCHANGE)
        versions = stage.version - first
    lists, polled = await _lists_twice(20)

    figure(
        f"{2 * updates:,} messages, {changes:,} real changes, {versions:,} versions;"
        f" {2 * lists} lists, {lists} different, {polled} versions; both ends equal the oracle's"
    )
    assert (oracle, changes, lists) == (shown, versions, polled)


async def _lists_twice(count: int) -> tuple[int, int]:
    """Serve that many lists, each twice; return their number and that of the versions."""
    service, random = ScriptedService("alder"), Random(2)
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        first, home = service.snapshot.version, SOME[0]
        for _ in range(count):
            home = random.choice([one for one in (1.8, 1.9, 2.0, 2.1) if one != home])
            for _ in range(2):
                await service.polled("alder", sheet(KEY, (home, 3.4, 4.2)))
        (entry,) = service.entries("alder")
        assert home == entry.match.home_price
        return count, service.snapshot.version - first


def _prices(snapshot: Snapshot, bookmaker: BookmakerId) -> dict[str, Odds]:
    return {
        str(entry.source_match_id): (
            entry.match.home_price,
            entry.match.draw_price,
            entry.match.away_price,
        )
        for chunk in snapshot.books[bookmaker].chunks
        for entry in chunk.entries
    }


async def test_c5_a_list_that_loses_too_much(figure: Figure) -> None:
    """It is suspect until it is the third in a row; meanwhile it is asked for unconditionally."""
    service, seen = ScriptedService("alder"), list[tuple[int, str]]()
    web = service.webs["alder"]
    async with running(service):
        web.answer = conditional(sheet(KEY, *[SOME] * 100), '"all"')
        await pass_to(25)
        known = len(web.asked)
        web.answer = conditional(sheet(KEY, *[SOME] * 10), '"few"')
        for _ in range(5):
            await web.reached()
            await settle()
            seen.append((len(service.entries("alder")), await service.state("alder")))
    conditions = ["if-none-match" in one.headers for one in web.requests[known:][:5]]

    accepted = [count for count, _ in seen].index(10) + 1
    figure(f"accepted at number {accepted}, unconditional polls until then")
    assert [(100, "suspect")] * 2 + [(10, "live")] * 3 == seen
    assert [True, False, False, True, True] == conditions


@pytest.mark.recordings
def test_c5_no_recorded_download_is_doubted(figure: Figure) -> None:
    """In the order of the recordings no list is suspect, though finished matches leave them."""
    snapshot = Snapshot.empty(1, tuple(BOOKMAKERS))
    verdicts, files = Counter[Verdict](), football_data("fixtures")
    for path in files:
        at = datetime.strptime(f"{path.stem}+0000", "%Y-%m-%dT%H%M%SZ%z").timestamp()
        board, now = Board(snapshot, BoardRules()), Instant(at, at)
        run_now(board.expire(now))
        for bookmaker, key in BOOKMAKERS.items():
            with contextlib.suppress(PayloadError):
                matches = extracted(path.read_bytes(), key)
                one = batch(
                    matches.matches,
                    removals=matches.removals,
                    bookmaker=bookmaker,
                    list_id=path.stem,
                    received_mono=at,
                    stale_after_s=1e9,
                )
                admitted = run_now(admit(one, Bounds())).batch
                verdicts[run_now(board.apply(admitted, now)).verdict] += 1
        snapshot = run_now(board.finish(START))

    figure(
        f"{verdicts[Verdict.SUSPECT]} false alarms in {verdicts.total()} lists of {len(files)} downloads"
    )
    assert {Verdict.ACCEPTED} == verdicts.keys()


async def test_c11_heartbeats_after_staleness(figure: Figure) -> None:
    """Neither heartbeats of a stream nor confirmations on the bus bring a stale list back."""
    stage, shown, beats = StreamStage(), list[int](), 0
    async with streaming(stage, beats=False):
        stage.answer = lambda request: [{**SUCCESS, "id": request["id"]}]
        stage.wire.close()
        for _ in range(120):
            await anyio.sleep(1)
            if stage.wires:
                stage.wire.say(heartbeat(id=None))
                beats += 1
            shown.append(stage.shown())
        stage.answer = _granted
        stage.wire.close()
        await anyio.sleep(40)
        back = stage.shown()
    stale_from = shown.index(0)
    service = ScriptedService("alder")
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        (state,) = service.snapshot.books[BookmakerId("alder")].lists.items()
        service.webs["alder"].answer = hanging
        await until(lambda: not service.entries("alder"))
        for _ in range(60):
            scope, listed = state[0], state[1].list_id
            service.system.bus.publish(
                batch(complete=False, scope=scope, list_id=listed, received_mono=anyio.current_time())
            )
            await anyio.sleep(1)
            shown.append(len(service.entries("alder")))
        unfounded = service.system.status.board.verdicts[Verdict.UNFOUNDED]

    readmitted = sum(map(bool, shown[stale_from:]))
    figure(f"{readmitted} readmissions at {beats - stale_from} heartbeats and {unfounded} confirmations")
    assert (0, 60, 1) == (readmitted, unfounded, back)
    assert STALE_AFTER_S - 1 <= stale_from + 1 <= STALE_AFTER_S + 1


def _granted(request: Json) -> list[Json]:
    success = {**SUCCESS, "id": request["id"]}
    is_subscription = request["op"] == "marketSubscription"
    return [success, image(market(), id=request["id"])] if is_subscription else [success]


async def _lived(shifts: Mapping[int, float]) -> tuple[list[tuple[int, str, int]], list[float]]:
    """Live for ten minutes with an outage, and with these steps of the wall clock, by minute."""
    service, seen = ScriptedService("alder", "birch", random=Random(12)), list[tuple[int, str, int]]()
    began = anyio.current_time()
    async with running(service):
        version = service.snapshot.version
        for minute in range(10):
            service.clock.wall_shift_s = shifts.get(minute, service.clock.wall_shift_s)
            if minute == 4:
                service.webs["alder"].answer = serving(b"", 503)
            for second in range(0, 60, 2):
                await pass_to(began + 60 * minute + second)
                count = len(service.entries("alder"))
                seen.append((service.snapshot.version - version, await service.state("alder"), count))
        return seen, [round(at - began, 6) for web in service.webs.values() for at in web.asked]


async def test_c12_a_wall_clock_that_is_set(figure: Figure) -> None:
    """Steps of an hour change no poll, no retry, no staleness and no version; expiry follows them."""
    undisturbed = await _lived({})
    disturbed = await _lived({1: 3600.0, 2: -3600.0, 3: 0.0, 5: 3600.0, 6: -3600.0, 8: 3600.0})
    service = ScriptedService("alder", api_key=API_KEY, rules=BoardRules(1800.0))
    first_wall = service.clock.now().wall
    kick_off = datetime.fromtimestamp(first_wall - 600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    counts, versions = list[int](), list[int]()
    async with running(service):
        service.webs["alder"].answer = serving(events(offered("m1", kick_off=kick_off), offered("m2")))
        for shift_s in (0.0, 3600.0, 0.0, -3600.0):
            service.clock.wall_shift_s = shift_s
            await pass_to(anyio.current_time() + 25)
            counts.append(len(service.entries("alder")))
            versions.append(service.snapshot.version)

    looks = zip(undisturbed[0], disturbed[0], strict=True)
    differing = sum(one != other for one, other in looks)
    figure(
        f"6 steps of an hour: {differing} of {len(disturbed[0])} looks differ; 1 match expired and returned"
    )
    assert undisturbed == disturbed
    assert {"live", "retrying", "stale"} == {state for _, state, _ in disturbed[0] if state != "starting"}
    assert ([2, 1, 2, 2], sorted(versions)) == (counts, versions)


async def test_c13_a_process_stopped_for_30_s(figure: Figure) -> None:
    """The first answer after it, before any timer, has nothing that is past its deadline."""
    random, answers, withdrawn = Random(13), 0, 0
    names = ("alder", "birch", "cedar")
    service = ScriptedService(*names, stale_after_s=35.0)
    async with running(service):
        for _ in range(20):
            await pass_to(anyio.current_time() + random.uniform(21, 60))
            _jump(30.0)
            now = service.clock.now().mono
            fresh = [name for name in names if now < service.webs[name].asked[-1] + 35.0]
            shown = [name for name in names if await service.shown(name)]
            document = await service.get()
            assert fresh == shown
            assert (200 if fresh else 503) == document.status
            answers, withdrawn = answers + 4, withdrawn + 3 - len(fresh)

    figure(
        f"20 stops of 30 s: {withdrawn} lists withdrawn, 0 entries past their deadline in {answers} answers"
    )
    assert 0 < withdrawn < 60


@pytest.mark.long
def test_c13_a_stopped_process(tmp_path: Path, figure: Figure) -> None:
    """A real process that is stopped and continued answers what waited without a stale list."""
    stopped_s, waiting = 10.0, 20
    with http_peer() as peer:
        peer.answers["/only.csv"] = respond(sheet("B365", SOME))
        config = configured(
            tmp_path, peer, ["only"], stale_after_s=5.0, timeout_s=30.0, poll_interval_s=1.0
        )
        with running_feed(config) as feed, contextlib.ExitStack() as cleanup:
            eventually(lambda: feed.has("live", "only"), "it is live")
            address = ("127.0.0.1", int(feed.service.base.rpartition(":")[2]))
            connections = [
                cleanup.enter_context(socket.create_connection(address, 10)) for _ in range(waiting)
            ]
            eventually(lambda: len(peer.asked) > 2, "it is polled")
            feed.service.process.send_signal(signal.SIGSTOP)
            peer.answers["/only.csv"] = respond(b"", 503)
            for one in connections:
                one.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let_pass(stopped_s)
            feed.service.process.send_signal(signal.SIGCONT)
            answers = [b"".join(iter(lambda: one.recv(65536), b"")) for one in connections]  # noqa: B023

    statuses = Counter(int(answer.split(b" ", 2)[1]) for answer in answers)
    figure(f"a real process stopped for {stopped_s:g} s: 0 of {waiting} waiting requests got a stale list")
    assert {503: waiting} == statuses


async def test_c14_finished_matches_that_stay_listed(figure: Figure) -> None:
    """For thirty days a source lists two new matches every six hours and removes none."""
    service = ScriptedService(
        "alder", api_key=API_KEY, tick_s=3600.0, poll_interval_s=21_600.0, stale_after_s=1e5
    )
    rows, sizes, blocks = list[bytes](), list[int](), list[int]()
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        for step in range(30 * 4):
            start = datetime.fromtimestamp(service.clock.now().wall + 8 * 3600, UTC)  # polled in 6 hours
            rows += [_row(f"m{step}-{number}", start) for number in range(2)]
            await service.polled("alder", events(*rows))
            sizes.append(len(service.entries("alder")))
            service.webs["alder"].requests.clear()  # what the test itself keeps
            service.published.clear()
            if step in {40, 119}:
                gc.collect()
                blocks.append(sys.getallocatedblocks() - len(rows))
        await anyio.sleep(6.0 * 3600)
        left = len(service.entries("alder"))
    grown = (blocks[1] - blocks[0]) / blocks[0]

    figure(
        f"30 days, {len(rows)} matches listed, at most {max(sizes)} on the board, {left} at the end;"
        f" memory {grown:+.1%} in the last 20 days"
    )
    assert ({2}, 0) == (set(sizes), left)
    assert grown < 0.05


def _row(name: str, start: datetime) -> bytes:
    return json.dumps(offered(name, kick_off=start.strftime("%Y-%m-%dT%H:%M:%SZ"))).encode()


COST_S = 0.01
"""What applying a batch takes in virtual time: the aggregator takes a hundred batches a second."""
RATE = 1000


async def test_c17_ten_times_too_many_updates(figure: Figure) -> None:
    """What waits is merged; the newest value is shown within a second, and the last is never lost."""
    names, waits = [f"b{number}" for number in range(20)], list[float]()
    stage, random = AggregatorStage(*names), Random(17)
    sent: dict[str, list[tuple[float, float]]] = {name: [] for name in names}

    def shown() -> None:
        now = anyio.current_time()
        for name in names:
            for price in _prices(stage.published.newest, BookmakerId(name)).values():
                done = [at for at, sent_price in sent[name] if sent_price <= price[0]]
                waits.extend(now - at for at in done)
                del sent[name][: len(done)]

    stage.published.history.subscribe(lambda _: shown())
    async with supervised(stage.child):
        for number in range(10_000):
            name, price = random.choice(names), 1.8 + number / 20_000
            at = anyio.current_time()
            one = batch(
                [match(prices=(price, 3.5, 4.0))], bookmaker=name, list_id=str(number), received_mono=at
            )
            sent[name].append((at, price))
            stage.intake.put_nowait(with_matches(one, Matches(one.matches, _work)))
            if (number + 1) / RATE > at:
                await anyio.sleep((number + 1) / RATE - at)
        took_s = anyio.current_time()
        await anyio.sleep(2)

    p99 = sorted(waits)[int(0.99 * len(waits))]
    merged = stage.intake.conflated
    figure(
        f"10,000 updates at {10_000 / took_s:,.0f}/s where 100/s can be taken: visible p99 {p99:.2f} s,"
        f" {merged:,} merged, the last of all {len(names)} bookmakers shown"
    )
    assert (10_000, []) == (len(waits), [name for name in names if sent[name]])
    assert merged > 8_000
    assert p99 <= 1.0


def _work() -> None:
    _jump(COST_S)
