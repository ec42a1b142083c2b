"""FastAPI under uvicorn: bytes that it holds, or Pydantic models, serialised at each request.

Models are kept or made from dicts, and FastAPI's own middleware compresses them. Unneeded work is left out:
for a 304 only the version is compared, and nothing is serialised.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Response
from fastapi.middleware.gzip import GZipMiddleware
from pydantic import BaseModel, Field

from scripts.benchmarks.peers import hosting

PATH = "/api/v2/odds"
LEVEL = 6


class Odds(BaseModel):
    """Decimal odds by outcome."""

    home: float = Field(alias="1")
    draw: float = Field(alias="X")
    away: float = Field(alias="2")


class Match(BaseModel):
    """One match entry."""

    id: str
    sport: str
    bookmaker: str
    home: str
    away: str
    league: str
    odds: Odds
    start_time: int | None
    updated: float


class Board(BaseModel):
    """The odds list."""

    version: int
    matches: list[Match]
    matches_count: int


def application(data: Path, kind: str) -> FastAPI:
    """Return the application."""
    return _of_bytes(data.read_bytes()) if kind == "bytes" else _of_models(data, kind)


def _of_bytes(body: bytes) -> FastAPI:
    packed, etag = gzip.compress(body, LEVEL), f'"{json.loads(body)["version"]}"'
    headers = {"ETag": etag, "Content-Type": "application/json", "Vary": "Accept-Encoding"}
    app = FastAPI()

    @app.get(PATH)
    async def odds(
        if_none_match: Annotated[str | None, Header()] = None,
        accept_encoding: Annotated[str, Header()] = "",
    ) -> Response:
        if if_none_match == etag:
            return Response(status_code=304, headers={"ETag": etag})
        if "gzip" in accept_encoding:
            return Response(packed, headers={**headers, "Content-Encoding": "gzip"})
        return Response(body, headers=headers)

    return app


def _of_models(data: Path, kind: str) -> FastAPI:
    content = json.loads(data.read_bytes())
    etag = f'"{content["version"]}"'
    board = Board.model_validate(content) if kind == "held" else content
    app = FastAPI()
    app.add_middleware(GZipMiddleware, compresslevel=LEVEL)

    @app.get(PATH, response_model=Board)
    async def odds(response: Response, if_none_match: Annotated[str | None, Header()] = None) -> Any:
        if if_none_match == etag:
            return Response(status_code=304, headers={"ETag": etag})
        response.headers["ETag"] = etag
        return board

    return app


if __name__ == "__main__":
    given = hosting.arguments()
    hosting.serve_with_uvicorn(application(given.data, given.kind), given.bind)
