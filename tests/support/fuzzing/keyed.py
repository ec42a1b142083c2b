"""Targets of 5DollarFootballAPI: its lists, odds by match, account and errors, and the pages of a list."""

from __future__ import annotations

import json
from typing import Any

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, TransportError
from actors.core.messages import Scope, SourceMatchId
from actors.source_api.groups import Group, preface_of
from actors.sources.five_dollar_football.kind import KIND
from actors.sources.five_dollar_football.options import (
    IN_PLAY,
    LEAGUES,
    READ,
    STATUS,
    FiveDollarFootballOptions,
)
from actors.sources.five_dollar_football.prices import ListedMatch
from actors.sources.five_dollar_football.reading import Reading
from actors.sources.five_dollar_football.wire import FixturesPage
from tests.support.fuzzing.polled import payload_of
from tests.support.fuzzing.prices import admitted
from tests.support.fuzzing.target import Target
from tests.support.peers.five_dollar_football import fixture_of, others, result

START = 1_780_003_600
BEFORE = Scope("kick-off.2026-05-28T21:26:40Z")
OPTIONS = FiveDollarFootballOptions(kind=KIND.name, api_key="an-invented-key", markets=READ)
LISTED = ListedMatch(SourceMatchId("7001"), "Home", "Away", "Premier League", START)
ERROR = {"type": "auth", "code": "invalid_key", "message": "no", "param": None, "request_id": "r"}


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    rows = [fixture_of(number, f"H {number}", f"A {number}", START) for number in (7001, 7002)]
    before = [{**row, "odds": {"1x2": result()}} for row in rows]
    in_play = [
        {**row, "status": "in_play", "odds": {"1x2": result(None, (2.1, 3.4, 3.6)), **others("inplay")}}
        for row in rows
    ]
    pages = {"page": 1, "per_page": 50, "count": 2, "has_more": False}
    books = [
        {"slug": slug, "name": slug, "odds": {"1x2": result(), **others()}} for slug in ("bet365", "x")
    ]
    words = (
        b"closing",
        b"inplay",
        b"opening",
        b"1x2",
        b"goal_line",
        b"line",
        b"scheduled",
        b"in_play",
        b"7001",
    )
    return (
        Target("five_dollar_before", _before, (_answer(before, pages), b'{"data":' * 800), words),
        Target("five_dollar_in_play", _in_play, (_answer(in_play, pages),), words),
        Target("five_dollar_odds", _odds, (_answer({"fixture_id": 7001, "bookmakers": books}),), words),
        Target(
            "five_dollar_pages",
            _pages,
            (_answer(before, {**pages, "per_page": 2, "has_more": True}),),
            words,
        ),
        Target(
            "five_dollar_account",
            _account,
            (
                _answer({"plan": "pro", "limits": {"rate_limit": 10, "rate_window_seconds": 60}}),
                _answer([{"id": 39, "name": "Premier League"}], pages),
                json.dumps({"success": 0, "error": ERROR}).encode(),
            ),
            (b"plan", b"rate_limit", b"error", b"code"),
        ),
    )


def _answer(data: Any, pagination: Any = None) -> bytes:
    more = {} if pagination is None else {"pagination": pagination}
    return json.dumps({"success": 1, "data": data, **more}).encode()


def _decoded(body: bytes, scope: Scope) -> Any:
    try:
        return run_now(KIND.decode(payload_of(body, scope), OPTIONS))
    except PayloadError:
        return None


def _priced(body: bytes, scope: Scope) -> int:
    content = _decoded(body, scope)
    if content is None:
        return 0
    return admitted(*(run_now(KIND.extract(content, key, OPTIONS)) for key in ("bet365", "x")))


def _before(body: bytes) -> int:
    return _priced(body, BEFORE)


def _in_play(body: bytes) -> int:
    return _priced(body, IN_PLAY)


def _odds(body: bytes) -> int:
    return _priced(preface_of(Group((LISTED,))) + body, Scope("2026-05-28.1"))


def _pages(body: bytes) -> int:
    """Read the same page again and again: the reader refuses it, or the list ends."""
    page, reading = _decoded(body, Scope("list.near")), Reading(50)
    while isinstance(page, FixturesPage):
        try:
            if (read := reading.take(page)) is not None:
                reading.finish({}, read)
                break
        except PayloadError:
            break
    return 0


def _account(body: bytes) -> int:
    for scope in (STATUS, LEAGUES):
        _decoded(body, scope)
    assert KIND.explain is not None
    KIND.explain(TransportError("status was 401", status=401, body=body))
    return 0
