"""Reading answers of very many tiny parts: the event loop goes on, and such a body is refused."""

# ruff: noqa: ASYNC109 - the methods of httpcore2, with its timeouts

from __future__ import annotations

import contextlib

import anyio
import anyio.lowlevel
import h11
import pytest
from httpcore2 import AsyncNetworkStream, ReadError

from actors.core.cooperative import BUDGET_S
from actors.core.errors import SourceError
from actors.transports.http import MANY_PARTS, MIN_PART_BYTES
from actors.transports.paced_reads import (
    FIRST_BYTES,
    MAX_WORK_S,
    MOST_BYTES,
    PacedStream,
)
from tests.support.peers.broken import CHUNKED
from tests.support.peers.fetching import fetched, trouble
from tests.support.peers.http import HttpPeer, raw

pytestmark = pytest.mark.anyio

TINY = b"1\r\nx\r\n"
INTERIM = b"HTTP/1.1 102 Processing\r\n\r\n"
LEFT_TO_PARSE = 2_000  # a fifth of the tiny chunks in a read of 64 kB


@pytest.mark.parametrize(
    "answer",
    [CHUNKED + TINY * 20_000 + b"0\r\n\r\n", INTERIM * 10_000 + CHUNKED + b"0\r\n\r\n"],
    ids=["chunks of one byte", "1xx answers"],
)
async def test_other_tasks_run_between_tiny_parts_of_an_answer(
    peer: HttpPeer, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two turns of the loop the client parses few parts of an answer, however many have come."""
    parsed, most = 0, 0
    next_event = h11.Connection.next_event

    def counted(connection: h11.Connection) -> object:
        nonlocal parsed
        parsed += 1
        return next_event(connection)

    async def count_turns() -> None:
        nonlocal parsed, most
        while True:
            parsed, most = 0, max(parsed, most)
            await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(h11.Connection, "next_event", counted)
    peer.answers["/f.csv"] = raw(answer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count_turns)
        with anyio.move_on_after(20):
            await trouble_or_answer(peer.url("/f.csv"))
        tasks.cancel_scope.cancel()

    assert 0 < most < LEFT_TO_PARSE


async def trouble_or_answer(url: str) -> None:
    """Fetch; return the answer, or the error if the answer is refused."""
    with contextlib.suppress(SourceError):
        await fetched(url)


async def test_a_body_of_tiny_chunks_is_refused(peer: HttpPeer) -> None:
    """Each chunk takes work, so in a body of thousands the mean length must reach a minimum."""
    length = MIN_PART_BYTES // 2
    chunk = b"%x\r\n%b\r\n" % (length, bytes(length))
    peer.answers["/f.csv"] = raw(CHUNKED + chunk * (MANY_PARTS + 1000) + b"0\r\n\r\n")
    error = await trouble(peer.url("/f.csv"))

    assert error.reason == "chunks"


async def test_a_body_of_short_chunks_is_read(peer: HttpPeer) -> None:
    """Thousands of chunks of a line each are read, also if a third of them come in two parts."""
    line = b"XX,14/02/2026,15:00\r\n"
    chunk = b"%x\r\n%b\r\n" % (len(line) + 1, line + b"\n")
    peer.answers["/f.csv"] = raw(CHUNKED + chunk * 2_900 + b"0\r\n\r\n")

    assert (await fetched(peer.url("/f.csv"))).body == (line + b"\n") * 2_900


class _Endless(AsyncNetworkStream):
    """A connection that gives as many bytes as are asked for; `asked` has these numbers."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        self.asked.append(max_bytes)
        return bytes(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Accept all bytes."""


async def test_the_work_of_an_answer_is_bounded() -> None:
    """The client gives up an answer that takes too much work; the next answer has a new budget."""
    worked_s, endless = 0.0, _Endless()
    stream = PacedStream(endless, lambda: worked_s)
    for _ in range(2):
        await stream.write(b"GET")
        await stream.read(MOST_BYTES)
        worked_s += MAX_WORK_S
        await stream.read(MOST_BYTES)
    worked_s += BUDGET_S

    with pytest.raises(ReadError, match=r"^the answer takes more than 1 s of work$"):
        await stream.read(MOST_BYTES)


async def test_the_time_before_a_request_is_no_work() -> None:
    """A connection that was idle reads as much at a time as before."""
    worked_s, endless = 0.0, _Endless()
    stream = PacedStream(endless, lambda: worked_s)
    await stream.read(MOST_BYTES)
    worked_s += 60.0
    await stream.write(b"GET")
    await stream.read(MOST_BYTES)

    assert endless.asked == [FIRST_BYTES, FIRST_BYTES]
