"""Names that do not resolve: sources whose look-ups hang do not affect the others."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.peers.http import http_peer
from tests.support.systems.feed import moving
from tests.support.systems.process import service
from tests.support.time.waiting import eventually

HANGING = '''
import socket, threading

resolved = socket.getaddrinfo

def getaddrinfo(host, *given, **named):
    """Hang for names that begin with "dead", as a name server that does not answer."""
    if str(host).startswith("dead"):
        threading.Event().wait(60)
    return resolved(host, *given, **named)

socket.getaddrinfo = getaddrinfo
'''
SOURCE = """
[sources.{name}]
kind = "football_data"
url = "{url}"
poll_interval_s = 0.1
timeout_s = {timeout_s}
stale_after_s = 60
[bookmakers.{name}]
name = "{name}"
source = "{name}"
key = "B365"
"""
DEAD = 40


@pytest.mark.long
def test_hanging_look_ups_do_not_delay_other_sources(tmp_path: Path) -> None:
    """With more hanging look-ups than any pool has threads, the source that resolves is still polled."""
    (tmp_path / "sitecustomize.py").write_text(HANGING, "utf-8")
    config = tmp_path / "dead.toml"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    with http_peer() as peer:
        peer.answers["/odds.csv"] = moving("B365")
        urls = {f"dead{number}": f"http://dead{number}.example/" for number in range(DEAD)}
        urls["good"] = f"http://localhost:{peer.port}/odds.csv"
        sources = [
            SOURCE.format(name=name, url=url, timeout_s=20 if name == "good" else 2)
            for name, url in urls.items()
        ]
        config.write_text("\n".join(["[server]", "drain_s = 0", *sources]), "utf-8")
        with service(config, {"PYTHONPATH": path}) as running:

            def sources_now() -> dict[str, Any]:
                stats = running.get("/api/stats").json()["data"]
                return dict(stats["sources"])

            eventually(
                lambda: all(source["attempts"] >= 2 for source in sources_now().values()),
                "all have timed out",
            )
            before = sources_now()["good"]["payloads"]
            eventually(lambda: sources_now()["good"]["payloads"] >= before + 20, "the good one is polled")
            failed = sources_now()["good"]["failed_by"]
            code = running.stop(signal.SIGTERM)

    assert ({}, 0) == (failed, code)
