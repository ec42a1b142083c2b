"""The public JSON of markets (docs/api.md), and of fixtures with a market other than 1X2."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.markets.market import Kind, Market
from actors.matches.model import Fixture
from web.encoding.schemas import Cursor, Version


class MarketV2(Struct, frozen=True):
    """A market on the board: its kind, line and outcomes, its bookmakers and the number of its fixtures.

    The line is in goals, null if the kind has none; a handicap is added to the home team's goals. `updated`
    is when a price of the market last changed (Unix seconds).
    """

    market: str
    kind: Kind
    line: float | None
    outcomes: tuple[str, ...]
    fixtures_count: int
    bookmakers: tuple[str, ...]
    updated: float


class MarketList(Struct, frozen=True):
    """The markets on the board, by kind, then by line from the lowest."""

    version: Version
    markets: tuple[MarketV2, ...]
    markets_count: int
    cursor: Cursor


class Listed:
    """The counts for a market while its fixtures are visited."""

    def __init__(self, market: Market) -> None:
        self._market, self._count, self._updated = market, 0, 0.0
        self._bookmakers: dict[BookmakerId, None] = {}

    def add(self, fixture: Fixture) -> None:
        """Count a fixture of the market."""
        self._count += 1
        self._bookmakers.update(dict.fromkeys(fixture.bookmakers))
        self._updated = max(self._updated, *[entry.updated for entry in fixture.listed])

    def shown(self, names: Mapping[BookmakerId, str]) -> MarketV2:
        """Return the market's public form; `names` are all display names in order."""
        market = self._market
        by = tuple(shown for name, shown in names.items() if name in self._bookmakers)
        about = (str(market), market.kind, market.line, market.outcomes)
        return MarketV2(*about, self._count, by, self._updated)
