"""Betfair's historic files: the exchange's original messages, one a line, in a .bz2 file.

A message's time of publication, `pt` (Unix milliseconds), is taken as its time of receipt. Format:
"Betfair Historical Data", specification.
"""

from __future__ import annotations

import bz2
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from actors.core.errors import UNREADABLE, ConfigError
from actors.core.messages import BookmakerId, ListId, Payload, SourceName
from actors.core.validation import MAX_START_TIME
from actors.pipeline.stream_feed import SCOPE
from actors.recordings.format import Ending, Header, Recorded, RecordedBookmaker

HISTORIC_SUFFIX = ".bz2"
KIND, SOURCE, BOOKMAKER = "betfair_stream", SourceName("betfair_historic"), BookmakerId("betfair-exchange")
FOR_EVER_S = 1e9  # a historic file has changes and no confirmations, so its lists must never become stale
MAX_LINE_BYTES = 16 * 1024 * 1024


class _Published(Struct, frozen=True):
    pt: Annotated[int, Meta(ge=0, le=MAX_START_TIME * 1000)] | None = None


_published = msgspec.json.Decoder(_Published)


def historic_header(path: Path, price: str) -> Header:
    """Return the header of a historic file. Raises: ConfigError if its first line is not a message."""
    first = next(historic_records(path, 0.0), None)
    if first is None or not first.payload.received_at:
        raise ConfigError("is not a historic file that can be read: it has no message with a time")
    return Header(
        source=SOURCE,
        kind=KIND,
        options={"kind": KIND, "price": price, "session_token": "none", "stale_after_s": FOR_EVER_S},
        bookmakers=(RecordedBookmaker(BOOKMAKER, "Betfair Exchange", "exchange", 0),),
        expire_after_kickoff_s=10_800.0,
        started_at=first.payload.received_at,
    )


def historic_records(path: Path, started_at: float) -> Generator[Recorded, None, Ending]:
    """Yield the messages in order, as if received when published; return how the file ended."""
    at = started_at
    try:
        with bz2.open(path) as file:
            while line := file.readline(MAX_LINE_BYTES):
                try:
                    published_ms = _published.decode(line).pt
                except UNREADABLE:
                    return Ending.CUT if not line.endswith(b"\n") else Ending.DAMAGED
                if published_ms is not None:
                    at = max(published_ms / 1000, at)
                payload = Payload(
                    source=SOURCE,
                    scope=SCOPE,
                    list_id=ListId(""),
                    body=line.strip(),
                    received_at=at,
                    received_mono=at - started_at,
                    stale_after_s=FOR_EVER_S,
                )
                yield Recorded(payload, at - started_at)
    except EOFError:
        return Ending.CUT
    except OSError:
        return Ending.DAMAGED
    return Ending.CLOSED
