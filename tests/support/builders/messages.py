"""Functions that make messages for tests; every argument has a plausible default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from actors.core.messages import Batch, BookmakerId, ListId, Match, Removal, Scope, SourceMatchId
from actors.markets.market import Kind
from tests.support.time.virtual import WALL_0

BOOKMAKER = BookmakerId("alder")
SCOPE = Scope("league")


def match(
    match_id: str = "m1",
    *,
    home: str = "Home",
    away: str = "Away",
    league: str | None = "League",
    prices: Sequence[float] = (2.0, 3.5, 4.0),
    start_time: int | None = int(WALL_0) + 86_400,
    source_time: float | None = None,
    latest_start: int | None = None,
    in_play: bool | None = None,
) -> Match:
    """Return a match that every rule accepts."""
    return Match(
        SourceMatchId(match_id),
        home,
        away,
        league,
        prices[0],
        prices[1],
        prices[2],
        start_time,
        source_time,
        latest_start,
        in_play,
    )


def batch(
    matches: Iterable[Match] = (),
    *,
    removals: Iterable[Removal] = (),
    bookmaker: str = BOOKMAKER,
    scope: str = SCOPE,
    list_id: str = "list-1",
    complete: bool = True,
    received_mono: float = 0.0,
    received_at: float | None = None,
    stale_after_s: float = 30.0,
    is_image: bool = False,
    kinds: tuple[Kind, ...] = (Kind.ONE_X_TWO,),
) -> Batch:
    """Return a batch, by default a complete list of 1X2; without `kinds` of all that its source has."""
    return Batch(
        bookmaker=BookmakerId(bookmaker),
        scope=Scope(scope),
        list_id=ListId(list_id),
        complete=complete,
        matches=tuple(matches),
        removals=tuple(removals),
        received_at=WALL_0 + received_mono if received_at is None else received_at,
        received_mono=received_mono,
        stale_after_s=stale_after_s,
        is_image=is_image,
        kinds=kinds,
    )


def withdrawn(*, list_id: str = "list-1", received_mono: float = 0.0) -> Batch:
    """Return a batch with which the source withdraws its list."""
    change = batch(list_id=list_id, complete=False, received_mono=received_mono)
    return msgspec.structs.replace(change, withdrawn=True)
