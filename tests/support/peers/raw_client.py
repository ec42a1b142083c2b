"""A client over a raw socket: any bytes on a connection of its own, or many requests on one connection."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from contextlib import closing, suppress

import anyio
import anyio.to_thread
import msgspec

from tests.support.systems.site import Answered, Site, parsed

_LAST = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def exchange(site: Site, data: bytes, then: bytes = b"", piece: int = 1 << 20) -> bytes:
    """Send `data` on a connection of its own and return all bytes until the server closes it.

    `data` goes out in pieces of `piece` bytes. With `then` the client goes on sending it, and reads only
    when the server has ended the connection.
    """
    return await anyio.to_thread.run_sync(_exchange, site.base, data, then, piece)


def _exchange(base: str, data: bytes, then: bytes, piece: int) -> bytes:
    host, _, port = base.removeprefix("http://").rpartition(":")
    with closing(socket.create_connection((host, int(port)), 5.0)) as client:
        client.settimeout(5.0)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(BrokenPipeError, ConnectionResetError):
            for at in range(0, len(data), piece):
                client.sendall(data[at : at + piece])
            while then:
                client.sendall(then)
        received = b""
        while more := client.recv(65_536):
            received += more
        return received


async def ask_in_a_row(site: Site, requests: Iterable[tuple[str, str]]) -> list[Answered]:
    """Send GETs, each a target and header lines, on one connection; return their answers in order.

    The last request, which ends the connection, has one more answer.
    """
    heads = [f"GET {target} HTTP/1.1\r\nHost: x\r\n{lines}\r\n" for target, lines in requests]
    received = await site.exchange("".join([*heads, _LAST]).encode("latin-1"))
    answers: list[Answered] = []
    at = 0
    while at < len(received):
        body = received.index(b"\r\n\r\n", at) + 4
        found = re.search(rb"\r\ncontent-length: ([0-9]+)", received[at:body], re.IGNORECASE)
        end = body + (int(found[1]) if found else 0)
        answers.append(parsed(received[at:end]))
        at = end
    return answers


def problem_in(answer: bytes) -> tuple[int, str]:
    """Return status and code of a problem document of the gate, after a check of its headers."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    assert b"content-type: application/problem+json" in lines
    assert b"access-control-allow-origin: *" in lines
    assert b"connection: close" in lines
    document = msgspec.json.decode(body)
    assert f"x-request-id: {document['request_id']}".encode() in lines
    assert "" == document["instance"]
    return document["status"], document["code"]
