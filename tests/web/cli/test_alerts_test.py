"""`oddsboard alerts test NAME` against receivers on this machine."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.builders.configurations import VALID
from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.systems.process import Ended

CONFIG = """
[receivers.good]
kind = "home_assistant"
url = "http://127.0.0.1:{port}/api/webhook/private-0123456789"
[receivers.bad]
kind = "slack"
url = "http://127.0.0.1:{port}/services/private-0123456789"
[receivers.run]
kind = "exec"
command = ["sh", "-c", "echo 'E! no sound' >&2; exit 3"]
[[alert]]
name = "soon"
when = "kickoff"
before_s = 60
to = {to}
"""


def _config(folder: Path, peer: HttpPeer, *to: str) -> Path:
    """Write a rule for these receivers."""
    config = folder / "mine.toml"
    config.write_text(VALID + CONFIG.format(port=peer.port, to=json.dumps(to)), "utf-8")
    return config


def test_what_each_receiver_answered_is_said(tmp_path: Path, ended: Ended) -> None:
    """No line has the receiver's address; the exit code is 1 if a receiver did not take the alert."""
    with http_peer() as peer:
        peer.answers["/api/webhook/private-0123456789"] = respond()
        peer.answers["/services/private-0123456789"] = respond(b"no\x1b team at private-0123456789", 404)

        config = _config(tmp_path, peer, "good", "bad", "run")
        every = ended("alerts", "test", "soon", "--config", config)
        good = ended("alerts", "test", "soon", "--config", _config(tmp_path, peer, "good"))

    assert (0, "good: taken, status 200\n", "") == good
    lines = [
        "good: taken, status 200",
        "bad: not taken: status was 404, must be 2xx: no team at ***",
        "run: not taken: it ended with code 3: E! no sound",
    ]
    assert (1, lines, "") == (every[0], every[1].splitlines(), every[2])
    told = json.loads(peer.asked[0].body)
    assert ("soon", "kickoff", True) == (
        told["alerts"][0]["rule"],
        told["alerts"][0]["when"],
        told["alerts"][0]["details"]["test"],
    )


def test_a_rule_must_exist(tmp_path: Path, ended: Ended) -> None:
    """The error names the rules that exist."""
    with http_peer() as peer:
        found = ended("alerts", "test", "son", "--config", _config(tmp_path, peer, "good"))

    assert (78, "", "oddsboard: NAME was 'son', must be one of soon; did you mean 'soon'?\n") == found
