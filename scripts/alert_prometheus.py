"""Runs a real Prometheus with the shipped settings and short times; returns firing alerts and data.

A window is 40 s (for starts 200 s), and an alert fires after a thirtieth of its time, 5 to 10 s. Addresses
and the interval of 2 s differ, too. All other settings are as shipped.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import yaml  # type: ignore[import-untyped]  # the package has no types

from tests.support.time.waiting import eventually

MONITORING = Path(__file__).resolve().parent.parent / "config" / "deploy" / "monitoring"
WINDOW, WINDOW_OF_STARTS, MIN_FOR_S, MAX_FOR_S, FOR_DIVISOR = "40s", "200s", 5.0, 10.0, 30.0
"""A single answer that came too late, on a machine that is busy with other work, is no fault."""


@dataclass
class Watched:
    """Prometheus at an address, with each alert's last begin and end of firing (seconds from the start)."""

    url: str
    began: float = field(default_factory=time.monotonic)
    fired: dict[str, float] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    firing: set[str] = field(default_factory=set)

    @property
    def now(self) -> float:
        """Seconds from the start."""
        return time.monotonic() - self.began

    def look(self) -> set[str]:
        """Return the alerts that fire now."""
        alerts = self.get("/api/v1/alerts")["alerts"]
        now = {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}
        for name in now - self.firing:
            self.fired[name] = self.now
        for name in self.firing - now:
            self.ended[name] = self.now
        self.firing = now
        return now

    def fires(self, name: str) -> bool:
        """Return whether an alert fired when last looked at."""
        return name in self.firing

    def get(self, path: str, **query: str | float) -> Any:
        """Return the data of an answer of Prometheus' API."""
        return (
            httpx2.get(f"{self.url}{path}", params=query, trust_env=False).raise_for_status().json()["data"]
        )


@contextlib.contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Watched]:
    """Run Prometheus with the shipped settings and short times while the block runs."""
    settings = yaml.safe_load((MONITORING / "prometheus.yaml").read_text("utf-8"))
    settings["global"] = {"scrape_interval": "2s", "evaluation_interval": "1s"}
    settings["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    (folder / "alerts.yaml").write_text(shortened((MONITORING / "alerts.yaml").read_text("utf-8")), "utf-8")
    bind = free_address()
    options = (
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={bind}",
        "--log.level=error",
    )
    command = ["prometheus", f"--config.file={folder / 'prometheus.yaml'}", *options]
    with subprocess.Popen(command) as process:
        try:
            watched = Watched(f"http://{bind}")
            eventually(lambda: _answers(watched), "Prometheus answers")
            yield watched
        finally:
            process.terminate()


def _answers(watched: Watched) -> bool:
    with contextlib.suppress(httpx2.HTTPError):
        watched.look()
        return True
    return False


def without_data(watched: Watched) -> list[str]:
    """Return the dashboard's queries that never had data."""
    dashboard = json.loads((MONITORING / "grafana" / "dashboard.json").read_text("utf-8"))
    queries = [
        target["expr"].replace("$__rate_interval", "15s").replace("$instance", ".*")
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]
    now = time.time()
    empty = []
    for query in queries:
        found = watched.get("/api/v1/query_range", query=query, start=now - watched.now, end=now, step=5)[
            "result"
        ]
        if not any(value != "NaN" for series in found for _, value in series["values"]):
            empty.append(query)
    print(f"queries of the dashboard: {len(queries)}, with data: {len(queries) - len(empty)}")
    return empty


def shortened(rules: str) -> str:
    """Return the rules with short times."""

    def divided(found: re.Match[str]) -> str:
        seconds = float(found[1]) * {"m": 60, "h": 3600}[found[2]]
        return f"for: {min(max(seconds / FOR_DIVISOR, MIN_FOR_S), MAX_FOR_S):g}s"

    rules = re.sub(r"for: (\d+)([mh])$", divided, rules, flags=re.MULTILINE)
    rules = rules.replace("[15m]", f"[{WINDOW_OF_STARTS}]")
    return re.sub(r"\[\d+[mhd]\]", f"[{WINDOW}]", rules).replace("offset 10m", f"offset {WINDOW}")


def free_address() -> str:
    """Return an address of the loopback interface at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"
