"""Record, kill, cut and replay, as an operator does it, with the real program."""

from __future__ import annotations

import contextlib
import json
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

from tests.support.builders import the_odds_api as api
from tests.support.builders.football_data import sheet
from tests.support.builders.recorded import header, pieces_of, read, received, write
from tests.support.peers.http import HttpPeer, conditional, http_peer
from tests.support.peers.plain_http import NO_TLS
from tests.support.recordings import football_data, the_odds_api
from tests.support.systems.process import LAGS, ROOT, Service, program, ran, service
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
SERVED, RECORDED = "/served.csv", "/recorded.csv"


def _config(folder: Path, peer: HttpPeer, path: str) -> Path:
    config = folder / f"{path.strip('/')}.toml"
    config.write_text(CONFIG.format(url=peer.url(path)), "utf-8")
    return config


def _bodies(data: bytes) -> list[bytes]:
    return [recorded.payload.body for recorded in read(data)[1] if recorded.payload.status == 200]


def _matches(base: str) -> Any:
    return httpx2.get(f"{base}/api/v2/odds", trust_env=False, verify=NO_TLS).json().get("matches", [])


@contextlib.contextmanager
def _replayed(path: Path) -> Iterator[Service]:
    """Replay as fast as possible, and wait for the end."""
    with program("replay", str(path), "--speed", "max", "--bind", "127.0.0.1:0") as replay:
        eventually(lambda: replay.events("replay.finished"), "the end of the replay")
        yield replay


@dataclass
class Original:
    """An original run: what was shown after each body, and the recording of the same bodies."""

    shown: dict[bytes, Any]
    recording: bytes


def _run_original(folder: Path, bodies: Sequence[bytes]) -> Original:
    """Serve and record the same bodies, one after the other, and kill the recorder after the last."""
    shown: dict[bytes, Any] = {}
    file = folder / "out" / "feed.rec.zst"
    with http_peer() as peer:

        def is_held(path: str, etag: str) -> bool:
            return any(
                request.path == path and request.headers.get("if-none-match") == etag
                for request in list(peer.asked)
            )

        recorded = _config(folder, peer, RECORDED)
        with (
            service(_config(folder, peer, SERVED)) as serving,
            program("record", "--config", str(recorded), "--out", str(folder / "out")) as recording,
        ):
            for number, body in enumerate(bodies):
                etag = f'"{number}"'
                modified = {"Last-Modified": formatdate(1_700_000_000 + number, usegmt=True)}
                for path in (SERVED, RECORDED):
                    peer.answers[path] = conditional(body, etag, modified)
                for path in (SERVED, RECORDED):
                    eventually(partial(is_held, path, etag), f"{path} has {etag}")
                shown[body] = _matches(serving.base)
            assert -signal.SIGKILL == recording.stop(signal.SIGKILL)
    return Original(shown, file.read_bytes())


def _check_cut(folder: Path, original: Original, length: int) -> None:
    """Check that a replay of the first `length` bytes shows what was shown after the last whole payload."""
    path = folder / f"cut-{length}.rec.zst"
    path.write_bytes(original.recording[:length])
    whole = _bodies(original.recording[:length])

    with _replayed(path) as replay:
        assert (original.shown[whole[-1]] if whole else []) == _matches(replay.base)


def _check(folder: Path, bodies: Sequence[bytes], cuts: int, seed: int) -> None:
    original, random = _run_original(folder, bodies), Random(seed)
    # On a busy machine a list may become stale, and is asked for again as it is.
    assert list(bodies) == [body for body, _ in groupby(_bodies(original.recording))]
    (head, _) = pieces_of(read(original.recording)[0], [])

    _check_cut(folder, original, len(original.recording))
    for _ in range(cuts):
        _check_cut(folder, original, random.randrange(len(head), len(original.recording)))


def _sheet(random: Random) -> bytes:
    prices = [(round(random.uniform(1.5, 3), 2), 3.5, 4.0) for _ in range(40)]
    return (
        sheet("B365", *prices)
        .replace(b"B365H,B365D,B365A", b"B365H,B365D,B365A,BWH,BWD,BWA")
        .replace(b",3.5,4.0", b",3.5,4.0,2.2,3.4,3.9")
    )


def test_a_killed_recorders_file_can_be_replayed(tmp_path: Path) -> None:
    """For hand-written files the replay shows what the service showed, up to the last whole payload."""
    random = Random(1)

    _check(tmp_path, [_sheet(random) for _ in range(6)], cuts=3, seed=2)


