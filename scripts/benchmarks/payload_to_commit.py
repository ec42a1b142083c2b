"""The steps from a payload's bytes to the commit, without actors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Document, ListId, Payload, Scope, SourceName
from actors.core.validation import Bounds, admit
from actors.pipeline.fanout import complete_batch, document_of
from actors.source_api.kinds import PolledKind
from scripts.benchmarks.data.boards import NOW, RULES


class Source(Struct, frozen=True):
    """A kind of source, its options, the scope of its one list, and the bookmakers that are configured."""

    kind: PolledKind
    options: Any
    scope: Scope
    keys: Sequence[str]

    @property
    def empty(self) -> Snapshot:
        """Return an empty board of these bookmakers."""
        return Snapshot.empty(1, tuple(map(BookmakerId, self.keys)))


def decoded(source: Source, body: bytes) -> Document:
    """Decode a payload."""
    payload = Payload(
        SourceName("bench"),
        source.scope,
        ListId("list"),
        body,
        NOW.wall,
        NOW.mono,
        NOW.wall,
        stale_after_s=3600.0,
    )
    return document_of(payload, run_now(source.kind.decode(payload, source.options)))


def committed(source: Source, base: Snapshot, document: Document) -> Snapshot:
    """Extract each bookmaker's list, whose id is its key, and commit them."""
    return applied(
        base,
        (
            complete_batch(
                BookmakerId(key),
                document,
                run_now(source.kind.extract(document.content, key, source.options)),
            )
            for key in source.keys
        ),
    )


def applied(base: Snapshot, batches: Iterable[Batch]) -> Snapshot:
    """Check and apply batches, and commit once."""
    board = Board(base, RULES)
    for batch in batches:
        run_now(board.apply(run_now(admit(batch, Bounds())).batch, NOW))
    return run_now(board.finish(NOW))


def recognised(body: bytes) -> str:
    """Return the hash that identifies equal bytes."""
    return blake2b(body, digest_size=16).hexdigest()
