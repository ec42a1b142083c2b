"""Entry point of the command line, for `oddsboard` and `python -m web`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

__all__ = ["main", "process"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; Ctrl+C ends it at any time with code 130 and one line."""
    try:
        from web.cli.main import main as run  # noqa: PLC0415 - takes most of a second

        run(arguments)
    except KeyboardInterrupt:  # no handler of signals is installed at this moment
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("oddsboard: ended by Ctrl+C", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def process() -> None:
    """Run the command, then end the process: immediately if an exit deadline was set."""
    try:
        main()
    except SystemExit as ended:
        if not callable(signal.getsignal(signal.SIGALRM)):
            raise
        from web.server.lifecycle import leave  # noqa: PLC0415 - loaded only for a service

        leave(int(ended.code or 0))


if __name__ == "__main__":
    process()
