"""`oddsboard` and `python -m web` are the command line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

__all__ = ["main", "process"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; Ctrl+C ends it at any time with 130 and a line."""
    try:
        from web.cli.main import main as run  # noqa: PLC0415 - takes most of a second

        run(arguments)
    except KeyboardInterrupt:  # before, after or without the time when signals stop the service in order
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("oddsboard: ended by Ctrl+C", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def process() -> None:
    """Run the command of the process, and end it: where its end has a deadline, at once."""
    try:
        main()
    except SystemExit as ended:
        if not callable(signal.getsignal(signal.SIGALRM)):
            raise
        from web.server.lifecycle import leave  # noqa: PLC0415 - only a service has it

        leave(int(ended.code or 0))


if __name__ == "__main__":
    process()
