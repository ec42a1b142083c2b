"""Clocks of a real process that a test sets while it runs, through a module loaded from `PYTHONPATH`.

    clocks = MovedClocks(tmp_path / "clocks")
    with service(config, clocks.environment) as running:
        clocks.set_wall(3600)

The monotonic clock is not changed, as on a machine that sleeps: there, wall and boot go on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

PRELOAD = '''
"""Moves the clocks of this process by the seconds that stand in the files beside this one."""

import os
import time

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_FILES = {time.CLOCK_REALTIME: "wall", getattr(time, "CLOCK_BOOTTIME", None): "boot"}
_time, _time_ns, _gettime, _gettime_ns = time.time, time.time_ns, time.clock_gettime, time.clock_gettime_ns


def _moved(clock, real, unit):
    if clock not in _FILES:
        return real
    with open(os.path.join(_FOLDER, _FILES[clock])) as file:
        how, seconds = file.read().split()
    given = type(real)(float(seconds) * unit)
    return given if how == "at" else real + given


time.time = lambda: _moved(time.CLOCK_REALTIME, _time(), 1)
time.time_ns = lambda: _moved(time.CLOCK_REALTIME, _time_ns(), 10**9)
time.clock_gettime = lambda clock: _moved(clock, _gettime(clock), 1)
time.clock_gettime_ns = lambda clock: _moved(clock, _gettime_ns(clock), 10**9)
'''


class MovedClocks:
    """The clocks of all processes that run in `environment`; they are correct until set.

    `folder` is created; the processes read the files in it at each reading of a clock.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        (folder / "sitecustomize.py").write_text(PRELOAD, "utf-8")
        self.set_wall(0.0)
        self.set_boot(0.0)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables to add to the environment of a process."""
        given = os.environ.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join([str(self._folder), *([given] if given else [])])}

    def set_wall(self, offset_s: float) -> None:
        """Make the wall clock show `offset_s` seconds more (less if negative) than the machine's."""
        self._set("wall", f"by {offset_s!r}")

    def hold_wall(self, at: float) -> None:
        """Stop the wall clock at Unix second `at`."""
        self._set("wall", f"at {at!r}")

    def set_boot(self, offset_s: float) -> None:
        """Make `CLOCK_BOOTTIME`, which goes on while a machine sleeps, show `offset_s` seconds more."""
        self._set("boot", f"by {offset_s!r}")

    def _set(self, name: str, how: str) -> None:
        """Write atomically, so that a process never reads a partial file."""
        written = self._folder / f"{name}.new"
        written.write_text(how, "utf-8")
        written.replace(self._folder / name)
