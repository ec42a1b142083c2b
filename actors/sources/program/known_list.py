"""A list of a program: its matches, the times of their confirmations, and its changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from math import inf

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Extract, ListId, Match, Removal, Scope, SourceMatchId, event_id_of
from actors.core.validation import Reason
from actors.source_api.program import ListChange
from actors.sources.program.markets import Rejected
from actors.sources.program.wire import Said

_NOT_ASKED_FOR = Removal(SourceMatchId(""), Reason.MARKET)  # only counted


class KnownList:
    """A list. Its `matches` are in the order of their last own confirmation.

    Each market of a match is a separate element; a line about a match replaces all its markets.

    `is_sent`: the present process has sent the list completely. `is_whole`: no match was removed as
    stale. `confirmed_mono` is the list's time of confirmation in the last change; it never decreases.
    """

    def __init__(self, scope: Scope) -> None:
        self.is_known = self.is_sent = self.is_whole = False
        self.matches: dict[SourceMatchId, tuple[Match, float]] = {}
        self._others: dict[SourceMatchId, set[SourceMatchId]] = {}  # markets other than 1X2, by match
        self._scope = scope
        self._list_id, self._why = ListId(""), ""
        self._said_mono = self.confirmed_mono = -inf
        self._as_of = (-inf, -inf)  # one time by the wall clock and by the monotonic clock
        self._forget_changes()

    def mono_of(self, as_of: float, now: Instant) -> float:
        """Convert a time of its source (Unix seconds) to the monotonic clock; equal times stay equal."""
        if as_of != self._as_of[0]:
            self._as_of = as_of, now.mono - max(now.wall - as_of, 0.0)
        return self._as_of[1]

    def complete(self, list_id: ListId, items: Iterable[Said], mono: float) -> Sliced[None]:
        """Replace the whole list."""
        self._forget_changes()
        self.matches.clear()
        self._others.clear()
        self.is_known = self.is_sent = self.is_whole = self._is_new = True
        self._list_id, self._said_mono = list_id, mono
        for count, item in enumerate(items):
            if count % SLICE == 0:
                yield
            for record in item.records:
                if isinstance(record, Match) and (known := self.matches.get(record.source_match_id)):
                    self._doubles.append(known[0])
            self.change(item, mono)

    def change(self, item: Said, mono: float) -> None:
        """Replace a match; remove its markets that `item` lacks, or that were rejected."""
        if item.match_id is not None:
            said = {it.source_match_id for it in item.records if isinstance(it, Match)}
            said |= {it.match_id for it in item.records if isinstance(it, Rejected) and it.match_id}
            for match_id in (item.match_id, *self._others.get(item.match_id, ())):
                if match_id in self.matches and match_id not in said:
                    self._remove(match_id, "withdrawn")
        for record in item.records:
            self._take(record, mono)
        self._nameless += [_NOT_ASKED_FOR] * sum(item.passed_over.values())

    def _take(self, record: Match | Rejected, mono: float) -> None:
        if isinstance(record, Match):
            match_id = record.source_match_id
            self.matches.pop(match_id, None)
            self.matches[match_id] = (record, mono)
            if record.odds:
                self._others.setdefault(record.event_id, set()).add(match_id)
            self._removals.pop(match_id, None)
            self._changed.pop(match_id, None)
            self._changed[match_id] = None
        elif record.match_id is not None:
            self._remove(record.match_id, record.reason)
        else:
            self._nameless.append(Removal(SourceMatchId(""), record.reason))  # only counted

    def remove(self, match_id: SourceMatchId, reason: str) -> None:
        """Remove a match with all its markets."""
        for each in (match_id, *self._others.get(match_id, ())):
            self._remove(each, reason)

    def _remove(self, match_id: SourceMatchId, reason: str) -> None:
        """Remove a market of a match."""
        self.matches.pop(match_id, None)
        self._changed.pop(match_id, None)
        self._removals[match_id] = reason
        event_id = event_id_of(match_id)
        if event_id in self._others:
            self._others[event_id].discard(match_id)
            if not self._others[event_id]:
                del self._others[event_id]

    def confirm(self, mono: float) -> None:
        """Confirm all matches."""
        self._said_mono = max(self._said_mono, mono)
        self._is_confirmed = True

    def withdraw(self, why: str = "") -> None:
        """Withdraw the list until the next complete one."""
        self._forget()
        self._forget_changes()
        self._is_withdrawn, self._why = True, why

    def expire(self, stale_mono: float, early_s: float) -> None:
        """Forget the list if no match was confirmed after `stale_mono`; otherwise remove the stale matches.

        Matches that become stale within `early_s` are removed too. The board withdraws stale lists by
        itself.
        """
        if not self.is_known:
            return
        oldest, newest = self._ages()
        if newest <= stale_mono:
            self._forget()
        bound = stale_mono + early_s
        if oldest <= bound < newest:
            # Collected first: finding the first match again after each removal takes quadratic time.
            for match_id in [*takewhile(lambda name: self.matches[name][1] <= bound, self.matches)]:
                self._remove(match_id, "stale")
            self.is_whole = False

    def take_change(self) -> ListChange | None:
        """Return the change since the last call, None without a change."""
        if self._is_withdrawn:
            self._forget_changes()
            about = (self._scope, ListId(""), Extract(()), self.confirmed_mono)
            return ListChange(*about, withdrawn=True, why=self._why)
        if self._is_new:
            return self.image()
        is_news = bool(self._changed or self._removals or self._nameless or self._is_confirmed)
        if not (self.is_known and is_news):
            self._forget_changes()
            return None
        return self._change([self.matches[match_id][0] for match_id in self._changed], complete=False)

    def image(self) -> ListChange:
        """Return the complete present list."""
        matches = [*self._doubles, *(match for match, _ in self.matches.values())]
        return self._change(matches, complete=True)

    def _change(self, matches: Iterable[Match], *, complete: bool) -> ListChange:
        removals = (*(Removal(*removed) for removed in self._removals.items()), *self._nameless)
        self._forget_changes()
        self.confirmed_mono = max(self.confirmed_mono, self._ages()[0])
        extract = Extract(tuple(matches), removals)
        return ListChange(self._scope, self._list_id, extract, self.confirmed_mono, complete=complete)

    def _ages(self) -> tuple[float, float]:
        """Return the oldest and the newest time of confirmation among the matches."""
        if not self.matches:
            return self._said_mono, self._said_mono
        first, last = next(iter(self.matches.values())), next(reversed(self.matches.values()))
        return max(self._said_mono, first[1]), max(self._said_mono, last[1])

    def _forget(self) -> None:
        self.matches.clear()
        self._others.clear()
        self.is_known = self.is_sent = self.is_whole = False

    def _forget_changes(self) -> None:
        self._is_new = self._is_withdrawn = self._is_confirmed = False
        self._changed: dict[SourceMatchId, None] = {}  # in the order of their last change
        self._doubles: list[Match] = []
        self._removals: dict[SourceMatchId, str] = {}
        self._nameless: list[Removal] = []
