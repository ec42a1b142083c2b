"""Runs the peers: each listens, logs its address in a `service.started` line, and serves until stopped."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from actors.service.settings import parse_bind
from web.server.listener import address_of, listen
from web.server.servers import serve


def arguments() -> argparse.Namespace:
    """Parse the arguments of a peer: the file of its data, its kind, and the address to listen on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--kind", default="")
    parser.add_argument("--bind", required=True)
    return parser.parse_args()


def serve_with_hypercorn(app: Any, bind: str) -> None:
    """Serve an ASGI application with the service's server and settings, so that it costs the same."""

    async def main() -> None:
        await serve(app, listen_and_log(bind), anyio.Event())

    anyio.run(main)


def serve_with_uvicorn(app: Any, bind: str) -> None:
    """Serve an ASGI application with uvicorn on uvloop and httptools, without its access log."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, loop="uvloop", http="httptools")
    uvicorn.Server(config).run(sockets=[listen_and_log(bind)])


def listen_and_log(bind: str) -> socket.socket:
    """Listen, and print the address."""
    sock = listen(*parse_bind(bind))
    print(json.dumps({"event": "service.started", "url": address_of(sock)}), flush=True)
    return sock
