"""`oddsboard trace`, against a running service: one short screen, whatever is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.process import Service, service, simulated
from web.__main__ import main

MAX_LINES, MAX_WIDTH = 24, 140


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Service]:
    """Run the service on simulated odds."""
    with service(simulated(tmp_path)) as found:
        found.wait_ready()
        yield found


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, list[str]]:
    with pytest.raises(SystemExit) as ended:
        main(["trace", *arguments])
    return ended.value.code, "".join(capsys.readouterr()).splitlines()


def test_a_price_is_traced_on_one_screen(running: Service, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry, an id that is none, and a team; without the service, 69."""
    url = f"--url={running.base}"
    shown = running.get("/api/v2/odds").json()["matches"][0]
    there = _printed(capsys, shown["id"], url)
    absent = _printed(capsys, f"{shown['id']}x", url)
    by_name = _printed(capsys, shown["home"], url)
    running.stop()
    down = _printed(capsys, shown["id"], url)

    assert [0, 0, 0, 69] == [code for code, _ in (there, absent, by_name, down)]
    for _, lines in (there, absent, by_name):
        assert len(lines) <= MAX_LINES
        assert max(map(len, lines)) <= MAX_WIDTH
    assert there[1][0].startswith(f"{shown['id']}  {shown['home']} v {shown['away']}")
    assert there[1][1].startswith("ON THE BOARD at version ")
    assert {"price", "list", "bookmaker", "source", "fixture"} <= {line[2:12].strip() for line in there[1]}
    assert "NOT ON THE BOARD: never_seen" == absent[1][1]
    assert f"  nearest   {shown['id']}  {shown['home']} v {shown['away']}" in absent[1]
    assert any(shown["home"] in line for line in by_name[1][2:])


@pytest.mark.parametrize(("state", "stale_at"), [("elsewhere", None), ("starting", 2e9)])
def test_a_replica_says_that_another_process_collects(
    running: Service, capsys: pytest.CaptureFixture[str], state: str, stale_at: float | None
) -> None:
    """The list holds as long as its collector does."""
    shown = running.get("/api/v2/odds").json()["matches"][0]
    path = f"/monitor/entries/{shown['id']}"
    found = running.get(path).json()
    found["list"]["stale_at"], found["source"]["state"] = stale_at, state
    with http_peer() as peer:
        peer.answers[path] = respond(json.dumps(found).encode())
        _, lines = _printed(capsys, shown["id"], f"--url={peer.url('')}")
    words = "good as long as its collector in the cluster is", "another process collects it"

    assert [stale_at is None] * 2 == [any(said in line for line in lines) for said in words]


def test_what_has_left_is_printed(running: Service, capsys: pytest.CaptureFixture[str]) -> None:
    """Its id, its teams, and why and when it left, where that is known."""
    found = running.get("/monitor/entries/odense").json()
    about = {"home": "Odense", "away": "Brøndby"}
    known = {"id": "alder_m1", **about, "since": found["now"] - 60, "reason": "finished"}
    found["left"] = [known, {"id": "alder_m2", **about, "since": None, "reason": None}]
    with http_peer() as peer:
        peer.answers["/monitor/entries/odense"] = respond(json.dumps(found).encode())
        _, lines = _printed(capsys, "odense", f"--url={peer.url('')}")
    first, second = lines[-2:]

    assert first.startswith("  left      alder_m1  Odense v Brøndby, finished ")
    assert first.endswith("(1.0 min ago)")
    assert "            alder_m2  Odense v Brøndby" == second


def test_other_markets_are_printed(running: Service, capsys: pytest.CaptureFixture[str]) -> None:
    """A line each, with prices, age and list, or why it is rejected; or the one that is asked for."""
    shown = running.get("/api/v2/odds").json()["matches"][0]
    path = f"/monitor/entries/{shown['id']}"
    found = running.get(path).json()
    at, about = found["now"] - 60, {"received_at": None, "rejected": None}
    odds = {"over": 1.9, "under": None}
    over = {**about, "market": "over_under:2.5", "odds": odds, "updated": at, "list": found["list"]}
    yes = {**about, "market": "btts", "odds": None, "updated": None, "list": None, "rejected": "book_sum"}
    found["markets"] = [over, yes]
    with http_peer() as peer:
        peer.answers[path] = respond(json.dumps(found).encode())
        url = f"--url={peer.url('')}"
        _, every = _printed(capsys, shown["id"], url)
        _, single = _printed(capsys, f"{shown['id']} btts", url)
        _, none = _printed(capsys, f"{shown['id']} over_under:3.5", url)

    first, second = every[-2:]
    assert first.startswith("  markets   over_under:2.5 1.9 / ?, ")
    assert f"(1.0 min ago); {found['list']['scope']}: confirmed " in first
    assert "            btts rejected: book_sum: its prices are not kept" == second
    assert "  markets   btts rejected: book_sum: its prices are not kept" == single[-1]
    assert "  markets   over_under:3.5: neither on the board nor rejected" == none[-1]


def test_what_was_shown_of_another_market_is_printed(
    running: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the one that is asked for, five steps; of any that has left when and why."""
    shown = running.get("/api/v2/odds").json()["matches"][0]
    path = f"/monitor/entries/{shown['id']}"
    found = running.get(path).json()
    at, times = found["now"] - 60, {"updated": None, "source_time": None, "received_at": None}
    prices = [{"over": 1.9 + n / 100, "under": 2.0} for n in range(8)]
    steps = [{**times, "version": 9, "committed_at": at, "odds": odds, "reason": None} for odds in prices]
    left = {**times, "version": 8, "committed_at": at, "odds": None, "reason": "withdrawn"}
    about = {"updated": at, "received_at": None, "list": None}
    over = {**about, "market": "over_under:2.5", "odds": prices[0], "steps": steps}
    gone = {**about, "market": "btts", "odds": None, "updated": None, "steps": [left, steps[1]]}
    found["markets"] = [over, gone]
    with http_peer() as peer:
        peer.answers[path] = respond(json.dumps(found).encode())
        url = f"--url={peer.url('')}"
        _, every = _printed(capsys, shown["id"], url)
        _, single = _printed(capsys, f"{shown['id']} over_under:2.5", url)
        _, other = _printed(capsys, f"{shown['id']} btts", url)

    assert every[-2].startswith("  markets   over_under:2.5 1.9 / 2, ")
    assert every[-1].startswith("            btts left: withdrawn, ")
    assert every[-1].endswith("(1.0 min ago), version 8")
    assert single[-6].startswith("  markets   over_under:2.5 1.9 / 2, ")
    assert [f"{1.9 + n / 100:g} / 2" for n in range(1, 6)] == [
        line[12:].split(",")[0] for line in single[-5:]
    ]
    assert "  before    " == single[-5][:12]
    assert ["  markets   btts left: withdrawn", "  before    1.91 / 2"] == [
        line.split(",")[0] for line in other[-2:]
    ]
