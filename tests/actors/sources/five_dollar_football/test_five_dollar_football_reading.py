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


@pytest.mark.parametrize("count", [1, 4, 5, 49, 50, 51, 600, 700, 2500])
@pytest.mark.parametrize("most", [50, 5])
def test_a_list_of_any_length_is_read(count: int, most: int) -> None:
    """A Saturday has a thousand matches; almost each page has some in common with the one before."""
    reading, names = Reading(50), range(1, min(count, 50 * most) + 1)
    reading.window = 0, 10_000
    read, overlaps = None, 0
    while read is None:
        number, asked = reading.next_page()
        per_page = min(asked, most)
        first = (number - 1) * per_page
        overlaps += 0 < first < len(reading._rows)
        ids = [*names[first : first + per_page]]
        read = reading.take(_page(number, ids, per_page=per_page, has_more=first + per_page < len(names)))

    assert [*names] == _ids(read)
    assert overlaps >= 0.9 * len(reading.pages) - 2


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (_page(2, [5, 6], per_page=FULL - 1), "has changed between two pages"),
        (_page(3, [4, 5], per_page=FULL - 1), "must be 2"),
        (_page(2, [4, 5], per_page=FULL), "must be 2 of 3"),
        (_page(2, [4, 1], per_page=FULL - 1), "on two pages"),
        (_page(2, [4], per_page=FULL - 1, has_more=True), "does not end"),
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
