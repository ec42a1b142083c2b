"""The parts of a source, and all that a plug-in may import: these names are stable. Pure."""

from __future__ import annotations

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError, SourceError, StreamError, TransportError
from actors.core.messages import (
    Extract,
    Fees,
    Match,
    Offer,
    Payload,
    Prices,
    Removal,
    Scope,
    SourceMatchId,
    Venue,
)
from actors.source_api.catalogue import CatalogueOptions, CataloguePlan, FarSeconds, Listing, NearSeconds
from actors.source_api.groups import Group, after_preface
from actors.source_api.kinds import Kind, Machine, PolledKind, TickingKind
from actors.source_api.options import Bytes, Hidden, PolledOptions, Seconds, Secret, SourceOptions
from actors.source_api.parsing import Parts, Unread, unix_time
from actors.source_api.plan import Plan, PlanMaker, Target, every
from actors.source_api.stream import Reaction, Request, Session, StreamKind, StreamOptions

__all__ = ["Extract", "Instant", "Match", "Payload", "Prices", "Removal", "Scope", "SourceMatchId"]
__all__ += ["Fees", "Offer", "Venue"]
__all__ += ["PayloadError", "SourceError", "StreamError", "TransportError"]
__all__ += ["Kind", "Machine", "Parts", "PolledKind", "TickingKind", "Unread"]
__all__ += ["Bytes", "Hidden", "PolledOptions", "Seconds", "Secret", "SourceOptions"]
__all__ += ["CatalogueOptions", "CataloguePlan", "FarSeconds", "Group", "Listing", "NearSeconds"]
__all__ += ["after_preface"]
__all__ += ["Plan", "PlanMaker", "Sliced", "Target", "every", "unix_time"]
__all__ += ["Reaction", "Request", "Session", "StreamKind", "StreamOptions"]
