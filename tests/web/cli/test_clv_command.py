"""`oddsboard clv`: the documented example, with an archive and with a service, and refused input."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from functools import partial
from io import StringIO
from pathlib import Path
from statistics import stdev

import pytest
from anyio import to_thread

from actors.core.messages import Match
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import match
from tests.support.documents import blocks, document, section
from tests.support.oracles.spreadsheet import fair_shares
from tests.support.systems.process import Ended
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import WALL_0
from web.cli.clv_report import Added

pytestmark = pytest.mark.anyio
START = int(WALL_0) + 5_600  # 2026-05-28T22:00:00Z
LEAGUE = "Ostland - First Division"
LONG_S = 100_000.0
LINE = parsed("over_under:2.5")
PRICES = {"alder": (2.0, 3.4, 3.9), "birch": (1.95, 3.5, 4.0), "cedar": (2.05, 3.4, 3.8)}
DOCUMENTED = section(document("docs/archive.md"), "## What your own bets were worth")
EXAMPLE = blocks(DOCUMENTED)
(BETS,) = [block.lines for block in EXAMPLE if block.language == "csv"]
(SHOWN,) = [block.lines for block in EXAMPLE if block.language == "text"]
CALL = next(line for block in EXAMPLE if block.language == "sh" for line in block.lines)


@pytest.fixture
def ran(ended: Ended) -> Ended:
    """Return a function that runs the command and returns its exit code, output and errors."""
    return partial(ended, "clv")


def _match(match_id: str, home: str, away: str, league: str, odds: tuple[float, ...]) -> Match:
    return match(match_id, home=home, away=away, league=league, start_time=START, prices=odds)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """Return a service with started matches: one has a market of goals, and two have the same teams."""
    async with open_site(archived=tmp_path / "archive", kinds=[Kind.OVER_UNDER]) as opened:
        for name, odds in PRICES.items():
            derby = _match("m1", "Unión Calavares", "Grandrive", LEAGUE, odds)
            cups = [
                _match(f"m{number}", "Ardelsbach", "Almemora", league, odds)
                for number, league in ((2, LEAGUE), (3, "Ostland - Cup"))
            ]
            goals = derby.of_market(LINE, (1.9, 1.95))
            opened.publish(name, derby, goals, *cups, stale_after_s=LONG_S)
        opened.clock.pass_(6_000)
        opened.publish("alder", stale_after_s=LONG_S)
        yield opened


@pytest.fixture
def formulas(tmp_path: Path) -> Path:
    """Return a file with a bet whose cells begin with the characters of formulas."""
    file = tmp_path / "formulas.csv"
    file.write_text(
        "time;match;outcome;odds;=1+1;profit;note\n"
        "1780000000;Unión Calavares - Grandrive;1;2,2;@SUM(A1);-10.50;+a\n",
        "utf-8",
    )
    return file


@pytest.fixture
def bets(tmp_path: Path) -> Path:
    """Return the file of bets from the document."""
    file = tmp_path / "bets.csv"
    file.write_text("\n".join(BETS) + "\n", "utf-8")
    return file


def _rows(out: str) -> list[dict[str, str]]:
    return [*csv.DictReader(StringIO(out, newline=""))]


async def test_the_documented_example_is_what_is_printed(
    site: Site, bets: Path, tmp_path: Path, ran: Ended
) -> None:
    """The documented call, run in the folder of the test, gives the documented rows, summary and code."""
    valued = tmp_path / "valued.csv"
    real = {"bets.csv": str(bets), "DIR": str(tmp_path / "archive"), "valued.csv": str(valued)}
    program, command, *arguments = CALL.split()
    code, out, err = await to_thread.run_sync(lambda: ran(*(real.get(it, it) for it in arguments)))
    rows, given = _rows(valued.read_text("utf-8")), _rows("\n".join(BETS))
    closing = (await site.json(f"/api/v2/closing?to={START + 1}"))["fixtures"]
    fair = next(of["fair"] for of in closing if of["home"] == "Unión Calavares")

    assert (".venv/bin/oddsboard", "clv") == (program, command)
    assert [*SHOWN] == err.replace(str(bets), "bets.csv").splitlines()
    assert (65, "") == (code, out)
    assert given == [{name: row[name] for name in given[0]} for row in rows]
    assert [*rows[0]] == [*given[0], *Added.__struct_fields__]
    assert {*Added.__struct_fields__} == {*re.findall("`(clv[a-z_]*)`", DOCUMENTED)}
    assert (fair["1"], round(fair["1"] * 2.2 - 1, 6)) == (float(rows[0]["clv_fair"]), float(rows[0]["clv"]))
    assert ("likely", "same_names", "2.0", "yes", "sure") == tuple(
        rows[0][f"clv_{name}"] for name in ("link", "rule", "close", "on_offer", "close_link")
    )
    assert ["2026-05-28T22:00:00Z"] * 2 == [rows[0]["clv_kick_off"], rows[0]["clv_closed_at"]]
    assert [row["clv_reason"] for row in rows] == [
        *("", "", "", "no_close_on_this_line", "ambiguous", "after_kick_off", "no_fixture", "unreadable")
    ]
    assert [bool(row["clv"]) for row in rows] == [not row["clv_reason"] for row in rows]


async def test_values_are_those_of_a_spreadsheet(
    site: Site, bets: Path, tmp_path: Path, ran: Ended
) -> None:
    """The test computes the fair probabilities, their products with the odds, the mean and its error."""
    del site
    about = "--archive", tmp_path / "archive", "--method", "multiplicative"
    _, out, err = await to_thread.run_sync(lambda: ran(bets, *about))
    judged = [row for row in _rows(out) if row["clv"]]
    home, draw, _ = fair_shares([*PRICES.values()])
    over, _ = fair_shares([(1.9, 1.95)] * 3)
    values = [fair * Decimal(row["odds"]) - 1 for fair, row in zip((home, draw, over), judged, strict=True)]
    mean, error = sum(values) / 3, stdev(values) / Decimal(3).sqrt()

    assert [f"{fair:.6f}" for fair in (home, draw, over)] == [
        f"{float(row['clv_fair']):.6f}" for row in judged
    ]
    assert [float(value) for value in values] == pytest.approx(
        [float(row["clv"]) for row in judged], abs=2e-6
    )
    assert f"{'all':<34}{3:>6}{mean:>+10.2%}{error:>9.2%}" in err.splitlines()


async def test_a_service_says_the_same_as_its_archive(
    site: Site, bets: Path, tmp_path: Path, ran: Ended
) -> None:
    """Each bet has the same result, also as JSON, and the summary of the JSON is the printed summary."""
    of_archive = await to_thread.run_sync(lambda: ran(bets, "--archive", tmp_path / "archive", "--json"))
    of_service = await to_thread.run_sync(lambda: ran(bets, "--url", site.base, "--json"))
    told = json.loads(of_service[1])

    assert of_archive == of_service
    assert (8, 3, 3) == tuple(told["summary"][name] for name in ("bets", "judged", "likely"))
    first = told["bets"][0]
    assert (2, "1", None) == (first["row"], first["cells"][4], first["added"]["clv_reason"])


async def test_a_service_without_an_archive_has_no_closes(empty_site: Site, bets: Path, ran: Ended) -> None:
    """The exit code is the same as for a service that does not answer."""
    code, out, err = await to_thread.run_sync(lambda: ran(bets, "--url", empty_site.base))

    assert (69, "") == (code, out)
    assert "/api/v2/closing" in err


async def test_cells_are_no_formulas(site: Site, formulas: Path, tmp_path: Path, ran: Ended) -> None:
    """Cells and column names of the user's file are no formulas; numbers and the separator stay."""
    del site
    code, out, _ = await to_thread.run_sync(lambda: ran(formulas, "--archive", tmp_path / "archive"))
    head, row = out.splitlines()

    assert 0 == code
    assert head.startswith("time;match;outcome;odds;'=1+1;profit;note;clv;clv_reason;")
    assert "2,2;'@SUM(A1);-10.50;'+a;0.06314" in row


