"""The most memory that this process took within a block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Grown:
    """How much the resident memory grew at most, in MiB; known at the end of the block."""

    mib: float = 0.0


@contextmanager
def most_memory() -> Iterator[Grown]:
    """Measure the block; skips the test on a system that does not tell (Linux, proc(5))."""
    grown = Grown()
    try:
        _RESET.write_text("5", "ascii")  # the peak begins anew
    except OSError:
        pytest.skip("this system does not tell the most memory of a process")
    before = _kib("VmRSS")
    yield grown
    grown.mib = max(_kib("VmHWM") - before, 0) / 1024


def _kib(name: str) -> int:
    found = re.search(rf"^{name}:\s+([0-9]+) kB$", _STATUS.read_text("ascii"), re.MULTILINE)
    assert found is not None
    return int(found[1])
