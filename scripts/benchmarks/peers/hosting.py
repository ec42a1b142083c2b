"""Hosts of the peers: each listens, says where in a `service.started` line, and serves until ended.

`as_the_service` takes the service's own servers, set up by its own code, so that they cost the same.
"""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from actors.service.settings import parse_bind
from web.__main__ import SERVERS
from web.server.listener import address_of, listen

BACKLOG = 1024


def arguments() -> argparse.Namespace:
    """Read what every peer is given: the body of the odds list, where to listen, and of what kind to be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--kind", default="")
    parser.add_argument("--bind", required=True)
    return parser.parse_args()


def as_the_service(app: Any, bind: str, server: str = "hypercorn") -> None:
    """Serve an ASGI application as the service does, with that server of it."""

    async def main() -> None:
        await SERVERS[server](app, announced(bind), anyio.Event())

    anyio.run(main)


def with_uvicorn(app: Any, bind: str) -> None:
    """Serve an ASGI application with uvicorn on uvloop and httptools, without its access log."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, loop="uvloop", http="httptools")
    uvicorn.Server(config).run(sockets=[announced(bind)])


def announced(bind: str) -> socket.socket:
    """Listen, and say so."""
    sock = listen(*parse_bind(bind))
    print(json.dumps({"event": "service.started", "url": address_of(sock)}), flush=True)
    return sock
