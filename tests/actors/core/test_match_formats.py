"""A match in each format: a match with all fields, and a match with the fewest fields."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from actors.archive.export import Chosen, rows
from actors.board.snapshot import Chunk, Entry
from actors.cluster.store import CollectorId
from actors.cluster.wire.records import (
    BookRecord,
    Record,
    chunk_bytes,
    chunk_of,
    decoded,
    encoded,
    entry_of,
    wire_entry,
)
from actors.core.messages import BookmakerId, Match, Scope, SourceMatchId
from actors.core.validation import Bounds, cleaned
from actors.service.trials.listing import match_line
from actors.sources.program.markets import Rejected
from actors.sources.program.wire import read_item
from tests.support.archive.kept import ALDER, kept
from tests.support.time.virtual import ManualClock
from web.encoding.schemas import match_v1, match_v2

WHOLE = Match(
    *(SourceMatchId("m1"), "Leeds", "Hull", "Premier League", 2.1, 3.4, 3.65, 1_780_086_400),
    *(1_780_000_000.25, 1_780_090_000, True, 0.03, 250.5, "https://x.example/m1"),
)
BARE = Match(SourceMatchId("m2"), "Derby", "Qpr", None, 1.5, 4.0, 7.123456, None)
SCOPE = Scope("epl")
ENTRIES = {
    match: Entry(f"alder_{match.source_match_id}", SCOPE, match, 1_780_000_000.5, 1_780_000_001.125)
    for match in (WHOLE, BARE)
}
WIRE_WHOLE = (
    b"\xdc\x00\x11\xa3epl\xcbA\xda\x86)@ \x00\x00\xcbA\xda\x86)@H\x00\x00\xa2m1\xa5Leeds\xa4Hull"
    b"\xaePremier League\xcb@\x00\xcc\xcc\xcc\xcc\xcc\xcd\xcb@\x0b333333\xcb@\r333333\xcej\x19\xf6\x80"
    b"\xcbA\xda\x86)@\x10\x00\x00\xcej\x1a\x04\x90\xc3\xcb?\x9e\xb8Q\xeb\x85\x1e\xb8"
    b"\xcb@oP\x00\x00\x00\x00\x00\xb4https://x.example/m1"
)
WIRE_BARE = (
    b"\xdc\x00\x11\xa3epl\xcbA\xda\x86)@ \x00\x00\xcbA\xda\x86)@H\x00\x00\xa2m2\xa5Derby\xa3Qpr\xc0"
    b"\xcb?\xf8\x00\x00\x00\x00\x00\x00\xcb@\x10\x00\x00\x00\x00\x00\x00\xcb@\x1c~k?\xe9\xfa\xdb"
    b"\xc0\xc0\xc0\xc0\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xc0\xc0"
)


@pytest.mark.parametrize(("match", "wire"), [(WHOLE, WIRE_WHOLE), (BARE, WIRE_BARE)])
def test_an_entry_travels_as_an_array_of_its_fields(match: Match, wire: bytes) -> None:
    """In records and checkpoints an entry is its scope, its times and the fields of its match, in order."""
    entry, alder, collector = ENTRIES[match], BookmakerId("alder"), CollectorId("a")
    chunk = Chunk.of([match.source_match_id], [entry])
    record = Record(collector, {alder: BookRecord((wire_entry(entry),))}, at=1.5)
    data = encoded(record)

    assert wire == msgspec.msgpack.encode(wire_entry(entry))
    assert b"\x91" + wire == chunk_bytes(chunk)
    assert chunk.entries == chunk_of(alder, b"\x91" + wire).entries
    assert (
        b"\x97\xa1a\x81\xa5alder\x93\x91" + wire + b"\x90\x80\xc2\xc0\xcb?\xf8" + bytes(6) + b"\xc0\xc0"
        == data
    )
    found = decoded(data)
    assert (collector, 1.5) == (found.collector, found.at)
    assert [entry] == [entry_of(alder, travelled) for travelled in found.books[alder].entries]


@pytest.mark.parametrize("at", range(17))
def test_a_field_of_another_type_does_not_travel(at: int) -> None:
    """An entry with a value of another type in any field is refused."""
    values = msgspec.msgpack.decode(b"\x91" + WIRE_WHOLE)
    values[0][at] = [1]

    with pytest.raises(msgspec.ValidationError):
        chunk_of(BookmakerId("alder"), msgspec.msgpack.encode(values))


def test_lists_have_these_fields() -> None:
    """Version 1 and version 2 of the list have exactly these fields."""
    assert [
        (
            b'{"id":"alder_m1","bookmaker":"Alder","home":"Leeds","away":"Hull","league":"Premier League",'
            b'"odds":[2.1,3.4,3.65],"start_time":1780086400,"updated":1780000000.5}'
        ),
        (
            b'{"id":"alder_m2","bookmaker":"Alder","home":"Derby","away":"Qpr","league":"",'
            b'"odds":[1.5,4.0,7.123456],"start_time":0,"updated":1780000000.5}'
        ),
    ] == [msgspec.json.encode(match_v1(entry, "Alder")) for entry in ENTRIES.values()]
    assert [
        (
            b'{"id":"alder_m1","sport":"football","bookmaker":"Alder","home":"Leeds","away":"Hull",'
            b'"league":"Premier League","odds":{"1":2.1,"X":3.4,"2":3.65},"start_time":1780086400,'
            b'"updated":1780000000.5}'
        ),
        (
            b'{"id":"alder_m2","sport":"football","bookmaker":"Alder","home":"Derby","away":"Qpr",'
            b'"league":"Unknown","odds":{"1":1.5,"X":4.0,"2":7.123456},"start_time":null,'
            b'"updated":1780000000.5}'
        ),
    ] == [msgspec.json.encode(match_v2(entry, "Alder")) for entry in ENTRIES.values()]


def test_a_day_has_these_rows(tmp_path: Path) -> None:
    """Names are a listing, exact prices are thousandths, and only one hidden field is stored."""
    with kept(tmp_path, ManualClock()) as life:
        life.clock.pass_(1)
        life.board.put(ALDER, WHOLE, BARE, stale_after_s=60.0)
        life.write(2)
        chosen = Chosen(0, 2**60, ALDER)
        exported = [row for row in rows(life.archive.folder, chosen, lambda _: None) if row["id"]]
    with sqlite3.connect(next(tmp_path.glob("*.db"))) as day:
        changes = day.execute("SELECT home, draw, away, updated, source FROM changes").fetchall()
        listings = day.execute("SELECT home, away, league, start_time FROM listings").fetchall()
    day.close()

    assert [(2100, 3400, 3650, -750, 0), (1500, 4000, 7.123456, 0, None)] == changes
    assert [("Leeds", "Hull", "Premier League", 1_780_086_400), ("Derby", "Qpr", None, None)] == listings
    assert [
        *(
            (
                1_780_000_001.0,
                "change",
                "alder",
                "alder_m1",
                "Leeds",
                "Hull",
                "Premier League",
                1_780_086_400,
            ),
        ),
        *((1_780_000_001.0, "change", "alder", "alder_m2", "Derby", "Qpr", None, None),),
    ] == [tuple(row.values())[1:9] for row in exported]
    assert [
        (2.1, 3.4, 3.65, 1_780_000_000.25, 1_780_000_000.25, None),
        (1.5, 4.0, 7.123456, 1_780_000_001.0, None, None),
    ] == [tuple(row.values())[9:] for row in exported]


def test_a_program_says_these_fields() -> None:
    """A program's line becomes a match, or a rejection that says what is wrong."""
    line = (
        b'{"match":"m1","home":"Leeds","away":"Hull","league":"Premier League","odds":{"one":"2.1",'
        b'"draw":3.4,"two":3.65},"start":"2026-05-29T20:26:40Z","updated":"2026-05-28T20:26:40.25Z"}'
    )
    (cheap,) = read_item(line.replace(b"3.65", b"365"), Bounds()).records
    (low,) = read_item(line.replace(b"3.65", b"1.0"), Bounds()).records

    assert isinstance(cheap, Rejected)
    assert isinstance(low, Rejected)
    assert (Match(*msgspec.structs.astuple(WHOLE)[:9]),) == read_item(line, Bounds()).records
    assert "book_sum: the sum of 1/price is 0.773, must be 0.95 to 1.4" == f"{cheap.reason}: {cheap.why}"
    assert "price: the odds are 2.1, 3.4, 1, must be above 1" == f"{low.reason}: {low.why}"


def test_a_match_is_a_line_of_the_command_line() -> None:
    """The line has the match's id, teams, league, kick-off and prices."""
    assert [
        "m1: Leeds - Hull, Premier League, 2026-05-29T20:26:40Z: 2.1 3.4 3.65",
        "m2: Derby - Qpr, no league, no start: 1.5 4 7.12346",
    ] == [match_line(WHOLE), match_line(BARE)]


def test_cleaning_leaves_all_other_fields() -> None:
    """A clean match stays the same object; in other matches only fields that cannot be shown change."""
    unclean = msgspec.structs.replace(WHOLE, home="Leeds\n", league="Unknown", url="http://x.example/")

    assert [WHOLE, BARE] == [cleaned(WHOLE), cleaned(BARE)]
    assert cleaned(WHOLE) is WHOLE
    assert msgspec.structs.replace(WHOLE, league=None, url=None) == cleaned(unclean)
