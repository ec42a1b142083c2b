"""Real processes with one board, under random faults: what clients were answered, checked afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.systems.harm import tried
from tests.support.systems.machines import OK

HARMED_S = {False: 60.0, True: 3600.0}
"""Seconds of faults, without and with --whole."""


@pytest.mark.timeout(4000)
def test_clients_of_any_machine_are_answered_alike(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One tag has one body, no view is more than 5 s behind what anybody saw, no version is used twice.

    A client that asks another machine for changes each time has the list that is served, and not an older.
    What an archive has of it is the same, whatever became of its process and of the server.
    """
    seed = request.config.getoption("randomly_seed", 1)
    history, archived = tried(tmp_path, seed, HARMED_S[request.config.getoption("--whole")])

    assert [] == history.violations
    assert history.compared > 0
    assert history.followed > 0
    assert history.matched > 0
    assert 0 < min(history.fired.values()), history.fired
    assert 0 < archived[OK]
