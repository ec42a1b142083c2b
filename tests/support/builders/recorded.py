"""Recordings for tests: written in memory or to a file, and read until their end or first damage."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from actors.core.messages import BookmakerId, ListId, Payload, Scope, SourceName
from actors.recordings.format import Encoder, Ending, Header, Recorded, RecordedBookmaker, Recording
from tests.support.time.virtual import WALL_0

SOURCE = SourceName("feed")
ALDER, BIRCH = (
    RecordedBookmaker(BookmakerId("alder"), "Alder", "B365", 0),
    RecordedBookmaker(BookmakerId("birch"), None, "BW", 1),
)

RECORDED_MARKETS: dict[str, Any] = {
    "kind": "football_data",
    "url": "http://feed.example/f.csv",
    "markets": ["1x2", "over_under", "asian_handicap"],
}
"""The options of a source that read every kind of market of a football_data file."""


def header(
    *,
    source: str = SOURCE,
    kind: str = "football_data",
    options: dict[str, Any] | None = None,
    bookmakers: Sequence[RecordedBookmaker] = (ALDER,),
    expire_after_kickoff_s: float = 10800.0,
    started_at: float = WALL_0,
) -> Header:
    """Return a header, by default of one bookmaker of a football_data file."""
    return Header(
        source=SourceName(source),
        kind=kind,
        options={"kind": kind, "url": "http://feed.example/f.csv"} if options is None else options,
        bookmakers=tuple(bookmakers),
        expire_after_kickoff_s=expire_after_kickoff_s,
        started_at=started_at,
    )


def received(
    body: bytes,
    at_s: float,
    *,
    list_id: str | None = None,
    scope: str = "f.csv",
    stale_after_s: float = 2700.0,
    status: int = 200,
    wall_s: float | None = None,
) -> Recorded:
    """Return a payload received some seconds after the start, and requested a moment before."""
    payload = Payload(
        source=SOURCE,
        scope=Scope(scope),
        list_id=ListId(blake2b(body, digest_size=16).hexdigest() if list_id is None else list_id),
        body=body,
        received_at=WALL_0 + (at_s if wall_s is None else wall_s),
        received_mono=at_s - 0.125,
        stale_after_s=stale_after_s,
        status=status,
    )
    return Recorded(payload, at_s)


def encoded(head: Header, records: Iterable[Recorded], *, closed: bool = True) -> bytes:
    """Return a recording as bytes."""
    pieces = pieces_of(head, records)
    return b"".join(pieces if closed else pieces[:-1])


def pieces_of(head: Header, records: Iterable[Recorded]) -> list[bytes]:
    """Return the pieces of a recording: header, records, end."""
    encoder = Encoder()
    first = encoder.header(head)
    middle = [
        encoder.record(record.payload, record.received_s, record.payload.received_mono)
        for record in records
    ]
    return [first, *middle, encoder.end()]


def write(path: Path, head: Header, *records: Recorded) -> Path:
    """Write a recording to a file and return its path."""
    path.write_bytes(encoded(head, records))
    return path


def read(data: bytes) -> tuple[Header, list[Recorded], Ending]:
    """Read a recording until its end or first damage. Raises: ConfigError without a header."""
    recording = Recording(io.BytesIO(data))
    records, rest = [], recording.records()
    while True:
        try:
            records.append(next(rest))
        except StopIteration as done:
            return recording.header, records, done.value
