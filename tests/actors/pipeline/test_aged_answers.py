"""Answers of a cache: their age shortens the life of their prices, and answers too old are refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import httpx2
import pytest

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.recordings.playback import Arrival, Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from tests.support.builders import the_odds_api as api
from tests.support.builders.football_data import FILE, ROW, SITE, config, csv_bytes
from tests.support.peers.web import Answer, Web, is_conditional, serving
from tests.support.systems.virtual_service import VirtualService, configured, until

pytestmark = pytest.mark.anyio

WALL = 1_771_000_000.0  # 2026-02-13, the day before the match
BET365 = BookmakerId("bet365")
AGE_S = 20


def _cached(age_s: int) -> Answer:
    """Return answers of a cache that has had them for `age_s` seconds."""
    headers = {"Age": str(age_s), "ETag": '"one"'}
    full, same = serving(csv_bytes(ROW), headers=headers), serving(b"", 304, headers)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return await (same if is_conditional(request) else full)(request)

    return answer


def _confirmed_mono(service: VirtualService) -> float:
    return service.snapshot.books[BET365].lists[FILE].confirmed_mono


def _last_error(service: VirtualService) -> str | None:
    return service.source(SITE).scopes[FILE].last_error


async def test_list_is_as_old_as_the_answer(tmp_path: Path) -> None:
    """A 200 and a 304 both vouch for the time when the cache got the answer, and hold from then on."""
    web = Web(_cached(AGE_S))
    async with configured(tmp_path, config(stale_after_s=60.0), web=web, wall=WALL) as service:
        await until(lambda: BET365 in service.serving())
        confirmed = [_confirmed_mono(service)]
        await service.confirmations(SITE, 1)
        confirmed.append(_confirmed_mono(service))

        assert [asked - AGE_S for asked in web.asked] == confirmed
        assert web.asked[-1] - AGE_S + 60.0 == service.snapshot.valid_until


async def test_answer_that_holds_no_longer_is_refused(tmp_path: Path) -> None:
    """An answer as old as its prices may be fails, also if it is a 304; the operator reads the reason."""
    web = Web(_cached(AGE_S))
    async with configured(tmp_path, config(stale_after_s=31.0), web=web, wall=WALL) as service:
        await until(lambda: BET365 in service.serving())
        web.answer = _cached(31)
        await until(lambda: _last_error(service) is not None)
        while_confirmed = _last_error(service)
        await until(lambda: not service.serving())
        await service.polls(SITE, 2)

        assert "a cache had the answer for 31 s, its prices hold for 31 s" == while_confirmed
        assert while_confirmed == _last_error(service)
        assert service.source(SITE).failed_by["aged"] > 1
        assert not service.serving()


async def test_recording_of_aged_answers_is_replayed(tmp_path: Path) -> None:
    """Answers that a cache had before the recording began have earlier times, and show the same board."""
    web, out = Web(_cached(AGE_S)), tmp_path / "out"
    text = config(stale_after_s=60.0, poll_interval_s=5.0)
    async with configured(tmp_path, text, web=web, wall=WALL, out=out) as service:
        await until(lambda: BET365 in service.serving())
        await service.confirmations(SITE, 2)
        live = [entry.match for entry in service.entries(BET365)]

    (source,) = open_sources(out, kind_named)
    asked = [record.payload.received_mono for record in source.records()]
    playback = Playback(open_sources(out, kind_named))
    for moment in playback.moments():
        run_now(playback.play(moment))
        if isinstance(moment, Arrival):
            chunks = playback.snapshot.books[BET365].chunks
            assert live == [entry.match for chunk in chunks for entry in chunk.entries]

    assert live
    assert len(asked) >= 2
    assert max(asked) < 0


@pytest.mark.parametrize("date", [formatdate(WALL - AGE_S, usegmt=True), "garbage"], ids=["date", "none"])
async def test_price_is_as_old_as_its_time_says(tmp_path: Path, date: str) -> None:
    """A price that was 5 s old when the cache got it, 20 s ago, is 25 s old: the age counts once.

    Without a readable date, our own clock gives the time of the answer.
    """
    prices = {"some": [api.market("Leeds", "Hull", (2.1, 3.4, 3.6))]}
    match = api.event("m1", "Leeds", "Hull", prices)
    written = f"{datetime.fromtimestamp(WALL - AGE_S - 5, UTC):%Y-%m-%dT%H:%M:%SZ}"
    lines = match["bookmakers"][0]
    lines["last_update"] = lines["markets"][0]["last_update"] = written
    headers = {"Age": str(AGE_S), "Date": date}
    web = Web(serving(json.dumps([match]).encode(), headers=headers))

    text = api.config(["soccer_epl"], ["some"], stale_after_s=60.0)
    async with configured(tmp_path, text, web=web, wall=WALL) as service:
        await until(lambda: len(service.serving()) == 1)
        (book,) = service.snapshot.books.values()
        (state,) = book.lists.values()
        (vouched,) = state.vouched.values()

        assert web.asked[-1] - 26 < vouched <= web.asked[-1] - 25
