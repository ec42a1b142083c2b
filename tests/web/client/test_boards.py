"""Boards of the client under faults of the network and of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.peers.faulty import CUTS, PASSING
from tests.support.simulation.client_life import live

FEW, MANY = 12, 1000


@pytest.mark.timeout(1800)
def test_each_board_is_the_services_after_each_fault(tmp_path: Path, *, is_whole: bool) -> None:
    """Each board equals the list, without a gap or a repetition, and no old board is called current.

    With `--whole` there are 1,000 faults: cuts, a slow or silent network, strange answers, restarts.
    """
    lived = live(20, MANY if is_whole else FEW, tmp_path)

    assert "" == lived.error
    assert not is_whole or {*PASSING, *CUTS} < lived.faults.keys()
