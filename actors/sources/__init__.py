"""The kinds of source, one module each, and the explicit registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actors.kinds import Kind
from actors.sources import betfair_stream, football_data, replay, simulated, the_odds_api


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
