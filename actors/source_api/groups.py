"""Matches in groups that are asked for together: those of a day, as far as one request goes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

import msgspec

from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import Extract, Match, Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.plan import CatalogueList

NEAR_BEFORE_S = 2 * 3600.0
NEAR_AFTER_S = 2.5 * 3600.0

LISTED = Scope("listed")

G = TypeVar("G", bound=msgspec.Struct)


class Listed(Protocol):
    """A match that a venue lists; `start`, its kick-off, is in Unix seconds, of these years."""

    @property
    def id(self) -> SourceMatchId:
        """The venue's id of it."""

    @property
    def start(self) -> int:
        """Its kick-off."""


M = TypeVar("M", bound=Listed)


class Group(msgspec.Struct, Generic[M], frozen=True):
    """The matches whose prices a request is for, and those that are listed but not shown.

    One group has those of no group as well; there `left_out` counts by reason what has no removal: what
    cannot be read, and matches too far ahead, of which a season has many.
    """

    matches: tuple[M, ...] = ()
    removals: tuple[Removal, ...] = ()
    left_out: Mapping[str, int] = {}

    def extract(self, offers: Iterable[Match | Removal], unreadable: int = 0) -> Extract:
        """Return these offers; so many parts of the answer are `unreadable`."""
        offered = tuple(offers)
        matches = tuple(each for each in offered if isinstance(each, Match))
        removals = tuple(each for each in offered if isinstance(each, Removal))
        passed_over = Counter(self.left_out) + Counter({Reason.UNREADABLE: unreadable})
        return Extract(matches, (*self.removals, *removals), passed_over=passed_over)


def group_of(found: Iterable[M | Removal], left_out: Mapping[str, int] | None = None) -> Group[M]:
    """Return a group of what is shown and what is not."""
    of = tuple(found)
    matches = tuple(each for each in of if not isinstance(each, Removal))
    return Group(matches, tuple(each for each in of if isinstance(each, Removal)), left_out or {})


class Groups:
    """Names of groups by match, of at most `size` matches each; a match keeps its group while it can.

    A list that is asked for by group so loses a match only when it is over, never to a neighbour.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._of: dict[SourceMatchId, str] = {}

    def arrange(self, days: Mapping[SourceMatchId, str]) -> dict[str, list[SourceMatchId]]:
        """Return the matches of each group; `days` has the name of each match's league and day."""
        self._of = {match: group for match, group in self._of.items() if _is_part(group, days.get(match))}
        groups: dict[str, list[SourceMatchId]] = {}
        for match, group in self._of.items():
            groups.setdefault(group, []).append(match)
        for match, day in days.items():
            if match not in self._of:
                part = 1
                while len(groups.get(name := f"{day}.{part}", ())) >= self._size:
                    part += 1
                groups.setdefault(name, []).append(match)
                self._of[match] = name
        return groups


def with_rest(
    groups: Mapping[Scope, Sequence[M | Removal]], unplaced: Iterable[Removal]
) -> tuple[Mapping[Scope, Sequence[M | Removal]], list[Removal] | None]:
    """Have the first group with a match say also why matches are shown that are in no such group.

    Return the groups, and those matches if no group has one; None if there is one.
    """
    full = [scope for scope, of in groups.items() if not all(isinstance(each, Removal) for each in of)]
    bare = (of for scope, of in groups.items() if scope not in full)
    rest = [*unplaced, *(each for of in bare for each in of if isinstance(each, Removal))]
    if not full:
        return groups, rest
    return {**groups, full[0]: [*groups[full[0]], *rest]}, None


class NothingAsked:
    """The list of a source of which nothing is asked for: it has no match, and says why.

    Without it a source that has nothing on offer would have no list at all. `answer` is what a venue would
    answer for `nothing`, a group without matches.
    """

    def __init__(self, nothing: msgspec.Struct, answer: bytes, holds_s: float) -> None:
        self._nothing, self._answer, self._holds_s = nothing, answer, holds_s
        self._is_given = False
        self._made: tuple[CatalogueList, ...] = ()

    def update(self, group: msgspec.Struct | None, since_mono: float) -> None:
        """Take everything that is listed, or None if some of it is asked for: the list is then empty."""
        if group is not None or self._is_given:
            body = preface_of(self._nothing if group is None else group) + self._answer
            self._made = (CatalogueList(LISTED, body, since_mono, self._holds_s),)
        self._is_given = group is not None

    def take(self) -> tuple[CatalogueList, ...]:
        """Return the list if it was made since the last call."""
        made, self._made = self._made, ()
        return made


def preface_of(group: msgspec.Struct) -> bytes:
    """Return a group as the first line of a payload."""
    return msgspec.json.encode(group) + b"\n"


def after_preface(body: bytes, group: msgspec.json.Decoder[G]) -> tuple[G, bytes]:
    """Return the group in the first line of a payload, and the answer. Raises: PayloadError if none is."""
    line, _, answer = body.partition(b"\n")
    try:
        return group.decode(line), answer
    except UNREADABLE as error:
        raise PayloadError(f"the first line is no group of matches: {error}") from error


def day_of(start: float) -> str:
    """Return the UTC day of a time, which must be one of these years: 2026-08-15."""
    return datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%d")


def is_near(kick_offs: Iterable[float], now: float) -> bool:
    """Return whether any match is from 2 h before its kick-off to 2.5 h after it."""
    return any(start - NEAR_BEFORE_S <= now <= start + NEAR_AFTER_S for start in kick_offs)


def _is_part(group: str, day: str | None) -> bool:
    return group.rpartition(".")[0] == day
