"""The Odds API over time, with recorded answers: repeated prices, failing leagues, old lists."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import formatdate
from pathlib import Path
from statistics import median

import pytest

from actors.core.messages import BookmakerId
from tests.support.builders import the_odds_api as api
from tests.support.peers.http import Answer, drop, hang, respond
from tests.support.systems.playback import Running
from tests.support.systems.the_odds_api_playback import (
    expected,
    leagues,
    lists,
    played,
    shown,
)

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.recordings]

EPL, LIGUE_ONE = "soccer_epl", "soccer_france_ligue_one"


def _withdrawn(board: Running) -> set[BookmakerId]:
    return {name for name, one in lists(board, EPL).items() if one.withdrawn}


def _updated(board: Running) -> dict[str, float]:
    return {entry.id: entry.updated for name in board.snapshot.books for entry in board.entries(name)}


def _versions(board: Running) -> dict[str, tuple[int, int]]:
    """Return those of the lists; links and surebets may come with time."""
    return {name: (book.v1_version, book.v2_version) for name, book in board.snapshot.books.items()}


def _refreshed(body: bytes) -> bytes:
    """Return the answer of a minute later, with the same prices and new refresh times."""
    content = json.loads(body)
    for lines in (lines for event in content for lines in event["bookmakers"]):
        for table in (lines, *lines["markets"]):
            if "last_update" in table:
                later = datetime.fromisoformat(table["last_update"]) + timedelta(minutes=1)
                table["last_update"] = f"{later:%Y-%m-%dT%H:%M:%SZ}"
    return json.dumps(content).encode()


def _newest(body: bytes) -> dict[BookmakerId, float]:
    """Return the Unix seconds of each bookmaker's last refresh."""
    newest: dict[BookmakerId, float] = {}
    for lines in (lines for event in json.loads(body) for lines in event["bookmakers"]):
        at = [datetime.fromisoformat(market["last_update"]).timestamp() for market in lines["markets"]]
        name = BookmakerId(api.bookmaker_id(lines["key"]))
        newest[name] = max(newest.get(name, 0.0), *at)
    return newest


@pytest.mark.long
async def test_refreshed_answers_with_equal_prices_change_nothing(tmp_path: Path) -> None:
    """There is no new version and no changed `updated`, but every list is confirmed."""
    answers = leagues()
    refreshed = {sport: _refreshed(body) for sport, body in answers.items()}
    assert all(body != answers[sport] for sport, body in refreshed.items())

    async with played(tmp_path, answers, poll_interval_s=1.0) as (board, peer):
        before, updated = _versions(board), _updated(board)
        confirmed = {sport: lists(board, sport) for sport in answers}
        api.serve(peer, refreshed)
        await board.until(
            lambda: all(
                one.confirmed_mono > confirmed[sport][name].confirmed_mono
                and one.list_id != confirmed[sport][name].list_id
                for sport in answers
                for name, one in lists(board, sport).items()
            )
        )

        assert (before, updated) == (_versions(board), _updated(board))
        assert 0 == board.source.failures_total


FAULTS: dict[str, Callable[[threading.Event], Answer]] = {
    "an error": lambda _: respond(b"{}", 500),
    "html": lambda _: respond(b"<!DOCTYPE html><html>Down</html>", headers={"Content-Type": "text/html"}),
    "a hang": hang,
    "a drop": lambda _: drop,
}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
async def test_failing_league_loses_only_its_own_entries(tmp_path: Path, fault: str) -> None:
    """The other leagues stay, and the failing one comes back when it answers again."""
    answers = {
        sport: body
        for sport, body in leagues().items()
        if sport in {EPL, LIGUE_ONE, "soccer_italy_serie_a"}
    }
    others = {sport: body for sport, body in answers.items() if sport != EPL}
    over = threading.Event()

    async with played(tmp_path, answers, stale_after_s=2.0, timeout_s=0.5) as (board, peer):
        keys = api.keys_in(answers)
        peer.answers[api.odds_path(EPL)] = FAULTS[fault](over)
        await board.until(lambda: all(one.withdrawn for one in lists(board, EPL).values()))
        without = {key: shown(board, key) for key in keys}
        stale = {sport: {one.withdrawn for one in lists(board, sport).values()} for sport in others}
        over.set()
        api.serve(peer, {EPL: answers[EPL]})
        await board.until(lambda: not any(one.withdrawn for one in lists(board, EPL).values()))
        back = {key: shown(board, key) for key in keys}

    assert {sport: {False} for sport in others} == stale
    assert {key: expected(others, key) for key in keys} == without
    assert {key: expected(answers, key) for key in keys} == back


@pytest.mark.long
async def test_bookmaker_with_old_prices_is_not_confirmed(tmp_path: Path) -> None:
    """By the peer's own clock and Date, a list with old prices goes stale, and the others do not."""
    body = leagues()[EPL]
    newest = _newest(body)
    at = median(newest.values())
    stale_after_s = 2.0

    async with played(tmp_path, {EPL: body}, stale_after_s=stale_after_s) as (board, peer):
        api.serve(peer, {EPL: body}, headers={"Date": formatdate(at, usegmt=True)})
        late = {name for name, one in newest.items() if int(at) - one > stale_after_s}
        await board.until(lambda: _withdrawn(board) == late)
        await board.polls(20)
        withdrawn = _withdrawn(board)
        records = board.system.status.bookmakers
        lagging = {name for name, one in records.items() if "older than the answer" in (one.error or "")}

    assert 0 < len(late) < len(newest)
    assert (late, late) == (withdrawn, lagging)
