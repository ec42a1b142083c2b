"""Section B of docs/faults.md, one test a row: answers that are no lists, or hold impossible values."""

from __future__ import annotations

import json
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from actors.board.board import BoardRules
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.validation import MAX_NAME_CHARS, MAX_START_TIME, Bounds, admit, clean_name
from tests.support.builders.betfair import image, live, market
from tests.support.builders.messages import batch
from tests.support.builders.messages import match as a_match
from tests.support.builders.the_odds_api import API_KEY
from tests.support.configured_log import configured
from tests.support.peers.web import serving
from tests.support.systems.feed import Odds, sheet
from tests.support.systems.scripted_service import (
    KEY,
    SOME,
    ScriptedService,
    events,
    listing,
    offered,
    pass_to,
    running,
    until,
)
from tests.support.systems.stream_stage import StreamStage
from tests.support.systems.stream_stage import running as streaming
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
FORMATS = {"csv": "", "json": API_KEY}
"""The key of the API by format: without one the sources are files."""
NEW: Odds = (2.1, 3.2, 3.7)
HTML = b"<!doctype html><title>Maintenance</title><p>Div,Date,B365H,B365D,B365A</p>"
DEPTH = 100_000


async def _rejected_whole(bodies: Mapping[str, Mapping[str, bytes]], figure: Figure) -> None:
    """Serve each of these bodies, by format and name: none may change the board, each is logged once."""
    count = polls = 0
    for form, of_format in bodies.items():
        service = ScriptedService("alder", api_key=FORMATS[form], stale_after_s=3600.0)
        web, source = service.webs["alder"], service.source("alder")
        with capture_logs() as logs:
            async with running(service):
                await pass_to(anyio.current_time() + 15)
                version, good, lines = service.snapshot.version, web.answer, len(logs)
                for name, body in of_format.items():
                    web.answer = serving(body)
                    await pass_to(anyio.current_time() + 120)
                    assert source.is_down, f"{form}: {name} was not rejected"
                    assert 1 == source.actor.starts, f"{form}: {name} crashed"
                    polls += source.failures
                    web.answer = good
                    await until(lambda: not source.is_down)  # noqa: B023 - called at once
                    count += 1
                after, shown = service.snapshot.version, len(service.entries("alder"))
        events_seen = [one["event"] for one in logs[lines:] if one["event"] != "board.committed"]
        assert ["source.down", "source.recovered"] * len(of_format) == events_seen
        assert (version, 1) == (after, shown)

    figure(f"{count} bodies in {polls} polls: version unchanged, 1 log line each")


async def test_b1_html_with_status_200(figure: Figure) -> None:
    """A page is no list, even if it looks a little like one."""
    pages = {"page": HTML, "page of cells": HTML.replace(b"<p>", b"\nDiv,Date\n"), "script": b"<script>[]"}
    await _rejected_whole({"csv": pages, "json": pages}, figure)


async def test_b2_an_empty_body(figure: Figure) -> None:
    """Nothing is no list."""
    nothing = {"nothing": b"", "a line end": b"\r\n", "blanks": b"   "}
    await _rejected_whole({"csv": nothing, "json": nothing}, figure)


async def test_b18_an_array_becomes_an_object(figure: Figure) -> None:
    """The payload is rejected; on a stream, the message and its connection are."""
    one = json.dumps(offered("m1", prices=NEW)).encode()
    objects = {
        "the list": b'{"matches": [%b]}' % one,
        "its only match": one,
        "by number": b'{"0": %b}' % one,
    }
    await _rejected_whole({"json": objects}, figure)
    stage = StreamStage()
    async with streaming(stage):
        version = stage.version
        stage.wire.say({**image(id=None), "mc": {"1.1": market("1.1", NEW)}})
        await settle()

        assert (version, 1) == (stage.version, stage.context.status.failures_total)


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
            named.replace("ID", f"m{number}").replace("P0", one).replace("P1", two).replace("P2", three)
            for number, (one, two, three) in enumerate(written)
        ]
        return f"[{','.join(rows)}]".encode()
    lines = sheet(KEY, *good).decode().splitlines()
    rows = [
        ",".join([*line.split(",")[:5], *cells]) for line, cells in zip(lines[1:], written, strict=True)
    ]
    return "\n".join([lines[0], *rows, ""]).encode()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("prices", [10_000, pytest.param(1_000_000, marks=pytest.mark.long)])
