"""Waiting in real time, for tests of a real process: until a condition holds, or for a given time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 60.0
"""A long time, for a busy machine: whatever has not come by then will not come."""
_STEP_S = 0.02


def eventually(look: Callable[[], T | None], what: str, within_s: float = DEADLINE_S) -> T:
    """Call `look` repeatedly until its result is true, and return that result.

    Raises: AssertionError naming `what` was waited for when the deadline has passed.
    """
    deadline = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"waited {within_s:g} s in vain: {what}"
        threading.Event().wait(_STEP_S)
    return found


def let_pass(seconds: float) -> None:
    """Let real time pass where no condition can be observed, such as while a process is stopped."""
    until = time.monotonic() + seconds
    eventually(lambda: time.monotonic() >= until, "the clock", seconds + DEADLINE_S)
