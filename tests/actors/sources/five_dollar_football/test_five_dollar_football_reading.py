"""Pages of a list of 5DollarFootballAPI that fit, or do not."""

from __future__ import annotations

import json

import pytest

from actors.core.errors import PayloadError
from actors.sources.five_dollar_football.reading import Read, Reading
from actors.sources.five_dollar_football.wire import Fixture, FixturesPage, Named, Pagination, Row, Teams

TEAMS = Teams(Named("Home"), Named("Away"))
FULL = 4


def _page(number: int, names: list[int], *, per_page: int = FULL, has_more: bool = False) -> FixturesPage:
    fixtures = [Fixture(name, Named("League"), TEAMS, 100 + name, "scheduled") for name in names]
    rows = tuple(Row(json.dumps(fixture.id).encode(), fixture) for fixture in fixtures)
    return FixturesPage(rows, Pagination(number, per_page, has_more))


def _reading() -> Reading:
    reading = Reading(FULL)
    reading.window = 0, 1000
    return reading


def _ids(read: Read | None) -> list[float]:
    assert read is not None
    return [row.fixture.id for row in read.rows if row.fixture is not None]


def test_pages_that_overlap_are_read_as_one_list() -> None:
    """The next page is asked for with one match less: it begins with the last one of the page before."""
    reading = _reading()

    assert reading.take(_page(1, [1, 2, 3, 4], has_more=True)) is None
    assert (2, FULL - 1) == reading.next_page()
    assert [1, 2, 3, 4, 5] == _ids(reading.take(_page(2, [4, 5], per_page=FULL - 1)))


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (_page(2, [5, 6], per_page=FULL - 1), "has changed between two pages"),
        (_page(3, [4, 5], per_page=FULL - 1), "must be 2"),
        (_page(2, [4, 5], per_page=FULL), "at most 3"),
        (_page(2, [4, 1], per_page=FULL - 1), "on two pages"),
        (_page(2, [], per_page=FULL - 1, has_more=True), "does not end"),
    ],
)
def test_pages_that_do_not_fit_are_refused(second: FixturesPage, why: str) -> None:
    """A match has left the first page, or come before it, meanwhile; or the page is another one."""
    reading = _reading()
    reading.take(_page(1, [1, 2, 3, 4], has_more=True))

    with pytest.raises(PayloadError, match=why):
        reading.take(second)


def test_a_list_of_pages_that_lacks_a_match_is_read_once_more() -> None:
    """Then it is believed: the match is not listed any more."""
    reading = _reading()
    reading.take(_page(1, [1, 2, 3, 4], has_more=True))
    read = reading.take(_page(2, [4, 5], per_page=FULL - 1))
    assert read is not None
    reading.finish({}, read)

    pages = _page(1, [1, 2, 4, 5], has_more=True), _page(2, [5, 6], per_page=FULL - 1)

    reading.take(pages[0])
    with pytest.raises(PayloadError, match="1 matches of the last reading are on no page"):
        reading.take(pages[1])
    reading.begin()
    reading.take(pages[0])

    assert [1, 2, 4, 5, 6] == _ids(reading.take(pages[1]))