async def test_b3_no_impossible_price_is_served(form: str, prices: int, figure: Figure) -> None:
    """The match with such a price is taken off and counted; where nothing can be read, the list stays."""
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
                numbers = [price for one in found for price in one["odds"].values()]
                assert all(type(one) is float and 1.0 < one < 1e6 for one in numbers), (form, token)
                served, taken_off = served + len(numbers), taken_off + gone

    count = len(TOKENS)
    figure(
        f"{served:,} prices served, none impossible; {taken_off} matches taken off, {count} values tried"
    )
    assert taken_off > 0


BAD_ITEMS: Mapping[str, Any] = {
    "no object": 42,
    "null": None,
    "text": "match",
    "array": [],
    "no id": {key: value for key, value in offered("x").items() if key != "id"},
    "id of another type": {**offered("x"), "id": 7},
    "no team": {**offered("x"), "home_team": None},
    "no prices": offered("x", prices=("2,5", None, True)),
    "kick-off": offered("x", kick_off="2026-02-30T25:61:61Z"),
}


async def test_b6_one_bad_item_among_500(figure: Figure) -> None:
    """499 are shown and one is counted, whatever is wrong with it and wherever it stands."""
    random, exact = Random(6), 0
    rows = [offered(f"m{number}") for number in range(499)]
    service = ScriptedService("alder", api_key=API_KEY)
    async with running(service):
        await pass_to(5)
        for name, bad in BAD_ITEMS.items():
            before, place = service.rejected("alder").total(), random.randrange(500)
            await service.polled("alder", events(*rows[:place], bad, *rows[place:]))
            counted = service.rejected("alder").total() - before
            assert (499, 1) == (len(service.entries("alder")), counted), name
            exact += 1

    figure(f"499 shown and 1 counted in {exact} of {len(BAD_ITEMS)} kinds of bad item")


async def test_b8_the_same_match_twice(figure: Figure) -> None:
    """The last of two wins and is counted; an API that numbers its matches is believed in neither."""
    random, won = Random(8), 0
    head, *rows = sheet(KEY, *[SOME] * 30).decode().splitlines()
    service = ScriptedService("alder")
    async with running(service):
        for number in range(50):
            again = rows[random.randrange(30)]
            last = ",".join([*again.split(",")[:5], *map(str, NEW)])
            order = random.sample(rows, 30)
            order.insert(random.randrange(order.index(again) + 1, 31), last)
            before = service.rejected("alder")["duplicate"]
            await service.polled("alder", "\n".join([head, *order, ""]).encode())
            shown = {one.match.home: one.match.home_price for one in service.entries("alder")}
            assert (30, NEW[0]) == (len(shown), shown[again.split(",")[3]]), number
            won += service.rejected("alder")["duplicate"] - before
    homes = [random.choice((1.0, 2 + at / 100)) for at in range(40)]
    offers = [a_match(f"m{random.randrange(9)}", prices=(home, 3.5, 3.9)) for home in homes]
    admitted = run_now(admit(batch(offers), Bounds()))
    newest = {one.source_match_id: one for one in offers}

    figure(f"the last of two won in {won} of 50 shuffled files, and was counted")
    assert 50 == won
    possible = {name: one for name, one in newest.items() if one.home_price > 1.0}
    assert possible == {one.source_match_id: one for one in admitted.batch.matches}
    assert (31, 9) == (admitted.rejected["duplicate"], len(newest))


async def test_b9_deep_nesting(figure: Figure) -> None:
    """JSON nested 100,000 deep costs at most the answer, also where nobody reads the field."""
    deep = [b"[" * DEPTH, b'{"a":' * DEPTH, b"[" * DEPTH + b"]" * DEPTH]
    skipped = json.dumps(offered("m1")).encode()[:-1] + b', "unread": %b}' % deep[-1]
    bodies = [*deep, events(skipped, offered("m2", prices=NEW)), events(*deep[-1:])]
    service, longest_s = ScriptedService("alder", api_key=API_KEY, stale_after_s=3600.0), 0.0
    async with running(service):
        await pass_to(5)
        for body in bodies:
            began = time.perf_counter()
            await service.polled("alder", body)
            longest_s = max(longest_s, time.perf_counter() - began)
        crashes = sum(actor.crashes for actor in service.system.status.actors.values())
        await service.polled("alder", listing(NEW))
        await until(lambda: len(service.entries("alder")) == 1)
    stage = live(market())
    for body in (*deep, b'{"op": "mcm", "id": 2, "unread": %b, "mc": []}' % deep[-1]):
        began = time.perf_counter()
        with pytest.raises(PayloadError):
            stage.receive(body)
        longest_s = max(longest_s, time.perf_counter() - began)

    figure(f"{len(bodies)} answers and 4 messages, 0 crashes, at most {longest_s * 1e3:.0f} ms each")
    assert 0 == crashes


