"""The service with its default configuration: three simulated bookmakers, and the log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.systems.process import ROOT, Service, service
from tests.support.time.waiting import eventually

DEFAULT = ROOT / "config" / "default.toml"
IDS = ["alder", "birch", "cedar"]
LIST = pytest.mark.parametrize("path", ["/api/odds", "/api/v2/odds"])


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    """Run the default configuration for the tests of this file."""
    with service(DEFAULT) as service_process:
        yield service_process


@pytest.fixture
def client(running: Service) -> Iterator[httpx2.Client]:
    """Return a client of the service, once all its bookmakers are live."""
    with running.client() as opened_client:
        eventually(
            lambda: opened_client.get("/health").json()["status"] == "pass", "all bookmakers are live"
        )
        yield opened_client


def _get(client: httpx2.Client, path: str) -> Any:
    response = client.get(path)
    assert 200 == response.status_code
    return response.json()


def test_three_simulated_bookmakers_are_live(client: httpx2.Client) -> None:
    """The default configuration runs three bookmakers, and reports all of them as simulated."""
    checks = _get(client, "/health")["checks"]

    assert IDS == list(checks)
    assert {("live", True)} == {(check["state"], check["simulated"]) for check in checks.values()}
    assert IDS == _get(client, "/api/capabilities")["supported_bookmakers"]


@LIST
def test_both_endpoints_show_all_three_bookmakers(client: httpx2.Client, path: str) -> None:
    """Each has some hundred matches with plausible prices, in the order of the configuration."""
    matches = _get(client, path)["matches"]

    order = [match["id"].partition("_")[0] for match in matches]
    odds = [match["odds"] if path == "/api/odds" else list(match["odds"].values()) for match in matches]
    assert IDS == list(dict.fromkeys(order))
    assert min(order.count(bookmaker) for bookmaker in IDS) > 100
    assert all(price > 1.0 for prices in odds for price in prices)
    assert all(0.95 <= sum(1 / price for price in prices) <= 1.40 for prices in odds)


def test_prices_and_version_change(client: httpx2.Client) -> None:
    """The version grows, and a conditional poll shows when."""
    first = client.get("/api/v2/odds")
    condition = {"If-None-Match": first.headers["ETag"]}

    def changed() -> httpx2.Response | None:
        response = client.get("/api/v2/odds", headers=condition)
        return response if response.status_code == 200 else None

    later = eventually(changed, "another version")

    assert later.json()["version"] > first.json()["version"] > 1_700_000_000_000
    assert later.content != first.content


def test_the_start_is_logged_once(running: Service) -> None:
    """The log has one line with the address, the bookmakers, and that they are simulated."""
    (started,) = running.events("service.started")

    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+", started["url"])
    assert (running.process.pid, IDS) == (started["pid"], list(started["bookmakers"]))
    eventually(lambda: len(running.events("source.simulated")) == len(IDS), "the warnings")
    assert IDS == [line["source"] for line in running.events("source.simulated")]


def test_every_served_request_is_logged_under_its_id(tmp_path: Path) -> None:
    """The id in X-Request-Id is in the log, so that a client's report can be found."""
    with service(_verbose(tmp_path)) as running:
        response = running.get("/api/odds?bookmaker=nobody")
        served = eventually(lambda: running.events("request.served"), "the request in the log")

    expected = [(response.headers["X-Request-Id"], 400)]
    assert expected == [(line.get("request_id"), line["status"]) for line in served]


def _verbose(folder: Path) -> Path:
    config = folder / "verbose.toml"
    text = DEFAULT.read_text("utf-8").replace("[server]", '[server]\nlog_level = "debug"')
    config.write_text(text, "utf-8")
    return config
