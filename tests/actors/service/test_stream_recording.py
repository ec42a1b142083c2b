"""Recording and replaying a stream, and the exchange's own historic files."""

from __future__ import annotations

import bz2
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import SourceName
from actors.recordings.format import Ending
from actors.recordings.playback import Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders.betfair import (
    BOOKMAKER,
    Json,
    catalogue,
    change,
    config,
    delta,
    heartbeat,
    image,
    line,
    market,
    prices_of,
    token,
)
from tests.support.peers.exchange import Exchange, granted, granted_with
from tests.support.recordings import FOLDER
from tests.support.systems.virtual_service import VirtualService, configured, until
from tests.support.time.virtual import WALL_0, VirtualClock, settle

pytestmark = pytest.mark.anyio

HISTORIC = "historic_lifecycle_1.159963367.bz2"


def listing(*markets: Json) -> Exchange:
    """Return an exchange whose subscriptions begin with these markets."""
    exchange = Exchange()
    exchange.answer = lambda request: granted(request, *markets)
    return exchange


@contextlib.asynccontextmanager
async def recorded(folder: Path, exchange: Exchange, **options: Any) -> AsyncIterator[VirtualService]:
    """Run the service on that exchange within the block, connected, and record it."""
    wall, out = WALL_0 + 60.0, folder / "out"  # later than all messages
    async with configured(folder, config(**options), exchange=exchange, wall=wall, out=out) as service:
        await settle()
        yield service


def by_match(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return the entries by the id of their match."""
    return {str(entry.source_match_id): entry for entry in entries}


def counts_of(shown: Iterable[Mapping[str, Entry]]) -> list[int]:
    """Return how many entries there were, each time that this changed."""
    return [count for count, _ in groupby(map(len, shown))]


def played(path: Path, price: str | None = None) -> tuple[Playback, list[dict[str, Entry]]]:
    """Play a recording; return the prices on the board after each moment, by match."""
    playback = Playback(open_sources(path, kind_named, price))
    shown = []
    for moment in playback.moments():
        run_now(playback.play(moment))
        shown.append(by_match(entries_of(playback.snapshot.books[BOOKMAKER].chunks)))
    return playback, shown


def historic(path: Path, messages: Iterable[Json], share: float = 1.0) -> Path:
    """Write a historic file, or a part of one. Its blocks are small, so that a short file has many."""
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    content = bz2.compress(lines, compresslevel=1)
    path.write_bytes(content[: int(len(content) * share)])
    return path


def traded(prices: tuple[float, float, float], *, img: bool = False) -> Json:
    """Return a change of last traded prices only, as in basic historic files."""
    entry = market(prices=prices)
    runners = [{"id": runner["id"], "ltp": runner["batb"][0][1]} for runner in entry["rc"]]
    return {**entry, "rc": runners} if img else {"id": entry["id"], "rc": runners}


async def test_replay_of_a_stream_equals_the_live_board(tmp_path: Path) -> None:
    """Image, names, changes, suspension, a lost connection that resumes, and a late stream are replayed."""
    exchange = listing(market("1.1"), market("1.2"), market("1.3"))
    exchange.web = lambda _: catalogue("1.1", "1.2")
    async with recorded(tmp_path, exchange) as live:
        assert 2 == live.snapshot.books[BOOKMAKER].named
        exchange.say(delta(change("1.1", {"id": 11, "batb": [[0, 2.2, 5.0]]})))
        exchange.say(delta({"id": "1.3", "marketDefinition": {"status": "SUSPENDED"}}))
        missed = delta(change("1.2", {"id": 22, "batb": [[0, 4.4, 5.0]]}), ct="RESUB_DELTA")
        exchange.answer = lambda request: granted_with(request, missed)
        await settle()
        exchange.wire.close()
        await until(lambda: len(exchange.opened) == 2)
        expected = by_match(live.entries(BOOKMAKER))

    _, shown = played(tmp_path / "out")
    assert {"1.1": (2.2, 3.5, 4.0), "1.2": (2.0, 3.5, 4.4)} == prices_of(
        entry.match for entry in shown[-1].values()
    )
    assert expected == shown[-1]


async def test_replay_shows_what_each_message_did(tmp_path: Path) -> None:
    """The messages are a much smaller image, a suspension, a late stream and its end, and a lost part."""
    names = [f"1.{number}" for number in range(50)]
    exchange = listing(*map(market, names))
    suspended = delta({"id": "1.0", "marketDefinition": {"status": "SUSPENDED"}})
    late = {"op": "mcm", "clk": "2", "pt": 1, "status": 503}
    in_time = {"op": "mcm", "clk": "3", "pt": 1, "ct": "HEARTBEAT"}
    async with recorded(tmp_path, exchange) as live:
        expected = [by_match(live.entries(BOOKMAKER))]
        for message in (image(*map(market, names[:3])), suspended, late, in_time):
            exchange.say(message)
            await settle()
            expected.append(by_match(live.entries(BOOKMAKER)))
        exchange.answer = lambda request: granted(request, market("1.1", (2.02, 3.5, 4.0)))
        live.system._contexts[SourceName("stream")].refresh.set()
        await settle()
        exchange.say(heartbeat())
        await settle()
        expected.append(by_match(live.entries(BOOKMAKER)))

    _, shown = played(tmp_path / "out")
    assert [50, 3, 2, 0, 50, 1] == counts_of(expected)
    assert [0, 50, 3, 2, 0, 50, 0, 1] == counts_of(shown)
    assert expected[-1] == shown[-1]


async def test_no_credential_is_recorded(tmp_path: Path) -> None:
    """The recording has no configured credential and no token of a login."""
    exchange = listing(market("1.1"))
    exchange.web = lambda _: token("token-of-login")
    account = {"username": "the-user-name", "password": "the-pass-word"}
    async with recorded(tmp_path, exchange, **account) as live:
        assert 1 == len(live.entries(BOOKMAKER))

    (source,) = open_sources(tmp_path / "out", kind_named)
    text = repr((source.header, list(source.records())))
    assert [] == [secret for secret in ("the-user", "the-pass", "token-of", "the-app") if secret in text]


def test_historic_file_has_last_traded_prices_only(tmp_path: Path) -> None:
    """Last traded prices are shown if configured; the first line is an image, and no list goes stale."""
    first = delta(traded((2.0, 3.5, 4.0), img=True), pt=1_780_000_000_000, id=None)
    later = delta(traded((2.1, 3.5, 4.0)), pt=1_780_003_600_000, id=None)
    path = historic(tmp_path / "one.bz2", [first, later])

    (_, offered), (playback, shown) = played(path), played(path, "last_traded")
    assert [{}, {}] == offered
    assert [2.0, 2.1] == [entry["1.1"].match.home_price for entry in shown]
    assert (1_780_000_000_002, Ending.CLOSED) == (
        playback.snapshot.version,
        playback.endings[playback._sources[0].header.source],
    )


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_truncated_historic_file_is_played_to_its_last_message(tmp_path: Path, share: float) -> None:
    """The replay reports that the file is truncated."""
    messages = [
        delta(market(str(number)), pt=1_780_000_000_000 + number, id=None) for number in range(1_000)
    ]
    playback, shown = played(historic(tmp_path / "cut.bz2", messages, share))

    assert [Ending.CUT] == [*playback.endings.values()]
    assert 0 < len(shown) < len(messages)


@pytest.mark.parametrize(("end", "ending"), [(b"", Ending.CUT), (b"\n", Ending.DAMAGED)])
def test_historic_file_ends_with_a_line_that_is_no_message(
    tmp_path: Path, end: bytes, ending: Ending
) -> None:
    """If that last line has a line end, the file is not cut but damaged."""
    (path := tmp_path / "one.bz2").write_bytes(
        bz2.compress(line(delta(market(img=True), pt=1_780_000_000_000, id=None)) + b'\n{"pt":' + end)
    )
    playback, shown = played(path)

    assert ([ending], 1) == ([*playback.endings.values()], len(shown))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"no bzip2", bz2.compress(b"no message\n"), bz2.compress(b"{}\n")),
        *(
            bz2.compress(line(delta(market(), pt=number, id=None)) + b"\n")
            for number in (10**400, 10**18, -1)
        ),
    ],
    ids=["empty", "not compressed", "no JSON", "no time", "huge time", "far time", "time before 1970"],
)
def test_file_that_is_no_historic_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error has the file's name and what was found in it."""
    path = tmp_path / "other.bz2"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=r"other\.bz2: is not a historic file"):
        open_sources(path, kind_named)


