"""Recording and replaying a stream, and the exchange's own historic files."""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry
from actors.core.clock import SystemClock
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.recordings.format import Ending
from actors.recordings.playback import Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders.betfair import Json, change, delta, heartbeat, image, line, market
from tests.support.peers.http import respond
from tests.support.recordings import FOLDER
from tests.support.systems.betfair_playback import CATALOGUE, EXCHANGE, catalogue, exchange, peers

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

HISTORIC = "historic_lifecycle_1.159963367.bz2"


def played(path: Path, price: str | None = None) -> tuple[Playback, list[dict[str, Entry]]]:
    """Play a recording; return the prices on the board after each moment, by match."""
    playback = Playback(open_sources(path, kind_named, price))
    shown = []
    for moment in playback.moments():
        run_now(playback.play(moment))
        entries = entries_of(playback.snapshot.books[EXCHANGE].chunks)
        shown.append({str(entry.source_match_id): entry for entry in entries})
    return playback, shown


def historic(path: Path, messages: Iterable[Json], cut: int | None = None) -> Path:
    """Write a historic file, cut to that many bytes."""
    content = bz2.compress(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    path.write_bytes(content[:cut])
    return path


def traded(prices: tuple[float, float, float], *, img: bool = False) -> Json:
    """Return a change of last traded prices only, as in basic historic files."""
    one = market(prices=prices)
    runners = [{"id": runner["id"], "ltp": runner["batb"][0][1]} for runner in one["rc"]]
    return {**one, "rc": runners} if img else {"id": one["id"], "rc": runners}


async def test_replay_of_a_stream_equals_the_live_board(tmp_path: Path) -> None:
    """Image, names, changes, suspension, a lost connection that resumes, and a late stream are replayed."""
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(market("1.1"), market("1.2"), market("1.3"))]
        rest.answers[CATALOGUE] = respond(catalogue("1.1", "1.2"))
        async with exchange(tmp_path, stream, rest, tmp_path / "out") as live:
            await live.board.until(lambda: live.board.snapshot.books[EXCHANGE].named == 2)
            await live.says(delta(change("1.1", {"id": 11, "batb": [[0, 2.2, 5.0]]})))
            await live.says(delta({"id": "1.3", "marketDefinition": {"status": "SUSPENDED"}}))
            stream.answer = lambda _: [
                delta(change("1.2", {"id": 22, "batb": [[0, 4.4, 5.0]]}), ct="RESUB_DELTA")
            ]
            stream.cut()
            await live.board.until(lambda: live.prices().get("1.2") == (2.0, 3.5, 4.4))
            expected = {entry.source_match_id: entry for entry in live.entries()}

    _, shown = played(tmp_path / "out")
    assert {"1.1": (2.2, 3.5, 4.0), "1.2": (2.0, 3.5, 4.4)} == {
        match: (one.match.home_price, one.match.draw_price, one.match.away_price)
        for match, one in shown[-1].items()
    }
    assert expected == shown[-1]


async def test_much_smaller_image_is_accepted_in_a_replay(tmp_path: Path) -> None:
    """After each message the replay shows the exchange's offers: 50 markets, then 3, then 2."""
    few = [market(f"1.{number}") for number in range(3)]
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(*(market(f"1.{number}") for number in range(50)))]
        async with exchange(tmp_path, stream, rest, tmp_path / "out") as live:
            await live.board.until(lambda: len(live.entries()) == 50)
            await live.says(image(*few))
            await live.says(delta({"id": "1.0", "marketDefinition": {"status": "SUSPENDED"}}))
            await live.board.until(lambda: len(live.entries()) == 2)

    _, shown = played(tmp_path / "out")
    counts = [len(one) for one in shown]
    assert [50, 3, 2] == [count for at, count in enumerate(counts[1:]) if counts[at] != count]


async def test_withdrawn_stream_is_replayed_as_withdrawn(tmp_path: Path) -> None:
    """Markets of an unreliable stream are off the board until its next image."""
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(market("1.1"))]
        async with exchange(tmp_path, stream, rest, tmp_path / "out") as live:
            await live.board.until(lambda: len(live.entries()) == 1)
            stream.push({"op": "mcm", "clk": "2", "pt": 1, "status": 503})
            await live.board.until(lambda: not live.entries())
            stream.push({"op": "mcm", "clk": "3", "pt": 1, "ct": "HEARTBEAT"})
            await live.board.until(lambda: len(live.entries()) == 1)

    _, shown = played(tmp_path / "out")
    counts = [len(one) for one in shown]
    assert [0, 1, 0, 1] == [count for at, count in enumerate(counts) if at == 0 or counts[at - 1] != count]


async def test_no_credential_is_recorded(tmp_path: Path) -> None:
    """Neither a configured credential nor a token of a login is in the recording."""
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(market("1.1"))]
        options = {"username": "the-user-name", "password": "the-pass-word"}
        async with exchange(tmp_path, stream, rest, tmp_path / "out", **options) as live:
            await live.board.until(lambda: len(live.entries()) == 1)

    (source,) = open_sources(tmp_path / "out", kind_named)
    text = repr((source.header, list(source.records())))
    assert [] == [one for one in ("the-user", "the-pass", "token-of", "the-app") if one in text]


