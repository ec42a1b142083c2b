"""The source kind `replay` in a running service: the same content at any speed, of all kinds of market."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from actors.board.chunks import entries_of
from actors.board.published import Published
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId, Match
from actors.markets.market import Kind
from actors.matches.model import fixtures_of
from actors.monitoring.status import BookmakerState
from actors.recordings.format import RecordedBookmaker
from actors.recordings.playback import Playback
from actors.recordings.reader import open_sources
from actors.service.describe import configuration_lines
from actors.service.registry import kind_named
from actors.service.settings import load
from tests.support.builders.football_data import one_match, sheet
from tests.support.builders.recorded import ALDER, RECORDED_MARKETS, header, received, write
from tests.support.systems.virtual_service import CONFIG, VirtualService, configured

pytestmark = pytest.mark.anyio

CEDAR = BookmakerId("cedar")
REPLAY = """
[board]
expire_after_kickoff_s = 1_000_000_000
in_play_max_age_s = 1_000_000_000
[sources.recording]
kind = "replay"
path = "{path}"
{options}
[bookmakers.cedar]
name = "Cedar"
source = "recording"
key = "{key}"
"""
TICK_S = 60.0
"""Longer than a tick in production, so that idle turns of the aggregator are not most of the work."""
ONE, TWO = sheet("B365", (2.0, 3.5, 4.0)), sheet("B365", (2.1, 3.5, 4.0))
FULL, HALF = (sheet("B365", *[(2.0, 3.5, 4.0)] * count) for count in (60, 20))


def _config(folder: Path, path: Path, options: str = "", key: str = "B365") -> Path:
    config = folder / "replay.toml"
    config.write_text(REPLAY.format(path=path, options=options, key=key), "utf-8")
    return config


def _running(
    folder: Path, path: Path, options: str = "", key: str = "B365", tick_s: float = 1.0
) -> AbstractAsyncContextManager[VirtualService]:
    return configured(folder, REPLAY.format(path=path, options=options, key=key), tick_s=tick_s)


def _boards(of: VirtualService | Playback) -> list[Published]:
    published, markets = (
        (of.system.published, of.system.markets)
        if isinstance(of, VirtualService)
        else (of.published, of.markets)
    )
    return [published, *markets.published.values()]


def _matches(of: VirtualService | Playback, bookmaker: BookmakerId) -> list[Match]:
    """Return the matches on all boards without the sources' times, which conflation can change."""
    chunks = [chunk for board in _boards(of) for chunk in board.newest.books[bookmaker].chunks]
    return [msgspec.structs.replace(entry.match, source_time=None) for entry in entries_of(chunks)]


def _prices(service: VirtualService) -> list[float]:
    return [match.home_price for match in _matches(service, CEDAR)]


def _played(path: Path) -> Playback:
    playback = Playback(open_sources(path, kind_named))
    for moment in playback.moments():
        run_now(playback.play(moment))
    return playback


@pytest.mark.long
@pytest.mark.parametrize("speed", ["0.5", "1", "60.0", '"max"'])
@pytest.mark.parametrize(
    "records",
    [
        [received(ONE, 0.0), received(TWO, 50.0)],
        [received(FULL, 0.0), *(received(HALF, at, list_id=str(at)) for at in (10.0, 20.0))],
        [received(FULL, 0.0), *(received(HALF, at, list_id=str(at)) for at in (10.0, 20.0, 30.0))],
        [received(ONE, 0.0, stale_after_s=30.0), received(b"<html>", 100.0)],
        [received(b"<html>", 0.0), received(ONE, 100.0)],
    ],
    ids=["change", "doubted", "believed", "withdrawn", "late"],
)
async def test_final_content_is_that_of_the_recording(
    tmp_path: Path, records: list[object], speed: str
) -> None:
    """At any speed the final board is equal, with its rejections and withdrawals, and later unchanged."""
    path = write(tmp_path / "feed.rec.zst", header(), *records)  # type: ignore[arg-type]  # Recorded objects
    expected = _matches(_played(path), ALDER.id)

    async with _running(tmp_path, path, f"speed = {speed}", tick_s=TICK_S) as service:
        await anyio.sleep(300)
        after_minutes = _matches(service, CEDAR)
        await anyio.sleep(100)
        later = _matches(service, CEDAR)

    assert expected == after_minutes == later


