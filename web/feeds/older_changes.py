"""Reads changes of the lists that are older than the history from the archive, also from earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from actors.archive.days.reading import PastChange
from actors.archive.past import Days, Past, Reach
from actors.board.history import MAX_ANSWER, Change, Recent
from actors.board.snapshot import RemovalReason
from actors.core.messages import BookmakerId
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import read_for


class Older(Struct, frozen=True):
    """The last changes until a version: shown entries in the order of the list, and removed entries."""

    until: int
    shown: list[Change]
    gone: list[Change]


UNKNOWN: Final = Older(0, [], [])
"""The archive lacks some of the changes."""


class OlderChanges:
    """Reads older changes; `names` are the display names in the order of the configuration."""

    def __init__(self, past: Past, names: Mapping[BookmakerId, str], own: OwnBodies) -> None:
        self._past = past
        self._own = own
        self._names = names

    async def read(self, view: BookmakerId | None, since: int, until: int, client: str | None) -> Older:
        """Return the changes of a view after `since`, until `until`; `UNKNOWN` if some are not known.

        Raises: Problem 429 or 503, as `read_for`.
        """
        if not await self._past.written(until):
            return UNKNOWN
        what = partial(Days.changes, bookmaker=view, after=since, until=until)
        found = await read_for(client, self._past, self._own, what)
        if found is None:
            return UNKNOWN
        changes = [_change(past) for past in found]
        shown = [change for change in changes if change.entry is not None]
        gone = [change for change in changes if change.entry is None]
        return Older(until, shown, gone)

    async def reach(self, asked: int, until: int, client: str | None) -> Reach:
        """Return the oldest version from which changes to `until` are known, and if that covers `asked`.

        Raises: Problem 429 or 503, as `read_for`.
        """
        return await read_for(client, self._past, self._own, partial(Days.reach, asked=asked, until=until))

    def merged(self, older: Older, recent: Recent[Change]) -> Recent[Change] | None:
        """Return older and recent changes merged; None if they are too many for an answer."""
        newer = {change.id for change in (*recent.shown, *recent.gone)}
        shown = [*recent.shown, *(change for change in older.shown if change.id not in newer)]
        gone = [*recent.gone, *(change for change in older.gone if change.id not in newer)]
        if len(shown) + len(gone) > MAX_ANSWER:
            return None
        places = {name: place for place, name in enumerate(self._names)}
        shown.sort(key=lambda change: (places[change.bookmaker], change.id))
        return Recent(recent.version, True, shown, gone, recent.pending)  # noqa: FBT003 - a field


def _change(past: PastChange) -> Change:
    return Change(past.id, past.bookmaker, past.version, past.entry, past.reason or RemovalReason.WITHDRAWN)
