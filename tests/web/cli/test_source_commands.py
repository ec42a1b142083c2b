"""Commands about sources and recordings: `probe`, `record`, `replay` and `inspect`."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.builders.recorded import header, received, write
from tests.support.peers.http import http_peer, respond
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.venues import relayed
from tests.support.systems.process import Ended


def test_a_venue_that_answers_as_expected_is_0(ended: Ended) -> None:
    """The address of the option replaces all addresses of the venue."""
    market = Polymarket()
    market.add("101", start=time.time() + 86_400)
    with http_peer() as peer:
        peer.otherwise = relayed(market.answer)
        code, out, err = ended("probe", "polymarket", "--url", peer.url(""))
        peer.otherwise = respond(status=403)
        refused = ended("probe", "polymarket", "--url", peer.url(""))

    assert (0, "") == (code, err)
    assert "polymarket: its answers have the expected shape" in out
    assert (1, "", True) == (refused[0], refused[2], "refused: status was 403" in refused[1])


def test_a_kind_that_is_not_probed_is_78(ended: Ended) -> None:
    """The error says what to do instead of a probe."""
    code, out, err = ended("probe", "program")

    assert (78, "") == (code, out)
    assert "program is not probed: check-program runs a program" in err


NOT_THERE, NO_RECORDING = (
    "none: cannot be read: No such file",
    "some.csv: is not a recording that can be read",
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("replay {folder}/none", NOT_THERE),
        ("replay {folder}", "has no recording, must have files named SOURCE.rec.zst"),
        ("replay {folder}/some.csv", f"{NO_RECORDING}: its content is"),
        ("inspect {folder}/none", NOT_THERE),
        ("inspect {folder}", "cannot be read: Is a directory"),
        ("inspect {folder}/some.csv", f"{NO_RECORDING}: its content is"),
        ("record --config {folder}/none --out {folder}", NOT_THERE),
    ],
)
def test_an_unreadable_recording_is_78_and_one_line(
    tmp_path: Path, arguments: str, message: str, ended: Ended
) -> None:
    """The error is one line; it names the file and says what was found."""
    (tmp_path / "some.csv").write_bytes(b"Div,Date\n")

    code, out, err = ended(*arguments.format(folder=tmp_path).split())

    assert (78, "", 1) == (code, out, err.count("\n"))
    assert (True, True) == (err.startswith("oddsboard: "), message in err)


def test_inspect_shows_where_a_file_ends_early(tmp_path: Path, ended: Ended) -> None:
    """Whole payloads are listed, and the last line says that the file is cut."""
    path = write(tmp_path / "feed.rec.zst", header(), received(b"one", 0.0), received(b"", 1.0, status=304))
    path.write_bytes(path.read_bytes()[:-10])

    code, out, err = ended("inspect", path)

    assert (0, "", "1 payloads, 3 bytes; cut") == (code, err, out.splitlines()[-1])
    assert "2026-05-28T20:26:40.000Z f.csv 200 3 bytes, list " in out
