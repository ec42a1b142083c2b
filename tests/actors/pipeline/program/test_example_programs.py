"""The example programs of config/programs, as the source of a board."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from actors.board.chunks import entries_of
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.sources.program.lists import Lists
from actors.transports.process import running
from tests.support.builders.programs import WITH_MARKETS
from tests.support.peers.http import http_peer, respond
from tests.support.source_code import ROOT
from tests.support.systems.program_stage import MINE, staged

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

PROGRAMS = ROOT / "config" / "programs"
HEADER = "match,home,away,league,start,one,draw,two\n"
OLD_S = 1_700_000_000


async def test_a_csv_file_is_shown_while_it_is_new(tmp_path: Path) -> None:
    """The rows are the list, a new file replaces them, and an old file withdraws them with a reason."""
    file, new = tmp_path / "prices.csv", tmp_path / "prices.new"
    file.write_text(f"{HEADER}7,Leeds,Hull,,2099-12-22T15:00:00Z,2.1,3.4,3.6\n", "utf-8")
    command = (sys.executable, str(PROGRAMS / "csv_file.py"), str(file))
    async with staged(tmp_path, "", command=command) as stage:
        await stage.until(lambda: stage.shown() == {"7": 2.1})
        new.write_text(f"{HEADER}8,Leeds,Hull,,2099-12-22T15:00:00Z,2.2,3.4,3.6\n", "utf-8")
        new.rename(file)
        await stage.until(lambda: stage.shown() == {"8": 2.2})
        os.utime(file, (OLD_S, OLD_S))
        await stage.until(lambda: stage.shown() == {})
        await stage.until(lambda: stage.status.last_error is not None)
        error = stage.status.last_error

    old = "it is as of 2023-11-14T22:13:20Z, longer ago than stale_after_s (30 s)"
    assert (0, f"list file is withdrawn: {old}") == (stage.status.failures_total, error)


async def test_a_csv_file_counts_from_when_it_was_written(tmp_path: Path) -> None:
    """However often the program reads the file, the age of the file is the age of its prices."""
    file = tmp_path / "prices.csv"
    file.write_text(f"{HEADER}7,Leeds,Hull,,,2.1,3.4,3.6\n", "utf-8")
    command = (sys.executable, str(PROGRAMS / "csv_file.py"), str(file))
    async with staged(tmp_path, "", command=command, stale_after_s=900.0) as stage:
        written = stage.clock.now().wall - 600
        os.utime(file, (written, written))
        await stage.until(lambda: stage.shown() == {"7": 2.1})
        said = stage.status.payloads.number
        await stage.until(lambda: stage.status.payloads.number > said + 1)
        (state,) = stage.published.current().books[MINE].lists.values()
        now = stage.clock.now()
        age_s = now.mono - state.confirmed_mono
        (entry,) = entries_of(stage.published.current().books[MINE].chunks)

    assert written == pytest.approx(entry.updated, abs=0.01)
    assert now.wall - written == pytest.approx(age_s, abs=1.0)


async def test_blank_cells_of_a_csv_file_are_left_out(tmp_path: Path) -> None:
    """A match without league and start is shown; the file may be the export of a spreadsheet."""
    file = tmp_path / "prices.csv"
    file.write_text(f"{HEADER}7,Leeds,Hull,,,2.1,3.4,3.6\n8,York,Derby,,,2.1,,3.6\n9,York\n", "utf-8-sig")
    command = (sys.executable, str(PROGRAMS / "csv_file.py"), str(file))
    async with staged(tmp_path, "", command=command) as stage:
        await stage.until(lambda: stage.shown() == {"7": 2.1})

    assert 0 == stage.status.failures_total


async def test_a_csv_file_may_have_other_markets(tmp_path: Path) -> None:
    """Each market has its own columns; a row needs no 1X2, and a blank cell rejects only its market."""
    file, rejected = tmp_path / "prices.csv", list[str]()
    file.write_text(
        f"{HEADER.strip()},btts yes,btts no,over_under:2.5 over,over_under:2.5 under\n"
        "7,Leeds,Hull,,,2.1,3.4,3.6,1.8,2,1.9,1.95\n8,York,Derby,,,,,,1.7,2.1,1.9,\n",
        "utf-8",
    )
    command = (sys.executable, str(PROGRAMS / "csv_file.py"), str(file))
    lists = Lists(WITH_MARKETS, lambda _, it: rejected.append(f"{it.match_id} {it.reason}"))
    async with running(command, {}) as program:
        now = Instant(0.0, file.stat().st_mtime)
        run_now(lists.receive(await program.receive(), now))
    (image,) = lists.images()

    assert {
        "7": (2.1, 3.4, 3.6),
        "7 btts": (1.8, 2.0),
        "7 over_under:2.5": (1.9, 1.95),
        "8 btts": (1.7, 2.1),
    } == {match.source_match_id: match.prices for match in image.extract.matches}
    assert ["8 over_under:2.5 incomplete"] == rejected


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")
async def test_a_json_feed_is_polled(tmp_path: Path) -> None:
    """The events of the feed are the list; an answer that is an error changes nothing."""
    event = {"id": 7, "teams": ["Leeds", "Hull"], "kickoff": "2099-12-22T15:00:00Z"}
    prices = {"1": 2.1, "X": 3.4, "2": 3.6}
    with http_peer() as peer:
        peer.answers["/feed"] = respond(json.dumps({"events": [{**event, "prices": prices}]}).encode())
        command = ("/bin/sh", str(PROGRAMS / "json_feed.sh"), peer.url("/feed"), "0.1")
        environment = {"PATH": os.defpath, "FOLDER": str(tmp_path)}
        async with staged(tmp_path, "", command=command, environment=environment) as stage:
            await stage.until(lambda: stage.shown() == {"7": 2.1})
            del peer.answers["/feed"]
            asked = len(peer.asked)
            await stage.until(lambda: len(peer.asked) > asked + 2)

            assert ({"7": 2.1}, 0) == (stage.shown(), stage.status.failures_total)
