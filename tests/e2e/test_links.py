"""The file of links and `oddsboard links`, against a running service."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.process import Service, program
from tests.support.time.waiting import eventually
from web.__main__ import main

HEAD = b"Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A\n"
ONE = HEAD + b"E0,28/11/2099,15:00,Leeds,Hull,2.1,3.4,3.5\nE1,28/11/2099,15:00,Derby,Qpr,2.6,3.3,2.7\n"
TWO = HEAD + (
    b"E0,28/11/2099,15:00,Leeds United,Hull City,2.1,3.4,3.5\n"
    b"E1,29/11/2099,15:00,Derby County,Town,2.6,3.3,2.7\n"
)
DERBY, COUNTY = "one:E1-20991128-Derby-Qpr", "two:E1-20991129-Derby.County-Town"
MUST = f'[[must]]\nevents = ["{DERBY}", "{COUNTY}"]\nreason = "postponed"\n'

CONFIG = """
[links]
file = "{links}"
[sources.one]
kind = "football_data"
url = "{one}"
poll_interval_s = 900
[sources.two]
kind = "football_data"
url = "{two}"
poll_interval_s = 900
[bookmakers.alder]
name = "Alder"
source = "one"
key = "B365"
[bookmakers.birch]
name = "Birch"
source = "two"
key = "B365"
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Service]:
    """Run the service on two sources, with a file of links that says nothing."""
    config, links = tmp_path / "links-config.toml", tmp_path / "links.toml"
    links.write_text("", "utf-8")
    with http_peer() as peer:
        peer.answers["/one"], peer.answers["/two"] = respond(ONE), respond(TWO)
        text = CONFIG.format(links=links, one=peer.url("/one"), two=peer.url("/two"))
        config.write_text(text, "utf-8")
        with program("serve", "--config", str(config), "--bind", "127.0.0.1:0") as service:
            yield service


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(["links", *arguments])
    return ended.value.code, "".join(capsys.readouterr())


def test_links_are_explained_suggested_and_said_by_hand(
    running: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad file is one line in the log and changes nothing; the next one is linked by."""
    url = f"--url={running.base}"
    eventually(lambda: "linked by: same" in _printed(capsys, "stats", url)[1], "a fixture is linked")
    _, explained = _printed(capsys, "explain", DERBY, COUNTY, url)
    _, suggested = _printed(capsys, "suggest", url)
    (tmp_path / "links.toml").write_text("[[must]]\n", "utf-8")
    running.process.send_signal(signal.SIGHUP)
    (rejected,) = eventually(lambda: running.events("links.rejected"), "the file is read")
    (tmp_path / "links.toml").write_text(MUST, "utf-8")
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: "linked by: must" in _printed(capsys, "stats", url)[1], "it is linked by hand")
    unknown = [_printed(capsys, "explain", name, url) for name in ("one:nothing", "\udcff")]
    twice = _printed(capsys, "explain", DERBY, DERBY, url)
    code = running.stop(signal.SIGTERM)
    gone = _printed(capsys, "stats", url)

    assert "not linked: " in explained
    assert "day_moved" in explained
    assert f'"{DERBY}"' in suggested
    assert "[[must]] 1" in rejected["error"]
    assert [0, 69, 69, 69] == [code, *(code_of for code_of, _ in unknown), gone[0]]
    assert ["nothing on the board has the id 'one:nothing'" in text for _, text in unknown] == [True, False]
    assert (0, True) == (twice[0], "both are one event" in twice[1])
