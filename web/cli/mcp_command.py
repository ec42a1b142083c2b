"""`oddsboard mcp`: serves a running service's odds to an agent, over standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import anyio

from actors.core.errors import ConfigError
from web.cli.asking import URL
from web.server.lifecycle import Exit


def add_options(mcp: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    mcp.add_argument("--url", default=URL, help="the service; default: %(default)s")


def run(given: argparse.Namespace) -> Exit:
    """Serve until the input ends. Raises: ConfigError without the packages that the command needs."""
    if find_spec("mcp") is None:
        raise ConfigError("mcp: the package is not installed; pip install 'oddsboard[mcp]'")
    from web.cli.agents.server import server  # noqa: PLC0415 - needs the extra
    from web.cli.agents.service import Service  # noqa: PLC0415 - the same

    anyio.run(server(Service(given.url)).run_stdio_async)
    return Exit.STOPPED
