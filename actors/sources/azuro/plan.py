"""The plan of Azuro's requests: games, the conditions of their results, and these conditions' odds. Pure.

A list of games is complete only when both states were read to the last page in one round. A match is shown
only with its conditions of the last `CONDITIONS_FOR_S`, because answers with odds lack some of their
fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.catalogue import BEHIND_S, CataloguePlan, Listing
from actors.source_api.plan import Target
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
from actors.sources.azuro.prices import OUTCOMES, WITHDRAWN, ListedMatch, listed_match, result_of
from actors.sources.azuro.wire import Condition, Conditions, GamesPage

CONDITIONS_INTERVAL_S = 600.0
CONDITIONS_FOR_S = 3 * CONDITIONS_INTERVAL_S
GAMES_A_CALL, CONDITIONS_A_CALL = 10, 100
MAX_PAGES = 100
ASSUMED = (
    "tried against answers written by hand only; where the venue's documents are silent it is assumed:",
    f"  at most a request a second, {CONDITIONS_A_CALL} conditions a call; requests are not conditional",
    f"  a condition may be replaced: each game's is looked for again every {CONDITIONS_INTERVAL_S:g} s",
    "  the result (outcomes 29, 30, 31) may count extra time: compare a knock-out match with care",
)


class AzuroPlan(CataloguePlan[ListedMatch]):
    """The plan of an environment. Raises: ValueError for options that cannot work."""

    size = CONDITIONS_A_CALL
    no_prices = b'{"conditions": []}'
    list_interval_s, listed_for_s, unlisted_s = 120.0, 600.0, 30.0
    spacing_s = 1.0  # no limit is documented

    def __init__(self, options: AzuroOptions, keys: tuple[str, ...]) -> None:
        del keys
        super().__init__(options)
        self._venue = options
        self._games = self.listings[GAMES] = Listing()
        # The condition, or the reason for its absence, and the time of that answer.
        self._results: dict[SourceMatchId, tuple[Condition | str, float]] = {}
        self._wanted: tuple[SourceMatchId, ...] = ()
        intervals = (options.poll_interval_s, options.far_interval_s)
        self.check_staleness(max(map(options.staleness_at, intervals)), "a list of games")

    def catalogue_targets(self) -> Iterable[Target]:
        """Return the targets of the next page of games, and of the wanted conditions."""
        state, page, _ = _position(self._games.pages)
        yield games_target(self._venue, STATES[state], page)
        if self._wanted:
            yield conditions_target(self._venue, self._wanted)

    def prices_target(self, scope: Scope, matches: Sequence[ListedMatch], preface: bytes) -> Target:
        """Return the target of the odds of the matches' conditions."""
        conditions = [match.result.condition_id for match in matches if match.result]
        return odds_target(self._venue, scope, conditions, preface)

    def prices_interval_s(self, matches: Sequence[ListedMatch], now: Instant) -> float:
        """Ask more often if a match is in play, or will be before a present price is stale."""
        margin_s = self._venue.staleness_at(self._venue.poll_interval_s)
        if not matches or any(match.is_live or match.start - margin_s <= now.wall for match in matches):
            return min(self._venue.poll_interval_s, IN_PLAY_INTERVAL_S)
        return super().prices_interval_s(matches, now)

    def other_interval_s(self, target: Target) -> float:
        """Return the time between two requests."""
        del target
        return self.spacing_s

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """After a check of the results has failed, read the games again only after the usual interval."""
        super().on_failed(target, error, now)
        return self.list_interval_s if error.reason == Reason.NO_RESULT else 0.0

    def on_learnt(self, target: Target, content: object, now: Instant) -> None:
        """Take an answer. Raises: PayloadError also if most games have no condition of the result."""
        super().on_learnt(target, content, now)
        self._want(now)
        if isinstance(content, GamesPage) and not self._games.pages:
            self._check_results()

    def learn(self, target: Target, content: GamesPage | Conditions, now: Instant) -> bool:
        """Take a page of games, or the conditions of some games."""
        if isinstance(content, GamesPage):
            self._take_page(content)
        else:
            self._take_conditions(games_of(target), content.conditions, now)
        return True

    def completed(self, match: ListedMatch, now: Instant) -> ListedMatch | Removal | None:
        """Return a match with its condition of the result."""
        if (known := self._results.get(match.id)) is None:
            return None
        result, read_mono = known
        if now.mono >= read_mono + CONDITIONS_FOR_S:
            return Removal(match.id, WITHDRAWN)
        return Removal(match.id, result) if isinstance(result, str) else replace(match, result=result)

    def describe(self) -> list[str]:
        """Return lines for an operator: targets, intervals, freshness and assumptions."""
        return [
            f"environment {self._venue.environment}; games every {self.list_interval_s:g} s",
            f"in play: {self.freshness(min(self._venue.poll_interval_s, IN_PLAY_INTERVAL_S))}",
            *super().describe(),
            *ASSUMED,
        ]

    def _take_page(self, page: GamesPage) -> None:
        """Take a page. Raises: PayloadError for another page, or if the list has changed meanwhile."""
        _, expected, before = _position(self._games.pages)
        of_state, is_last = [*before, page], page.page >= page.total_pages
        total = of_state[0].total
        if page.page != expected or page.total != total or (is_last and _count(of_state) != total):
            raise PayloadError(
                f"page {page.page} does not belong to the pages before it: the list has changed"
            )
        if page.total_pages > MAX_PAGES:
            raise PayloadError(
                f"the list of games has {page.total_pages} pages, at most {MAX_PAGES} are read"
            )
        self._games.pages.append(page)
        if _position(self._games.pages)[0] == len(STATES):
            games = {game.game_id: game for each in self._games.pages for game in each.games}
            unreadable = sum(each.unread.count for each in self._games.pages)
            listed = {SourceMatchId(name): listed_match(game) for name, game in games.items()}
            self._games.end(listed, unreadable)
            self._results = {
                name: was for name, was in self._results.items() if name in self._games.matches
            }

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
        """Raise PayloadError if most games lack a condition of the result: its form may have changed."""
        without = sum(result == Reason.NO_RESULT for result, _ in self._results.values())
        if len(self._results) >= GAMES_A_CALL and 2 * without > len(self._results):
            found = f"{without} of {len(self._results)} games have no condition with exactly the outcomes"
            raise PayloadError(
                f"{found} {', '.join(OUTCOMES)}: the venue may have changed", Reason.NO_RESULT
            )

    def _want(self, now: Instant) -> None:
        """Choose the games whose conditions are requested next, games never requested come first."""
        due = [
            (self._results.get(name, ("", -inf))[1], name)
            for name, listed in self._games.matches.items()
            if isinstance(listed, ListedMatch) and listed.start >= now.wall - BEHIND_S
        ]
        old = sorted(pair for pair in due if pair[0] + CONDITIONS_INTERVAL_S <= now.mono)
        self._wanted = tuple(name for _, name in old[:GAMES_A_CALL])


def _position(pages: Sequence[GamesPage]) -> tuple[int, int, Sequence[GamesPage]]:
    """Return the state and number of the page after these, and the pages of that state."""
    state, begins = 0, 0
    for number, page in enumerate(pages, 1):
        if page.page >= page.total_pages:
            state, begins = state + 1, number
    return state, len(pages) - begins + 1, pages[begins:]


def _count(pages: Sequence[GamesPage]) -> int:
    """Return the number of different games on these pages, and the number of unreadable games."""
    names = {game.game_id for page in pages for game in page.games}
    return len(names) + sum(page.unread.count for page in pages)
