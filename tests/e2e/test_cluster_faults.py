"""Real processes with one board, under random faults: what clients were answered, checked afterwards."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from tests.support.systems.machines import OK, History, Machines, asked, compare, harm, wait_back
from tests.support.systems.shared_server import shared_server

BOTH, REPLICA = '["collector", "replica"]', '["replica"]'
ROLES = {"a": '["collector"]', "b": BOTH, "r": REPLICA, "s": REPLICA, "t": REPLICA}
ARCHIVING = "t"
HARMED_S = {False: 30.0, True: 3600.0}
"""Seconds of faults, without and with --whole."""


@pytest.mark.timeout(4000)
def test_clients_of_any_machine_are_answered_alike(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One tag has one body, no view is more than 5 s behind what anybody saw, no version is used twice.

    What an archive has of it is the same, whatever became of its process and of the server.
    """
    seed = request.config.getoption("randomly_seed", 1)
    random, history = Random(seed), History()
    with shared_server("valkey", tmp_path) as server:
        machines = Machines(server, tmp_path, ROLES, ARCHIVING)
        try:
            for name in ROLES:
                machines.start(name)
            wait_back(machines)
            with asked(machines, history, random):
                until = time.monotonic() + HARMED_S[request.config.getoption("--whole")]
                while time.monotonic() < until:
                    harm(machines, history, random)
                    wait_back(machines)
            answered = compare(history, machines.running[ARCHIVING], random)
        finally:
            machines.close()

    assert [] == history.violations
    assert history.compared > 0
    assert 0 < min(history.fired.values()), history.fired
    assert 0 < answered[OK]
