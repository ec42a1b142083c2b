"""Helpers for the parsers of several venues: times, and lists whose elements are read singly. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from actors.core.errors import UNREADABLE
from actors.source_api.json_parts import MAX_PART_BYTES

MAX_TIME_CHARS = 64  # a longer text is not a time, and must not fill the cache

Whole = int | Annotated[float, Meta(multiple_of=1, ge=-(2**53), le=2**53)]
"""A whole number in JSON; many programs write 180000 as 180000.0."""

T = TypeVar("T")


class Unread(Struct, frozen=True):
    """The number of unreadable elements of an answer, and the fault of the first of these."""

    count: int = 0
    why: str = ""


class Parts(Struct, frozen=True):
    """The readable elements of an answer; `name` says what they are, such as `games`."""

    name: str
    read: tuple[Struct, ...]
    unread: Unread = Unread()


def unix_time(text: str | None) -> float | None:
    """Read a time like 2026-01-16T19:00:00Z as Unix seconds; None if it is impossible or has no offset."""
    return None if text is None or len(text) > MAX_TIME_CHARS else _unix_time(text)


@lru_cache(maxsize=8192)
def _unix_time(text: str) -> float | None:
    try:
        time = datetime.fromisoformat(text)
        return None if time.tzinfo is None else time.timestamp()
    except (ValueError, OverflowError):
        return None


def read_each(
    decoder: msgspec.json.Decoder[T], raws: Iterable[msgspec.Raw]
) -> tuple[tuple[T, ...], Unread]:
    """Read each element of a list by itself, and leave out elements of another shape."""
    read: list[T] = []
    errors: list[str] = []
    for raw in raws:
        if len(raw) > MAX_PART_BYTES:
            errors.append(f"it has {len(raw)} bytes, at most {MAX_PART_BYTES} are read")
            continue
        try:
            read.append(decoder.decode(raw))
        except UNREADABLE as error:
            errors.append(str(error))
    return tuple(read), Unread(len(errors), errors[0]) if errors else Unread()
