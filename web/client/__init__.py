"""A Python client of oddsboard (docs/client.md): a package of its own, without imports of the service.

The logic (`core`, `following`, `state`) does no I/O: it yields effects, which a shell does (`sync`, `aio`).
"""

from __future__ import annotations

from .aio import AsyncBoard, AsyncClient
from .calls import (
    Call,
    ListCall,
    ages,
    alerts,
    archive,
    capabilities,
    closing,
    fixture,
    fixtures,
    health,
    lines,
    markets,
    movers,
    odds,
    other,
    surebets,
    value,
)
from .errors import AnsweredError, OddsboardError, UnavailableError, UnsupportedError
from .events import Changed, Changes, Cleared, Connected, Disconnected, Gone, Linking, Move, Reset
from .sync import Board, Client
from .tables import table, to_pandas
from .wire import Policy

__all__ = [
    "AnsweredError",
    "AsyncBoard",
    "AsyncClient",
    "Board",
    "Call",
    "Changed",
    "Changes",
    "Cleared",
    "Client",
    "Connected",
    "Disconnected",
    "Gone",
    "Linking",
    "ListCall",
    "Move",
    "OddsboardError",
    "Policy",
    "Reset",
    "UnavailableError",
    "UnsupportedError",
    "ages",
    "alerts",
    "archive",
    "capabilities",
    "closing",
    "fixture",
    "fixtures",
    "health",
    "lines",
    "markets",
    "movers",
    "odds",
    "other",
    "surebets",
    "table",
    "to_pandas",
    "value",
]
