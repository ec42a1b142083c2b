"""Commands that ask a running service: the service's address, and the token for operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.process import Ended

TOKEN = "a-long-enough-token"  # noqa: S105 - a token of these tests
ASKING = pytest.mark.parametrize("command", ["trace alder_1", "links stats"])


@ASKING
def test_without_a_service_it_says_what_to_do(ended: Ended, command: str) -> None:
    """A user may not know that the command needs a running service."""
    code, _, err = ended(*command.split(), "--url", "http://127.0.0.1:1")

    assert 69 == code
    assert "no service answers at http://127.0.0.1:1: " in err
    assert "start it, or name another with --url" in err


@pytest.mark.parametrize("ids", [("..", ".."), (".", "alder_1"), ("alder_1", ".."), ("",)])
def test_dots_are_no_id(ids: tuple[str, ...], ended: Ended) -> None:
    """An id that would lead to another address is refused before anything is asked."""
    code, _, err = ended("links", "explain", *ids, "--url", "http://127.0.0.1:1")

    assert 69 == code
    assert "is no id of a fixture, an entry or an event" in err


@ASKING
def test_commands_send_the_token(
    ended: Ended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The token is read from a file or from the environment; without a token the error says what to set."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", "utf-8")
    monkeypatch.delenv("ODDSBOARD_TOKEN", raising=False)
    with http_peer() as peer:
        peer.otherwise = respond(status=401)
        asking = (*command.split(), "--url", peer.url(""))
        _, _, err = ended(*asking)
        ended(*asking, "--token-file", file)
        monkeypatch.setenv("ODDSBOARD_TOKEN", TOKEN)
        ended(*asking)
        sent = [asked.headers.get("authorization") for asked in peer.asked]

    assert [None, f"Bearer {TOKEN}", f"Bearer {TOKEN}"] == sent
    assert "not allowed; $ODDSBOARD_TOKEN, or a file with --token-file, must have the token" in err


@pytest.mark.parametrize("content", ["", "two words", "\xfc" * 20])
def test_a_file_without_a_token_is_named(tmp_path: Path, content: str, ended: Ended) -> None:
    """The content of the file is not shown."""
    file = tmp_path / "token"
    file.write_text(content, "utf-8")
    code, _, err = ended("links", "stats", "--token-file", file)

    assert (78, True) == (code, str(file) in err)
    assert not content or content not in err
