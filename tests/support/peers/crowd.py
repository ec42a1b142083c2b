"""Thousands of clients in a process of their own, so that they share no loop with the service.

`python -m tests.support.peers.crowd KIND PORT OPTIONS`, options as a JSON object, prints a line once it is
ready, then what happened, as JSON. `tests/support/systems/attacked.py` starts it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.peers.flood import flood, saturate
from tests.support.peers.history import History

HOST = "127.0.0.1"
CONNECT_S = 10.0
LATE_S = 5.0
"""Seconds after which a probe counts as not answered."""
SMALL_BUFFER = 4_096

Found = dict[str, Any]


async def probe(port: int, path: str = "/health/live", every_s: float = 0.02, lines: str = "") -> Found:
    """Ask on a new connection each time, until standard input ends; times in milliseconds."""
    took: list[float] = []
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lines}\r\n".encode()

    async def ask() -> None:
        began, is_answered = time.monotonic(), False
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(LATE_S):
                reader, writer = await asyncio.open_connection(HOST, port)
                try:
                    writer.write(head)
                    is_answered = (await reader.readline()).startswith(b"HTTP/1.1 200")
                finally:
                    writer.transport.abort()
        took.append(time.monotonic() - began if is_answered else LATE_S)

    over = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    async with asyncio.TaskGroup() as tasks:
        while not over.done():
            tasks.create_task(ask())
            await asyncio.sleep(every_s)
    return summary(took)


def summary(took: list[float]) -> Found:
    """Return how many requests were sent and answered, and the median, 99th percentile and longest time."""
    ordered = sorted(took)

    def at(share: float) -> float:
        return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1e3, 1)

    answered = sum(value < LATE_S for value in took)
    return {"asked": len(took), "answered": answered, "p50": at(0.5), "p99": at(0.99), "worst": at(1.0)}


async def slow_heads(port: int, clients: int, seconds: float, every_s: float = 0.5) -> Found:
    """Each client sends a byte of its head at a time."""
    lasted: list[float] = []

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = time.monotonic()
        writer.write(b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\nA: ")
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof() and not writer.transport.is_closing():
                writer.write(b"a")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1_024), every_s)
        lasted.append(time.monotonic() - began)

    connected = await _all(port, clients, seconds, trickle)
    return {"connected": connected, "cut": len(lasted), "longest_s": round(max(lasted, default=0.0), 1)}


async def idle(port: int, clients: int, seconds: float) -> Found:
    """Each client connects and sends nothing."""
    lasted: list[float] = []

    async def wait(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            await reader.read(1)
        lasted.append(time.monotonic() - began)

    connected = await _all(port, clients, seconds, wait)
    return {"connected": connected, "cut": len(lasted), "longest_s": round(max(lasted, default=0.0), 1)}


async def _all(
    port: int,
    clients: int,
    seconds: float,
    act: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> int:
    """Connect 2,000 clients a second; each acts for `seconds` at most; return how many were connected."""
    connected = 0

    async def connect(number: int) -> None:
        nonlocal connected
        await asyncio.sleep(number / 2_000)
        with contextlib.suppress(OSError, TimeoutError):
            opening = asyncio.open_connection(HOST, port)
            reader, writer = await asyncio.wait_for(opening, CONNECT_S)
            connected += 1
            try:
                await asyncio.wait_for(act(reader, writer), seconds)
            finally:
                writer.transport.abort()

    await asyncio.gather(*(connect(number) for number in range(clients)))
    return connected


async def not_reading(
    port: int,
    clients: int,
    seconds: float,
    *,
    take: int = 0,
    every_s: float = 0.5,
    path: str = "/api/v2/odds",
    lines: str = "",
) -> Found:
    """Each client asks for a long body, and receives `take` bytes of it at a time, or nothing at all.

    `{}` in the path is the number of the client.
    """
    socks: list[socket.socket] = []
    for number in range(clients):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        sock.settimeout(CONNECT_S)
        sock.connect((HOST, port))
        head = f"GET {path.format(number)} HTTP/1.1\r\nHost: x\r\n{lines}\r\n"
        sock.sendall(head.encode())
        sock.setblocking(False)  # noqa: FBT003 - the library's signature
        socks.append(sock)
    ends, taken = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        await asyncio.sleep(every_s)
        for sock in socks:
            with contextlib.suppress(OSError):
                taken += len(sock.recv(take)) if take else 0
    for sock in socks:
        sock.close()
    return {"connected": len(socks), "taken": taken}


async def polling(port: int, reads: int, readers: int = 50, every_s: float = 0.0) -> Found:
    """Readers with a connection each poll lists, `reads` times in all, and note the answers."""
    history, statuses = History(), set[str]()
    urls = ("/api/odds", "/api/v2/odds", "/api/v2/odds?bookmaker=alder", "/api/odds?bookmaker=birch")

    async def read(reader: int) -> None:
        asked = 0
        incoming, outgoing = await asyncio.open_connection(HOST, port)
        while history.reads < reads:
            url = urls[(reader + asked) % len(urls)]
            outgoing.write(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            head = (await incoming.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            headers = dict(name.split(": ", 1) for name in head.split("\r\n")[1:-2])
            body = await incoming.readexactly(int(headers["content-length"]))
            asked += 1
            statuses.add(head[9:12])
            if head[9:12] == "200":
                history.note(reader, url, headers["etag"], body)
            if "connection" in headers:  # its last request, or a refused request
                outgoing.close()
                await asyncio.sleep(0.1)
                incoming, outgoing = await asyncio.open_connection(HOST, port)
            await asyncio.sleep(every_s)
        outgoing.close()

    await asyncio.gather(*(read(reader) for reader in range(readers)))
    return {"text": str(history), "wrong": history.wrong(), "statuses": [*statuses]}


async def following(port: int, clients: int, seconds: float) -> Found:
    """Each client reads the stream."""
    taken = 0

    async def follow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        writer.write(b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n")
        while data := await reader.read(65_536):
            taken += len(data)

    return {"connected": await _all(port, clients, seconds, follow), "bytes": taken}


KINDS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        probe,
        slow_heads,
        idle,
        not_reading,
        polling,
        following,
        flood,
        saturate,
    )
}


def main() -> None:
    """Run the clients that the command line names, with as many descriptors as the system allows."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kind, port, options = sys.argv[1:]
    print("ready", flush=True)  # noqa: T201 - read by the process that started it
    found = KINDS[kind](int(port), **json.loads(options))
    print(json.dumps(asyncio.run(found) if asyncio.iscoroutine(found) else found))  # noqa: T201 - the result


if __name__ == "__main__":
    main()
