"""All that a source is made of, and all that a plug-in imports: these names are stable.

Venues and plug-ins import `actors.source_api`; the pipeline runs what they declare.
Pure: it must not know actors, transports or the board.
"""

from __future__ import annotations

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError, SourceError, StreamError, TransportError
from actors.core.messages import Extract, Match, Payload, Prices, Removal, Scope, SourceMatchId
from actors.source_api.kinds import Kind, Machine, PolledKind, TickingKind
from actors.source_api.options import Bytes, Hidden, PolledOptions, Seconds, Secret, SourceOptions
from actors.source_api.parsing import Memo, unix_time
from actors.source_api.plan import Plan, PlanMaker, Target, every
from actors.source_api.stream import Reaction, Request, Session, StreamKind, StreamOptions

__all__ = [
    "Bytes",
    "Extract",
    "Hidden",
    "Instant",
    "Kind",
    "Machine",
    "Match",
    "Memo",
    "Payload",
    "PayloadError",
    "Plan",
    "PlanMaker",
    "PolledKind",
    "PolledOptions",
    "Prices",
    "Reaction",
    "Removal",
    "Request",
    "Scope",
    "Seconds",
    "Secret",
    "Session",
    "Sliced",
    "SourceError",
    "SourceMatchId",
    "SourceOptions",
    "StreamError",
    "StreamKind",
    "StreamOptions",
    "Target",
    "TickingKind",
    "TransportError",
    "every",
    "unix_time",
]
