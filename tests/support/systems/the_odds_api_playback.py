"""Recorded answers of The Odds API served by a scripted peer, and functions to look at the board."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from actors.board.snapshot import ListState
from actors.core.messages import BookmakerId, Scope
from tests.support.builders import the_odds_api as api
from tests.support.peers.http import HttpPeer, http_peer
from tests.support.recordings import the_odds_api
from tests.support.systems.playback import Running, running

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

    Two matches occur in the list of another call as well, with other prices; that list comes first, so that
    the prices of their league count.
    """
    (in_play,), (other,) = the_odds_api("in_play*"), the_odds_api("*/data_sports_keys.json")
    return {OTHER: other.read_bytes(), **leagues(), "soccer_in_play": in_play.read_bytes()}


@asynccontextmanager
async def played(
    folder: Path,
    answers: Mapping[str, bytes],
    sports: tuple[str, ...] = (),
    out: Path | None = None,
    **options: float,
) -> AsyncIterator[tuple[Running, HttpPeer]]:
    """Run the system on a peer with these answers until all are on the board; record to `out` if given."""
    with http_peer() as peer:
        api.serve(peer, answers)
        for sport, file in ERRORS.items():
            (path,) = the_odds_api(file)
            api.serve(peer, {sport: path.read_bytes()})
        text = api.config(peer.url(""), [*answers, *sports], api.keys_in(answers), **options)
        async with running(folder, text, RECORDED_AT, out) as board:
            await board.until(lambda: _has_all(board, answers))
            yield board, peer


def _has_all(board: Running, scopes: Mapping[str, object]) -> bool:
    return all(scopes.keys() <= book.lists.keys() for book in board.snapshot.books.values())


def shown(board: Running, key: str) -> dict[str, api.Row]:
    """Return what the board shows of the bookmaker with that key, by match id."""
    matches = [entry.match for entry in board.entries(BookmakerId(api.bookmaker_id(key)))]
    return {
        one.source_match_id: (
            *(str(one.source_match_id), one.home, one.away),
            *(one.home_price, one.draw_price, one.away_price),
        )
        for one in matches
    }


def expected(answers: Mapping[str, bytes], key: str) -> dict[str, api.Row]:
    """Return what it must show after these answers, by the simple parser."""
    return {
        match_id: row for body in answers.values() for match_id, row in api.plain_rows(body, key).items()
    }


def lists(board: Running, sport: str) -> dict[BookmakerId, ListState]:
    """Return each bookmaker's list of that sport."""
    return {name: book.lists[Scope(sport)] for name, book in board.snapshot.books.items()}
