"""Reading a list page by page, although it may change between two pages. Pure.

Each page but the first begins before the end of the one before it, because it is asked for with one match
less a page: then both have some matches in common, in the same places. If not, or if a match is on two
pages otherwise, the list has changed meanwhile, and is read anew. The same holds, once, for a list of
several pages that lacks a match of the last reading.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors.core.errors import PayloadError
from actors.core.messages import Removal, SourceMatchId
from actors.source_api.catalogue import Listing
from actors.sources.five_dollar_football.options import Window
from actors.sources.five_dollar_football.prices import ListedMatch
from actors.sources.five_dollar_football.wire import FixturesPage, Row

MAX_PAGES = 40


class Read(Struct, frozen=True):
    """All rows of a list, each match once."""

    rows: tuple[Row, ...]


class Reading(Listing[ListedMatch]):
    """A list with the pages of its next reading; `window` is that of these, None for matches in play."""

    def __init__(self, per_page: int) -> None:
        self.per_page = per_page
        self.count = 1  # pages of the last reading
        self.window: Window | None = None
        self._is_doubted = False
        self._known: Mapping[float, int] = {}  # kick-offs by id
        super().__init__()

    def next_page(self) -> tuple[int, int]:
        """Return the number of the page that is asked for next, and of its matches."""
        if not self.pages:
            return 1, self.per_page
        last: FixturesPage = self.pages[-1]
        per_page = int(last.pagination.per_page)
        is_full = len(last.rows) >= per_page
        return len(self.pages) + 1, max(per_page - 1, 1) if is_full else per_page

    def take(self, page: FixturesPage) -> Read | None:
        """Take a page; return all after the last one. Raises: PayloadError if the list has changed."""
        number, asked = self.next_page()
        found, per_page = page.pagination.page, page.pagination.per_page
        if found != number or not 1 <= per_page <= asked:
            raise PayloadError(
                f"page {found:g} of {per_page:g} a page does not belong to the pages before it:"
                f" must be {number} of at most {asked}"
            )
        if page.pagination.has_more and (number == MAX_PAGES or not page.rows):
            raise PayloadError(f"the list does not end with page {number}, at most {MAX_PAGES} are read")
        if self.pages:
            self._check_overlap(page)
        self.pages.append(page)
        return None if page.pagination.has_more else self._whole()

    def finish(self, matches: Mapping[SourceMatchId, ListedMatch | Removal], read: Read) -> None:
        """End the reading with these matches."""
        self.count = len(self.pages)
        fixtures = [row.fixture for row in read.rows if row.fixture is not None]
        self._known = {fixture.id: int(fixture.kickoff_ts) for fixture in fixtures}
        self.end(matches, sum(row.fixture is None for row in read.rows))

    def _check_overlap(self, page: FixturesPage) -> None:
        before: FixturesPage = self.pages[-1]
        most, per_page = int(before.pagination.per_page), int(page.pagination.per_page)
        if len(before.rows) < most:
            return  # a page that is not full says nothing of places
        common = len(self.pages) * (most - per_page)
        if common < 1:
            raise PayloadError(f"{per_page} a page, must be fewer than {most}: pages do not overlap")
        earlier, later = before.rows[-common:], page.rows[:common]
        if [*map(_id, earlier)] != [*map(_id, later)]:
            raise PayloadError("the list has changed between two pages, it is read anew")

    def _whole(self) -> Read:
        """Return the rows of all pages. Raises: PayloadError for a list that has changed meanwhile."""
        rows: list[Row] = []
        for number, page in enumerate(self.pages):
            overlap = 0
            if number:
                before = self.pages[number - 1]
                is_full = len(before.rows) >= before.pagination.per_page
                apart = before.pagination.per_page - page.pagination.per_page
                overlap = number * int(apart) if is_full else 0
            rows += page.rows[overlap:]
        ids = [row.fixture.id for row in rows if row.fixture is not None]
        if len(self.pages) > 1 and len(set(ids)) < len(ids):
            raise PayloadError("a match is on two pages, the list is read anew")
        first, last = self.window or (0, 0)
        lost = {name for name, start in self._known.items() if first <= start < last} - set(ids)
        if len(self.pages) > 1 and lost and not self._is_doubted:
            self._is_doubted = True
            raise PayloadError(f"{len(lost)} matches of the last reading are on no page, it is read anew")
        self._is_doubted = False
        return Read(tuple(rows))


def _id(row: Row) -> object:
    return row.raw if row.fixture is None else row.fixture.id
