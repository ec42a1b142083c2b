"""The kinds of source, one module each, and the explicit registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actors.kinds import Kind
from actors.sources import replay
from actors.sources.betfair import kind as betfair_stream
from actors.sources.football_data import kind as football_data
from actors.sources.simulated import kind as simulated
from actors.sources.the_odds_api import kind as the_odds_api


def kinds(kind_named: Callable[[str], Kind]) -> Mapping[str, Kind]:
    """Give the kinds by name; `kind_named` finds any kind, for the one that plays what others delivered."""
    own: tuple[Kind, ...] = (
        simulated.KIND,
        football_data.KIND,
        the_odds_api.KIND,
        betfair_stream.KIND,
        replay.replay_kind(kind_named),
    )
    return {kind.name: kind for kind in own}