async def test_of_many_rows_that_cannot_be_read_the_first_are_told(
    site: Site, tmp_path: Path, ran: Ended
) -> None:
    """The errors of 20 rows are printed, and then the number of the other rows."""
    del site
    file = tmp_path / "wrong.csv"
    file.write_text("\n".join([BETS[0], *["never,,,,,,,"] * 23]), "utf-8")
    code, _, err = await to_thread.run_sync(lambda: ran(file, "--archive", tmp_path / "archive"))

    assert (65, 20) == (code, err.count("row "))
    assert "\n3 more rows cannot be read" in err.replace("oddsboard: ", "")


def test_what_cannot_be_used_is_refused(bets: Path, tmp_path: Path, ran: Ended) -> None:
    """A file without bets, a folder that is no archive, and the file of bets as the output are refused."""
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    none = ran(tmp_path / "none.csv", "--archive", tmp_path)
    nothing = ran(empty, "--archive", tmp_path)
    no_archive = ran(bets, "--archive", tmp_path)
    itself = ran(bets, "--archive", tmp_path, "--out", bets, "--force")

    assert [(65, ""), (65, ""), (78, ""), (78, "")] == [
        it[:2] for it in (none, nothing, no_archive, itself)
    ]
    assert f"oddsboard: {tmp_path}/none.csv: cannot be read: No such file or directory\n" == none[2]
    assert f"oddsboard: {empty}: is empty, must have a head with the names of the columns\n" == nothing[2]
    assert f"oddsboard: {tmp_path}: is not the folder of an archive, or has no day\n" == no_archive[2]
    assert "the file of the bets itself" in itself[2]
