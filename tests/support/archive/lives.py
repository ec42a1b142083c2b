"""Many lives of an archived board, one after another, each in a process forked from this process.

python -m tests.support.archive.lives < plans      a plan a line; writes the journal of each, its exit code
"""

from __future__ import annotations

import os
import sys
import traceback

import msgspec
import structlog

from tests.support.archive.life import Plan, live


def main() -> None:
    """Run each plan of the standard input in a process of its own."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    for line in sys.stdin:
        plan = msgspec.json.decode(line, type=Plan)
        pid = os.fork()
        if not pid:
            code = 1
            try:
                live(plan)
                code = 0
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
