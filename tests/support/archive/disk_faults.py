"""Has calls on files of a folder fail, hang or end the process: `disk_faults.c` is loaded before it.

The library is built where there is a compiler of C; tests that need it are skipped elsewhere.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
READ, WRITE, SYNC, NAME, OPEN = 1, 2, 4, 8, 16
"""Kinds of calls that may fail."""
FOR_EVER = 2**30


class Control(ctypes.Structure):
    """The control of the library; its fields are those of the C source."""

    _fields_ = tuple(
        (name, ctypes.c_int32)
        for name in (
            "changes",
            "kill_at",
            "torn",
            "kinds",
            "error",
            "from_",
            "times",
            "calls",
            "fired",
            "hang",
        )
    )

    changes: int
    kill_at: int
    torn: int
    kinds: int
    error: int
    from_: int
    times: int
    calls: int
    fired: int
    hang: int

    def fail(self, kinds: int, error: int, first: int = 1, times: int = FOR_EVER) -> None:
        """Have `times` calls of these kinds fail, from the call number `first` on."""
        self.calls, self.error, self.from_, self.times = 0, error, first, times
        self.kinds = kinds

    def clear(self) -> None:
        """Have no call fail any more, and begin to count."""
        ctypes.memset(ctypes.addressof(self), 0, ctypes.sizeof(self))


@cache
def library() -> Path | None:
    """Return the library, built once in this process; None without a compiler, or if it cannot be built."""
    if (compiler := shutil.which("cc")) is None:
        return None
    built = Path(_folder().name) / "disk_faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(built), str(SOURCE), "-ldl"]
    done = subprocess.run(command, check=False, capture_output=True)
    return None if done.returncode else built


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="disk-faults-")


def controlled(path: Path) -> Control:
    """Return the control in a file, which is made if the file is missing."""
    if not path.exists():
        path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("r+b") as file:
        return Control.from_buffer(mmap.mmap(file.fileno(), mmap.PAGESIZE))


def environment(control: Path, folder: Path) -> Mapping[str, str]:
    """Return the environment of a process whose calls on files of a folder are controlled."""
    built = library()
    assert built is not None
    return {
        **os.environ,
        "LD_PRELOAD": str(built),
        "DISK_FAULTS": str(control),
        "DISK_FAULTS_FOLDER": str(folder),
    }


def own_control() -> Control | None:
    """Return the control of this process; None without the library."""
    path = os.environ.get("DISK_FAULTS")
    return None if path is None else controlled(Path(path))
