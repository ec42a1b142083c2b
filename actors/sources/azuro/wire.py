"""The wire format of Azuro: pages of games, and conditions with their outcomes. Pure.

Answers in the shape of real ones (cut, names invented):

    {"games": [{"gameId": "1006", "startsAt": "1778526000",
     "state": "Prematch", "sport": {"slug": "football"},
     "league": {"name": "Premier League"}, "country": {"name": "England"},
     "participants": [{"name": "Home Town"}, {"name": "Away United"}]}],
     "page": 1, "perPage": 100, "total": 1, "totalPages": 1}

    {"conditions": [{"conditionId": "3006", "state": "Active", "hidden": false, "isPrematchEnabled": true,
     "isLiveEnabled": true, "game": {"gameId": "1006"},
     "outcomes": [{"outcomeId": "29", "odds": "1.81"}, ...]}]}

Format: gem.azuro.org, Backend API.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.json_parts import split
from actors.source_api.parsing import Unread, Whole, read_each

T = TypeVar("T")


class Named(Struct, frozen=True):
    """An object of the answer that has a name."""

    name: str | None = None
    slug: str | None = None


class Game(Struct, frozen=True, rename="camel"):
    """A game; the home team is the first participant."""

    game_id: str
    starts_at: str
    state: str
    participants: tuple[Named, ...]
    sport: Named | None = None
    league: Named | None = None
    country: Named | None = None


class Outcome(Struct, frozen=True, rename="camel", gc=False):
    """An outcome with its decimal odds as text, and in newer answers its state."""

    outcome_id: str
    odds: str
    state: str | None = None
    hidden: bool | None = None


class GameReference(Struct, frozen=True, rename="camel"):
    """The game of a condition."""

    game_id: str


class Condition(Struct, frozen=True, rename="camel"):
    """A market; answers with odds contain only its state and outcomes."""

    condition_id: str
    state: str
    outcomes: tuple[Outcome, ...]
    hidden: bool | None = None
    is_prematch_enabled: bool | None = None
    is_live_enabled: bool | None = None
    game: GameReference | None = None


class _Page(Struct, frozen=True, rename="camel"):
    games: list[msgspec.Raw]
    page: Whole
    total: Whole
    total_pages: Whole


class _Conditions(Struct, frozen=True):
    conditions: list[msgspec.Raw]


class GamesPage(Struct, frozen=True):
    """A page of games."""

    games: tuple[Game, ...]
    page: Whole
    total: Whole
    total_pages: Whole
    unread: Unread = Unread()


class Conditions(Struct, frozen=True):
    """The conditions of some games."""

    conditions: tuple[Condition, ...]
    unread: Unread = Unread()


_page = msgspec.json.Decoder(_Page)
_conditions = msgspec.json.Decoder(_Conditions)
_game = msgspec.json.Decoder(Game)
_condition = msgspec.json.Decoder(Condition)


def read_games(body: bytes) -> GamesPage:
    """Read a page of games. Raises: PayloadError if it is no page of games."""
    read = _whole(_page, body, "page of games")
    games, unread = read_each(_game, read.games)
    return GamesPage(games, read.page, read.total, read.total_pages, unread)


def read_conditions(body: bytes) -> Conditions:
    """Read a list of conditions. Raises: PayloadError if it is no such list."""
    return Conditions(*read_each(_condition, _whole(_conditions, body, "list of conditions").conditions))


def _whole(decoder: msgspec.json.Decoder[T], body: bytes, what: str) -> T:
    try:
        return split(decoder, body)
    except UNREADABLE as error:
        raise PayloadError(f"the body is no {what}: {error}") from error
