"""Collectors that take over a polled source, in virtual time on a model server: no poll is early."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import anyio
import pytest

from actors.cluster.keeper import LINKS
from actors.cluster.wire.records import Record, decoded, encoded
from actors.core.messages import SourceName
from actors.service.clustering import Cluster
from actors.service.settings import load
from actors.service.system import System
from tests.support.builders.the_odds_api import config, event, market
from tests.support.peers.web import Web, serving
from tests.support.simulation.shared import Data, ModelServer, ModelStore, Wire
from tests.support.systems.virtual_service import pass_to
from tests.support.time.virtual import VirtualClock

pytestmark = pytest.mark.anyio

API = SourceName("api")
POLL_S, TAKEN_OVER_S = 60.0, 10.0
CLUSTER = '\n[cluster]\nurl = "redis://model"\nroles = ["collector"]\n'


class _Cluster:
    """Collectors, each of which may poll the one source; `web` is the source's site."""

    def __init__(self, folder: Path, credits_per_day: float) -> None:
        self.server, self.web = ModelServer(), Web(serving(b"[]"))
        file = folder / "cluster.toml"
        options = {"poll_interval_s": POLL_S, "credits_per_day": credits_per_day}
        text = config(("soccer_epl",), ("williamhill",), **options)
        file.write_text(text + '\nname = "W"' + CLUSTER, "utf-8")
        self._settings = load(file, {})

    @asynccontextmanager
    async def collector(self, wire: Wire | None = None) -> AsyncIterator[System]:
        """Run a collector within the block; at the end of the block it dies."""
        wire = wire or Wire(Random(1))
        clock, open_store = VirtualClock(), partial(ModelStore, self.server, wire)
        transport = partial(self.web.connect, self._settings.sources[API], clock)
        cluster = partial(Cluster, self._settings, clock, open_store=open_store)
        system = System(self._settings, clock, Random(1), transports={API: transport}, cluster=cluster)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(system.supervisor.run)
            yield system
            wire.is_cut_there = True  # its end is not reported to the server
            tasks.cancel_scope.cancel()

    def intervals(self) -> list[float]:
        """Return the seconds between requests."""
        asked = self.web.asked
        return [later - earlier for earlier, later in pairwise(asked)]

    def left_today(self, system: System) -> float | None:
        """Return the credits that a collector counts as left."""
        quota = system.status.sources[API].quota
        return None if quota is None else quota["credits_left_today"]


async def test_a_take_over_polls_nothing_early_and_counts_what_was_spent(tmp_path: Path) -> None:
    """Each of five collectors goes on where the previous one was, even if that one died in a request."""
    cluster = _Cluster(tmp_path, 100_000.0)
    for number in range(5):
        async with cluster.collector() as system:
            await cluster.web.reached()
            await cluster.web.reached()
            await anyio.sleep(0.1 * number)
            left = cluster.left_today(system)

    assert 10 == len(cluster.web.asked)
    assert min(cluster.intervals()) > POLL_S - TAKEN_OVER_S
    assert left is not None
    assert left <= 100_000.0 - len(cluster.web.asked)


async def test_a_source_that_is_taken_again_lists_nothing_before_its_next_poll(tmp_path: Path) -> None:
    """The earlier lists were withdrawn when the lease was lost: they may be old by now."""
    cluster = _Cluster(tmp_path, 100_000.0)
    prices = {"williamhill": [market("Home", "Away", (2.0, 3.5, 4.0))]}
    cluster.web.answer = serving(json.dumps([event("m1", "Home", "Away", prices)]).encode())
    async with cluster.collector():
        await pass_to(30.0)
        data = cluster.server.data
        before, holder = len(data.log), data.leases[API].collector
        cluster.server.depose(holder, data.beats[holder], encoded(Record(holder, leaves=True)))
        await pass_to(50.0)
        again = data.leases[API].collector
    records = [decoded(of.data) for of in data.log]
    listed = [any(book.entries for book in record.books.values()) for record in records]

    assert (True, False, holder) == (any(listed[:before]), any(listed[before:]), again)
    assert 1 == len(cluster.web.asked)


async def test_a_collector_that_goes_on_knows_what_it_spent_when_all_data_are_lost(tmp_path: Path) -> None:
    """A second, idle collector does not take the source meanwhile, and sends no request."""
    cluster = _Cluster(tmp_path, 100_000.0)
    async with cluster.collector(), cluster.collector():
        await pass_to(30.0)
        holder = cluster.server.data.leases[API].collector
        cluster.server.data = Data()
        await pass_to(150.0)

    assert holder == cluster.server.data.leases[API].collector
    assert 3 == len(cluster.web.asked)
    assert min(cluster.intervals()) > POLL_S - 1.0


async def test_a_take_over_without_any_state_spends_nothing_until_midnight(tmp_path: Path) -> None:
    """The reported polls are lost, and their sender is dead, so the credits of the day count as spent."""
    cluster = _Cluster(tmp_path, 100_000.0)
    wire = Wire(Random(1), is_cut_there=True)
    async with cluster.collector(wire) as system:
        async with cluster.collector():
            await pass_to(10.0)
            wire.is_cut_there = False
            await pass_to(30.0)
            before = len(cluster.web.asked)
        cluster.server.data = Data()
        await pass_to(300.0)
        left = cluster.left_today(system)

    assert (1, 0.0) == (before, left)
    assert 1 == len(cluster.web.asked)
    assert {API, LINKS} == cluster.server.data.tokens.keys()
