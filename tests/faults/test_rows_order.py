"""Rows of docs/faults.md, C, that no other test shows: lost matches, a stop, too many updates."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import anyio
import pytest

from actors.board.board import Board
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import BookmakerId
from actors.core.validation import Bounds, admit
from tests.support.builders.boards import START
from tests.support.builders.football_data import BOOKMAKERS, Odds, extracted, sheet
from tests.support.builders.hostile import Matches, with_matches
from tests.support.builders.messages import batch, match
from tests.support.builders.the_odds_api import API_KEY
from tests.support.peers.web import conditional, hanging
from tests.support.recordings import football_data
from tests.support.systems.aggregator_stage import AggregatorStage
from tests.support.systems.supervision import supervised
from tests.support.systems.virtual_service import (
    KEY,
    SOME,
    ScriptedService,
    events,
    offered,
    pass_to,
    running,
)
from tests.support.time.virtual import VirtualLoop, settle

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]


def _jump(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.jump(seconds)


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
    conditions = ["if-none-match" in request.headers for request in web.requests[known:][:5]]

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
                change = batch(
                    matches.matches,
                    removals=matches.removals,
                    bookmaker=bookmaker,
                    list_id=path.stem,
                    received_mono=at,
                    stale_after_s=1e9,
                )
                admitted = run_now(admit(change, Bounds())).batch
                verdicts[run_now(board.apply(admitted, now)).verdict] += 1
        snapshot = run_now(board.finish(START))

    figure(
        f"{verdicts[Verdict.SUSPECT]} false alarms in {verdicts.total()} lists of {len(files)} downloads"
    )
    assert {Verdict.ACCEPTED} == verdicts.keys()


async def test_c13_a_process_stopped_for_30_s(figure: Figure) -> None:
    """The first answer after it, before any timer, has nothing that is past its deadline."""
    random, answers, withdrawn = Random(13), 0, 0
    names = ("alder", "birch", "cedar")
    service = ScriptedService(*names, stale_after_s=35.0)
    async with running(service):
        for _ in range(20):
            await pass_to(anyio.current_time() + random.uniform(21, 60))
            vouched = {name: web.asked[-1] for name, web in service.webs.items()}
            served = {web: web.answer for web in service.webs.values()}
            for web in served:
                web.answer = hanging  # no new list comes before the first answers are read
            _jump(30.0)
            now = service.clock.now().mono
            fresh = [name for name in names if now < vouched[name] + 35.0]
            shown = [name for name in names if await service.shown(name)]
            document = await service.get()
            assert fresh == shown
            assert (200 if fresh else 503) == document.status
            answers, withdrawn = answers + 4, withdrawn + 3 - len(fresh)
            for web, answer in served.items():
                web.answer = answer

    figure(
        f"20 stops of 30 s: {withdrawn} lists withdrawn, 0 entries past their deadline in {answers} answers"
    )
    assert 0 < withdrawn < 60


async def test_c14_finished_matches_that_stay_listed(figure: Figure) -> None:
    """For five days a source lists two new matches every hour and removes none."""
    rules = BoardRules(expire_after_kickoff_s=1800.0)
    service = ScriptedService(
        "alder", api_key=API_KEY, rules=rules, tick_s=600.0, poll_interval_s=3600.0, stale_after_s=1e5
    )
    rows, sizes, blocks = list[bytes](), list[int](), list[int]()
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        for step in range(5 * 24):
            start = datetime.fromtimestamp(service.clock.now().wall + 4800, UTC)  # polled in an hour
            rows += [_row(f"m{step}-{number}", start) for number in range(2)]
            await service.polled("alder", events(*rows))
            sizes.append(len(service.entries("alder")))
            service.webs["alder"].requests.clear()  # what the test itself keeps
            service.published.clear()
            if step in {40, 119}:
                gc.collect()
                blocks.append(sys.getallocatedblocks() - len(rows))
        await anyio.sleep(3600.0)
        left = len(service.entries("alder"))
    grown = (blocks[1] - blocks[0]) / blocks[0]

    figure(
        f"5 days, {len(rows)} matches listed, at most {max(sizes)} on the board, {left} at the end;"
        f" memory {grown:+.1%} in the last 80 hours"
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
            change = batch(
                [match(prices=(price, 3.5, 4.0))], bookmaker=name, list_id=str(number), received_mono=at
            )
            sent[name].append((at, price))
            stage.intake.put_nowait(with_matches(change, Matches(change.matches, _work)))
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
