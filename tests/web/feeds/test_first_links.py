"""After a start events must first be linked: lists of fixtures wait for that, lists of odds do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest
from msgspec.structs import replace

from actors.board.validity import BoardRules
from actors.core.messages import Scope
from actors.matches.linking import Links
from actors.matches.model import BookmakerInfo, FixtureSettings, first_snapshot, fixtures_of, roster_of
from actors.matching.leagues import load
from actors.monitoring.status import ScopeStatus
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.committing import Committing
from tests.support.systems.site import NAMES, SOURCE, Site, open_site, site_status
from tests.support.time.virtual import ManualClock
from web.feeds.waiting.first_links import AT_HAND_S, LONGEST_S, FirstLinks, NotLinkedError

pytestmark = pytest.mark.anyio

FIXTURES, SUREBETS = "/api/v2/fixtures", "/api/v2/surebets"
CHANGES = "/api/v2/changes?since=5000&view="
OF_FIXTURES = (
    *(FIXTURES, SUREBETS, f"{FIXTURES}/fx0000000000000", f"{FIXTURES}?bookmaker=alder"),
    *(f"{CHANGES}fixtures", f"{CHANGES}surebets"),
)
ALL, LATER = Scope("all"), Scope("later")


@pytest.fixture(autouse=True, scope="module")
def _tables() -> None:
    """Load the tables for the first fixture of a process, which takes seconds on a busy machine."""
    load()


@pytest.fixture
async def starting() -> AsyncIterator[Site]:
    """Return a service that has just begun, whose source has not delivered yet."""
    async with open_site(is_linked_first=True) as site:
        yield site


def _link(site: Site) -> None:
    """Link all events that wait for the linker."""
    board = site.published.board()
    board.link(Links((), {}))
    site.published.commit(board)


def _code(answer: httpx2.Response) -> tuple[int, str | None, str | None]:
    body = answer.json()
    return answer.status_code, body.get("code"), answer.headers.get("retry-after")


@pytest.mark.parametrize("path", OF_FIXTURES)
async def test_no_fixtures_are_answered_before_the_first_links(starting: Site, path: str) -> None:
    """The source of the fixtures has delivered, but nothing is linked yet."""
    starting.publish("alder", match("m1"))

    assert (503, "linking", "1") == _code(await starting.get(path))


async def test_the_first_links_end_the_wait(starting: Site) -> None:
    """After the first links, events that wait for the linker are only counted."""
    starting.publish("alder", match("m1"))
    _link(starting)
    first = await starting.get(FIXTURES)
    starting.publish("alder", match("m1"), match("m2"))
    later = await starting.json(FIXTURES)

    assert (200, 1) == (first.status_code, later["linking"]["pending"])


async def test_lists_of_odds_and_readiness_do_not_wait(starting: Site) -> None:
    """Lists of odds, and readiness, are there as soon as a source has delivered."""
    starting.publish("alder", match("m1"))

    answers = [await starting.get(path) for path in ("/api/odds", "/api/v2/odds", "/health/ready")]
    assert [200] * 3 == [answer.status_code for answer in answers]


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_minute_ends_the_wait(starting: Site, *, is_late: bool) -> None:
    """After a minute fixtures are shown as they are, with the number of events that are not linked."""
    starting.clock.pass_(LONGEST_S if is_late else LONGEST_S - 0.1)
    starting.publish("alder", match("m1"))
    answer = await starting.get(FIXTURES)

    assert (200 if is_late else 503) == answer.status_code
    assert not is_late or 1 == answer.json()["linking"]["pending"]


@pytest.mark.parametrize(
    ("scope", "is_linked"),
    [
        (ScopeStatus(), False),
        (ScopeStatus(next_attempt_at=AT_HAND_S / 2), False),
        (ScopeStatus(next_attempt_at=AT_HAND_S * 2), True),
        (ScopeStatus(failures=1), True),
        (ScopeStatus(last_success_at=1.0), True),
    ],
    ids=["not asked", "asked soon", "waits by its plan", "failed once", "delivered"],
)
async def test_each_list_of_a_source_is_awaited(
    starting: Site, scope: ScopeStatus, *, is_linked: bool
) -> None:
    """The first list has come; the second must come too, or fail once, or wait by its plan."""
    if scope.next_attempt_at is not None:
        scope.next_attempt_at += starting.clock.now().wall
    starting.status.sources[SOURCE].scopes |= {ALL: ScopeStatus(last_success_at=1.0), LATER: scope}
    starting.publish("alder", match("m1"))
    _link(starting)

    assert (200 if is_linked else 503) == (await starting.get(FIXTURES)).status_code


@pytest.mark.parametrize("what", ["failed", "crashed", "waits", "nothing"])
async def test_a_source_without_a_list_is_awaited_until_it_fails(starting: Site, what: str) -> None:
    """After a failure no bookmaker is serving; a source that waits by its plan is not awaited either."""
    source = starting.status.sources[SOURCE]
    source.failures = what == "failed"
    source.actor.crashes = what == "crashed"
    source.next_attempt_at = starting.clock.now().wall + 900.0 if what == "waits" else None
    code = _code(await starting.get(FIXTURES))[1]

    assert ("linking" if what == "nothing" else "no_bookmaker_serving") == code


def test_what_is_not_on_the_board_yet_is_awaited() -> None:
    """A list was delivered, but no commit has it yet."""
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SOURCE) for name in NAMES}))
    board = Committing(first_snapshot(1000, terms), BoardRules(), ManualClock())
    status = site_status(NAMES, 0.0)
    status.sources[SOURCE].failures = 1
    FirstLinks(board, ManualClock(), status, lambda: True).check()

    with pytest.raises(NotLinkedError):
        FirstLinks(board, ManualClock(), status, lambda: False).check()


async def test_lists_of_before_a_restart_are_no_delivery(tmp_path: Path) -> None:
    """The archive restores these lists at once, but the source must still deliver its present list."""
    async with open_site(archived=tmp_path) as site:
        site.publish("alder", match("m1"))
    async with open_site(archived=tmp_path, clock=site.clock, is_linked_first=True) as site:
        _link(site)
        odds, before = await site.get("/api/v2/odds"), await site.get(FIXTURES)
        site.publish("alder", match("m1"))
        after = await site.get(FIXTURES)

    assert [200, 503, 200] == [answer.status_code for answer in (odds, before, after)]


async def test_a_board_that_begins_anew_is_linked_first(starting: Site) -> None:
    """After a new begin of the board its fixtures are not linked, as after a start."""
    starting.publish("alder", match("m1"))
    _link(starting)
    before = await starting.get(FIXTURES)
    newest = starting.published.newest
    fixtures = replace(fixtures_of(newest), pending=1)
    starting.published.restart(replace(newest, version=9000, epoch="anew", fixtures=fixtures))
    after = await starting.get(FIXTURES)

    assert [200, 503] == [answer.status_code for answer in (before, after)]


@pytest.mark.parametrize("view", ["fixtures", "surebets"])
async def test_a_stream_of_fixtures_begins_with_the_first_links(starting: Site, view: str) -> None:
    """The request is answered at once; the stream's list comes when the events are linked, never before."""
    starting.publish("alder", match("m1"))
    async with streaming(starting.base, f"?view={view}") as connection:
        await starting.until(lambda: len(starting.audience) == 1)
        starting.publish("alder", match("m1"), match("m2"))
        _link(starting)
        with anyio.fail_after(5.0):
            event = await connection.event()

    assert (200, "snapshot", {"pending": 0}) == (connection.head.status, event.name, event.data["linking"])
