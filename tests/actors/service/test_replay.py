"""Replays of recordings: the board at each time, which is the same in every replay."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from actors.board.snapshot import Entry, Snapshot
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId, SourceName
from actors.matches.model import fixtures_of
from actors.monitoring.status import BookmakerState
from actors.recordings.format import Recorded, RecordedBookmaker
from actors.recordings.playback import Arrival, Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders.football_data import changed, csv_bytes, sheet
from tests.support.builders.messages import batch, match
from tests.support.builders.recorded import ALDER, BIRCH, SOURCE, header, received, write
from tests.support.systems.front_end import front_end
from tests.support.time.virtual import WALL_0, VirtualClock, settle
from web.feeds.subscribers import Audience

pytestmark = pytest.mark.anyio

FIRST = int(WALL_0 * 1000)
ONE, TWO = sheet("B365", (2.0, 3.5, 4.0)), sheet("B365", (2.1, 3.5, 4.0))
BIRCH_ONE = sheet("BW", (2.0, 3.5, 4.0))
NAME = ALDER.id
Shown = list[tuple[float, int, list[float]]]
"""Second, version relative to the start, and home prices after each moment."""


def _entries(snapshot: Snapshot, bookmaker: BookmakerId = NAME) -> list[Entry]:
    return [entry for chunk in snapshot.books[bookmaker].chunks for entry in chunk.entries]


def _playback(path: Path) -> Playback:
    return Playback(open_sources(path, kind_named))


def _shown(path: Path) -> Shown:
    playback, shown = _playback(path), []
    first = playback.snapshot.version
    for moment in playback.moments():
        run_now(playback.play(moment))
        prices = [entry.match.home_price for entry in _entries(playback.snapshot)]
        shown.append((moment.at.mono, playback.snapshot.version - first, prices))
    return shown


def _recorded(folder: Path, *records: Recorded, bookmakers: Sequence[RecordedBookmaker] = (ALDER,)) -> Path:
    return write(folder / "feed.rec.zst", header(bookmakers=bookmakers), *records)


ENDING = csv_bytes(changed(Date="28/05/2026", Time="21:00"), changed(Date="29/05/2099", AwayTeam="X"))
"""A file with two matches; the kick-off of one match was 1,600 s before the start."""
OF_30_S: dict[str, Any] = {"list_id": "a", "stale_after_s": 30.0}
LONG: dict[str, Any] = {"list_id": "a", "stale_after_s": 1e6}
PLAYED: dict[str, tuple[list[Recorded], Shown]] = {
    "a commit for each payload with a change": (
        [received(ONE, 0.5), received(TWO, 1.5), received(TWO, 2.5, list_id="again"), received(ONE, 3)],
        [(0.5, 1, [2.0]), (1.5, 2, [2.1]), (2.5, 2, [2.1]), (3.0, 3, [2.0])],
    ),
    "a deadline from the time of the request or of a 304, a commit of its own": (
        [
            received(ONE, 10.125, **OF_30_S),
            received(b"", 30.125, status=304, **OF_30_S),
            received(b"", 70.125, status=304, **OF_30_S),
            received(ONE, 80.125, **OF_30_S),
        ],
        [(10.125, 1, [2.0]), (30.125, 1, [2.0]), (60.0, 2, []), (70.125, 2, []), (80.125, 3, [2.0])],
    ),
    "a match that leaves three hours after its kick-off": (
        [received(ENDING, 0.0, **LONG), received(ONE, 20_000.0)],
        [(0.0, 1, [2.1, 2.1]), (9200.0, 2, [2.1]), (20_000.0, 3, [2.0])],
    ),
    "a match that a step of the wall clock ends, with the next payload": (
        [
            received(ENDING, 0.0, **LONG),
            received(b"", 10.0, status=304, wall_s=9500.0, **LONG),
            received(ONE, 20.0, wall_s=-3600.0),
        ],
        [(0.0, 1, [2.1, 2.1]), (10.0, 2, [2.1]), (20.0, 3, [2.0])],
    ),
}


@pytest.mark.parametrize("case", PLAYED)
def test_board_changes_at_these_moments(tmp_path: Path, case: str) -> None:
    """Versions begin at the first receive time in milliseconds."""
    records, expected = PLAYED[case]
    path = _recorded(tmp_path, *records)

    assert FIRST + int(1000 * records[0].received_s) == _playback(path).snapshot.version
    assert expected == [(round(at, 3), version, prices) for at, version, prices in _shown(path)]


def test_epoch_belongs_to_the_recordings(tmp_path: Path) -> None:
    """Every replay of the same recordings has the same epoch, and other recordings have another one."""
    path = _recorded(tmp_path, received(ONE, 0.5), received(TWO, 1.5))
    other = write(tmp_path / "other.rec.zst", header(bookmakers=(ALDER, BIRCH)), received(ONE, 0.5))
    playback = _playback(path)
    first = playback.snapshot
    for moment in playback.moments():
        run_now(playback.play(moment))

    again, others = _playback(path).snapshot, _playback(other).snapshot
    assert {first.epoch} == {playback.snapshot.epoch, playback.published.history.epoch, again.epoch}
    assert re.fullmatch("[0-9a-f]{8}", first.epoch)
    assert (first.version, True) == (others.version, others.epoch != first.epoch)


def test_no_overdue_entry_is_readable_within_a_moment(tmp_path: Path) -> None:
    """The clock reaches a moment only after what is overdue at that moment is withdrawn."""
    playback = _playback(_recorded(tmp_path, received(ONE, 0.5), received(TWO, 100_000.0)))
    valid, moments = [], 0
    for moment in playback.moments():
        moments += not isinstance(moment, Arrival)
        valid += [playback.published.is_valid(playback.snapshot.deadlines) for _ in playback.play(moment)]

    assert moments > 0
    assert valid
    assert all(valid)


def test_commit_of_a_payload_is_the_last_that_is_done_with_it(tmp_path: Path) -> None:
    """A name in the payload can be recorded before anybody reads the version."""
    playback = _playback(_recorded(tmp_path, received(ONE, 0.5), received(TWO, 10.0)))
    for moment in playback.moments():
        seen = [playback.snapshot for _ in playback.play(moment)]

        assert playback.snapshot not in seen
        run_now(playback.link())


def test_all_bookmakers_change_in_one_commit(tmp_path: Path) -> None:
    """Readers see all or nothing of a payload; a bookmaker without columns does not affect the others."""
    both = sheet("B365", (2.0, 3.5, 4.0)).replace(b",B365", b",BW")
    row = ("XX", "14/02/2099", "15:00", "A", "B", "2.0", "3.5", "4.0", "2.2", "3.5", "4.0")
    head = ("Div", "Date", "Time", "HomeTeam", "AwayTeam", "B365H", "B365D", "B365A", "BWH", "BWD", "BWA")
    path = _recorded(
        tmp_path,
        received(csv_bytes(row, header=head), 0.0),
        received(both, 1.0),
        bookmakers=(ALDER, BIRCH),
    )
    playback, seen = _playback(path), []
    for moment in playback.moments():
        run_now(playback.play(moment))
        books = playback.snapshot.books
        seen.append([book.v2_version - FIRST for book in books.values()])

    assert [[1, 1], [1, 2]] == seen


@pytest.mark.parametrize("is_said", [True, False], ids=["new", "old"])
def test_image_of_a_computed_source_is_accepted(tmp_path: Path, *, is_said: bool) -> None:
    """An image with 3 of 50 matches is accepted, also in recordings older than the field for images."""
    head = header(kind="simulated", options={"kind": "simulated"})
    ticks = [_tick(count, at_s, is_said=is_said) for count, at_s in ((50, 0.5), (3, 1.5))]
    path = write(tmp_path / "feed.rec.zst", head, *ticks)
    playback, counts = _playback(path), list[int]()
    for moment in playback.moments():
        run_now(playback.play(moment))
        counts.append(len(_entries(playback.snapshot)))

    assert [50, 3] == counts


def _tick(matches: int, at_s: float, *, is_said: bool) -> Recorded:
    image = batch([match(f"m{number}") for number in range(matches)], list_id=f"{at_s}", is_image=True)
    (message,) = msgspec.json.decode(msgspec.json.encode([image]))
    if not is_said:
        del message["is_image"]
    return received(msgspec.json.encode([message]), at_s)


def test_rounding_does_not_stop_the_clock(tmp_path: Path) -> None:
    """An expiry so far away that its sum and its difference are rounded differently still takes place."""
    far_s, kick_off_s = 1_922_261_381.365, -1600.0
    body = csv_bytes(changed(Date="28/05/2026", Time="21:00"))
    wall_s = kick_off_s + far_s - 5.0
    path = write(
        tmp_path / "feed.rec.zst",
        header(expire_after_kickoff_s=far_s),
        received(body, 0.0, wall_s=wall_s),
        received(b"<html>", 20.0, wall_s=wall_s + 20.0),
    )

    assert (WALL_0 + kick_off_s + far_s) - far_s < WALL_0 + kick_off_s
    assert [(0.0, 1, [2.1]), (5.0, 2, []), (20.0, 2, [])] == [
        (round(at, 3), version, prices) for at, version, prices in _shown(path)
    ]


def test_folder_is_played_by_receive_time(tmp_path: Path) -> None:
    """Two recordings become one service: payloads by time, bookmakers in configured order."""
    write(tmp_path / "a.rec.zst", header(source="a", bookmakers=[BIRCH]), received(ONE, 5.0))
    late = header(source="z", bookmakers=[ALDER], started_at=WALL_0 + 2.0)
    write(tmp_path / "z.rec.zst", late, received(ONE, 1.0, wall_s=3.0), received(TWO, 4.0, wall_s=6.0))
    sources = open_sources(tmp_path, kind_named)

    playback = Playback(sources)
    at = [moment.at.mono for moment in playback.moments()]

    assert (["z", "a"], [ALDER.id, BIRCH.id]) == (
        [source.header.source for source in sources],
        list(playback.snapshot.books),
    )
    assert [3.0, 5.0, 6.0] == at


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], r"has no recording, must have files named SOURCE\.rec\.zst"),
        ([header(source="a"), header(source="b")], r"b\.rec\.zst: bookmaker alder is in .*a\.rec\.zst as"),
        ([header(source="a"), header(source="a", bookmakers=[BIRCH])], r"b\.rec\.zst: source a is in "),
        (
            [header(source="a"), header(source="b", bookmakers=[BIRCH], expire_after_kickoff_s=1.0)],
            r"b\.rec\.zst: expire_after_kickoff_s was 1, must be 10800 as in ",
        ),
        ([header(kind="unheard_of")], r"a\.rec\.zst: kind was 'unheard_of', must be one of .*simulated"),
        ([header(options={"kind": "football_data"})], r"a\.rec\.zst: its options do not suit kind 'footb"),
    ],
    ids=["none", "one bookmaker twice", "one source twice", "two expiries", "kind", "options"],
)
def test_recordings_that_do_not_match_are_refused(
    tmp_path: Path, files: list[object], message: str
) -> None:
    """The error has the file and what was found."""
    for name, recording in zip("ab", files, strict=False):
        write(tmp_path / f"{name}.rec.zst", recording)  # type: ignore[arg-type]  # all cases are headers

    with pytest.raises(ConfigError, match=message):
        open_sources(tmp_path, kind_named)


def _long(folder: Path) -> Path:
    """Record 200 payloads of 60 matches, sometimes two minutes apart, with repeats and damage."""
    random, at, records = Random(3), 0.25, []
    for number in range(200):
        prices = [(random.choice((2.0, 2.1, 2.2)), 3.5, 4.0) for _ in range(60)]
        body = b"<html>" if number % 17 == 5 else sheet("B365", *prices)
        records.append(received(body, at, list_id=f"list-{number}", stale_after_s=60.0))
        at += random.choice((1.0, 5.0, 120.0))
    return _recorded(folder, *records)


async def _bodies(path: Path, speed: float, every_s: float, times: int) -> tuple[dict[int, bytes], bytes]:
    """Replay, read the board so many times, and return each version's body and the last body."""
    replay = Replay(open_sources(path, kind_named), speed, VirtualClock())
    playback, status = replay.playback, replay.status
    seen: dict[int, bytes] = {}
    audience = Audience(playback.published.history, 0, 0)
    app = front_end(playback.published, status, status.names, playback, audience)
    client = app.test_client()
    async with anyio.create_task_group() as tasks:
        await tasks.start(replay.run)
        for _ in range(times):
            response = await client.get("/api/v2/odds")
            await client.get("/health")
            if response.status_code == 200:
                body = await response.get_data(as_text=False)
                assert body == seen.setdefault(json.loads(body)["version"], body)
            await anyio.sleep(every_s)
        await anyio.sleep(1)
        last = await (await client.get("/api/v2/odds")).get_data(as_text=False)
        await replay.stop()
    return seen, last


