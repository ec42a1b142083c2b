"""Where the browser is: Debian's Chromium, or none."""

from __future__ import annotations

from pathlib import Path

EXECUTABLE = Path("/usr/bin/chromium")
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def is_there() -> bool:
    """Return whether there is a browser."""
    return EXECUTABLE.is_file()
