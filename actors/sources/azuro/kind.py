"""Azuro: fixed decimal odds of one liquidity pool. Public, no key, polled. Pure."""

from __future__ import annotations

from actors.core.cooperative import Sliced
from actors.core.messages import Extract, Payload
from actors.source_api.kinds import PolledKind
from actors.source_api.parsing import Parts
from actors.sources.azuro.options import CONDITIONS, GAMES, AzuroOptions
from actors.sources.azuro.plan import AzuroPlan
from actors.sources.azuro.prices import Odds, offer, read_odds
from actors.sources.azuro.wire import Conditions, GamesPage, read_conditions, read_games

KEY = "azuro"


def check_key(key: str) -> None:
    """Raise ValueError unless `key` is the only valid key."""
    if key != KEY:
        raise ValueError(f"key was {key!r}, must be {KEY!r}")


def decode(payload: Payload, options: AzuroOptions) -> Sliced[Odds | GamesPage | Conditions]:
    """Read an answer. Raises: PayloadError if it cannot be read."""
    del options
    yield
    if payload.scope == GAMES:
        return read_games(payload.body)
    if payload.scope == CONDITIONS:
        return read_conditions(payload.body)
    return read_odds(payload.body)


def extract(odds: Odds, key: str, options: AzuroOptions) -> Sliced[Extract]:
    """Return the prices of a group of matches."""
    del key, options
    yield
    offers = [offer(listed, odds) for listed in odds.group.matches]
    return odds.group.extract(offers, odds.unread.count + odds.group.unreadable)


def parts(content: Odds | GamesPage | Conditions) -> Parts:
    """Return the elements of an answer."""
    match content:
        case GamesPage(games=games, unread=unread):
            return Parts("games", games, unread)
        case Conditions(conditions=conditions, unread=unread):
            return Parts("conditions", conditions, unread)
        case Odds(by_id=by_id, unread=unread):
            return Parts("conditions", tuple(filter(None, by_id.values())), unread)


KIND = PolledKind(
    name="azuro",
    options=AzuroOptions,
    check_key=check_key,
    plan=AzuroPlan,
    decode=decode,
    extract=extract,
    repeats_confirm=False,
    parts=parts,
)