@pytest.mark.long
async def test_replay_is_always_equal(tmp_path: Path) -> None:
    """At any speed and with any reads, each version has one body, byte for byte."""
    path = _long(tmp_path)

    often, last = await _bodies(path, 1.0, 7.0, 1500)
    seldom, last_seldom = await _bodies(path, 10.0, 3.0, 350)
    fast, last_fast = await _bodies(path, inf, 0.0, 60)

    assert {last} == {last_seldom, last_fast}
    assert len(often) > len(seldom) > len(fast) > 5
    assert {**seldom, **fast, **often} == {**often, **fast, **seldom}


def test_nothing_is_left_to_be_linked_after_a_moment(tmp_path: Path) -> None:
    """Events of a single source are linked as well; otherwise the answer for fixtures is 503 `linking`."""
    playback = _playback(_recorded(tmp_path, received(ONE, 0.5), received(TWO, 1.5)))
    pending = []
    for moment in playback.moments():
        run_now(playback.play(moment))
        pending.append(fixtures_of(playback.snapshot).pending)
        run_now(playback.link())
        pending.append(fixtures_of(playback.snapshot).pending)

    assert [1, 0, 0, 0] == pending


def test_match_of_two_recordings_is_one_fixture(tmp_path: Path) -> None:
    """The events of the second recording are linked as soon as they are played."""
    write(tmp_path / "a.rec.zst", header(source="a", bookmakers=[ALDER]), received(ONE, 0.5))
    write(tmp_path / "z.rec.zst", header(source="z", bookmakers=[BIRCH]), received(BIRCH_ONE, 1.5))
    playback, bookmakers = _playback(tmp_path), []
    for moment in playback.moments():
        run_now(playback.play(moment))
        run_now(playback.link())
        bookmakers.append([fixture.bookmakers for fixture in fixtures_of(playback.snapshot)])

    assert [[(ALDER.id,)], [(ALDER.id, BIRCH.id)]] == bookmakers[:2]