async def test_recording_is_played_at_its_speed(tmp_path: Path) -> None:
    """The first payload comes at once, the next after the recorded time divided by the speed."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 67.0))

    async with _running(tmp_path, path, "speed = 2.0") as service:
        seen = []
        for second in (0.5, 29.5, 30.5):
            await anyio.sleep(second - anyio.current_time())
            seen.append(_prices(service))

    assert [[2.0], [2.0], [2.1]] == seen


async def test_recording_that_is_over_says_so(tmp_path: Path) -> None:
    """The last prices stay; the state, the last error and a line of the log say that they are not live."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 17.0))

    with capture_logs() as lines:
        async with _running(tmp_path, path) as service:
            await anyio.sleep(5)
            during = service.states()
            await anyio.sleep(600)
            after, (bookmaker,) = service.states(), service.system.status.bookmakers.values()

    assert ([BookmakerState.LIVE], [BookmakerState.ENDED], [2.1]) == (during, after, _prices(service))
    assert "the recording is over" in (bookmaker.last_error() or "")
    assert ["warning"] == [line["log_level"] for line in lines if line["event"] == "source.ended"]


async def test_loop_begins_again(tmp_path: Path) -> None:
    """The recording begins again after its end, so it is never over, and the board is never empty."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 17.0))

    async with _running(tmp_path, path, "loop = true", tick_s=TICK_S) as service:
        await anyio.sleep(1)
        seen = []
        for _ in range(400):
            seen.append(_prices(service))
            await anyio.sleep(0.1)
        await anyio.sleep(600)
        assert [BookmakerState.LIVE] == service.states()

    changes = [new for old, new in pairwise(seen) if old != new]
    assert [[2.1], [2.0], [2.1], [2.0]] == changes[:4]
    assert [] not in seen


async def test_bookmaker_without_a_list_is_not_serving(tmp_path: Path) -> None:
    """A bookmaker serves from its first readable list, except between a withdrawal and the next list."""
    path = write(
        tmp_path / "feed.rec.zst",
        header(),
        received(b"<html>", 0.0),
        received(ONE, 10.0, stale_after_s=30.0),
        received(b"<html>", 100.0),
    )
    states = []
    async with _running(tmp_path, path) as service:
        for second in (5.0, 15.0, 38.0, 45.0, 80.0):
            await anyio.sleep(second - anyio.current_time())
            snapshot = service.snapshot
            (state,) = service.states()
            states.append((state, snapshot.books[CEDAR].count))

    live, stale = BookmakerState.LIVE, BookmakerState.STALE
    assert [(BookmakerState.STARTING, 0), (live, 1), (live, 1), (live, 0), (stale, 0)] == states


@pytest.mark.parametrize(
    ("options", "key", "message"),
    [
        ("", "BW", r"path was '.*', which has no bookmaker with the key 'BW', must be one of B365$"),
        ("", "", r"bookmakers\.cedar\.key was '', must be the key of a bookmaker in the recording$"),
        ("speed = 0", "B365", r"sources\.recording\.speed was 0, must be a number above 0 "),
        ('speed = "fast"', "B365", r"sources\.recording\.speed was 'fast', must be a number above 0 "),
        ('speed = "max"\nloop = true', "B365", r"loop was true, must be false with speed 'max'$"),
    ],
    ids=["key", "empty key", "speed 0", "speed", "endless"],
)
def test_options_that_cannot_work_are_refused(tmp_path: Path, options: str, key: str, message: str) -> None:
    """Invalid options are refused when the configuration is read; the error names file, key and value."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 0.0))
    config = _config(tmp_path, path, options, key)

    with pytest.raises(ConfigError, match=message) as caught:
        load(config, {})

    assert str(caught.value).startswith(f"{config}: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: No such file"), (b"Div,Date\n", "is not a recording that can be read: ")],
    ids=["missing", "damaged"],
)
def test_file_that_is_no_recording_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    """Such a file is refused when the configuration is read, not when it is played."""
    path = tmp_path / "feed.rec.zst"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match=rf"sources\.recording\.path was '{path}': {path}: {message}"):
        load(_config(tmp_path, path), {})