@pytest.mark.recordings
def test_real_match_is_replayed_from_its_listing_to_its_end() -> None:
    """The match is open, in play, renamed, suspended, open, suspended, closed: shown only while open."""
    _, shown = played(FOLDER / "betfair" / HISTORIC, "last_traded")

    names = {entry.match.away for each in shown for entry in each.values()}
    assert {"Crusaders (W)", "Crusaders Newtownabbey Strikers (W)"} >= names != set()
    assert {} == shown[-1]


async def test_credential_that_is_also_data_prevents_a_recording(tmp_path: Path) -> None:
    """A recording from which "12" was removed would have other prices."""
    with pytest.raises(ConfigError, match="fewer than 6 characters"):
        async with recorded(tmp_path, Exchange(), app_key="12"):
            raise AssertionError("it was recorded")


async def test_price_option_is_for_historic_files_only(tmp_path: Path) -> None:
    """Other recordings have the recorded prices, and the option is refused."""
    async with recorded(tmp_path, Exchange()):
        pass

    with pytest.raises(ConfigError, match="price was 'last_traded', which only historic files"):
        open_sources(tmp_path / "out", kind_named, "last_traded")


async def test_long_gap_in_a_recording_is_announced(tmp_path: Path) -> None:
    """The output says how long nothing will happen."""
    messages = [delta(market(), pt=1_780_000_000_000 + at, id=None) for at in (0, 1000, 7_200_000)]
    path = historic(tmp_path / "one.bz2", messages)
    replay = Replay(open_sources(path, kind_named), 1.0, VirtualClock())

    with capture_logs() as logs:
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            await anyio.sleep(2.0)
            await replay.stop()

    (line,) = logs
    assert ("replay.waiting", 1_780_007_200.0) == (line["event"], line["until"])