NAME = "Hänsel 01 Ü"
ENCODINGS: Mapping[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "Windows": lambda text: text.encode("cp1252"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "cut within a character": lambda text: text.encode().replace("ä".encode(), b"\xc3"),
    "overlong": lambda text: text.encode().replace("ä".encode(), b"\xc0\xaf"),
    "surrogates": lambda text: text.encode().replace("ä".encode(), b"\xed\xa0\x80"),
}


async def test_b10_other_encodings(figure: Figure) -> None:
    """An answer is read as its format allows, or rejected: JSON is UTF-8, files may be Windows-1252."""
    read: dict[str, list[str]] = {form: [] for form in FORMATS}
    crashes = 0
    for form, api_key in FORMATS.items():
        text = sheet(KEY, NEW).decode().replace("Home 1", NAME)
        if api_key:
            text = json.dumps([offered("m1", home=NAME, prices=NEW)], ensure_ascii=False)
        service = ScriptedService("alder", api_key=api_key)
        async with running(service):
            for name, encode in ENCODINGS.items():
                await service.polled("alder", listing(SOME) if api_key else sheet(KEY, SOME))
                await until(lambda: not service.source("alder").failures)  # noqa: B023 - called at once
                (old,) = service.entries("alder")
                await service.polled("alder", encode(text))
                (new,) = service.entries("alder")
                if new.match != old.match:
                    read[form].append(name)
                    windows = clean_name(encode(NAME).decode("cp1252", "replace"))
                    assert new.match.home in ({NAME} if api_key else {NAME, windows})
            crashes += sum(actor.crashes for actor in service.system.status.actors.values())

    csv, of_json = len(read["csv"]), ", ".join(read["json"])
    figure(
        f"of {len(ENCODINGS)} encodings CSV read {csv}, JSON {of_json}; others rejected, {crashes} crashes"
    )
    assert (["UTF-8"], 0) == ([one for one in read["json"] if one != "byte order mark"], crashes)
    assert {"UTF-8", "byte order mark", "Windows"} <= set(read["csv"])


HOSTILE = "\0\n\r\t\x1b[31m\x7f\x85\u200b\u200c\u202e\u2066\u2028\ufeff\U000e0001e\u0301ÅA\u030a 足"


def _hostile_names(count: int) -> Iterator[str]:
    random = Random(11)
    yield "A" + "x" * 10_000
    yield "B" + "\u0301" * 10_000
    for number in range(count - 2):
        yield f"N{number} " + "".join(random.choices(HOSTILE, k=random.randrange(1, 200)))


async def test_b11_hostile_names(tmp_path: Path, figure: Figure) -> None:
    """Names are shown without control characters, in NFC, at most 128 characters; logs hold none either."""
    names = list(_hostile_names(400))
    rows = [offered(f"m{at}", home=one, away=f"{one[::-1]} away") for at, one in enumerate(names)]
    for one in rows:
        one["bookmakers"][0]["title"] = names[-1]
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as output, configured(output):
        service = ScriptedService("alder", api_key=API_KEY)
        async with running(service):
            await service.polled("alder", events(*rows))
            answers = [await service.get(path) for path in ("/api/v2/odds", "/monitor", "/health")]
            await service.polled("alder", names[7].encode("utf-8", "replace"))
            await pass_to(60)
            answers += [await service.get(path) for path in ("/monitor", "/health")]
    logged = log.read_text("utf-8").removesuffix("\n").split("\n")

    shown = [
        one[side] for one in msgspec.json.decode(answers[0].body)["matches"] for side in ("home", "away")
    ]
    texts = [
        *_texts([msgspec.json.decode(one.body) for one in answers]),
        *_texts(list(map(json.loads, logged))),
    ]
    figure(f"{len(shown)} names and {len(texts)} texts of answers and logs, 0 control characters")
    assert len(shown) > 600
    assert MAX_NAME_CHARS == max(map(len, shown))
    assert [] == [one for one in shown if unicodedata.normalize("NFC", one) != one or not one.strip()]
    assert [] == [one for one in texts if not _is_clean(one)]
    assert [] == [line for line in logged if not line.isprintable()]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, one in value.items():
                yield from (key, *_texts(one))
        case list():
            for one in value:
                yield from _texts(one)


def _is_clean(text: str) -> bool:
    return not any(
        unicodedata.category(one) in {"Cc", "Cf", "Cs"} for one in text if one not in "\u200c\u200d"
    )


YEARS = (
    "0000",
    "0001",
    "1969",
    "2026",
    "2026",
    "2026",
    "2027",
    "2028",
    "2099",
    "2101",
    "9999",
    "99999",
    "-1",
)
ZONES = ("Z", "Z", "Z", "+00:00", "+01:30", "+25:00", "-24:00", "", "+1", "UTC")


def _time(random: Random) -> Any:
    """Return a kick-off: a plain one, one of which some part is impossible, or a number."""
    pick = random.choice
    day = f"{pick(['00', '01', '06', '12'])}-{pick(['01', '02', '28', '30', '31', '32'])}"
    hour, minute = pick(["00", "12", "23", "24"]), pick(["00", "30", "59", "60"])
    text = f"{pick(YEARS)}-{day}T{hour}:{minute}:{pick(['00', '30', '59', '60'])}{pick(ZONES)}"
    return pick([text] * 27 + [10**27, -1, ""])


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_b12_impossible_numbers_and_times(count: int, figure: Figure) -> None:
    """A match is shown at the time that its list gives, or not at all; a number is no time."""
    random, shown = Random(12), Counter[bool]()
    service = ScriptedService("alder", api_key=API_KEY, rules=BoardRules(1e10))
    async with running(service):
        for _ in range(count // 1000):
            given = {f"m{number}": _time(random) for number in range(1000)}
            rows = [offered(name, kick_off=when) for name, when in given.items()]
            await service.polled("alder", events(*rows))
            found = {str(one.source_match_id): one.match.start_time for one in service.entries("alder")}
            expected = {name: _kick_off(when) for name, when in given.items()}
            assert found == {name: at for name, at in expected.items() if at != 0}
            shown.update(at is not None for at in found.values())
        crashes = sum(actor.crashes for actor in service.system.status.actors.values())

    figure(
        f"{count:,} generated: {shown[True]:,} shown at the time given, {shown[False]:,} with a number"
        f" without a time, {count - shown.total():,} rejected, {crashes} crashes"
    )
    assert (True, 0) == (shown[True] > count / 100, crashes)


def _kick_off(when: Any) -> int | None:
    """Read a kick-off with the standard library: 0 if it is none from 1970 to 2100, None for a number."""
    if not isinstance(when, str):
        return None
    try:
        at = datetime.fromisoformat(when)
        seconds = int(at.timestamp()) if at.tzinfo else 0
    except (ValueError, OverflowError):
        return 0
    return seconds if 0 < seconds <= MAX_START_TIME else 0


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


async def test_b19_book_sums_out_of_bounds(figure: Figure) -> None:
    """Three prices whose book sum is no bookmaker's are rejected and counted."""
    random, bounds, wrong, served, counted = Random(19), Bounds(), 0, 0, 0
    for form, api_key in FORMATS.items():
        given = [tuple(round(random.uniform(1.02, 6.0), 2) for _ in range(3)) for _ in range(400)]
        odds = [(one, two, three) for one, two, three in given]
        fits = [
            bounds.book_sum_min <= sum(1 / price for price in one) <= bounds.book_sum_max for one in odds
        ]
        service = ScriptedService("alder", api_key=api_key)
        async with running(service):
            await pass_to(anyio.current_time() + 5)
            await service.polled("alder", listing(*odds) if api_key else sheet(KEY, *odds))
            shown = [tuple(one["odds"].values()) for one in await service.shown("alder")]
            counted += service.rejected("alder")["book_sum"]
        wrong += fits.count(False)
        assert sorted(one for one, is_fit in zip(odds, fits, strict=True) if is_fit) == sorted(shown), form
        served += sum(one not in odds for one in shown)

    figure(f"0 of {wrong} served, {counted} counted")
    assert wrong == counted > 100
