"""Texts for a person at a terminal, the parsing of durations and speeds, and Ctrl+C."""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from errno import EDQUOT, EFBIG, ENOSPC
from math import inf
from pathlib import Path
from typing import Any

import anyio

OF_FULL_DISK = {ENOSPC, EDQUOT, EFBIG}
"""Errors of a write to a full disk; they do not mean that the configuration is wrong."""
EXAMPLE_CALLS = """\
examples:
  oddsboard serve                                  simulated odds on http://127.0.0.1:8000
  oddsboard init football_data --out mine.toml     a configuration to begin with
  oddsboard check-config --config mine.toml        whether it is right, and what it would run
  oddsboard serve --config mine.toml --bind 0.0.0.0:8000     also for other machines
  oddsboard sources football_data                  the options of a kind of source
  oddsboard probe azuro                            whether a venue answers as this version expects
"""


def directions(url: str = "", folder: str = "", **_: str) -> tuple[str, str]:
    """Return two lines for a person at a terminal: where to see the output, and how to end the command."""
    end = "To end it, press Ctrl+C."
    if not url:
        return f"It records to the folder {folder}.", end
    if url.startswith("unix:"):
        return f"It serves the Unix socket {url.removeprefix('unix:')}; a proxy shows it to browsers.", end
    anywhere = re.fullmatch(r"http://(?:0\.0\.0\.0|\[::\]):([0-9]+)", url)
    if anywhere is None:
        return f"To see the board, open {url} in a browser.", end
    here, port = f"http://127.0.0.1:{anywhere[1]}", anywhere[1]
    return f"To see the board, open {here} here, or http://ADDRESS:{port} on other machines.", end


def called() -> str:
    """Return `oddsboard`, or the path by which it was called if the shell would not find that name."""
    called = Path(sys.argv[0])
    is_found = called.name != "oddsboard" or shutil.which("oddsboard") is not None
    return "oddsboard" if is_found else str(called)


def run_until_interrupted(run: Callable[[], Awaitable[None]], **backend_options: Any) -> None:
    """Run a command on its own event loop until its end or Ctrl+C; a second Ctrl+C ends it immediately.

    At Ctrl+C asyncio itself cancels only once. A wait whose deadline passes at that moment may take this
    cancellation for its own timeout (anyio 4.10 does). A cancel scope stays cancelled. Raises:
    KeyboardInterrupt after Ctrl+C.
    """
    if anyio.run(_interrupted, run, backend_options=backend_options):
        raise KeyboardInterrupt


async def _interrupted(run: Callable[[], Awaitable[None]]) -> bool:
    """Return whether Ctrl+C ended the command."""
    loop, is_ignored = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    with anyio.CancelScope() as scope:

        def interrupt() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            scope.cancel()

        if not is_ignored:  # a script's background jobs ignore it
            loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            await run()
        finally:
            if not is_ignored:
                loop.remove_signal_handler(signal.SIGINT)
    return scope.cancel_called


def seconds(text: str) -> float:
    """Return the seconds of a duration like 15m. Raises: ArgumentTypeError."""
    found = re.fullmatch("([1-9][0-9]{0,8})([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"was {text!r}, must be like 90s, 15m, 2h or 1d")
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]]


def speed_of(text: str) -> float:
    """Return a speed, infinite for `max`. Raises: ArgumentTypeError."""
    if text == "max":
        return inf
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"was {text!r}, must be a number above 0, or max")
    return float(text)