@pytest.mark.parametrize("speed", [1.0, 2.0])
async def test_changes_come_at_the_time_of_the_recording(tmp_path: Path, speed: float) -> None:
    """A payload changes the board; a deadline between two payloads changes it before the second one."""
    path = _recorded(tmp_path, received(ONE, 10.0, stale_after_s=30.125), received(TWO, 90.0))
    replay, heard = Replay(open_sources(path, kind_named), speed, VirtualClock()), list[Any]()
    replay.playback.published.history.subscribe(
        lambda _: heard.append((anyio.current_time() * speed, len(_entries(replay.playback.snapshot))))
    )
    async with anyio.create_task_group() as tasks:
        await tasks.start(replay.run)
        await anyio.sleep(1000)
        await replay.stop()

    assert [(0.0, 1), (30.0, 0), (80.0, 1)] == heard


async def test_probes_show_the_recorded_figures(tmp_path: Path) -> None:
    """Counters and states are those at the recording's end, and no odds are called live."""
    path = _recorded(
        tmp_path,
        received(ONE, 0.0, list_id="a"),
        received(b"", 1.0, list_id="a", status=304),
        received(b"<html>", 2.0, list_id="b"),
        received(sheet("B365", (2.0, 3.5, 4.0), (1.0, 1.0, 1.0)), 3.0, list_id="c"),
        received(b"<html>", 4.0, list_id="d"),
        received(ONE, 5.0, list_id="e"),
        received(ONE, 6.0, list_id="e"),
        received(b"<html>", 7.0, list_id="f"),
    )
    replay = Replay(open_sources(path, kind_named), inf, VirtualClock())
    with capture_logs() as logs:
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            await settle()
            states = replay.status.observe(replay.playback.snapshot, replay.playback.now())
            await replay.stop()

    source, bookmaker = replay.status.sources[SOURCE], replay.status.bookmakers[NAME]
    assert {NAME: BookmakerState.ENDED} == states
    assert (True, 7, 1, 3) == (
        source.is_simulated,
        source.payloads.number,
        source.confirmations.number,
        source.failures_total,
    )
    assert ({"price": 1}, 5, WALL_0 + 6) == (
        dict(bookmaker.rejected),
        bookmaker.batches.number,
        bookmaker.last_batch_at,
    )
    assert {"accepted": 3, "confirmed": 2} == replay.status.board.verdicts
    (finished,) = [line for line in logs if line["event"] == "replay.finished"]
    assert (8, FIRST + 1, {SourceName("feed"): "closed"}) == (
        finished["payloads"],
        finished["version"],
        finished["endings"],
    )


async def test_recording_without_payloads_is_empty(tmp_path: Path) -> None:
    """An empty recording begins and ends at the moment when the recorder began."""
    replay = Replay(open_sources(_recorded(tmp_path), kind_named), 1.0, VirtualClock())
    async with anyio.create_task_group() as tasks:
        await tasks.start(replay.run)
        await settle()
        await replay.stop()

    assert (FIRST, WALL_0) == (replay.playback.snapshot.version, replay.playback.now().wall)


async def test_list_with_an_entry_that_cannot_be_shown_leaves_a_replay(tmp_path: Path) -> None:
    """The version after it has no entry of that list, as in a running service."""
    playback = _playback(_recorded(tmp_path, received(ONE, 0.0)))
    for moment in playback.moments():
        run_now(playback.play(moment))
    (entry,), version = _entries(playback.snapshot), playback.version

    await playback.published.reject(NAME, entry, "no JSON")

    assert [] == _entries(playback.snapshot)
    assert version + 1 == playback.version
