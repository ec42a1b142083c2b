"""Reading a long list of matches of The Odds API in blocks, each in a fraction of a millisecond.

Pure. The list is cut where one match seems to end and the next one to begin, which is found without
reading it. Such a cut is right if what stands on either side of it is a list itself, for JSON can be
read in one way only. A block that is none shows that a cut was wrong, or that the answer is broken:
then the JSON reader splits the rest, in one piece, which takes a millisecond a MiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from actors.core.errors import UNREADABLE
from actors.sources.the_odds_api.wire import Event, decoded, read_event, says_once

BLOCK_BYTES = 32 * 1024
LONGEST = 4
"""Blocks' lengths within which there must be a cut, or no more are looked for."""
FEW = 8
"""Matches that are read one by one between two yields; each has some twenty bookmakers."""

Block = list[Event | None]
"""Matches in order; None is one of which not even its id can be told."""

_begin = re.compile(rb"[ \t\r\n]*\[").match
_cut = re.compile(rb'\}[ \t\r\n]*,[ \t\r\n]*(?=\{[ \t\r\n]*"id")').search
_items = msgspec.json.Decoder(list[msgspec.Raw])
_events = msgspec.json.Decoder(list[Event])


def read_events(body: bytes, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Return the matches of an answer, block by block; each is a little longer than `block_bytes`.

    Raises: one of UNREADABLE if it is no list, or breaks off.
    """
    found = _begin(body)
    begin = end = found.end() if found else 0
    while found and (cut := _cut(body, begin + block_bytes, begin + LONGEST * block_bytes)):
        block = _read(b"[%b]" % body[begin : cut.start() + 1])
        if block is None:
            break
        yield block
        begin = cut.end()
    rest = body if begin == end else b"[" + body[begin:]
    block = _read(rest) if len(rest) <= LONGEST * block_bytes else None
    if block is not None:
        yield block
        return
    items = split(rest)
    for at in range(0, len(items), FEW):
        yield [read_event(item) for item in items[at : at + FEW]]


def split(body: bytes) -> list[msgspec.Raw]:
    """Split a list into its items without reading them.

    Raises: one of UNREADABLE if it is none.
    """
    body.decode()  # bad UTF-8 is an error in what nobody reads as well
    return _items.decode(body)


def _read(block: bytes) -> Block | None:
    """Read a list of few matches; None if it is no list."""
    try:
        events = decoded(_events, block)
        is_plain = events is not None and says_once(block, events)
        items = () if is_plain else split(block)
        block.decode()
    except UNREADABLE:
        return None
    return [*events] if events is not None and is_plain else [*map(read_event, items)]
