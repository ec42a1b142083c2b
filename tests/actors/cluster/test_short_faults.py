"""Real processes with one board under a short fault of each kind; `tests/e2e` has longer faults."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.support.systems.harm import BOTH, COLLECTOR, REPLICA, SLOW, Harm
from tests.support.systems.machines import History, Machines, asked, wait_back
from tests.support.systems.shared_server import ENGINES, shared_server
from tests.support.time.waiting import eventually

ROLES = {"a": COLLECTOR, "b": BOTH, "r": REPLICA}
LONGEST_S = 0.6


@pytest.mark.long
@pytest.mark.real_time
@pytest.mark.timeout(300)
@pytest.mark.skipif(not ENGINES, reason="there is no Redis or Valkey server")
def test_clients_are_answered_alike_whatever_fails_for_a_moment(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """One tag has one body, no machine is over 5 s behind another, and at the end all machines are back.

    A client that asks a different machine for changes each time has the served list, never an older one.
    """
    random, history = Random(request.config.getoption("randomly_seed", 1)), History()
    with shared_server(next(iter(ENGINES)), tmp_path) as server:
        machines = Machines(server, tmp_path, ROLES)
        try:
            machines.start_all()
            harm = Harm(machines, history, random, LONGEST_S)
            names = [name for name in harm.faults if name != SLOW]
            with asked(machines, history, random) as moving:
                for name in random.sample(names, len(names)):
                    harm.fire(name)
                wait_back(machines)
                eventually(lambda: history.has_all(moving), "a list that was kept is served as well")
        finally:
            machines.close()

    assert [] == history.violations
    assert [] == [name for name in names if not history.fired[name]]
    assert history.compared > 0
    assert history.followed > 0
    assert history.matched > 0
