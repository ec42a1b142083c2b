"""Reading the answers of The Odds API: the odds of one sport, and the list of sports.

Pure. Errors are objects where lists are expected, also with status 200. Format: the API's documentation
of v4; pitfalls counted over 15,884 real markets.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

import msgspec
from msgspec import Struct

from actors.errors import UNREADABLE, PayloadError
from actors.slices import Steps
from actors.sources.the_odds_api.blocks import Block, read_events, split
from actors.sources.the_odds_api.the_odds_api_parts import Fixture, Part
from actors.sources.the_odds_api.wire import decoded

MAX_ERROR_BYTES = 64 * 1024
"""What is longer says nothing of an error."""
KNOWN_ERRORS = frozenset(
    {
        *("missing_key", "invalid_key", "deactivated_key", "exceeded_freq_limit", "out_of_usage_credits"),
        *("missing_region", "invalid_region", "invalid_bookmakers", "missing_market", "invalid_market"),
        *("invalid_market_combo", "unknown_sport", "invalid_sport"),
    }
)
"""Error codes that are counted by name; there cannot be more names than these."""


class Slate(Struct, frozen=True):
    """A decoded answer: by bookmaker key what it says of his prices.

    `unreadable` counts matches of which nothing can be told; `answered_at` is the API's clock (Unix
    seconds) when it answered; `kick_offs` are Unix seconds, each
    once.
    """

    parts: Mapping[str, Part]
    kick_offs: Collection[int]
    answered_at: float | None
    unreadable: int = 0


class Sports(Struct, frozen=True):
    """The football keys that are in season and have matches."""

    keys: tuple[str, ...]


class _Sport(Struct, frozen=True):
    key: str
    active: bool = True
    has_outrights: bool = False


_sport = msgspec.json.Decoder(_Sport)
_any = msgspec.json.Decoder()
_KEY = re.compile("soccer_[a-z0-9_]{1,64}").fullmatch


def read_slate(body: bytes, answered_at: float | None) -> Steps[Slate]:
    """Read the odds of one sport, in slices. Raises: PayloadError if they are not."""
    parts: defaultdict[str, Part] = defaultdict(Part)
    kick_offs: set[int] = set()
    unreadable = 0
    for block in _blocks(body):
        for event in block:
            if event is None:
                unreadable += 1
                continue
            fixture = Fixture.of(event)
            if fixture.start_time is not None:
                kick_offs.add(fixture.start_time)
            for lines in event.bookmakers:
                parts[lines.key].add(fixture, lines)
        for part in parts.values():
            part.matches.seal()
        yield
    return Slate(parts, kick_offs, answered_at, unreadable)


def read_sports(body: bytes) -> Sports:
    """Read the list of sports. Raises: PayloadError if it is none, or has no football."""
    try:
        read = [decoded(_sport, raw) for raw in split(body)]
    except UNREADABLE as error:
        raise _trouble(body, error) from error
    keys = tuple(one.key for one in read if one and one.active and not one.has_outrights and _KEY(one.key))
    if not keys:
        raise PayloadError("the list of sports has no football in season", "no_football")
    return Sports(tuple(dict.fromkeys(keys)))


def error_in(body: bytes) -> PayloadError | None:
    """Read what the API says went wrong; None if the body is no error of its own."""
    content = decoded(_any, body) if len(body) <= MAX_ERROR_BYTES else None
    if not (isinstance(content, dict) and isinstance(content.get("message"), str)):
        return None
    code = str(content.get("error_code")).lower()
    reason = code if code in KNOWN_ERRORS else "error_answer"
    said = "".join(character if character.isprintable() else " " for character in content["message"])
    return PayloadError(f"the answer was an error: {reason}: {said}", reason)


def _blocks(body: bytes) -> Iterator[Block]:
    try:
        yield from read_events(body)
    except UNREADABLE as error:
        raise _trouble(body, error) from error


def _trouble(body: bytes, error: Exception) -> PayloadError:
    return error_in(body) or PayloadError(f"the body is no list of matches: {error}")
