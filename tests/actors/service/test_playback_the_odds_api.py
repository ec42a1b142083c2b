"""All recorded answers of The Odds API, served to the whole service.

The expected board and the expected counts of rejections are computed from the files by a simple parser
that shares no code with ours.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.board.chunks import entries_of
from actors.board.validity import ListState
from actors.core.messages import BookmakerId, Scope
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders import the_odds_api as api
from tests.support.peers.web import Web, serving
from tests.support.recordings import the_odds_api
from tests.support.systems.virtual_service import VirtualService, configured, until

pytestmark = [pytest.mark.anyio, pytest.mark.recordings]

EPL, LIGUE_ONE = "soccer_epl", "soccer_france_ligue_one"
RECORDED_AT = 1722723690.0
"""Unix seconds: soon after the leagues were recorded, 2024-08-03T22:21:30Z."""
OTHER = "soccer_other"
"""A name for the recorded answer that lists other sports."""
ERRORS = {"soccer_error_a": "missing_key_body.json", "soccer_error_b": "invalid_market_combo_body.json"}
"""The recorded error bodies, by the sport for which they are served."""


def leagues() -> dict[str, bytes]:
    """Return the recorded answers of the leagues that were polled at one time."""
    return api.recorded(the_odds_api())


def everything() -> dict[str, bytes]:
    """Return every recorded list of matches: other sports, the leagues, and matches in play.

    The list of another call has two of these matches, with other prices; that list comes first, so that
    the prices in the list of the league count.
    """
    (in_play,), (other,) = the_odds_api("in_play*"), the_odds_api("*/data_sports_keys.json")
    return {OTHER: other.read_bytes(), **leagues(), "soccer_in_play": in_play.read_bytes()}


def serve(web: Web, answers: Mapping[str, bytes], headers: Mapping[str, str] | None = None) -> None:
    """Have the site answer with these bodies, by sport; the default Date is one at which no price lags."""
    for sport, body in answers.items():
        web.answers[api.odds_path(sport)] = serving(body, headers=headers or api.dated(body))


@asynccontextmanager
async def played(
    folder: Path,
    answers: Mapping[str, bytes],
    sports: tuple[str, ...] = (),
    out: Path | None = None,
    **options: float,
) -> AsyncIterator[VirtualService]:
    """Run the service on a site with these answers until all are on the board; record to `out` if given."""
    web = Web()
    serve(web, answers)
    for sport, file in ERRORS.items():
        (path,) = the_odds_api(file)
        serve(web, {sport: path.read_bytes()})
    text = api.config([*answers, *sports], api.keys_in(answers), **options)
    async with configured(folder, text, web=web, wall=RECORDED_AT, out=out) as board:
        await until(lambda: _has_all(board, answers))
        yield board


def _has_all(board: VirtualService, scopes: Mapping[str, object]) -> bool:
    return all(scopes.keys() <= book.lists.keys() for book in board.snapshot.books.values())


def shown(board: VirtualService, key: str) -> dict[str, api.Row]:
    """Return what the board shows of the bookmaker with that key, by match id."""
    matches = [entry.match for entry in board.entries(api.bookmaker_id(key))]
    return {
        match.source_match_id: (
            *(str(match.source_match_id), match.home, match.away),
            *(match.home_price, match.draw_price, match.away_price),
        )
        for match in matches
    }


def expected(answers: Mapping[str, bytes], key: str) -> dict[str, api.Row]:
    """Return what the board must show of the bookmaker after these answers, by the simple parser."""
    return {
        match_id: row for body in answers.values() for match_id, row in api.plain_rows(body, key).items()
    }


def lists(board: VirtualService, sport: str) -> dict[BookmakerId, ListState]:
    """Return the list that each bookmaker has of that sport, if any."""
    books, scope = board.snapshot.books, Scope(sport)
    return {name: book.lists[scope] for name, book in books.items() if scope in book.lists}


def _plain_reason(event: Any, market: Any, key: str) -> str | None:
    """Return the reason why a market is not shown, by simple code; None if it is shown."""
    names = [outcome["name"] for outcome in market["outcomes"]]
    prices = [outcome["price"] for outcome in market["outcomes"]]
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
    highest = api.highest_book_sum(key)
    return None if 0.95 <= sum(1 / price for price in prices) <= highest else "book_sum"


def _plain_reasons(answers: Mapping[str, bytes]) -> dict[str, Counter[str]]:
    """Count by bookmaker key the reasons why its markets are not shown."""
    reasons: dict[str, Counter[str]] = {key: Counter() for key in api.keys_in(answers)}
    for body in answers.values():
        for event in json.loads(body):
            for lines in event["bookmakers"]:
                found = [_plain_reason(event, market, lines["key"]) for market in lines["markets"]]
                reasons[lines["key"]].update(reason for reason in found if reason)
    return reasons


@pytest.mark.long
async def test_board_equals_a_simple_reading_of_all_recordings(tmp_path: Path) -> None:
    """Each bookmaker has every match with valid prices in the files; each rejection has its reason."""
    answers = everything()
    reasons = _plain_reasons(answers)

    async with played(tmp_path, answers, tuple(ERRORS), poll_interval_s=60.0) as board:
        found = {key: shown(board, key) for key in api.keys_in(answers)}
        records = board.system.status.bookmakers
        counted = {key: records[BookmakerId(api.bookmaker_id(key))].rejected for key in reasons}

    assert {key: expected(answers, key) for key in found} == found
    assert sum(map(len, found.values())) > 4000
    assert reasons == counted
    assert {"lay", "two_way", "sport", "outcome", "price", "book_sum"} == set().union(*reasons.values())


async def test_both_recorded_errors_are_counted_by_their_reason(tmp_path: Path) -> None:
    """Errors with status 200 put nothing on the board; bookmakers have the titles from the good answers."""
    answers = {EPL: leagues()[EPL]}
    titles = {
        api.bookmaker_id(lines["key"]): lines["title"]
        for event in json.loads(answers[EPL])
        for lines in event["bookmakers"]
    }

    async with played(tmp_path, answers, tuple(ERRORS)) as board:
        await until(lambda: len(board.source("api").failed_by) == 2)
        await board.polls("api", 10)
        reasons = set(board.source("api").failed_by)
        scopes = {scope for book in board.snapshot.books.values() for scope in book.lists}
        failing = {scope for scope, record in board.source("api").scopes.items() if record.failures}
        assert titles == dict(board.system.status.names)

    assert {"missing_key", "invalid_market_combo"} == reasons
    assert ({Scope(EPL)}, set(ERRORS)) == (scopes, failing)


@pytest.mark.long
async def test_recording_of_all_leagues_is_replayed_unchanged(tmp_path: Path) -> None:
    """Every entry of every bookmaker is equal, including `updated`, with the names given by the API."""
    out = tmp_path / "out"
    async with played(tmp_path, leagues(), out=out, poll_interval_s=3600.0) as live:
        expected = {name: live.entries(name) for name in live.snapshot.books}
        names = dict(live.system.status.names)

        replay = Replay(open_sources(out, kind_named), inf, live.clock)
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            await until(lambda: bool(replay.playback.endings))
            await replay.stop()

    books = replay.playback.snapshot.books
    assert expected == {name: list(entries_of(book.chunks)) for name, book in books.items()}
    assert names == dict(replay.status.names)
