"""The process ends in time with its exit code, even if a part of it hangs."""

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
    """The event loop may wait for ever or be blocked, or a thread may keep the process alive."""
    program = PROGRAM.format(code=int(code), hangs=hangs)
    assert (code, "", "") == ran("-c", program)


TIMED = """
import sys, time
from web.__main__ import process
from web.cli import main
from web.server import lifecycle

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1.0)  # when handlers of signals are gone

slow = Slow()
lifecycle.HARD_STOP_S = 0.3
main.load = lambda _: lifecycle.start_exit_deadline(lifecycle.Exit.STOPPED)
main.configuration_lines = lambda _path, _settings: ["done"]
sys.argv[1:] = ["check-config"]
process()
"""


@pytest.mark.long
def test_the_timer_of_the_exit_does_not_outlive_its_handler() -> None:
    """The timer must not kill an interpreter that ends slowly: code 142 is a failed unit of systemd."""
    assert (0, "done\n", "") == ran("-c", TIMED)
