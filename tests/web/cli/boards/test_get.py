"""`oddsboard get`: lists as tables, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import httpx2
import msgspec
import pytest

from actors.core.errors import ConfigError
from tests.support.builders.client_lists import fixture
from tests.support.systems.process import ROOT
from web import client as c
from web.cli.boards import get
from web.cli.main import _parser
from web.client.values import Capabilities, FixtureList, Linking

FORMULA = '=HYPERLINK("http://evil.example")'
OF = {
    "/api/v2/fixtures": ("bookmaker", "market", "league", "from", "to"),
    "/api/v2/closing": ("from",),
    "/api/v2/value": ("min_ev",),
}


def _client(bodies: dict[str, list[Any]]) -> c.Client:
    """Return a client of a service that gives these answers, by path."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/capabilities":
            known = Capabilities(endpoints=tuple(OF), filters=OF, supported_bookmakers=(), version="2.9")
            return httpx2.Response(200, content=msgspec.json.encode(known))
        return httpx2.Response(200, content=msgspec.json.encode(bodies[request.url.path].pop(0)))

    return c.Client("http://board", transport=httpx2.MockTransport(answer), sleep=lambda _: None)


def _listed(*fixtures: Any) -> FixtureList:
    count = len(fixtures)
    return FixtureList(
        version=7, fixtures=fixtures, fixtures_count=count, linking=Linking(pending=0), cursor="7-e"
    )


def test_csv_is_harmless_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that a spreadsheet would read as a formula is text; times are ISO 8601, prices are numbers."""
    with _client({"/api/v2/fixtures": [_listed(fixture(home=FORMULA))]}) as service:
        get._print("csv", c.fixtures(), service)
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))

    assert (f"'{FORMULA}", "2026-05-29T20:26:40Z", "2.0", "Alder") == (
        *(row["home"], row["start_time"]),
        *(row["1"], row["1 at"]),
    )


def test_a_value_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    """The row's id is the id of the fixture, as in other tables; `confirmed` is the time of the price."""
    examples = json.loads((ROOT / "web" / "endpoints" / "examples.json").read_text("utf-8"))
    body = examples["answers"]["/api/v2/value 200"]
    with _client({"/api/v2/value": [body]}) as service:
        get._print("csv", c.value(min_ev=0.02), service)
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    (of,) = body["values"]

    assert [of["fixture"], of["id"], str(of["ev"]), "2026-05-28T20:26:40Z", "Alder, Cedar, Dogwood"] == [
        row[name] for name in ("id", "entry", "ev", "confirmed", "reference")
    ]


def test_a_table_obeys_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the markup nor the control characters of a name have an effect on the terminal."""
    with _client({"/api/v2/fixtures": [_listed(fixture(home="[red]\x1b[2J"))]}) as service:
        get._print("table", c.fixtures(), service)

    assert "[red]?[2J" in capsys.readouterr().out


def test_a_note_of_the_service_is_told_beside_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A note, for example that no match has the league, goes to standard error; the table stays a table."""
    listed = msgspec.structs.replace(_listed(), note="no match has the league 'eng.11'")
    with _client({"/api/v2/fixtures": [listed]}) as service:
        get._print("csv", c.fixtures(league="eng.11"), service)
    told = capsys.readouterr()

    assert ("", "no match has the league 'eng.11'\n") == (told.out.strip(), told.err)


def test_json_is_the_services_own_answer_page_by_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Members that this client does not know are printed as well; each page of closing prices is a line."""
    pages = [{"fixtures": [], "next_from": 100, "new": 1}, {"fixtures": [], "next_from": None, "new": 2}]
    with _client({"/api/v2/closing": [*pages]}) as service:
        get._print("json", c.closing(), service)

    assert pages == [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_option_that_a_list_does_not_take_is_refused() -> None:
    """The service would ignore the option, and the list would not be the list that the user asked for."""
    given = _parser().parse_args(["get", "odds", "--league", "eng.1"])

    with pytest.raises(ConfigError, match="get odds takes no --league, only --bookmaker, --at"):
        given.run(given)
