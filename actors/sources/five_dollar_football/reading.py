"""Reads a list page by page, and detects changes of the list between two pages. Pure.

Page number and size are chosen so that each page overlaps the page before it. If the overlap differs, or a
match is on two pages elsewhere, the list has changed meanwhile, and is read anew. A list of several pages
that lacks a match of the last reading is read anew too, but only once.
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

MAX_PAGES = 100


class Read(Struct, frozen=True):
    """All rows of a list, each match once."""

    rows: tuple[Row, ...]


class Reading(Listing[ListedMatch]):
    """A list with the pages of its present reading; `window` is their window, None for matches in play."""

    def __init__(self, per_page: int) -> None:
        self.per_page = per_page
        self.count = 1  # pages of the last reading
        self.window: Window | None = None
        self._is_doubted = False
        self._known: Mapping[float, int] = {}  # kick-offs by id
        self._rows: list[Row] = []
        super().__init__()

    def begin(self) -> None:
        """Begin a reading with the first page."""
        super().begin()
        self._rows = []

    def next_page(self) -> tuple[int, int]:
        """Return number and size of the next page."""
        if not self.pages:
            return 1, self.per_page
        if not self._is_full:
            last: FixturesPage = self.pages[-1]
            return int(last.pagination.page) + 1, int(last.pagination.per_page)
        return _next(len(self._rows), int(self.pages[0].pagination.per_page))

    def take(self, page: FixturesPage) -> Read | None:
        """Take a page; after the last page return all rows. Raises: PayloadError if the list changed."""
        number, asked = self.next_page()
        found, per_page = page.pagination.page, page.pagination.per_page
        least = asked if self.pages else 1
        if found != number or not least <= per_page <= asked:
            raise PayloadError(
                f"page {found:g} of {per_page:g} a page does not belong to the pages before it:"
                f" must be {number} of {asked}{'' if self.pages else ' at most'}"
            )
        common = max(len(self._rows) - (number - 1) * asked, 0) if self.pages and self._is_full else 0
        if common and [*map(_id, self._rows[-common:])] != [*map(_id, page.rows[:common])]:
            raise PayloadError("the list has changed between two pages, it is read anew")
        if page.pagination.has_more and (len(self.pages) + 1 == MAX_PAGES or len(page.rows) <= common):
            raise PayloadError(f"the list does not end with page {number}, at most {MAX_PAGES} are read")
        self._rows += page.rows[common:]
        self.pages.append(page)
        return None if page.pagination.has_more else self._whole()

    def finish(self, matches: Mapping[SourceMatchId, ListedMatch | Removal], read: Read) -> None:
        """End the reading with these matches."""
        self.count = len(self.pages)
        fixtures = [row.fixture for row in read.rows if row.fixture is not None]
        self._known = {fixture.id: int(fixture.kickoff_ts) for fixture in fixtures}
        self.end(matches, sum(row.fixture is None for row in read.rows))

    @property
    def _is_full(self) -> bool:
        """Whether all pages were full; otherwise places in the list are unknown."""
        return all(len(page.rows) >= page.pagination.per_page for page in self.pages)

    def _whole(self) -> Read:
        """Return the rows of all pages. Raises: PayloadError if the list has changed meanwhile."""
        rows = self._rows
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


def _next(end: int, most: int) -> tuple[int, int]:
    """Return number and size of the page that begins before place `end` and ends as late as possible.

    If no page of at most `most` matches does so, return the page that begins at `end`.
    """
    last, per_page = max(
        ((end - 1) // size * size + size, size) for size in range((most + 1) // 2, most + 1)
    )
    return (last // per_page, per_page) if last > end else (end // most + 1, most)


def _id(row: Row) -> object:
    return row.raw if row.fixture is None else row.fixture.id
