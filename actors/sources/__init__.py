"""The kinds of source, one module each, and the explicit registry of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from actors.kinds import Kind
from actors.sources import football_data, simulated, the_odds_api

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        simulated.KIND,
        football_data.KIND,
        the_odds_api.KIND,
    )
}
