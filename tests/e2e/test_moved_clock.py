"""The clocks of a real process that tests move: it reads the times that were set."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.systems.moved_clock import MovedClocks

READ = """
import time
for read in (time.time, lambda: time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic):
    print(read())
for read in (time.time_ns, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.monotonic_ns):
    print(read() / 1e9)
"""


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system has no CLOCK_BOOTTIME")
def test_each_clock_has_its_own_offset(tmp_path: Path) -> None:
    """The wall clock and the one that includes sleep can be moved, the monotonic one cannot."""
    clocks = MovedClocks(tmp_path / "clocks")
    clocks.set_wall(-1e6)
    clocks.set_boot(5e5)

    real = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
    moved = _read(clocks)
    clocks.hold_wall(1.5e9)
    held = _read(clocks)

    expected = [real[0] - 1e6, real[1] + 5e5, real[2]]
    assert pytest.approx([*expected, *expected], abs=60) == moved
    assert (1.5e9, 1.5e9) == (held[0], held[3])


def _read(clocks: MovedClocks) -> list[float]:
    command, environment = [sys.executable, "-P", "-c", READ], {**os.environ, **clocks.environment}
    return [float(one) for one in subprocess.check_output(command, env=environment, text=True).split()]
