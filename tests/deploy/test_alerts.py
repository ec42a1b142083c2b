"""Alerts, Prometheus' settings and the dashboard: promtool accepts them; the documents describe them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

from tests.support.documents import document, quoted, rows, section
from tests.support.source_code import ROOT

MONITORING = ROOT / "config" / "deploy" / "monitoring"
ALERTS = MONITORING / "alerts.yaml"
EXPECTED = Path(__file__).with_name("alerts.test.yaml")

PROMTOOL = which("promtool") or ""

needs_promtool = pytest.mark.skipif(
    not PROMTOOL, reason="needs promtool (Debian: apt-get install prometheus)"
)


def _rules() -> Any:
    (group,) = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return group["rules"]


def _panels() -> list[Any]:
    """Return the panels of the dashboard."""
    panels: list[Any] = json.loads((MONITORING / "grafana" / "dashboard.json").read_text("utf-8"))["panels"]
    return panels


def _queries() -> Iterator[str]:
    """Yield the queries of the dashboard with values for its variables."""
    for panel in _panels():
        for target in panel.get("targets", ()):
            yield target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")


def _promtool(*arguments: str | Path) -> tuple[int, str]:
    command = [PROMTOOL, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


@needs_promtool
def test_prometheus_reads_the_settings_and_the_alerts() -> None:
    """The settings name the file of alerts, which has no mistake."""
    code, said = _promtool("check", "config", MONITORING / "prometheus.yaml")

    assert (0, True) == (code, f"{len(_rules())} rules found" in said), said


@needs_promtool
def test_alerts_fire_when_they_should() -> None:
    """On written series each alert fires after its time, no other alert fires, and each of them ends."""
    code, said = _promtool("test", "rules", EXPECTED)

    assert 0 == code, said


def test_every_alert_is_tried() -> None:
    """The written series make each alert fire."""
    tried = re.findall(r"Oddsboard\w+", EXPECTED.read_text("utf-8"))

    assert {rule["alert"] for rule in _rules()} == set(tried)


def test_every_alert_is_documented() -> None:
    """The document has its severity, the time after which it fires, its meaning, and what to do."""
    table = list(rows(section(document("docs/operations.md"), "## Alerts")))

    assert [
        (rule["alert"], rule["labels"]["severity"], rule.get("for", "at once")) for rule in _rules()
    ] == [(quoted(row[0])[0], row[1], row[2]) for row in table]
    assert {5} == {len(list(filter(None, row))) for row in table}


def test_every_metric_that_is_used_is_documented() -> None:
    """This holds for alerts and dashboard; another test compares the documented metrics with the code."""
    table = rows(section(document("docs/operations.md"), "## Prometheus"))
    documented = {name for row in table for name in quoted(row[0])}
    text = "\n".join([*(rule["expr"] for rule in _rules()), *_queries()])
    used = set(re.findall(r"oddsboard_\w+", text))

    assert 40 < len(used)
    assert set() == {re.sub(r"_bucket$", "", name) for name in used} - documented


@needs_promtool
def test_prometheus_reads_every_query_of_the_dashboard(tmp_path: Path) -> None:
    """The queries are tried as recording rules, because these need no Grafana."""
    recorded = [{"record": f"q{count}", "expr": query} for count, query in enumerate(_queries())]
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": recorded}]}), "utf-8")

    code, said = _promtool("check", "rules", file)

    assert (0, True) == (code, f"{len(recorded)} rules found" in said), said


def test_panels_stand_side_by_side() -> None:
    """Each panel has an id of its own, lies within the 24 columns, and covers no other panel."""
    panels = _panels()
    places = [panel["gridPos"] for panel in panels]

    assert len(panels) == len({panel["id"] for panel in panels})
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert [] == [pair for pair in combinations(places, 2) if _overlap(*pair)]


def _overlap(a: Any, b: Any) -> bool:
    return all(a[at] < b[at] + b[size] and b[at] < a[at] + a[size] for at, size in (("x", "w"), ("y", "h")))
