"""The leaders of the other markets' fixtures in a commit: the 1X2 fixtures, and the side events.

Pure, in slices.
"""

from __future__ import annotations

from collections.abc import Sequence

from actors.board.board import Books, Noted
from actors.core.cooperative import Sliced
from actors.market_fixtures.model import Followed, MarketState
from actors.market_fixtures.sides import SideLinks, SideUpdate
from actors.matches.model import FixtureChanges, FixtureState


def followed(
    state: MarketState,
    base: object,
    after: FixtureState,
    noted: object,
    boards: Sequence[tuple[Books, Noted]],
    *,
    links: SideLinks | None,
) -> Sliced[Followed]:
    """Return the leaders for a commit that took the 1X2 fixtures from `base` to `after`.

    `state` may be of any other kind, because all share the side events. `noted` has the commit's changes of
    the 1X2 fixtures, `boards` the books of each other kind with their changes. The links of side events
    come last.
    """
    before = state.followed
    changes = noted if isinstance(noted, FixtureChanges) else FixtureChanges()
    books = [of_kind for of_kind, _ in boards]
    update = SideUpdate(state.sides, before or after, after, after.terms.roster, books)
    if before is base:
        yield from update.follow(changes.changes)
        for _, differences in boards:
            yield from update.take(differences)
    else:  # the first commit, or after a crash between two boards' commits
        yield from update.look_at_all()
    sides = yield from update.finish(links)
    start = before if before is base else after
    return Followed(start or after, after, state.sides, sides, changes, update.changed)
