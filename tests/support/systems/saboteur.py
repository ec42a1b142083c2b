"""A kind of source that does harm in a real process: Python code of the test runs in its decoder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from tests.support.peers.http import http_peer, respond
from tests.support.systems.plugin import installed
from tests.support.systems.process import Service, program

_PLUGIN = """
import sys
import time
from pathlib import Path
from actors.core.messages import Extract, Scope
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Target, every

folder = Path(__file__).parent


def decode(payload, options):
    yield
    if not (folder / "done").exists():
        (folder / "done").write_text(str(time.time()))
{code}


def extract(content, key, options):
    yield
    return Extract(())


plan = every(lambda options: (Target(Scope("all"), options.url),))
KIND = PolledKind("saboteur", PolledOptions, lambda key: None, plan, decode, extract)
"""
_CONFIG = """
[server]
drain_s = 0
[sources.saboteur]
kind = "saboteur"
url = "{url}"
poll_interval_s = 0.2
[bookmakers.saboteur]
name = "Saboteur"
source = "saboteur"
key = "x"
"""


@contextlib.contextmanager
def sabotaged(folder: Path, code: str) -> Iterator[Service]:
    """Run the service within the block; its first payload runs `code`, at the time in the file `done`."""
    config = folder / "saboteur.toml"
    with http_peer() as peer:
        peer.answers["/odds"] = respond(b"odds")
        config.write_text(_CONFIG.format(url=peer.url("/odds")), "utf-8")
        plugin = _PLUGIN.format(code=indent(code.strip(), " " * 8))
        environment = installed(folder, "saboteur", plugin)
        arguments = ("serve", "--config", str(config), "--bind", "127.0.0.1:0")
        with program(*arguments, environment=environment) as running:
            yield running


def began_at(folder: Path) -> float:
    """Return the time (Unix seconds) at which the code began."""
    return float((folder / "done").read_text("ascii"))
