"""The service on one venue in memory, in virtual time: its shown prices, its counts and its requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import anyio
import httpx2

from actors.board.chunks import entries_of
from actors.core.messages import BookmakerId
from actors.pipeline.aggregator import TICK_S
from tests.support.peers.web import Answer, Web
from tests.support.systems.virtual_service import VirtualService, configured, pass_to

HOUR = 3600.0
Odds = dict[str, tuple[float, ...]]


class Venue(Protocol):
    """A venue in memory: its bookmaker, its configuration, and when its first prices are shown."""

    name: str
    config: str
    opens_s: float

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""


def having(config: str, options: str) -> str:
    """Return a configuration whose last source has these options as well."""
    return config.replace("[bookmakers", f"{options}\n[bookmakers", 1)


@asynccontextmanager
async def opened(
    folder: Path,
    venue: Venue,
    config: str = "",
    *,
    answer: Answer | None = None,
    until: float | None = None,
    tick_s: float = TICK_S,
) -> AsyncIterator[tuple[VirtualService, Web]]:
    """Run the service on a venue within the block, which begins at second `until`."""
    web = Web(answer or venue.answer)
    async with configured(folder, config or venue.config, web=web, tick_s=tick_s) as service:
        await pass_to(venue.opens_s if until is None else until)
        yield service, web


async def pass_by(seconds: float) -> None:
    """Let `seconds` pass, until nothing is under way."""
    await pass_to(anyio.current_time() + seconds)


def odds(service: VirtualService, bookmaker: str) -> Odds:
    """Return the prices on the boards of all kinds of market, by id."""
    boards = [service.snapshot, *(each.newest for each in service.system.markets.published.values())]
    books = [board.books.get(BookmakerId(bookmaker)) for board in boards]
    entries = [entry for book in books if book is not None for entry in entries_of(book.chunks)]
    return {str(entry.match.source_match_id): entry.match.prices for entry in entries}


def counted(service: VirtualService, bookmaker: str) -> dict[str, int]:
    """Return how many listed matches are not shown now, by reason."""
    record = service.system.status.bookmakers[BookmakerId(bookmaker)]
    return dict(record.rejections.counts(service.snapshot.books[record.id].scopes))


def times(web: Web, path: str, since: float = 0.0) -> list[float]:
    """Return when a path with this ending was asked for, after a given second."""
    timed = zip(web.asked, web.requests, strict=True)
    return [at for at, request in timed if request.url.path.endswith(path) and at > since]


def gaps(moments: list[float]) -> list[float]:
    """Return the seconds between these moments."""
    return [round(later - at, 3) for at, later in pairwise(moments)]
