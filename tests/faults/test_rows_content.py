"""Rows of docs/faults.md, B, that no other test shows: answers that are no lists, or hold bad values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from random import Random

import anyio
import pytest
from structlog.testing import capture_logs

from tests.support.builders.football_data import Odds, sheet
from tests.support.builders.the_odds_api import API_KEY
from tests.support.peers.web import serving
from tests.support.systems.virtual_service import (
    KEY,
    ScriptedService,
    events,
    offered,
    pass_to,
    running,
    until,
)
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
FORMATS = {"csv": "", "json": API_KEY}
"""The key of the API by format: without one the sources are files."""
NEW: Odds = (2.1, 3.2, 3.7)
HTML = b"<!doctype html><title>Maintenance</title><p>Div,Date,B365H,B365D,B365A</p>"


def _no_lists() -> dict[str, dict[str, bytes]]:
    """Return bodies by format and name that are no lists: B1, B2, B18."""
    body = json.dumps(offered("m1", prices=NEW)).encode()
    pages = {"page": HTML, "page of cells": HTML.replace(b"<p>", b"\nDiv,Date\n"), "script": b"<script>[]"}
    nothing = {"nothing": b"", "a line end": b"\r\n", "blanks": b"   "}
    objects = {
        "the list": b'{"matches": [%b]}' % body,
        "its only match": body,
        "by number": b'{"0": %b}' % body,
    }
    return {"csv": pages | nothing, "json": pages | nothing | objects}


@pytest.mark.parametrize("form", FORMATS)
async def test_b2_a_body_that_is_no_list(form: str, figure: Figure) -> None:
    """A page, nothing, or an object is rejected whole: the list stays, with one log line."""
    polls, bodies = 0, _no_lists()[form]
    service = ScriptedService("alder", api_key=FORMATS[form], stale_after_s=3600.0)
    web, source = service.webs["alder"], service.source("alder")
    with capture_logs() as logs:
        async with running(service):
            await pass_to(anyio.current_time() + 15)
            version, good, lines = service.snapshot.version, web.answer, len(logs)
            for name, body in bodies.items():
                web.answer = serving(body)
                await pass_to(anyio.current_time() + 120)
                assert (True, 1) == (source.is_down, source.actor.starts), name
                polls += source.failures
                web.answer = good
                await until(lambda: not source.is_down)
            after, shown = service.snapshot.version, len(service.entries("alder"))

    figure(f"{form}: {len(bodies)} bodies in {polls} polls: version unchanged, 1 log line each")
    edges = [line["event"] for line in logs[lines:] if line["event"] != "board.committed"]
    assert ["source.down", "source.recovered"] * len(bodies) == edges
    assert (version, 1) == (after, shown)


# What stands for a price, as JSON and in a cell.
TOKENS: Mapping[str, tuple[str, str]] = {
    "NaN": ("NaN", "nan"),
    "infinity": ("Infinity", "inf"),
    "1e400": ("1e400", "1e400"),
    "1e308": ("1e308", "1e308"),
    "text": ('"nan"', '"nan"'),
    "decimal comma": ('"2,50"', '"2,50"'),
    "0": ("0", "0"),
    "1.0": ("1.0", "1.0"),
    "0.99": ("0.99", "0.99"),
    "-2": ("-2", "-2"),
    "true": ("true", "true"),
    "null": ("null", "null"),
}
NO_JSON = {"NaN", "infinity"}
"""With these the body as a whole is no JSON: it is rejected, and the list before it stays."""


def _bad_list(form: str, size: int, token: str, at: int, random: Random) -> bytes:
    """Return a list with good prices but for the favourite's of one match: 1.0 would fit its book sum."""
    good = [(random.uniform(1.15, 1.19), 9.0, 17.0) for _ in range(size)]
    written = [[f"{price:.4f}" for price in odds] for odds in good]
    written[at][0] = TOKENS[token][form == "csv"]
    if form == "json":
        named = json.dumps(offered("ID", prices=(0, 1, 2)))
        for place in range(3):
            named = named.replace(f'"price": {place}', f'"price": P{place}')
        rows = [
            named.replace("ID", f"m{number}").replace("P0", name).replace("P1", two).replace("P2", three)
            for number, (name, two, three) in enumerate(written)
        ]
        return f"[{','.join(rows)}]".encode()
    lines = sheet(KEY, *good).decode().splitlines()
    rows = [
        ",".join([*line.split(",")[:5], *cells]) for line, cells in zip(lines[1:], written, strict=True)
    ]
    return "\n".join([lines[0], *rows, ""]).encode()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("prices", [10_000, pytest.param(200_000, marks=pytest.mark.long)])
async def test_b3_no_impossible_price_is_served(
    form: str, prices: int, figure: Figure, *, is_whole: bool
) -> None:
    """The match with such a price is taken off and counted; where nothing can be read, the list stays.

    With `--whole` for five times as many prices.
    """
    prices *= 5 if is_whole else 1
    random, size, served, taken_off = Random(3), max(prices // 120, 20), 0, 0
    service = ScriptedService("alder", api_key=FORMATS[form], stale_after_s=1e6)
    async with running(service):
        await pass_to(anyio.current_time() + 5)
        while served < prices / 2:
            for token in TOKENS:
                before, at = service.rejected("alder").total(), random.randrange(size)
                await service.polled("alder", _bad_list(form, size, token, at, random))
                found = await service.shown("alder")
                gone = service.rejected("alder").total() - before
                if form == "csv" or token not in NO_JSON:
                    assert (size - 1, True) == (len(found), gone > 0), (form, token)
                numbers = [price for entry in found for price in entry["odds"].values()]
                assert all(type(number) is float and 1.0 < number < 1e6 for number in numbers), (
                    form,
                    token,
                )
                served, taken_off = served + len(numbers), taken_off + gone

    count = len(TOKENS)
    figure(
        f"{served:,} prices served, none impossible; {taken_off} matches taken off, {count} values tried"
    )
    assert taken_off > 0


async def test_b14_a_clock_an_hour_wrong(figure: Figure) -> None:
    """A source's clock may be wrong, and jump: each update is shown as soon as it is polled."""
    random, seen, updates = Random(14), 0, 0
    for api_key in FORMATS.values():
        service = ScriptedService("alder", api_key=api_key)
        async with running(service):
            for _ in range(30):
                off_s = random.choice((-3600.0, 3600.0, 0.0))
                says = datetime.fromtimestamp(service.clock.now().wall + off_s, UTC)
                price = round(random.uniform(1.8, 2.4), 2)
                stamped = says.strftime("%Y-%m-%dT%H:%M:%SZ")
                body = (
                    events(offered("m1", prices=(price, 3.4, 3.6))).replace(
                        b"2026-05-28T20:20:00Z", stamped.encode()
                    )
                    if api_key
                    else sheet(KEY, (price, 3.4, 3.6))
                )
                http_date = format_datetime(says, usegmt=True)
                service.webs["alder"].answer = serving(
                    body, headers={"Date": http_date, "Last-Modified": http_date}
                )
                await service.webs["alder"].reached()
                await settle()
                (entry,) = service.entries("alder")
                assert entry.updated <= service.clock.now().wall
                seen, updates = seen + (entry.match.home_price == price), updates + 1

    figure(f"{seen} of {updates} updates visible at once, with the clock an hour ahead, behind or right")
    assert updates == seen
