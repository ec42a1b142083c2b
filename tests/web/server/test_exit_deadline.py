"""The process ends in time whatever hangs, with its exit code."""

from __future__ import annotations

import pytest

from tests.support.systems.process import ran
from web.server.lifecycle import Exit

PROGRAM = """
import re, threading, time
import anyio
from web.server import lifecycle

async def hang():
    lifecycle.HARD_STOP_S = 0.05
    lifecycle.start_exit_deadline(lifecycle.Exit({code}))
    {hangs}

anyio.run(hang)
"""
HANGS = [
    "await anyio.sleep_forever()",
    "time.sleep(1000)",
    "threading.Lock().acquire() and threading.Thread(target=time.sleep, args=(1000,)).start()",
    "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "while True: pass",
    "re.match('(a+)+b', 'a' * 100)",
]


@pytest.mark.long
@pytest.mark.parametrize("hangs", HANGS)
@pytest.mark.parametrize("code", [Exit.STOPPED, Exit.CORE])
def test_the_process_ends_though_something_hangs(hangs: str, code: Exit) -> None:
    """The loop waits for ever, does not come back, or a thread keeps the process."""
    program = PROGRAM.format(code=int(code), hangs=hangs)
    assert (code, "", "") == ran("-c", program)