def test_historic_file_has_last_traded_prices_only(tmp_path: Path) -> None:
    """Last traded prices are shown if configured; the first line is an image, and no list goes stale."""
    first = delta(traded((2.0, 3.5, 4.0), img=True), pt=1_780_000_000_000, id=None)
    later = delta(traded((2.1, 3.5, 4.0)), pt=1_780_003_600_000, id=None)
    path = historic(tmp_path / "one.bz2", [first, later])

    (_, offered), (playback, shown) = played(path), played(path, "last_traded")
    assert [{}, {}] == offered
    assert [2.0, 2.1] == [one["1.1"].match.home_price for one in shown]
    assert (1_780_000_000_002, Ending.CLOSED) == (
        playback.snapshot.version,
        playback.endings[playback._sources[0].header.source],
    )


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_truncated_historic_file_is_played_to_its_last_message(tmp_path: Path, share: float) -> None:
    """The replay reports that the file is truncated."""
    messages = [
        delta(market(str(number)), pt=1_780_000_000_000 + number, id=None) for number in range(8_000)
    ]
    whole = historic(tmp_path / "whole.bz2", messages)
    cut = historic(tmp_path / "cut.bz2", messages, int(whole.stat().st_size * share))
    playback, shown = played(cut)

    assert [Ending.CUT] == [*playback.endings.values()]
    assert 0 < len(shown) < len(messages)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"no bzip2", bz2.compress(b"no message\n"), bz2.compress(b"{}\n")),
        *(bz2.compress(line(delta(market(), pt=one, id=None)) + b"\n") for one in (10**400, 10**18, -1)),
    ],
    ids=["empty", "not compressed", "no JSON", "no time", "huge time", "far time", "time before 1970"],
)
def test_file_that_is_no_historic_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error has its name and what was found."""
    path = tmp_path / "other.bz2"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=r"other\.bz2: is not a historic file"):
        open_sources(path, kind_named)


@pytest.mark.recordings
def test_real_match_is_replayed_from_its_listing_to_its_end() -> None:
    """Open, in play, renamed, suspended, open, suspended, closed: it is shown exactly while it is open."""
    _, shown = played(FOLDER / "betfair" / HISTORIC, "last_traded")

    names = {one.match.away for each in shown for one in each.values()}
    assert {"Crusaders (W)", "Crusaders Newtownabbey Strikers (W)"} >= names != set()
    assert {} == shown[-1]


async def test_list_with_a_lost_part_is_replayed_as_requested_again(tmp_path: Path) -> None:
    """In a replay too, nothing is confirmed until the new image, and older ids are dropped."""
    with peers() as (stream, rest):
        stream.answer = lambda request: [image(market("1.1", (2.0 + request["id"] / 100, 3.5, 4.0)))]
        async with exchange(tmp_path, stream, rest, tmp_path / "out") as live:
            await live.shows({"1.1": (2.02, 3.5, 4.0)})
            live.board.system._contexts[live.board.source.name].refresh.set()
            await anyio.sleep(0.05)
            stream.push(heartbeat())
            await live.shows({"1.1": (2.03, 3.5, 4.0)})
            expected = {entry.source_match_id: entry for entry in live.entries()}

    _, shown = played(tmp_path / "out")
    assert expected == shown[-1]
    assert [2.02, 2.03] == sorted({one["1.1"].match.home_price for one in shown if one})


async def test_credential_that_is_also_data_prevents_a_recording(tmp_path: Path) -> None:
    """A recording from which "12" was removed would have other prices."""
    with peers() as (stream, rest), pytest.raises(ConfigError, match="fewer than 6 characters"):
        async with exchange(tmp_path, stream, rest, tmp_path / "out", app_key="12"):
            raise AssertionError("it was recorded")


async def test_price_option_is_for_historic_files_only(tmp_path: Path) -> None:
    """Other recordings have the recorded prices, and the option is refused."""
    with peers() as (stream, rest):
        async with exchange(tmp_path, stream, rest, tmp_path / "out"):
            pass

    with pytest.raises(ConfigError, match="price was 'last_traded', which only historic files"):
        open_sources(tmp_path / "out", kind_named, "last_traded")


async def test_long_gap_in_a_recording_is_announced(tmp_path: Path) -> None:
    """The output says how long nothing will happen."""
    messages = [delta(market(), pt=1_780_000_000_000 + at, id=None) for at in (0, 1000, 7_200_000)]
    path = historic(tmp_path / "one.bz2", messages)
    replay = Replay(open_sources(path, kind_named), 1.0, SystemClock())

    with capture_logs() as logs:
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            with anyio.fail_after(10):
                while not logs:  # noqa: ASYNC110 - real time: there is nothing else to wait for
                    await anyio.sleep(0.01)
            await replay.stop()

    (line,) = logs
    assert ("replay.waiting", 1_780_007_200.0) == (line["event"], line["until"])
