"""Replays of recordings whose sources read other markets than 1X2."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from actors.archive.export import Chosen, rows
from actors.archive.folder import Folder
from actors.archive.past import Days, Listed
from actors.board.chunks import entries_of
from actors.board.published import Published
from actors.board.snapshot import Entry
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.market_fixtures.boards import MarketBoards
from actors.market_fixtures.model import markets_of
from actors.markets.market import Kind
from actors.matches.model import fixtures_of
from actors.recordings.format import RecordedBookmaker
from actors.recordings.playback import Arrival, Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders.football_data import one_match
from tests.support.builders.recorded import ALDER, BIRCH, RECORDED_MARKETS, header, received, write
from tests.support.systems.virtual_service import CONFIG, configured
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio


SHEETS = (one_match("1.90"), one_match("1.92"), one_match("1.92", ("2.20", "3.40", "3.60")))


def _recorded(folder: Path, *, markets: bool = True, sheets: tuple[bytes, ...] = SHEETS) -> Path:
    options = RECORDED_MARKETS if markets else {name: RECORDED_MARKETS[name] for name in ("kind", "url")}
    records = [received(body, float(at), stale_after_s=100.0) for at, body in enumerate(sheets)]
    records.append(received(b"<html>", 200.0))  # deadlines up to this record are moments of the replay
    return write(folder / "feed.rec.zst", header(options=options, bookmakers=(ALDER,)), *records)


def _other_recorded(folder: Path, body: bytes) -> None:
    """Record another source, half a second after the first."""
    other = header(source="other", options=RECORDED_MARKETS, bookmakers=(BIRCH,))
    body = body.replace(b"B365", b"BW")
    write(folder / "other.rec.zst", other, received(body, 0.5, stale_after_s=100.0))


def _playback(path: Path) -> Playback:
    return Playback(open_sources(path, kind_named))


def _shown(playback: Playback) -> dict[str, tuple[float, ...]]:
    """Return the prices of all fixtures on the boards of other markets than 1X2, by market."""
    boards = [board.newest for board in playback.markets.published.values()]
    fixtures = [fixture for board in boards for fixture in markets_of(board)]
    return {str(of.market): entry.match.prices for of in fixtures for entry in of.entries.values()}


def _steps(path: Path) -> list[tuple[int, int, dict[str, tuple[float, ...]]]]:
    """Return after each moment the version, 1X2's version (both count from the first), and other prices."""
    playback, steps = _playback(path), []
    first = playback.version
    for moment in playback.moments():
        run_now(playback.play(moment))
        versions = playback.version - first, playback.snapshot.version - first
        steps.append((*versions, _shown(playback)))
    return steps


def test_boards_of_all_markets_are_played(tmp_path: Path) -> None:
    """A change of another market is a version that leaves 1X2 as it is; a stale list takes all along."""
    handicap = {"asian_handicap:-0.25": (1.88, 2.02)}
    first = {"over_under:2.5": (1.9, 1.95), **handicap}
    then = {"over_under:2.5": (1.92, 1.95), **handicap}
    path = _recorded(tmp_path)

    assert [(1, 1, first), (2, 1, then), (3, 3, then), (4, 4, {}), (4, 4, {})] == _steps(path)
    assert _steps(path) == _steps(path)


def test_recording_without_markets_has_1x2_alone(tmp_path: Path) -> None:
    """A recording of an earlier release, or one made without other markets, has only versions of 1X2."""
    path = _recorded(tmp_path, markets=False)

    assert [(1, 1, {}), (1, 1, {}), (2, 2, {}), (3, 3, {}), (3, 3, {})] == _steps(path)


def test_handicap_counts_from_now_once_its_match_begins(tmp_path: Path) -> None:
    """The kick-off is a moment of the replay: from then on a bookmaker's handicap is another bet."""
    body = one_match("1.90").replace(b"02/05/2099,15:00", b"28/05/2026,21:27")  # 20 s after the beginning
    playback, begun = _playback(_recorded(tmp_path, sheets=(body,))), []
    for moment in playback.moments():
        run_now(playback.play(moment))
        run_now(playback.link())
        handicaps = markets_of(playback.markets.published[Kind.ASIAN_HANDICAP].newest)
        begun += [(playback.now().mono, fixture.has_begun) for fixture in handicaps]

    assert [(0.0, False), (20.0, True)] == begun[:2]


Prices = dict[str, dict[str, tuple[float, ...]]]


def _prices(boards: Mapping[Kind, Published]) -> Prices:
    """Return the prices of each market of each entry, by kind."""
    return {
        kind: {
            f"{entry.id} {entry.match.market}": entry.match.prices
            for book in board.newest.books.values()
            for entry in entries_of(book.chunks)
        }
        for kind, board in boards.items()
    }


