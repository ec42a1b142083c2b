"""Measures a cluster over a server on this machine: commit to replica and client, reads, entries a second.

Usage: .venv/bin/python -m scripts.benchmarks.cluster [--seconds S]. Starts a Valkey server of its own, and
prints a table. On a shared machine only the processor times are useful.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles

import anyio
import structlog

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, Snapshot
from actors.cluster.progress import Seen
from actors.cluster.redis_store import RedisStore
from actors.cluster.replay import applied, empty, kept
from actors.cluster.store import CollectorId, Commit, Position
from actors.cluster.wire.records import BookRecord, Record, WireList, decoded, encoded, wire_entry
from actors.core.clock import SystemClock
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, Scope, SourceMatchId, SourceName
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matches.update import FixtureUpdater
from actors.service.clustering import Cluster
from actors.service.settings import load
from actors.service.system import System
from scripts.benchmarks import cluster_processes
from tests.support.systems.shared_server import SharedServer, shared_server

Row = tuple[str, str]
BOOKMAKERS, MATCHES, BATCH = 10, 1000, 500
SETTLE_S = 3.0
SOURCE, SCOPE, ME = SourceName("source"), Scope("scope"), CollectorId("me")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    seconds: float = parser.parse_args().seconds
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder, shared_server("valkey", Path(folder)) as server:
        rows.append(anyio.run(_latency, server, Path(folder), seconds))
        rows += cluster_processes.rows(server, Path(folder), seconds)
        records, *measured = anyio.run(_throughput, server, seconds)
    rows += [*measured, *_replay(records)]
    print("| what | figure |", "|---|---|", *[f"| {what} | {figure} |" for what, figure in rows], sep="\n")
    print(f"load average {os.getloadavg()[0]:.1f}")


async def _latency(server: SharedServer, folder: Path, seconds: float) -> Row:
    """Time from a collector's own commit until a replica has published it, both in this process."""
    committed: dict[tuple[object, ...], float] = {}
    took: list[float] = []
    clock, is_shown = SystemClock(), anyio.Event()

    def on_commit(snapshot: Snapshot) -> None:
        for content in _changed(snapshot):
            committed[content] = time.perf_counter()

    def on_shown(snapshot: Snapshot) -> None:
        now = time.perf_counter()
        found = [committed.pop(content, None) for content in _changed(snapshot)]
        took.extend(now - at for at in found if at is not None)
        if took:
            is_shown.set()

    systems = []
    for config in cluster_processes.configured(server, folder, "latency"):
        settings = load(config)
        systems.append(System(settings, clock, Random(1), cluster=partial(Cluster, settings, clock)))
    systems[0].published.follow(on_commit)
    systems[1].shown.follow(on_shown)
    async with anyio.create_task_group() as tasks:
        for system in systems:
            tasks.start_soon(system.supervisor.run)
        await is_shown.wait()  # the first linking blocks the shared event loop
        await anyio.sleep(SETTLE_S)
        took.clear()
        await anyio.sleep(seconds)
        tasks.cancel_scope.cancel()
    cuts = quantiles(took, n=100)
    middle, late = median(took) * 1e3, cuts[98] * 1e3
    figure = f"median {middle:.1f} ms, p99 {late:.1f} ms, of {len(took):,}"
    return "from the commit of a collector to that of a replica", figure


def _changed(snapshot: Snapshot) -> Iterable[tuple[object, ...]]:
    for differences in snapshot.differences.values():
        for entry in differences.after.values():
            if entry is not None:
                yield entry.id, *entry.match.prices, entry.updated


async def _throughput(
    server: SharedServer, seconds: float
) -> tuple[list[tuple[Position, bytes]], Row, Row]:
    """Entries a second that one connection commits in batches, and the server's processor time for them."""
    store = RedisStore(server.url, "throughput", "shape", lambda: "e", Seen())
    await store.join(1_000)
    acquired = await store.acquire(ME, SOURCE)
    token = 0 if acquired is None else acquired.token
    batches = [_batch(number) for number in range(200)]
    done: list[tuple[Position, bytes]] = []
    began, worked = time.perf_counter(), server.worked_s()
    while time.perf_counter() - began < seconds:
        data = batches[len(done) % len(batches)]
        commit = Commit(ME, len(done) + 1, is_seen=True, data=data, leases={SOURCE: token})
        at = await store.commit(commit)
        if at is None:
            raise RuntimeError("a commit was refused")
        done.append((at, data))
    took, of_server = time.perf_counter() - began, server.worked_s() - worked
    entries = len(done) * BATCH
    await store.close()
    rate, work_us = entries / took, of_server / entries * 1e6
    size = len(batches[0]) / BATCH
    return (
        done[:400],
        (f"entries a second through one connection, in batches of {BATCH}", f"{rate:,.0f}"),
        (f"processor time of the server for an entry of {size:.0f} bytes", f"{work_us:.2f} us"),
    )


def _batch(number: int) -> bytes:
    name = BookmakerId(f"b{number % BOOKMAKERS}")
    random = Random(number)
    entries = tuple([wire_entry(_entry(name, at, random)) for at in random.sample(range(MATCHES), BATCH)])
    book = BookRecord(entries, (), {SCOPE: WireList(withdrawn=False, doubted=0)})
    return encoded(Record(ME, {name: book}))


def _entry(name: BookmakerId, at: int, random: Random) -> Entry:
    price = round(random.uniform(1.1, 9.0), 2)
    about = (SourceMatchId(f"m{at:05}"), f"Home {at}", f"Away {at}", "League")
    match = Match(*about, price, 3.4, 4.2, 1_780_086_400)
    return Entry(f"{name}_m{at:05}", SCOPE, match, 1.78e9 + price, 1.78e9)


def _replay(records: list[tuple[Position, bytes]]) -> tuple[Row, Row]:
    """Processor time in which a replica applies these records, and makes a checkpoint."""
    names = [BookmakerId(f"b{number}") for number in range(BOOKMAKERS)]
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(f"s{name}")) for name in names}))
    state, updater = empty(records[0][0].version - 1, terms, "e"), FixtureUpdater(terms)
    took: list[float] = []
    for at, data in records:
        began = time.process_time()
        state = run_now(applied(state, at, decoded(data), updater))
        took.append(time.process_time() - began)
    began = time.process_time()
    size = len(run_now(kept(state)))
    count = sum(1 for book in state.snapshot.books.values() for _ in entries_of(book.chunks))
    took_ms, work_us = (time.process_time() - began) * 1e3, median(took[len(took) // 2 :]) / BATCH * 1e6
    return (
        ("processor time of a replica for an entry, its fixture included", f"{work_us:.1f} us"),
        (f"a checkpoint of {count:,} entries", f"{took_ms:.0f} ms, {size / 1e6:.1f} MB"),
    )


if __name__ == "__main__":
    main()
