"""The plan of a venue that lists its matches, and gives prices of groups of these matches on request. Pure.

Only the lists have names and states. So prices are requested and shown only with a list that was read to
its end within `listed_for_s`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Annotated, Any, Generic

from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.errors import SourceError
from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.groups import Group, Groups, M, day_of, group_of, is_near, preface_of
from actors.source_api.options import PolledOptions, Seconds
from actors.source_api.pause import Pause
from actors.source_api.plan import CatalogueList, Plan, Target

LISTED = Scope("listed")
BEHIND_S = 6 * 3600.0
"""A match that kicked off longer ago is over, or was postponed and keeps its old kick-off."""

NearSeconds = Annotated[
    Seconds, Meta(description="The shortest time between two polls of matches near their kick-off.")
]
FarSeconds = Annotated[Seconds, Meta(description="The shortest time between two polls of other matches.")]


class CatalogueOptions(PolledOptions, frozen=True, kw_only=True):
    """Options of such a venue; `poll_interval_s` holds near a kick-off.

    A price is valid for three intervals, or for `stale_after_s`, because in play it moves within seconds.
    """

    poll_interval_s: NearSeconds
    far_interval_s: FarSeconds

    def staleness_at(self, interval_s: float) -> float:
        """Return the validity in seconds of a price that is requested every `interval_s` seconds."""
        return 3 * interval_s if self.stale_after_s is None else self.stale_after_s


class Listing(Generic[M]):
    """A list of a catalogue: the matches of its last complete reading, and the `pages` of the present one.

    `matches` has for each id the match, or the reason why it is not shown. `since_mono` (monotonic seconds)
    is the time of the request for the first page, -inf before the first complete reading. `learn` fills
    `pages`. The names of the list's groups begin with its own `prefix`: "epl-" makes `epl-2026-05-28.1`.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.matches: Mapping[SourceMatchId, M | Removal] = {}
        self.since_mono = -inf
        self.unreadable = 0
        self.passed_over: Mapping[str, int] = {}
        self.has_ended = False  # the first reading has ended, well or not
        self.begin()

    def begin(self) -> None:
        """Begin a reading with the first page."""
        self.pages: list[Any] = []
        self.asked_mono = inf

    def end(
        self,
        matches: Mapping[SourceMatchId, M | Removal],
        unreadable: int = 0,
        passed_over: Mapping[str, int] | None = None,
    ) -> None:
        """Take the matches of all pages, with the numbers of unreadable and passed-over matches."""
        self.matches, self.since_mono, self.unreadable = matches, self.asked_mono, unreadable
        self.passed_over, self.has_ended = passed_over or {}, True
        self.begin()


class _Asked(Struct, Generic[M], frozen=True):
    """A group of matches whose prices are requested; empty after its last match is over."""

    target: Target
    listing: Scope
    matches: tuple[M, ...]


