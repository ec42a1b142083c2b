"""All recorded answers of The Odds API, served through real sockets, actors and board.

The expected board and the expected counts of rejections are computed from the files by a simple parser
that shares no code with ours.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.board.chunks import entries_of
from actors.core.clock import SystemClock
from actors.core.messages import BookmakerId, Scope
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders import the_odds_api as api
from tests.support.systems.the_odds_api_playback import ERRORS, everything, expected, leagues, played, shown

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.recordings]


EPL = "soccer_epl"


def _plain_reason(event: Any, market: Any) -> str | None:
    """Return the reason why a market is not shown, by simple code; None if it is shown."""
    names = [one["name"] for one in market["outcomes"]]
    prices = [one["price"] for one in market["outcomes"]]
    teams = [event["home_team"], event["away_team"]]
    if market["key"] == "h2h_lay":
        return "lay"
    if sorted(names) == sorted(teams):
        return "two_way"
    if not event["sport_key"].startswith("soccer_"):
        return "sport"
    if sorted(names) != sorted([*teams, "Draw"]):
        return "outcome"
    if min(prices) <= 1:
        return "price"
    return None if 0.95 <= sum(1 / price for price in prices) <= 1.4 else "book_sum"


def _plain_reasons(answers: Mapping[str, bytes]) -> dict[str, Counter[str]]:
    """Count by bookmaker key the reasons why its markets are not shown."""
    reasons: dict[str, Counter[str]] = {key: Counter() for key in api.keys_in(answers)}
    for body in answers.values():
        for event in json.loads(body):
            for lines in event["bookmakers"]:
                found = [_plain_reason(event, market) for market in lines["markets"]]
                reasons[lines["key"]].update(reason for reason in found if reason)
    return reasons


@pytest.mark.long
async def test_board_equals_a_simple_reading_of_all_recordings(tmp_path: Path) -> None:
    """Each bookmaker has every match with valid prices in the files, and no other."""
    answers = everything()

    async with played(tmp_path, answers, tuple(ERRORS), poll_interval_s=60.0) as (board, _):
        found = {key: shown(board, key) for key in api.keys_in(answers)}

    assert {key: expected(answers, key) for key in found} == found
    assert sum(map(len, found.values())) > 4000


@pytest.mark.long
async def test_every_rejected_market_is_counted_by_its_reason(tmp_path: Path) -> None:
    """Each reason is counted as often as it occurs in the files, and no other reason occurs."""
    answers = everything()
    reasons = _plain_reasons(answers)

    async with played(tmp_path, answers, poll_interval_s=60.0) as (board, _):
        records = board.system.status.bookmakers
        counted = {key: records[BookmakerId(api.bookmaker_id(key))].rejected for key in reasons}

    assert reasons == counted
    assert {"lay", "two_way", "sport", "outcome", "price", "book_sum"} == set().union(*reasons.values())


async def test_both_recorded_errors_are_counted_by_their_reason(tmp_path: Path) -> None:
    """Errors with status 200 put nothing on the board and do not affect the leagues."""
    answers = {EPL: leagues()[EPL]}

    async with played(tmp_path, answers, tuple(ERRORS)) as (board, _):
        await board.until(lambda: len(board.source.failed_by) == 2)
        await board.polls(10)
        reasons = set(board.source.failed_by)
        scopes = {scope for book in board.snapshot.books.values() for scope in book.lists}
        failing = {scope for scope, record in board.source.scopes.items() if record.failures}

    assert {"missing_key", "invalid_market_combo"} == reasons
    assert ({Scope(EPL)}, set(ERRORS)) == (scopes, failing)


async def test_bookmakers_have_the_names_of_the_api(tmp_path: Path) -> None:
    """If the configuration has no name, the title in the answers is used."""
    answers = {EPL: leagues()[EPL]}
    titles = {
        api.bookmaker_id(lines["key"]): lines["title"]
        for event in json.loads(answers[EPL])
        for lines in event["bookmakers"]
    }

    async with played(tmp_path, answers) as (board, _):
        assert titles == dict(board.system.status.names)


@pytest.mark.long
async def test_recording_of_all_leagues_is_replayed_unchanged(tmp_path: Path) -> None:
    """Every entry of every bookmaker is equal, including `updated`, with the names given by the API."""
    out = tmp_path / "out"
    async with played(tmp_path, leagues(), out=out, poll_interval_s=3600.0) as (live, _):
        expected = {name: live.entries(name) for name in live.snapshot.books}
        names = dict(live.system.status.names)

        replay = Replay(open_sources(out, kind_named), inf, SystemClock())
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            await live.until(lambda: bool(replay.playback.endings))
            await replay.stop()

    books = replay.playback.snapshot.books
    assert expected == {name: list(entries_of(book.chunks)) for name, book in books.items()}
    assert names == dict(replay.status.names)