NO_TOTAL = one_match("")
OTHERS = 'markets = ["1x2", "over_under", "asian_handicap"]'
TOTAL, HANDICAP = "over_under:2.5", "asian_handicap:-0.25"


def _recorded(folder: Path, *bodies: bytes, **options: Any) -> Path:
    """Record these bodies, one every 10 s."""
    head = header(options={**RECORDED_MARKETS, **options})
    return write(
        folder / "feed.rec.zst", head, *(received(body, 10.0 * at) for at, body in enumerate(bodies))
    )


def _market_prices(of: VirtualService | Playback, bookmaker: BookmakerId = CEDAR) -> dict[str, float]:
    """Return the first price of each market of the only match."""
    return {str(match.market): match.prices[0] for match in _matches(of, bookmaker)}


async def test_markets_of_a_recording_are_shown(tmp_path: Path) -> None:
    """Each market has the recorded prices, changes with them, and leaves with them."""
    path = _recorded(tmp_path, one_match("1.90"), one_match("1.92"), NO_TOTAL, one_match("1.94"))

    async with _running(tmp_path, path, OTHERS) as service:
        totals = []
        for second in (5, 15, 25, 35):
            await anyio.sleep(second - anyio.current_time())
            totals.append(_market_prices(service).get(TOTAL))

        assert [1.9, 1.92, None, 1.94] == totals
        assert {"1x2": 2.1, TOTAL: 1.94, HANDICAP: 1.88} == _market_prices(service)


async def test_1x2_alone_is_shown_unless_markets_are_named(tmp_path: Path) -> None:
    """The recording may have other markets; the 1X2 matches are the same with and without them."""
    path, found = _recorded(tmp_path, one_match("1.90"), one_match("1.92"), NO_TOTAL), []
    for options in ("", OTHERS):
        async with _running(tmp_path, path, options) as service:
            await anyio.sleep(40)
            found.append([match for match in _matches(service, CEDAR) if not match.odds or not options])
            assert bool(options) == bool(service.system.markets.updaters)

    assert found[0] == found[1] != []
    assert {"1x2"} == {str(match.market) for match in found[0]}


@pytest.mark.parametrize("speed", ["7.0", '"max"'])
async def test_final_markets_are_those_of_the_recording(tmp_path: Path, speed: str) -> None:
    """At any speed, the final markets of a source with every kind of market are shown, and stay."""
    out, kinds = tmp_path / "out", ", ".join(f'"{kind}"' for kind in Kind)
    markets = f"markets = [{kinds}]"
    async with configured(tmp_path, CONFIG.replace("seed = 7", f"seed = 7\n{markets}"), out=out):
        await anyio.sleep(60)
    path = out / "simulated.rec.zst"
    expected = _matches(_played(path), BookmakerId("alder"))

    async with _running(tmp_path, path, f"{markets}\nspeed = {speed}", "sharp") as service:
        await anyio.sleep(100)
        shown = _matches(service, CEDAR)
        await anyio.sleep(100)

        assert expected == shown == _matches(service, CEDAR)
    assert {*Kind} == {match.market.kind for match in expected}