@pytest.mark.recordings
@pytest.mark.timeout(180)
@pytest.mark.long
def test_recorded_downloads_of_a_killed_recorder_can_be_replayed(tmp_path: Path) -> None:
    """The same holds for the 20 real files with prices, cut at random bytes."""
    bodies = [path.read_bytes() for path in football_data("fixtures")[1:]]

    _check(tmp_path, bodies, cuts=4, seed=3)


def _run_original_api(folder: Path, answers: Mapping[str, bytes]) -> tuple[Any, bytes]:
    """Serve and record answers of The Odds API with a key; return what was shown, and the file."""
    keys = api.keys_in(answers)
    file = folder / "out" / "api.rec.zst"

    def all_is_shown(serving: Service) -> bool:
        bookmakers = httpx2.get(f"{serving.base}/monitor", trust_env=False, verify=NO_TLS).json()[
            "bookmakers"
        ]
        return all(set(answers) <= set(bookmaker["lists"]) for bookmaker in bookmakers)

    with http_peer() as peer:
        api.serve(peer, answers)
        config = folder / "api.toml"
        config.write_text(api.config(answers, keys, peer.url(""), poll_interval_s=30.0), "utf-8")
        with (
            service(config) as serving,
            program("record", "--config", str(config), "--out", str(folder / "out")) as recording,
        ):
            eventually(lambda: all_is_shown(serving), "every league on the board")
            eventually(lambda: len(read(file.read_bytes())[1]) == len(answers), "every league in the file")
            assert -signal.SIGKILL == recording.stop(signal.SIGKILL)
            return _matches(serving.base), file.read_bytes()


@pytest.mark.recordings
@pytest.mark.long
def test_recorded_leagues_of_a_killed_recorder_can_be_replayed(tmp_path: Path) -> None:
    """Cut at random bytes, the file gives what was shown of its whole leagues, and has no key in it."""
    random, answers = Random(4), api.recorded(the_odds_api())

    shown, recording = _run_original_api(tmp_path, answers)
    cuts = [len(recording), *(random.randrange(len(recording) // 10, len(recording)) for _ in range(3))]
    for length in cuts:
        path = tmp_path / f"cut-{length}.rec.zst"
        path.write_bytes(recording[:length])
        bodies = _bodies(recording[:length])
        with _replayed(path) as replay:
            assert _of_leagues(shown, bodies) == _without_updated(_matches(replay.base))

    assert len(shown) > 1000
    assert all(api.API_KEY.encode() not in body for body in _bodies(recording))
    assert api.API_KEY not in repr(read(recording))


def _of_leagues(shown: Sequence[Any], bodies: Sequence[bytes]) -> list[Any]:
    """Return the entries of the matches in these answers."""
    listed = {match["id"] for body in bodies for match in json.loads(body)}
    return _without_updated([entry for entry in shown if entry["id"].partition("_")[2] in listed])


def _without_updated(matches: Sequence[Any]) -> list[Any]:
    """Leave out the time of receipt of each entry, which differs between two processes."""
    return [{name: value for name, value in match.items() if name != "updated"} for match in matches]


def test_a_replay_is_the_same_every_time(tmp_path: Path) -> None:
    """Two replays have the same bytes, versions and tags, and report that nothing is live."""
    records = [received(sheet("B365", (2 + at / 200, 3.5, 4.0)), float(at)) for at in range(50)]
    path = write(tmp_path / "feed.rec.zst", header(), *records)

    answers = []
    for _ in range(2):
        with (
            _replayed(path) as replay,
            replay.client() as client,
        ):
            found = client.get("/api/v2/odds", headers={"Accept-Encoding": "identity"})
            answers.append((found.content, found.headers["ETag"]))
            checks = client.get("/health").json()["checks"]
            assert ["feed"] == [line["source"] for line in replay.events("source.recorded")]
            assert [True] == [check["simulated"] for check in checks.values()]
            assert 0 == replay.stop()

    version = 1_780_000_000_000 + 50
    assert answers[0] == answers[1]
    assert version == json.loads(answers[0][0])["version"]
    assert re.fullmatch(f'"{version}-[0-9a-f]{{8}}"', answers[0][1])


def test_a_recording_ends_after_its_time(tmp_path: Path) -> None:
    """The exit code is 0, the file is closed, and `inspect` lists its content."""
    config = ROOT / "config" / "default.toml"

    code, out, err = ran(
        "-m", "web", "record", "--config", str(config), "--out", str(tmp_path), "--for", "1s"
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
