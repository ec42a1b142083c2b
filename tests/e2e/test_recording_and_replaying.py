"""Record, kill, cut the file short and replay it, as an operator does, with the real program."""

from __future__ import annotations

import contextlib
import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.support.builders.football_data import sheet
from tests.support.builders.recorded import pieces_of, read
from tests.support.peers.http import conditional, http_peer
from tests.support.systems.process import LAGS, ROOT, Service, program, ran
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = 0
[board]
expire_after_kickoff_s = 1_000_000_000
in_play_max_age_s = 1_000_000_000
[sources.feed]
kind = "football_data"
url = "{url}"
poll_interval_s = 0.1
[bookmakers.bet365]
name = "Bet365"
source = "feed"
key = "B365"
[bookmakers.other]
name = "Other"
source = "feed"
key = "BW"
"""
PATH = "/file.csv"


@contextlib.contextmanager
def _replayed(path: Path) -> Iterator[Service]:
    """Replay as fast as possible, and wait for the end."""
    with program("replay", str(path), "--speed", "max", "--bind", "127.0.0.1:0") as replay:
        eventually(lambda: replay.events("replay.finished"), "the end of the replay")
        yield replay


def _sheet(price: float) -> bytes:
    """Return a file of 40 matches of both bookmakers, all at this price."""
    return (
        sheet("B365", *[(price, 3.5, 4.0)] * 40)
        .replace(b"B365H,B365D,B365A", b"B365H,B365D,B365A,BWH,BWD,BWA")
        .replace(b",3.5,4.0", f",3.5,4.0,{price},3.4,3.9".encode())
    )


def test_a_killed_recorders_file_can_be_replayed(tmp_path: Path) -> None:
    """Wherever the file ends, the replay shows the prices of its last whole payload, and calls them old."""
    prices, file, config = [2.1, 2.2, 2.3, 2.4], tmp_path / "out" / "feed.rec.zst", tmp_path / "feed.toml"
    with http_peer() as peer:
        config.write_text(CONFIG.format(url=peer.url(PATH)), "utf-8")
        peer.answers[PATH] = conditional(_sheet(prices[0]), '"0"')
        with program("record", "--config", str(config), "--out", str(tmp_path / "out")) as recording:
            for number, price in enumerate(prices):
                peer.answers[PATH] = conditional(_sheet(price), f'"{number}"')
                held = f'"{number}"'
                eventually(
                    lambda: any(asked.headers.get("if-none-match") == held for asked in peer.asked),  # noqa: B023
                    "it has the file",
                )
            code = recording.stop(signal.SIGKILL)
    whole, random = file.read_bytes(), Random(2)
    (head, _) = pieces_of(read(whole)[0], [])

    assert -signal.SIGKILL == code
    for length in (len(whole), *(random.randrange(len(head), len(whole)) for _ in range(2))):
        file.write_bytes(whole[:length])
        bodies = [recorded.payload.body for recorded in read(whole[:length])[1]]
        last = [price for price in prices if _sheet(price) in bodies][-1:]
        with _replayed(file) as replay:
            shown = [match["odds"]["1"] for match in replay.get("/api/v2/odds").json().get("matches", [])]
            checks = replay.get("/health").json()["checks"]
            assert last * 80 == shown
            assert {True} == {check["simulated"] for check in checks.values()}
            assert ["feed"] == [line["source"] for line in replay.events("source.recorded")]
            assert 0 == replay.stop()


def test_a_recording_ends_after_its_time(tmp_path: Path) -> None:
    """The exit code is 0, the file is closed, and `inspect` lists its content."""
    config = ROOT / "config" / "default.toml"

    code, out, err = ran(
        "-m", "web", "record", "--config", str(config), "--out", str(tmp_path), "--for", "3s"
    )
    events = [json.loads(line)["event"] for line in out.splitlines()]
    events = [event for event in events if event not in LAGS]

    assert (0, "") == (code, err)
    edges = [
        "service.configured",
        "service.started",
        *["source.simulated"] * 3,
        "service.stopping",
        "service.stopped",
    ]
    assert [*edges, "recording.finished"] == events
    code, out, err = ran("-m", "web", "inspect", str(tmp_path / "cedar.rec.zst"))
    first, *lines, last = out.splitlines()
    assert (0, "") == (code, err)
    assert re.fullmatch(r".*cedar\.rec\.zst: source cedar of kind simulated, from 20.*Z", first)
    assert "  bookmaker cedar: Cedar (simulated) (key wide)" in lines
    assert any(re.match("20.*Z simulated 200 [0-9]+ bytes, list cedar-", line) for line in lines)
    assert re.fullmatch("[0-9]+ payloads, [0-9]+ bytes; closed", last)
