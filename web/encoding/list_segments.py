"""Makes the bodies of the odds lists from the chunks of each bookmaker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from actors.board.snapshot import Chunk, Entry, Snapshot
from actors.core.messages import BookmakerId
from web.encoding.schemas import match_v1, match_v2
from web.encoding.segments import MATCHES, UNENCODABLE, Segment, Segments, UnencodableError

_encode = msgspec.json.Encoder().encode


class Api(StrEnum):
    """The two versions of the odds endpoints."""

    V1 = "v1"
    V2 = "v2"


class ListSegments(Segments[tuple[Api, BookmakerId], Chunk]):
    """The odds lists; a part has one bookmaker in one API version. `names` are the display names."""

    name = MATCHES

    def __init__(self, names: Mapping[BookmakerId, str]) -> None:
        super().__init__()
        self._names = names

    def _chunks(self, key: tuple[Api, BookmakerId], snapshot: Snapshot) -> tuple[Chunk, ...]:
        return snapshot.books[key[1]].chunks

    def _segment(self, key: tuple[Api, BookmakerId], chunk: Chunk, snapshot: Snapshot) -> Segment:
        del snapshot
        api, bookmaker = key
        count, name = len(chunk.entries) if api is Api.V1 else chunk.named, self._names[bookmaker]
        try:
            return Segment(count, (_json(api, chunk.entries, name),))
        except UNENCODABLE:
            for entry in chunk.entries:
                try:
                    _json(api, (entry,), name)
                except UNENCODABLE as error:
                    raise UnencodableError(bookmaker, entry, error) from error
            raise


def _json(api: Api, entries: Sequence[Entry], name: str) -> bytes:
    match api:
        case Api.V1:
            return _encode([match_v1(entry, name) for entry in entries])[1:-1]
        case Api.V2:
            return _encode([match_v2(entry, name) for entry in entries if entry.is_named])[1:-1]
