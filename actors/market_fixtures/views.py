"""A view of fixtures that has several markets together. Pure."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from actors.core.messages import BookmakerId
from actors.matches.model import FixtureView, ViewKind


class SeveralView(Struct, frozen=True):
    """Fixtures in several markets, as `asked`; each of the `views` covers one market."""

    asked: str
    views: tuple[FixtureView, ...]

    @property
    def kind(self) -> ViewKind:
        """The kind, which all `views` share."""
        return self.views[0].kind

    @property
    def bookmaker(self) -> BookmakerId | None:
        """The bookmaker, which all `views` share."""
        return self.views[0].bookmaker

    @property
    def league(self) -> str | None:
        """The league, which all `views` share."""
        return self.views[0].league

    def of_league(self, league: str | None) -> SeveralView:
        """Return the view restricted to a league, or (None) with all leagues."""
        return SeveralView(self.asked, tuple(replace(view, league=league) for view in self.views))
