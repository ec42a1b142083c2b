"""The values that a client asks for: their markets, bookmakers and league, and the reference."""

from __future__ import annotations

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.market_fixtures.views import SeveralView
from actors.matches.model import Fixture, FixtureView
from actors.value.values import Value
from web.protocol.negotiation import Format


class AskedValues(Struct, frozen=True):
    """The requested values; without `bookmakers` the values of all; `league` is as the client wrote it."""

    view: FixtureView | SeveralView
    reference: BookmakerId | None
    bookmakers: tuple[BookmakerId, ...]
    min_ev: float
    doubted: bool
    league: str | None = None
    format: Format = Format.JSON

    @property
    def views(self) -> tuple[FixtureView, ...]:
        """The view of each market."""
        return self.view.views if isinstance(self.view, SeveralView) else (self.view,)

    @property
    def by_kind(self) -> tuple[FixtureView, ...]:
        """A view of each kind of market."""
        return tuple({view.market.kind: view for view in reversed(self.views)}.values())

    def has_market(self, fixture: Fixture) -> bool:
        """Return whether the market of a fixture is requested."""
        kind = fixture.market.kind
        return any(view.market.kind is kind and view.has_market(fixture) for view in self.views)

    def wants(self, value: Value) -> bool:
        """Return whether a value passes the filters."""
        is_of = not self.bookmakers or value.bookmaker in self.bookmakers
        return is_of and value.expected >= self.min_ev and (self.doubted or not value.doubts)