def _board(markets: MarketBoards, board: Published) -> tuple[list[Entry], Prices]:
    """Return the entries of 1X2, with the times of their changes, and the prices of all other markets."""
    entries = [entry for book in board.newest.books.values() for entry in entries_of(book.chunks)]
    return entries, _prices(markets.published)


async def test_replay_equals_the_live_service(tmp_path: Path) -> None:
    """After each tick of a recorded service all entries and the prices of all other markets are equal."""
    live, out = list[tuple[list[Entry], Prices]](), tmp_path / "out"
    markets = ", ".join(f'"{kind}"' for kind in Kind)
    config = CONFIG.replace("seed = 7", f"seed = 7\nmarkets = [{markets}]")
    async with configured(tmp_path, config, out=out) as service:
        await anyio.sleep(0.5)
        for _ in range(60):
            await settle()
            live.append(_board(service.system.markets, service.system.published))
            await anyio.sleep(1)

    playback, replayed = _playback(out), []
    for moment in playback.moments():
        run_now(playback.play(moment))
        run_now(playback.link())
        if isinstance(moment, Arrival):
            replayed.append(_board(playback.markets, playback.published))

    assert all(live[0][1].values())
    assert live[0] != live[-1]
    assert live == replayed[: len(live)]


def test_exchange_counts_the_whole_score(tmp_path: Path) -> None:
    """The kind of each recorded source says which goals a handicap in play counts."""
    venue = RecordedBookmaker(BookmakerId("polymarket"), None, "polymarket", 1)
    _recorded(tmp_path)
    options = {"kind": "polymarket"}
    write(
        tmp_path / "venue.rec.zst",
        header(source="venue", kind="polymarket", options=options, bookmakers=(venue,)),
    )
    roster = fixtures_of(_playback(tmp_path).snapshot).terms.roster

    assert {ALDER.id: True, venue.id: False} == {
        name: about.counts_from_now for name, about in roster.items()
    }


def test_event_without_1x2_is_linked_with_the_match_of_another_source(tmp_path: Path) -> None:
    """The event joins the fixture as in a running service; the fixture's 1X2 prices do not change."""
    _recorded(tmp_path, sheets=(one_match("1.90"), one_match("1.90")))
    main = _playback(tmp_path)
    for moment in main.moments():
        run_now(main.play(moment))
        run_now(main.link())
        (before,) = fixtures_of(main.snapshot)
        break
    _other_recorded(tmp_path, one_match("1.88", ("", "", "")))
    playback = _playback(tmp_path)
    for moment in playback.moments():
        run_now(playback.play(moment))
        run_now(playback.link())
        if playback.now().mono >= 1.0:
            break

    (fixture,) = fixtures_of(playback.snapshot)
    totals = markets_of(playback.markets.published[Kind.OVER_UNDER].newest)
    assert (before.id, (ALDER.id,)) == (fixture.id, fixture.bookmakers)
    assert [(f"{before.id} over_under:2.5", (ALDER.id, BIRCH.id))] == [
        (of.id, of.bookmakers) for of in totals
    ]


async def _archived(recording: Path, folder: Path) -> Replay:
    replay = Replay(open_sources(recording, kind_named), inf, VirtualClock(), folder)
    async with anyio.create_task_group() as tasks:
        await tasks.start(replay.run)
        await anyio.sleep(10)
        await replay.stop()
    return replay


async def test_same_recording_gives_the_same_archive(tmp_path: Path) -> None:
    """Every change of every market is a row of the export, and each version has its list."""
    recording, folders = _recorded(tmp_path), [tmp_path / name for name in ("first", "second")]
    with capture_logs() as logs:
        snapshot = [(await _archived(recording, folder)).playback.snapshot for folder in folders][-1]
    found, again = (
        [*rows(Folder.reading(folder), Chosen(0, 2**60, all_markets=True), lambda _: None)]
        for folder in folders
    )
    version = max(book.v2_version for book in snapshot.books.values())
    days = Days(Folder.reading(folders[-1]), lambda: None)
    before, last = (days.at_version(None, at) for at in (version - 1, version))

    assert found == again
    assert [] == [log for log in logs if log["event"] == "archive.delayed"]  # timed by the recording
    over = [row["odds"] for row in found if (row["market"], row["outcome"]) == ("over_under:2.5", "over")]
    ones = [row["odds"] for row in found if (row["market"], row["outcome"]) == ("1x2", "1")]
    assert ([1.9, 1.92, None], [2.1, 2.2, None]) == (over[:3], ones[:3])
    assert isinstance(before, Listed)
    assert isinstance(last, Listed)
    assert (snapshot.epoch, 1, 0) == (last.epoch, len(before.entries), len(last.entries))


async def test_archive_in_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    """A folder with the archives of two replays would be the archive of neither."""
    recording = _recorded(tmp_path)

    with pytest.raises(ConfigError, match="--archive was"):
        await _archived(recording, tmp_path)
