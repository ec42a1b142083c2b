"""aiohttp with its own server on uvloop: it holds both bodies as bytes, and compares an ETag."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import uvloop
from aiohttp import web

from scripts.benchmarks.peers import hosting

PATH = "/api/v2/odds"
LEVEL = 6


def application(data: Path) -> web.Application:
    """Return the application."""
    body = data.read_bytes()
    packed, etag = gzip.compress(body, LEVEL), f'"{json.loads(body)["version"]}"'
    headers = {"ETag": etag, "Content-Type": "application/json", "Vary": "Accept-Encoding"}

    async def odds(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=packed, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get(PATH, odds)
    return app


if __name__ == "__main__":
    given = hosting.arguments()
    web.run_app(
        application(given.data),
        sock=hosting.listen_and_log(given.bind),
        access_log=None,
        print=None,
        loop=uvloop.new_event_loop(),
    )
