"""The whole system with a simulated configuration: hours of service in virtual time."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from actors.board.snapshot import Entry
from actors.core.errors import CoreFailure
from actors.core.messages import BookmakerId
from actors.monitoring.metrics import Counts
from actors.monitoring.status import BookmakerState
from tests.support.systems.virtual_service import EXPIRE_S, THREE, pass_to, simulated
from tests.support.time.virtual import WALL_0, VirtualLoop, jump, settle

pytestmark = pytest.mark.anyio

ALDER, BIRCH, CEDAR = NAMES = tuple(map(BookmakerId, THREE))


async def test_each_start_has_its_own_epoch(tmp_path: Path) -> None:
    """An epoch is eight characters, safe in tags, queries and event ids, and equal for all commits.

    Versions begin with the milliseconds of the clock: above those of the previous process.
    """
    lives = []
    for _ in range(2):
        async with simulated(tmp_path) as service:
            first = await service.system.published.read()
            assert int(1000 * (WALL_0 + anyio.current_time())) == first.version
            await anyio.sleep(2)
            later = await service.system.published.read()
            lives.append({first.epoch, later.epoch, service.system.published.history.epoch})

            assert later.version > first.version

    (live,), (other,) = lives
    assert live != other
    assert all(re.fullmatch("[0-9a-f]{8}", epoch) for epoch in (live, other))


class History(NamedTuple):
    """The results of five minutes: alder's entries and crashes, other bookmakers' entries and batches."""

    own: list[Entry]
    crashes: int
    others: list[Entry]
    batches: list[int]


async def _lived(folder: Path, kills: int) -> History:
    async with simulated(folder) as service:
        await pass_to(100)
        service.kills[ALDER] = kills
        await pass_to(300)
        crashes = service.system.status.bookmakers[ALDER].actor.crashes
        others = (BIRCH, CEDAR)
        return History(service.entries(ALDER), crashes, service.entries(*others), service.batches(*others))


def _history(folder: Path, kills: int = 0) -> History:
    return anyio.run(_lived, folder, kills, backend_options={"loop_factory": VirtualLoop})


@pytest.mark.parametrize(("kills", "crashes"), [(1, 1), (3, 3), (40, 6)])
def test_killed_bookmaker_does_not_affect_the_others(tmp_path: Path, kills: int, crashes: int) -> None:
    """If a bookmaker is killed once, three times or into quarantine, the others publish the same lists."""
    undisturbed, disturbed = _history(tmp_path), _history(tmp_path, kills)

    assert (undisturbed.others, undisturbed.batches) == (disturbed.others, disturbed.batches)
    assert crashes == disturbed.crashes


def test_restart_does_not_affect_the_bookmaker(tmp_path: Path) -> None:
    """The image that the new instance requests restores the board as it would be without the restart."""
    assert _history(tmp_path).own == _history(tmp_path, kills=3).own


async def test_suspended_process_shows_nothing_stale(tmp_path: Path) -> None:
    """After a stop of 40 s the first read, before any timer, waits until stale entries are withdrawn."""
    async with simulated(tmp_path) as service:
        await pass_to(100.25)
        jump(40)
        await service.system.published.read()
        at_once = (service.entries(*NAMES), service.states())
        await pass_to(142)

        assert ([], [BookmakerState.STALE] * 3) == at_once
        assert [BookmakerState.LIVE] * 3 == service.states()


@pytest.mark.parametrize("shift_s", [3600.0, -3600.0])
async def test_only_expiry_follows_the_wall_clock(tmp_path: Path, shift_s: float) -> None:
    """A step of an hour changes neither staleness nor the length of a quarantine (faults.md, C12)."""
    async with simulated(tmp_path) as service:
        await pass_to(100)
        before = service.entries(*NAMES)
        service.system.supervisor.quarantine("source:simulated", "to see its lists go stale")
        await settle()
        service.clock.wall_shift_s = shift_s
        await service.system.published.read()
        oldest = service.clock.now().wall - EXPIRE_S
        kept = [entry for entry in before if (entry.match.start_time or inf) > oldest]
        assert (kept, shift_s > 0) == (service.entries(*NAMES), len(kept) < len(before))

        states, shown = [], []
        for second in (129.9, 130.0, 159.9, 161.1):
            await pass_to(second)
            states.append(set(service.states()))
            shown.append(bool(service.entries(*NAMES)))

        assert [{BookmakerState.QUARANTINED}] * 3 + [{BookmakerState.LIVE}] == states
        assert [True, False, False, True] == shown


async def test_process_survives_the_quarantine_of_all_bookmakers(tmp_path: Path) -> None:
    """With all bookmakers in quarantine the aggregator goes on, and they come back (faults.md, D4)."""
    async with simulated(tmp_path) as service:
        await pass_to(100)
        service.kills.update(dict.fromkeys(NAMES, 4))
        await pass_to(110)
        states, shown = service.states(), len(service.entries(*NAMES))
        await pass_to(140)

        assert ([BookmakerState.QUARANTINED] * 3, True) == (states, shown > 60)
        assert ([], [BookmakerState.QUARANTINED] * 3) == (service.entries(*NAMES), service.states())
        assert 1.0 >= 140 - (service.system.status.board.last_turn_mono or 0.0)
        await pass_to(170)
        assert [BookmakerState.LIVE] * 3 == service.states()


async def test_process_ends_with_its_core(tmp_path: Path) -> None:
    """The fourth crash of an aggregator, if no batch is the cause, ends the process within 5 s (D6).

    On a slow machine the batches of one second may take two turns, so that the process ends sooner.
    """

    class Unwritable(Counts):
        def add(self, *values: str, number: int = 1) -> None:
            del values, number
            raise RuntimeError("the record is broken")

    with pytest.RaisesGroup(CoreFailure, flatten_subgroups=True):
        async with simulated(tmp_path) as service:
            await pass_to(10)
            service.system.status.board.verdicts = Unwritable(
                service.system.status.metrics.counts["oddsboard_batches_total"]
            )
            await anyio.sleep(60)

    assert 10.0 < anyio.current_time() <= 15.0


async def test_list_that_cannot_be_shown_is_withdrawn_and_requested_again(tmp_path: Path) -> None:
    """The bookmaker's record has the reason; other lists stay, and the next list arrives by itself."""
    async with simulated(tmp_path) as service:
        await pass_to(1)
        published, record = service.system.published, service.system.status.bookmakers[ALDER]
        others = [service.entries(BIRCH), service.entries(CEDAR)]
        bad = service.entries(ALDER)[0]
        await published.reject(ALDER, bad, f"{bad.id} cannot be encoded")
        left = [service.entries(name) for name in NAMES]
        error = record.last_error()
        await published.reject(ALDER, bad, "it has gone by now")
        await pass_to(3)

        assert ([], others) == (left[0], left[1:])
        assert (f"rejected: {bad.id} cannot be encoded", 1) == (error, record.rejected["type"])
        assert (BookmakerState.LIVE, None) == (service.states()[0], record.last_error())
        assert len(service.entries(ALDER)) > 20