class CataloguePlan(Plan, ABC, Generic[M]):
    """Asks for the lists of a catalogue, and for the prices of their matches, at most `size` in a request.

    A match, `M`, is a struct with an `id` and a `start`, its kick-off in Unix seconds. Matches of one list
    and UTC day form a group. A `Group[M]` with these matches is the preface of its answers, so that a
    recorded answer can be read by itself. All durations are in seconds.

    A subclass fills `listings` by the scopes of their targets, implements the methods below, and sets:
    `list_interval_s` from the end of a list to its next reading, `listed_for_s` as a list's validity,
    `unlisted_s` until prices without a list are tried again, `spacing_s` between two requests, `horizon_s`
    beyond which kick-offs are left out, and `no_prices`, an answer without prices.
    """

    size: int
    no_prices: bytes
    list_interval_s: float
    listed_for_s: float
    unlisted_s = 60.0
    spacing_s = 0.0
    horizon_s = inf

    def __init__(self, options: CatalogueOptions) -> None:
        super().__init__(options, ())
        self.listings: dict[Scope, Listing[M]] = {}
        self._near_s = options.poll_interval_s
        self._far_s = max(options.poll_interval_s, options.far_interval_s)
        self._groups = Groups(self.size)
        self._days: Mapping[SourceMatchId, str] = {}
        self._weights: Mapping[SourceMatchId, int] = {}
        self._asked: dict[Scope, _Asked[M]] = {}
        self._made: tuple[CatalogueList, ...] = ()
        self._is_empty = False  # no prices are requested, and an empty list was handed out
        self._last_asked_mono = -inf
        self._pause = Pause(options.poll_interval_s)

    @abstractmethod
    def catalogue_targets(self) -> Iterable[Target]:
        """Return the next requests of the catalogue: the next page of each of its lists, and others."""

    @abstractmethod
    def learn(self, target: Target, content: Any, now: Instant) -> bool:
        """Take an answer of the catalogue; return whether the groups may change by it.

        Add a page to its listing, and call the listing's `end` after the last page. Raises: PayloadError if
        the page does not fit; its reading is then begun anew.
        """

    @abstractmethod
    def prices_target(self, scope: Scope, matches: Sequence[M], preface: bytes) -> Target:
        """Return the request for the prices of one or more matches."""

    def completed(self, match: M, now: Instant) -> M | Removal | None:
        """Return a listed match ready for requests, why it is left out, or None if still unknown."""
        del now
        return match

    def weight(self, match: M) -> int:
        """Return a match's share of the `size` of a request."""
        del match
        return 1

    def prices_interval_s(self, matches: Sequence[M], now: Instant) -> float:
        """Return the seconds between two requests for a group; an empty group has lost its last match."""
        is_far = matches and not is_near((match.start for match in matches), now.wall)
        return self._far_s if is_far else self._near_s

    def other_interval_s(self, target: Target) -> float:
        """Return the interval of other targets, which are neither lists nor present groups."""
        del target
        return self._near_s

    def listed_for(self, scope: Scope) -> float:
        """Return a list's validity in seconds; its prices are shown for no longer."""
        del scope
        return self.listed_for_s

    def check_staleness(self, stale_s: float, lists: str) -> None:
        """Raise ValueError if prices are configured to be valid for longer than their lists."""
        if stale_s > (most := self.listed_for_s - 2 * self.list_interval_s):
            why = f"{lists} is read every {self.list_interval_s:g} s and holds for {self.listed_for_s:g} s"
            raise ValueError(f"stale_after_s was {stale_s:g}, must be at most {most:g}: {why}")

    def freshness(self, interval_s: float) -> str:
        """Return in words how often prices are requested, and how long they are valid."""
        return f"every {interval_s:g} s, stale after {self._options.staleness_at(interval_s):g} s"

    def targets(self) -> tuple[Target, ...]:
        """Return the targets of the catalogue and of all groups."""
        return (*self.catalogue_targets(), *(asked.target for asked in self._asked.values()))

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until the next page, list or request for prices."""
        if (asked := self._asked.get(target.scope)) is not None:
            return self.prices_interval_s(asked.matches, now)
        if (listing := self.listings.get(target.scope)) is not None:
            return self.spacing_s if listing.pages else self.list_interval_s
        return self.other_interval_s(target)

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the rest of a pause; prices wait for a list that is valid for as long as they are."""
        wait_s = max(self._last_asked_mono + self.spacing_s - now.mono, self._pause.left_s(now))
        if (asked := self._asked.get(target.scope)) is not None:
            listing = self.listings.get(asked.listing)
            stale_s = self._options.staleness_at(self.interval_s(target, now))
            if listing is None or now.mono + stale_s > listing.since_mono + self.listed_for(asked.listing):
                return max(wait_s, self.unlisted_s)
        return max(wait_s, 0.0)

    def on_asked(self, target: Target, now: Instant) -> None:
        """Note the time of a request, and of the begin of a list's reading."""
        self._last_asked_mono = now.mono
        if (listing := self.listings.get(target.scope)) is not None:
            listing.asked_mono = min(listing.asked_mono, now.mono)

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """Reset the length of pauses."""
        del target, headers, now
        self._pause.on_answered()

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Begin a list's reading anew; after too many requests pause all, doubling the pause each time."""
        if (listing := self.listings.get(target.scope)) is not None:
            listing.has_ended = True
            listing.begin()
        self._pause.on_failed(error, now)
        return 0.0

    def on_learnt(self, target: Target, content: Any, now: Instant) -> None:
        """Take an answer of the catalogue, or drop an answered empty group. Raises: PayloadError."""
        if target.is_catalogue:
            if self.learn(target, content, now):
                self._arrange(now)
            return
        asked = self._asked.get(target.scope)
        if asked is not None and not asked.matches and target == asked.target:
            del self._asked[target.scope]

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the empty list, with reasons, of a venue without requested prices."""
        made, self._made = self._made, ()
        return made

    def describe(self) -> list[str]:
        """Return lines for an operator: how often prices are requested, and how fresh they are."""
        return [
            f"near (2 h before a kick-off to 2.5 h after): {self.freshness(self._near_s)}",
            f"at other hours: {self.freshness(self._far_s)}",
        ]

    def _arrange(self, now: Instant) -> None:
        """Set the groups to request; a match keeps its group, also while it is not shown."""
        found: dict[SourceMatchId, M | Removal] = {}
        listed_in: dict[SourceMatchId, Scope] = {}
        days: dict[SourceMatchId, str] = {}
        weights: dict[SourceMatchId, int] = {}
        left_out = Counter[str]()
        for scope, listing in self.listings.items():
            left_out[Reason.UNREADABLE] += listing.unreadable
            left_out.update(listing.passed_over)
            for name, listed in listing.matches.items():
                if name in found or (each := self._found(listed, now)) is None:
                    continue  # the first list with a match counts
                found[name] = each
                if isinstance(each, Removal):
                    if name in self._days:
                        days[name], weights[name] = self._days[name], self._weights[name]
                elif each.start > now.wall + self.horizon_s:
                    left_out[Reason.AHEAD] += 1
                else:
                    listed_in[each.id] = scope  # `completed` may change the id
                    days[name], weights[name] = f"{listing.prefix}{day_of(each.start)}", self.weight(each)
        self._days, self._weights = days, weights
        arranged = self._groups.arrange(days, weights).items()
        groups = {Scope(group): group_of(found[name] for name in names) for group, names in arranged}
        bare = (removal for group in groups.values() if not group.matches for removal in group.removals)
        unplaced = (each for name, each in found.items() if isinstance(each, Removal) and name not in days)
        rest = self._ask(groups, Group((), (*unplaced, *bare), +left_out), listed_in)
        is_empty = not any(group.matches for group in groups.values())
        if is_empty and not self._is_read(found):
            return
        if is_empty or self._is_empty:
            since_mono = max(listing.since_mono for listing in self.listings.values())
            body = preface_of(rest) + self.no_prices
            self._made = (CatalogueList(LISTED, body, since_mono, self.listed_for_s),)
        self._is_empty = is_empty

    def _found(self, listed: M | Removal, now: Instant) -> M | Removal | None:
        if isinstance(listed, Removal):
            return listed
        if listed.start < now.wall - BEHIND_S:
            return Removal(listed.id, Reason.PAST)
        return self.completed(listed, now)

    def _is_read(self, found: Mapping[SourceMatchId, M | Removal]) -> bool:
        """Return whether each list was tried, one was read to its end, and no match is incomplete."""
        lists = self.listings.values()
        is_tried = all(each.has_ended for each in lists) and any(each.since_mono > -inf for each in lists)
        return is_tried and all(name in found for each in lists for name in each.matches)

    def _ask(
        self, groups: Mapping[Scope, Group[M]], rest: Group[M], listed_in: Mapping[SourceMatchId, Scope]
    ) -> Group[M]:
        """Set the targets of groups; add `rest` to the first group, or return it if all groups are empty.

        A group that has lost its last match is requested once more, so that the board drops its matches.
        """
        old, self._asked = self._asked, {}
        for scope in {**groups, **old}:
            group = groups.get(scope, Group())
            if group.matches:
                removals = (*group.removals, *rest.removals)
                group, rest = replace(group, removals=removals, left_out=rest.left_out), Group()
                target = self.prices_target(scope, group.matches, preface_of(group))
                self._asked[scope] = _Asked(target, listed_in[group.matches[0].id], group.matches)
            elif scope in old:  # its answer counts as empty
                target = replace(old[scope].target, preface=preface_of(group))
                self._asked[scope] = replace(old[scope], target=target, matches=())
        return rest
