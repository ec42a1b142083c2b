"""Quart under the service's own server: `jsonify` of dicts, or msgspec of Structs, at each request.

Unneeded work is left out: for a 304 only the version is compared, and nothing is serialised.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import msgspec
from quart import Quart, Response, jsonify, request

from scripts.benchmarks.peers import hosting
from web.encoding.schemas import MatchV2

PATH = "/api/v2/odds"
LEVEL = 6


class Board(msgspec.Struct):
    """The odds list."""

    version: int
    matches: list[MatchV2]
    matches_count: int


def application(data: Path, kind: str) -> Quart:
    """Return the application."""
    app = Quart("peer")
    etag, answer = _by_msgspec(data) if kind == "msgspec" else _by_jsonify(data)

    @app.get(PATH)
    async def odds() -> Response:
        if request.headers.get("If-None-Match") == etag:
            return Response(None, 304, {"ETag": etag})
        response = answer()
        response.headers["ETag"] = etag
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            response.set_data(gzip.compress(await response.get_data(as_text=False), LEVEL))
            response.headers["Content-Encoding"] = "gzip"
        return response

    return app


def _by_jsonify(data: Path) -> tuple[str, Callable[[], Response]]:
    board = msgspec.json.decode(data.read_bytes())
    return f'"{board["version"]}"', lambda: jsonify(board)


def _by_msgspec(data: Path) -> tuple[str, Callable[[], Response]]:
    board = msgspec.json.decode(data.read_bytes(), type=Board)
    encode = msgspec.json.Encoder().encode
    return f'"{board.version}"', lambda: Response(encode(board), content_type="application/json")


if __name__ == "__main__":
    given = hosting.arguments()
    hosting.serve_with_hypercorn(application(given.data, given.kind), given.bind)
