"""The closing price of a line: its last price before the kick-off, or why there is none. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from actors.lines.line import Absence, Point
from actors.markets.odds import Odds

LIMIT_MS: Final = 3_600_000
"""A price that left longer before the kick-off is no close: bookmakers remove a match minutes before."""


class NoClose(StrEnum):
    """Why a bookmaker has no closing price for a fixture."""

    NOT_STARTED = "not_started"  # the kick-off is still to come, perhaps after a postponement
    NO_PRICE = "no_price"  # no stored price before the kick-off
    TOO_OLD = "too_old"  # its last price ended more than an hour before
    GAP = "gap"  # the board at the kick-off is unknown
    COLLECTED = "collected"  # its prices were not confirmed as being on offer


class Close(Struct, frozen=True):
    """A closing price, and its time on the board up to the kick-off at most (Unix milliseconds).

    It was `on_offer` if it was still shown at the kick-off; otherwise `left` says why it left.
    """

    version: int
    since_ms: int
    odds: Odds
    closed_ms: int
    on_offer: bool
    left: str | None = None


def close_of(points: Sequence[Point], cut: int, kick_off_ms: int) -> Close | NoClose:
    """Return the close of a line; `cut` is the first version at or after the kick-off.

    The line must reach the kick-off, and a gap that hides it must be among the points.
    """
    before = [  # without gaps from the kick-off on, whose last known version is before the cut
        point
        for point in points
        if point.version < cut and not (point.absent is Absence.GAP and point.at_ms >= kick_off_ms)
    ]
    if not before:
        return NoClose.NO_PRICE
    last = before[-1]
    if last.absent is Absence.GAP:
        return NoClose.GAP
    if last.odds is not None:
        return Close(last.version, last.at_ms, last.odds, kick_off_ms, on_offer=True)
    until_ms, left = last.at_ms, last.reason
    for point in reversed(before[:-1]):
        if point.odds is not None:
            if kick_off_ms - until_ms > LIMIT_MS:
                return NoClose.TOO_OLD
            since = point.version, point.at_ms, point.odds
            return Close(*since, until_ms, on_offer=False, left=left)
        until_ms = point.at_ms
        left = left if point.absent is Absence.GAP else point.reason
    return NoClose.NO_PRICE
