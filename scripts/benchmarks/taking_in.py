"""Taking a payload the whole way, from its bytes to the commit, without actors in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boards import NOW, RULES
from msgspec import Struct

from actors.board import Board
from actors.integrity import Bounds, admit
from actors.kinds import PolledKind
from actors.messages import BookmakerId, ListId, Payload, Scope, SourceName
from actors.offers import complete_batch, document_of
from actors.slices import finish
from actors.snapshot import Snapshot


class Source(Struct, frozen=True):
    """A kind of source and its options."""

    kind: PolledKind
    options: Any


def take_in(source: Source, base: Snapshot, scope: Scope, body: bytes, keys: Sequence[str]) -> Snapshot:
    """Decode once; extract, admit and apply per bookmaker, whose id is its key; commit."""
    kind, options = source.kind, source.options
    payload = Payload(
        SourceName("bench"), scope, ListId("list"), body, NOW.wall, NOW.mono, NOW.wall, stale_after_s=3600.0
    )
    document = document_of(payload, finish(kind.decode(payload, options)))
    board = Board(base, RULES)
    for key in keys:
        extract = finish(kind.extract(document.content, key, options))
        admission = finish(admit(complete_batch(BookmakerId(key), document, extract), Bounds()))
        finish(board.apply(admission.batch, NOW))
    return board.commit()
