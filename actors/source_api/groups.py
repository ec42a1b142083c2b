"""Groups of matches that one request asks for: the matches of a day, up to the size of a request. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

import msgspec

from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.core.validation import Reason

NEAR_BEFORE_S = 2 * 3600.0
NEAR_AFTER_S = 2.5 * 3600.0

G = TypeVar("G", bound=msgspec.Struct)


class Listed(Protocol):
    """A match that a venue lists; `start`, its kick-off, is in Unix seconds of the present years."""

    @property
    def id(self) -> SourceMatchId:
        """The venue's id of the match."""

    @property
    def start(self) -> int:
        """The kick-off."""


M = TypeVar("M", bound=Listed)


class Group(msgspec.Struct, Generic[M], frozen=True):
    """The matches whose prices a request asks for, and listed matches that are not shown.

    One group also has the removals of matches without a group; its `left_out` counts, by reason, matches
    without a removal: unreadable matches, and the many matches of a season that are too far ahead.
    """

    matches: tuple[M, ...] = ()
    removals: tuple[Removal, ...] = ()
    left_out: Mapping[str, int] = {}

    def extract(self, offers: Iterable[Match | Removal], unreadable: int = 0) -> Extract:
        """Return an extract of these offers; `unreadable` counts the answer's unreadable parts."""
        offered = tuple(offers)
        matches = tuple(each for each in offered if isinstance(each, Match))
        removals = tuple(each for each in offered if isinstance(each, Removal))
        passed_over = Counter(self.left_out) + Counter({Reason.UNREADABLE: unreadable})
        return Extract(matches, (*self.removals, *removals), passed_over=passed_over)


def group_of(found: Iterable[M | Removal]) -> Group[M]:
    """Return a group of matches and removals."""
    of = tuple(found)
    matches = tuple(each for each in of if not isinstance(each, Removal))
    return Group(matches, tuple(each for each in of if isinstance(each, Removal)))


class Groups:
    """Assigns matches to named groups of at most `size`; a match keeps its group while there is room.

    A match may weigh more than one. Because it keeps its group, the group's list loses it only when it is
    over. A match that has become too heavy for its group gets another group.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._of: dict[SourceMatchId, str] = {}

    def arrange(
        self, days: Mapping[SourceMatchId, str], weights: Mapping[SourceMatchId, int] | None = None
    ) -> dict[str, list[SourceMatchId]]:
        """Return the matches of each group; `days` has for each match the name of its league and day."""
        kept = {match: group for match, group in self._of.items() if _is_part(group, days.get(match))}
        self._of, groups, used = {}, dict[str, list[SourceMatchId]](), Counter[str]()
        for match, day in (*kept.items(), *days.items()):
            if match in self._of:
                continue
            weight, name, part = (weights or {}).get(match, 1), kept.get(match, f"{day}.1"), 1
            while used[name] and used[name] + weight > self._size:
                part, name = part + 1, f"{days[match]}.{part}"
            groups.setdefault(name, []).append(match)
            used[name] += weight
            self._of[match] = name
        return groups


def preface_of(group: msgspec.Struct) -> bytes:
    """Return a group as the first line of a payload."""
    return msgspec.json.encode(group) + b"\n"


def after_preface(body: bytes, group: msgspec.json.Decoder[G]) -> tuple[G, bytes]:
    """Return the group in the first line of a payload, and the answer. Raises: PayloadError without one."""
    line, _, answer = body.partition(b"\n")
    try:
        return group.decode(line), answer
    except UNREADABLE as error:
        raise PayloadError(f"the first line is not a group of matches: {error}") from error


def day_of(start: float) -> str:
    """Return the UTC day, like 2026-08-15, of a time in the present years."""
    return datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%d")


def is_near(kick_offs: Iterable[float], now: float) -> bool:
    """Return whether any match is from 2 h before its kick-off to 2.5 h after it."""
    return any(start - NEAR_BEFORE_S <= now <= start + NEAR_AFTER_S for start in kick_offs)


def _is_part(group: str, day: str | None) -> bool:
    return group.rpartition(".")[0] == day