async def test_fresh_list_has_all_markets(tmp_path: Path) -> None:
    """A bookmaker that requests a fresh list gets the markets of the recording's present moment."""
    path = _recorded(tmp_path, one_match("1.90"), one_match("1.92"))

    async with _running(tmp_path, path, OTHERS) as service:
        await anyio.sleep(15)
        service.system.supervisor.quarantine("bookmaker:cedar", "to see it come back")
        await anyio.sleep(31)
        withdrawn = _market_prices(service)
        await anyio.sleep(40)

        assert ({}, {"1x2": 2.1, TOTAL: 1.92, HANDICAP: 1.88}) == (withdrawn, _market_prices(service))


@pytest.mark.parametrize(
    ("recorded", "options"),
    [
        (1.03, ""),
        (1.03, "two_way_book_sum_max = 1.5"),
        (1.5, "two_way_book_sum_max = 1.03"),
    ],
    ids=["recorded", "wider when played", "narrower when played"],
)
async def test_a_market_is_shown_if_both_sources_believe_its_sum(
    tmp_path: Path, recorded: float, options: str
) -> None:
    """The bound of the recording and the bound of the playing service both count."""
    path = _recorded(tmp_path, one_match("1.90"), two_way_book_sum_max=recorded)

    async with _running(tmp_path, path, f"{OTHERS}\n{options}") as service:
        await anyio.sleep(5)

        assert {"1x2": 2.1, HANDICAP: 1.88} == _market_prices(service)


@pytest.mark.parametrize(
    ("kind", "key", "from_now"), [("football_data", "B365", True), ("polymarket", "polymarket", False)]
)
async def test_rule_of_handicaps_in_play_is_that_of_the_recorded_source(
    tmp_path: Path, kind: str, key: str, *, from_now: bool
) -> None:
    """A bookmaker's handicap counts goals after the bet; the handicap of a venue counts the whole score."""
    venue = RecordedBookmaker(BookmakerId("one"), None, key, 0)
    options = {**RECORDED_MARKETS, "kind": kind}
    path = write(tmp_path / "feed.rec.zst", header(kind=kind, options=options, bookmakers=(venue,)))

    async with _running(tmp_path, path, OTHERS, key) as service:
        assert [from_now] == [
            about.counts_from_now for about in fixtures_of(service.snapshot).terms.roster.values()
        ]


def test_market_that_was_not_read_is_refused(tmp_path: Path) -> None:
    """The error names the market, the recording, and the markets that the recording has."""
    path = _recorded(tmp_path, one_match())
    file = _config(tmp_path, path, 'markets = ["over_under", "btts"]')

    with pytest.raises(ConfigError) as caught:
        load(file, {})

    must = "must be of 1x2, over_under, asian_handicap"
    found = f"sources.recording.markets has btts, which the source of '{path}' did not read"
    assert f"{file}: {found}, {must}" == str(caught.value)


def test_check_of_a_configuration_lists_markets_of_a_recording(tmp_path: Path) -> None:
    """The check lists the markets that the recorded source read, and the markets that are shown."""
    file = _config(tmp_path, _recorded(tmp_path, one_match()), 'markets = ["over_under"]')

    has = "recording of football_data: bookmakers B365; markets 1x2, over_under, asian_handicap"
    assert f"  {has}, of which 1x2, over_under shown" in [*configuration_lines(file, load(file, {}))]


async def test_recording_of_an_earlier_release_has_1x2_alone(tmp_path: Path) -> None:
    """Such a recording has no option `markets`: it plays as before, and has no other markets."""
    path = write(tmp_path / "feed.rec.zst", header(bookmakers=(ALDER,)), received(one_match(), 0.0))

    async with _running(tmp_path, path, "") as service:
        await anyio.sleep(5)

        assert {"1x2": 2.1} == _market_prices(service)
    with pytest.raises(ConfigError, match=r"did not read, must be of 1x2$"):
        load(_config(tmp_path, path, OTHERS), {})
