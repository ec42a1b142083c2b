"""`oddsboard probe` against local servers: its exit codes and what it prints."""

from __future__ import annotations

import time

import pytest

from tests.support.peers.azuro import Azuro
from tests.support.peers.http import Answer, http_peer, respond
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.venues import relayed
from tests.support.peers.web import Answer as InMemory
from web.__main__ import main


def _ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def _venue(kind: str) -> InMemory:
    start = time.time() + 86_400
    market, pool = Polymarket(), Azuro()
    market.add("101", start=start)
    pool.add("1006", start=start)
    return {"polymarket": market.answer, "azuro": pool.answer}[kind]


@pytest.mark.parametrize("kind", ["polymarket", "azuro"])
def test_a_venue_that_answers_as_expected_is_exit_code_0(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All its addresses are replaced by that of the option."""
    with http_peer() as peer:
        peer.otherwise = relayed(_venue(kind))
        code, out, err = _ended(capsys, "probe", kind, "--url", peer.url(""))

    assert (0, "") == (code, err)
    assert f"{kind}: its answers have the expected shape" in out
    assert "Home Town - Away United" in out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (respond(b"<html>"), "not the expected shape"),
        (respond(status=429), "too many requests"),
        (respond(status=403), "refused: status was 403"),
    ],
)
@pytest.mark.parametrize("kind", ["football_data", "polymarket", "azuro"])
def test_another_answer_is_exit_code_1(
    kind: str, answer: Answer, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a line that says what it may mean."""
    with http_peer() as peer:
        peer.otherwise = answer
        code, out, err = _ended(capsys, "probe", kind, "--url", peer.url("/fixtures.csv"))

    assert (1, "") == (code, err)
    assert said in out


def test_no_answer_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Such as without a network."""
    code, out, err = _ended(capsys, "probe", "azuro", "--url", "http://no-such-host.invalid")
    (line,) = out.splitlines()

    assert (1, "") == (code, err)
    assert "1. games: no answer: ConnectError" in line


def test_a_kind_that_is_not_asked_is_exit_code_78(capsys: pytest.CaptureFixture[str]) -> None:
    """Its line says what to do instead."""
    code, out, err = _ended(capsys, "probe", "program")

    assert (78, "") == (code, out)
    assert "program is not probed: check-program runs a program" in err
