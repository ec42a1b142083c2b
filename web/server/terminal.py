"""Text for a person at a terminal: examples of commands, where to look, and how to end."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

EXAMPLE_CALLS = """\
examples:
  oddsboard serve                                  simulated odds on http://127.0.0.1:8000
  oddsboard init football_data --out mine.toml     a configuration to begin with
  oddsboard check-config --config mine.toml        whether it is right, and what it would run
  oddsboard serve --config mine.toml --bind 0.0.0.0:8000     also for other machines
  oddsboard sources football_data                  the options of a kind of source
"""


def directions(url: str = "", folder: str = "", **_: str) -> tuple[str, str]:
    """Return where to look, and how to end: lines for a person at a terminal."""
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
    """Return how this command was called, if its name alone would not find it."""
    called = Path(sys.argv[0])
    is_found = called.name != "oddsboard" or shutil.which("oddsboard") is not None
    return "oddsboard" if is_found else str(called)
