"""Conditional polls over real sockets: withdrawals, late 304s, suspect lists, unreadable payloads."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from actors.core.messages import BookmakerId
from actors.monitoring.status import BookmakerState
from tests.support.builders.football_data import ROW, changed, csv_bytes
from tests.support.peers.http import Asked, HttpPeer, conditional, hang, http_peer, respond
from tests.support.systems.playback import BOOKMAKERS, Running, config, running

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

WALL = 1_771_000_000.0  # 2026-02-13, the day before the matches
ALL = set(BOOKMAKERS)
HEADER = ("Div", "Date", "Time", "HomeTeam", "AwayTeam")
TRIPLES = [tuple(key + side for side in "HDA") for key in BOOKMAKERS.values()]


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    """Return a peer that serves a file of one match, with an ETag."""
    with http_peer() as one:
        one.answers["/fixtures.csv"] = conditional(_file(), '"one"')
        yield one


def _file(count: int = 1, triples: list[tuple[str, ...]] = TRIPLES) -> bytes:
    rows = [(*changed(HomeTeam=f"Team {number}")[:5], *ROW[5:] * len(triples)) for number in range(count)]
    return csv_bytes(*rows, header=(*HEADER, *(name for triple in triples for name in triple)))


def _is_conditional(asked: Asked) -> bool:
    return not {"if-none-match", "if-modified-since"}.isdisjoint(asked.headers)


def _serve(peer: HttpPeer, body: bytes, etag: str) -> list[Asked]:
    """Serve another file from now on; return a list that grows with each request for it."""
    answer, seen = conditional(body, etag), list[Asked]()

    def remembered(connection: socket.socket, asked: Asked) -> None:
        seen.append(asked)
        answer(connection, asked)

    peer.answers["/fixtures.csv"] = remembered
    return seen


@contextlib.asynccontextmanager
async def _confirmed(peer: HttpPeer, tmp_path: Path, **options: float) -> AsyncIterator[Running]:
    """Run until every bookmaker has the first list on the board and a 304 has confirmed it."""
    async with running(tmp_path, config(peer.url("/fixtures.csv"), **options), WALL) as board:
        await board.until(lambda: board.serving() == ALL)
        await board.confirmations(2)
        yield board


async def test_withdrawn_list_is_requested_without_validators(peer: HttpPeer, tmp_path: Path) -> None:
    """After an outage the list is requested without validators, since a 304 would not restore it."""
    silence = threading.Event()
    async with _confirmed(peer, tmp_path, stale_after_s=0.5, timeout_s=0.2) as board:
        version, shown = board.snapshot.version, {name: board.entries(name) for name in ALL}
        peer.answers["/fixtures.csv"] = hang(silence)
        await board.until(lambda: not board.serving())
        withdrawn = board.snapshot.version, [board.entries(name) for name in BOOKMAKERS]
        await board.polls(2)
        seen = _serve(peer, _file(), '"one"')
        await board.until(lambda: board.serving() == ALL)
        silence.set()

        assert withdrawn == (version + 1, [[], [], []])
        assert not _is_conditional(seen[0])
        assert {name: [one.match for one in board.entries(name)] for name in ALL} == {
            name: [one.match for one in entries] for name, entries in shown.items()
        }


async def test_304_after_a_withdrawal_restores_nothing(peer: HttpPeer, tmp_path: Path) -> None:
    """A late 304 confirms a withdrawn list, so the source polls again at once, without validators."""
    gone, seen = threading.Event(), list[tuple[bool, int]]()
    async with _confirmed(peer, tmp_path, stale_after_s=0.5) as board:

        def late(connection: socket.socket, asked: Asked) -> None:
            seen.append((_is_conditional(asked), board.source.attempts))
            if seen[-1][0]:
                gone.wait(10)
            conditional(_file(), '"one"')(connection, asked)

        peer.answers["/fixtures.csv"] = late
        await board.until(lambda: not board.serving())
        attempt = board.source.attempts
        gone.set()
        await board.until(lambda: board.serving() == ALL)

        assert seen[:2] == [(True, attempt), (False, attempt)]


async def test_identical_body_confirms_like_a_304(peer: HttpPeer, tmp_path: Path) -> None:
    """If a server without validators sends the same file again, the deadlines move and nothing else."""
    peer.answers["/fixtures.csv"] = respond(_file())
    async with _confirmed(peer, tmp_path) as board:
        before, accepted = board.snapshot, board.system.status.board.verdicts["accepted"]
        await board.confirmations(3)
        await board.until(lambda: board.snapshot.valid_until > before.valid_until)

        assert board.snapshot.version == before.version
        assert board.system.status.board.verdicts["accepted"] == accepted
        assert not any(map(_is_conditional, peer.asked))


async def test_unreadable_body_drops_the_validators(peer: HttpPeer, tmp_path: Path) -> None:
    """A body that cannot be read changes nothing on the board, and the next poll has no validators."""
    async with _confirmed(peer, tmp_path) as board:
        version = board.snapshot.version
        peer.answers["/fixtures.csv"] = respond(b"<html>Down for maintenance</html>")
        await board.until(lambda: board.source.failures >= 2)
        during = board.snapshot.version, board.serving()
        seen = _serve(peer, _file(), '"one"')
        await board.until(lambda: not board.source.failures)
        await board.until(lambda: _is_conditional(seen[-1]))

        assert during == (version, ALL)
        assert not _is_conditional(seen[0])
        assert board.snapshot.version == version


async def test_suspect_list_is_requested_until_it_is_accepted(peer: HttpPeer, tmp_path: Path) -> None:
    """A list that loses too much is accepted at the third time, and no 304 counts as one."""
    peer.answers["/fixtures.csv"] = conditional(_file(30), '"one"')
    async with _confirmed(peer, tmp_path) as board:
        seen = _serve(peer, _file(5), '"two"')
        await board.until(lambda: {len(board.entries(name)) for name in ALL} == {5})
        await board.confirmations(1)

        assert board.system.status.board.verdicts["suspect"] == 2 * len(ALL)
        assert [_is_conditional(asked) for asked in seen[:3]] == [True, False, False]
        assert _is_conditional(seen[-1])


async def test_bookmaker_without_columns_does_not_affect_the_others(peer: HttpPeer, tmp_path: Path) -> None:
    """The others are shown; until no part is missing, the file is requested without validators."""
    peer.answers["/fixtures.csv"] = conditional(_file(2, [TRIPLES[0], TRIPLES[2]]), '"one"')
    bwin = BookmakerId("bwin")
    async with running(tmp_path, config(peer.url("/fixtures.csv")), WALL) as board:
        await board.until(lambda: board.serving() == ALL - {bwin})
        await board.polls(4)
        record, version = board.system.status.bookmakers[bwin], board.snapshot.version
        lacking = record.last_error(), record.state, any(map(_is_conditional, peer.asked))
        seen = _serve(peer, _file(2), '"two"')
        await board.until(lambda: board.serving() == ALL)
        await board.until(lambda: _is_conditional(seen[-1]))

        assert lacking == ("column not in this file: BWH, BWD, BWA", BookmakerState.STARTING, False)
        assert (record.last_error(), board.snapshot.version) == (None, version + 1)
        assert [book.v1_version > version for book in board.snapshot.books.values()] == [False, True, False]


async def test_updated_is_not_later_than_the_receipt(peer: HttpPeer, tmp_path: Path) -> None:
    """A server whose clock is ahead does not make prices newer than they are (faults.md, B14)."""
    headers = {"Last-Modified": "Sat, 14 Feb 2026 16:26:40 GMT"}  # a day after WALL
    peer.answers["/fixtures.csv"] = conditional(_file(), '"one"', headers)
    async with _confirmed(peer, tmp_path) as board:
        (entry,) = board.entries(BookmakerId("bet365"))

        assert WALL <= entry.updated <= board.clock.now().wall
