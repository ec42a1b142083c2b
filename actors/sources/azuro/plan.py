"""When Azuro is asked for what: games, the condition of each game's result, and the odds of these. Pure.

A list of games is complete only when both states were read to the last page in one round. Nothing is shown
without such a list of the last `LISTED_FOR_S`, and no match without its conditions of the last
`CONDITIONS_FOR_S`: polled odds do not repeat all that these say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.groups import Groups, NothingAsked, day_of, is_near, preface_of, with_rest
from actors.source_api.pause import Pause
from actors.source_api.plan import CatalogueList, Plan, Target
from actors.sources.azuro.options import (
    GAMES,
    IN_PLAY_INTERVAL_S,
    STATES,
    AzuroOptions,
    conditions_target,
    games_of,
    games_target,
    odds_target,
)
from actors.sources.azuro.prices import (
    OUTCOMES,
    WITHDRAWN,
    Group,
    ListedMatch,
    listed_match,
    result_of,
)
from actors.sources.azuro.wire import Condition, Conditions, Game, GamesPage

GAMES_INTERVAL_S = 120.0
LISTED_FOR_S = 600.0
CONDITIONS_INTERVAL_S = 600.0
CONDITIONS_FOR_S = 3 * CONDITIONS_INTERVAL_S
GAMES_A_CALL, CONDITIONS_A_CALL = 10, 100
SPACING_S = 1.0  # between two requests: no limit is documented
MAX_PAGES = 100
BEHIND_S = 6 * 3600.0
UNLISTED_S = 30.0
NO_CONDITIONS = b'{"conditions": []}'
ASSUMED = (
    "tried against answers written by hand only; where the venue's documents are silent it is assumed:",
    f"  at most a request a second, {CONDITIONS_A_CALL} conditions a call; requests are not conditional",
    f"  a condition may be replaced: each game's is looked for again every {CONDITIONS_INTERVAL_S:g} s",
    "  the result (outcomes 29, 30, 31) may count extra time: compare a knock-out match with care",
)


class _Asked(Struct, frozen=True):
    """A group of matches that is asked for."""

    target: Target
    kick_offs: tuple[int, ...]
    is_live: bool = False


class AzuroPlan(Plan):
    """The plan of an environment. Raises: ValueError for options that cannot be kept."""

    def __init__(self, options: AzuroOptions, keys: tuple[str, ...]) -> None:
        del keys
        super().__init__(options, ())
        self._venue = options
        self._listed: dict[SourceMatchId, ListedMatch | Removal] = {}
        self._listed_mono, self._listed_unreadable = -inf, 0
        # The condition, or why there is none, and when that was read.
        self._results: dict[SourceMatchId, tuple[Condition | str, float]] = {}
        self._wanted: tuple[SourceMatchId, ...] = ()
        self._groups = Groups(CONDITIONS_A_CALL)
        self._days: dict[SourceMatchId, str] = {}
        self._asked: dict[Scope, _Asked] = {}
        self._nothing_asked = NothingAsked(Group(()), NO_CONDITIONS, LISTED_FOR_S)
        self._last_asked_mono = -inf
        self._pause = Pause(options.poll_interval_s)
        self._began_mono = inf
        self._begin()
        stale_s = max(map(options.staleness_at, (options.poll_interval_s, options.far_interval_s)))
        if stale_s > (most := LISTED_FOR_S - 2 * GAMES_INTERVAL_S):
            why = f"a list of games is read every {GAMES_INTERVAL_S:g} s and holds for {LISTED_FOR_S:g} s"
            raise ValueError(f"stale_after_s was {stale_s:g}, must be at most {most:g}: {why}")

    def targets(self) -> tuple[Target, ...]:
        """Return the next page of games, the games whose conditions are wanted, and all groups."""
        games = games_target(self._venue, STATES[self._state], self._page)
        wanted = [conditions_target(self._venue, self._wanted)] if self._wanted else []
        return (games, *wanted, *(asked.target for asked in self._asked.values()))

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds to the next page or list, or until odds are asked for again."""
        if (asked := self._asked.get(target.scope)) is not None:
            near_s, far_s = self._venue.poll_interval_s, self._venue.far_interval_s
            if asked.is_live or not asked.kick_offs or self._has_kicked_off(asked, now):
                return min(near_s, IN_PLAY_INTERVAL_S)
            return near_s if is_near(asked.kick_offs, now.wall) else max(near_s, far_s)
        if target.scope == GAMES and (self._state, self._page) == (0, 1):
            return GAMES_INTERVAL_S
        return SPACING_S

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the rest of a pause, or of a second; odds wait for a list that holds longer."""
        wait_s = max(self._last_asked_mono + SPACING_S - now.mono, self._pause.left_s(now))
        if target.scope in self._asked:
            stale_s = self._venue.staleness_at(self.interval_s(target, now))
            if now.mono + stale_s > self._listed_mono + LISTED_FOR_S:
                return max(wait_s, UNLISTED_S)
        return max(wait_s, 0.0)

    def on_asked(self, target: Target, now: Instant) -> None:
        """Note when a request was sent, and when a round began."""
        self._last_asked_mono = now.mono
        if target.scope == GAMES:
            self._began_mono = min(self._began_mono, now.mono)

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """End a pause."""
        del target, headers, now
        self._pause.on_answered()

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Begin a round anew; pause everything after too many requests, twice as long each time."""
        if target.scope == GAMES:
            self._begin()
        self._pause.on_failed(error, now)
        return GAMES_INTERVAL_S if error.reason == Reason.NO_RESULT else 0.0

    def on_learnt(self, target: Target, content: object, now: Instant) -> None:
        """Take a page of games, the conditions of some games, or note that a group was asked for.

        Raises: PayloadError for a page that does not fit, or if most games have no condition of the result.
        """
        match content:
            case GamesPage():
                self._take_page(content)
            case Conditions(conditions=conditions):
                self._take_conditions(games_of(target), conditions, now)
            case _:
                asked = self._asked.get(target.scope)
                if asked is not None and not asked.kick_offs and target == asked.target:
                    del self._asked[target.scope]
        self._want(now)
        if isinstance(content, GamesPage | Conditions):
            self._arrange(now)
        if isinstance(content, GamesPage) and (self._state, self._page) == (0, 1):
            self._check_results()

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the list of a venue that has nothing to be asked for."""
        return self._nothing_asked.take()

    def describe(self) -> list[str]:
        """Return lines for an operator: what is asked how often, how fresh that is, and what is assumed."""
        near_s, far_s = (
            self._venue.poll_interval_s,
            max(self._venue.poll_interval_s, self._venue.far_interval_s),
        )
        return [
            f"environment {self._venue.environment}; games every {GAMES_INTERVAL_S:g} s",
            f"in play: {self._freshness(min(near_s, IN_PLAY_INTERVAL_S))}",
            f"near (2 h before a kick-off to 2.5 h after): {self._freshness(near_s)}",
            f"at other hours: {self._freshness(far_s)}",
            *ASSUMED,
        ]

    def _has_kicked_off(self, asked: _Asked, now: Instant) -> bool:
        """Return whether a match has begun, or will before a price of now would be stale."""
        margin_s = self._venue.staleness_at(self._venue.poll_interval_s)
        return any(start - margin_s <= now.wall for start in asked.kick_offs)

    def _freshness(self, interval_s: float) -> str:
        return f"every {interval_s:g} s, stale after {self._venue.staleness_at(interval_s):g} s"

    def _begin(self) -> None:
        """Begin a round: the first page of the first state."""
        self._state, self._page = 0, 1
        self._games: dict[str, Game] = {}
        self._ids: set[str] = set()  # on the pages of this state
        self._unreadable = self._unreadable_of_all = 0
        self._total: float | None = None
        self._began_mono = inf

    def _take_page(self, page: GamesPage) -> None:
        """Take a page. Raises: PayloadError if it is another page, or the list has changed meanwhile."""
        if self._total is None:
            self._total = page.total
        self._ids.update(game.game_id for game in page.games)
        self._unreadable += page.unread.count
        self._unreadable_of_all += page.unread.count
        is_last, read = page.page >= page.total_pages, len(self._ids) + self._unreadable
        if page.page != self._page or page.total != self._total or (is_last and read != self._total):
            raise PayloadError(
                f"page {page.page} does not belong to the pages before it: the list has changed"
            )
        if page.total_pages > MAX_PAGES:
            raise PayloadError(
                f"the list of games has {page.total_pages} pages, at most {MAX_PAGES} are read"
            )
        self._games.update({game.game_id: game for game in page.games})
        if not is_last:
            self._page += 1
        elif self._state + 1 < len(STATES):
            self._state, self._page, self._total = self._state + 1, 1, None
            self._ids, self._unreadable = set(), 0
        else:
            self._listed = {SourceMatchId(name): listed_match(game) for name, game in self._games.items()}
            self._listed_mono, self._listed_unreadable = self._began_mono, self._unreadable_of_all
            self._results = {name: was for name, was in self._results.items() if name in self._listed}
            self._begin()

    def _take_conditions(
        self, games: Iterable[str], conditions: tuple[Condition, ...], now: Instant
    ) -> None:
        by_game: dict[str, list[Condition]] = {name: [] for name in games}
        for condition in conditions:
            if condition.game is not None and condition.game.game_id in by_game:
                by_game[condition.game.game_id].append(condition)
        for name, of in by_game.items():
            self._results[SourceMatchId(name)] = (result_of(of), now.mono)

    def _check_results(self) -> None:
        """Raise PayloadError if most games have no condition of the result: there may be another for it."""
        without = sum(result == Reason.NO_RESULT for result, _ in self._results.values())
        if len(self._results) >= GAMES_A_CALL and 2 * without > len(self._results):
            found = f"{without} of {len(self._results)} games have no condition with exactly the outcomes"
            raise PayloadError(
                f"{found} {', '.join(OUTCOMES)}: the venue may have changed", Reason.NO_RESULT
            )

    def _want(self, now: Instant) -> None:
        """Choose the games whose conditions are asked for next: those never asked for first."""
        due = [
            (self._results.get(name, ("", -inf))[1], name)
            for name, listed in self._listed.items()
            if isinstance(listed, ListedMatch) and not _is_past(listed, now)
        ]
        old = sorted(pair for pair in due if pair[0] + CONDITIONS_INTERVAL_S <= now.mono)
        self._wanted = tuple(name for _, name in old[:GAMES_A_CALL])

    def _found(self, listed: ListedMatch | Removal, now: Instant) -> ListedMatch | Removal | None:
        """Return a match to be asked for, why it is not, or None while its conditions are to come."""
        if isinstance(listed, Removal):
            return listed
        if _is_past(listed, now):
            return Removal(listed.id, Reason.PAST)
        if (known := self._results.get(listed.id)) is None:
            return None
        result, read_mono = known
        if now.mono >= read_mono + CONDITIONS_FOR_S:
            return Removal(listed.id, WITHDRAWN)
        return Removal(listed.id, result) if isinstance(result, str) else replace(listed, result=result)

    def _arrange(self, now: Instant) -> None:
        """Set the groups to ask for; one that has lost its last match is asked once more, for nothing."""
        looked = {name: self._found(listed, now) for name, listed in self._listed.items()}
        found = {name: each for name, each in looked.items() if each is not None}
        days: dict[SourceMatchId, str] = {}
        for name, each in found.items():
            if isinstance(each, ListedMatch):
                days[name] = day_of(each.start)
            elif name in self._days:
                days[name] = self._days[name]
        placed = {
            Scope(group): [found[name] for name in names]
            for group, names in self._groups.arrange(days).items()
        }
        unplaced = [each for name, each in found.items() if isinstance(each, Removal) and name not in days]
        groups, rest = with_rest(placed, unplaced)
        self._days, old, self._asked = days, self._asked, {}
        unreadable = self._listed_unreadable
        for scope in {**groups, **old}:
            part = _group_of(groups.get(scope, ()))
            if part.matches:
                part, unreadable = replace(part, unreadable=unreadable), 0
            if part.matches or scope in old:
                self._asked[scope] = self._asked_for(scope, part, old)
        is_read = self._listed_mono > -inf and len(found) == len(looked)
        if rest is None or is_read:
            nothing = None if rest is None else _group_of(rest, unreadable)
            self._nothing_asked.update(nothing, self._listed_mono)

    def _asked_for(self, scope: Scope, group: Group, old: Mapping[Scope, _Asked]) -> _Asked:
        """Return what to ask for a group; without matches, the same as before, whatever the answer."""
        preface, matches = preface_of(group), group.matches
        if not matches:
            return _Asked(replace(old[scope].target, preface=preface), ())
        target = odds_target(
            self._venue, scope, [match.result.condition_id for match in matches if match.result], preface
        )
        starts = tuple(match.start for match in matches)
        return _Asked(target, starts, any(match.is_live for match in matches))


def _group_of(found: Iterable[ListedMatch | Removal], unreadable: int = 0) -> Group:
    matches = tuple(each for each in found if isinstance(each, ListedMatch))
    removals = tuple(each for each in found if isinstance(each, Removal))
    return Group(matches, removals, unreadable)


def _is_past(listed: ListedMatch, now: Instant) -> bool:
    return listed.start < now.wall - BEHIND_S
