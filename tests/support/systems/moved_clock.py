"""Clocks of a real process that a test moves while it runs, by a preload that stands in `PYTHONPATH`.

    clocks = MovedClocks(tmp_path / "clocks")
    with service(config, clocks.environment) as running:
        clocks.set_wall(3600)

The monotonic clock stays as it is, as that of a machine that sleeps: then wall and boot go on.
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


def _offset_s(clock):
    if clock not in _FILES:
        return 0.0
    with open(os.path.join(_FOLDER, _FILES[clock])) as file:
        return float(file.read())


time.time = lambda: _time() + _offset_s(time.CLOCK_REALTIME)
time.time_ns = lambda: _time_ns() + int(_offset_s(time.CLOCK_REALTIME) * 1e9)
time.clock_gettime = lambda clock: _gettime(clock) + _offset_s(clock)
time.clock_gettime_ns = lambda clock: _gettime_ns(clock) + int(_offset_s(clock) * 1e9)
'''


class MovedClocks:
    """The clocks of all processes that run in `environment`; right until they are set.

    `folder` is made, and has the files that the processes read whenever they ask what time it is.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        (folder / "sitecustomize.py").write_text(PRELOAD, "utf-8")
        self.set_wall(0.0)
        self.set_boot(0.0)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what to add to the environment of a process."""
        given = os.environ.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join([str(self._folder), *([given] if given else [])])}

    def set_wall(self, offset_s: float) -> None:
        """Have the wall clock show `offset_s` seconds more, less if negative, than the machine's."""
        self._set("wall", offset_s)

    def set_boot(self, offset_s: float) -> None:
        """Have `CLOCK_BOOTTIME`, which goes on while a machine sleeps, show `offset_s` seconds more."""
        self._set("boot", offset_s)

    def _set(self, name: str, offset_s: float) -> None:
        """Write in one step: a process never reads half of it."""
        written = self._folder / f"{name}.new"
        written.write_text(repr(offset_s), "utf-8")
        written.replace(self._folder / name)
