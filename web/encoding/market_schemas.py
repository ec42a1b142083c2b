"""The public JSON of markets (docs/api.md), and of fixtures by another market than 1X2."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.markets.market import Kind, Market
from actors.matches.model import Fixture
from web.encoding.schemas import Cursor, Version


class MarketV2(Struct, frozen=True):
    """A market that is on the board: its kind, line and outcomes, and who lists it of how many fixtures.

    The line is in goals, null where the kind has none; a handicap's is added to the home team. A price of
    it changed at `updated` (Unix seconds).
    """

    market: str
    kind: Kind
    line: float | None
    outcomes: tuple[str, ...]
    fixtures_count: int
    bookmakers: tuple[str, ...]
    updated: float


class MarketList(Struct, frozen=True):
    """The markets on the board: the kinds in their order, then the lines from the lowest."""

    version: Version
    markets: tuple[MarketV2, ...]
    markets_count: int
    cursor: Cursor


class Listed:
    """What is known of a market while its fixtures are looked at."""

    def __init__(self, market: Market) -> None:
        self._market, self._count, self._updated = market, 0, 0.0
        self._bookmakers: dict[BookmakerId, None] = {}

    def add(self, fixture: Fixture) -> None:
        """Count a fixture of the market."""
        self._count += 1
        self._bookmakers.update(dict.fromkeys(fixture.bookmakers))
        self._updated = max(self._updated, *[entry.updated for entry in fixture.listed])

    def shown(self, names: Mapping[BookmakerId, str]) -> MarketV2:
        """Return its public form; `names` are all display names in their order."""
        market = self._market
        by = tuple(shown for name, shown in names.items() if name in self._bookmakers)
        about = (str(market), market.kind, market.line, market.outcomes)
        return MarketV2(*about, self._count, by, self._updated)
