"""The path of the browser, which is Debian's Chromium if it is installed."""

from __future__ import annotations

from pathlib import Path

EXECUTABLE = Path("/usr/bin/chromium")
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def is_there() -> bool:
    """Return whether the browser is installed."""
    return EXECUTABLE.is_file()
