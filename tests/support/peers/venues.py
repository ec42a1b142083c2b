"""Venues in memory on a real socket, for processes of their own."""

from __future__ import annotations

import asyncio
import socket

import httpx2

from tests.support.peers.http import Answer, Asked, respond
from tests.support.peers.web import Answer as InMemory


def relayed(venue: InMemory) -> Answer:
    """Return the answers of a venue in memory, for a peer on a socket."""

    def answer(connection: socket.socket, asked: Asked) -> None:
        status, body = asyncio.run(_answered(venue, asked))
        respond(body, status)(connection, asked)

    return answer


async def _answered(venue: InMemory, asked: Asked) -> tuple[int, bytes]:
    request = httpx2.Request(asked.method, f"http://venue.example{asked.path}", content=asked.body)
    response = await venue(request)
    return response.status_code, await response.aread()
