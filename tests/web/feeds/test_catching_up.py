"""A machine of a cluster is a moment behind another machine, from which its client has a newer answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import httpx2
import pytest

from actors.board.validity import BoardRules
from actors.core.errors import CommitLateError
from actors.core.messages import BookmakerId, SourceMatchId
from actors.markets.market import Kind
from actors.matches.model import BookmakerInfo, FixtureSettings, first_snapshot, roster_of
from actors.matches.update import FixtureUpdater
from actors.matching.event import EventKey, derived_id
from actors.runtime.membership import ClusterStatus
from tests.support.builders.markets import BTTS, of_markets
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.committing import Committing
from tests.support.systems.site import EPOCH, SOURCE, Site, open_site
from tests.support.time.virtual import ManualClock
from web.encoding.list_segments import Api
from web.feeds.catching_up import BEHIND_S, CatchUp
from web.feeds.lists import Answers, View
from web.protocol.responses import Prepared

pytestmark = pytest.mark.anyio

ALDER = BookmakerId("alder")
TERMS = FixtureSettings(roster_of({ALDER: BookmakerInfo(SOURCE)}))


@pytest.fixture
async def replica() -> AsyncIterator[Site]:
    """Return a machine of a cluster that shows one match."""
    async with open_site(cluster=ClusterStatus(("replica",), None)) as site:
        site.publish("alder", match("m1"))
        yield site


def _next(site: Site) -> str:
    """Return the cursor of the version that follows the newest version."""
    return f"{site.published.current().version + 1}-{EPOCH}"


async def test_changes_wait_for_the_version_that_a_client_has(replica: Site) -> None:
    """The answer has the changes since the client's version; the client needs no new list."""
    since, answers = _next(replica), list[httpx2.Response]()

    async def ask() -> None:
        answers.append(await replica.get(f"/api/v2/changes?since={since}"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await replica.until(lambda: len(replica.audience) == 1)
        replica.publish("alder", match("m1"), match("m2"))
    (answer,) = answers

    assert (200, since, []) == (answer.status_code, answer.json()["cursor"], answer.json()["matches"])


async def test_a_stream_goes_on_with_the_version_that_a_client_has(replica: Site) -> None:
    """The client gets no reset, and no list that it already has."""
    async with streaming(replica.base, "", f"Last-Event-ID: {_next(replica)}") as connection:
        await replica.until(lambda: len(replica.audience) == 1)
        replica.publish("alder", match("m1"), match("m2"))
        replica.publish("alder", match("m1"), match("m2"), match("m3"))
        event = await connection.event()

    assert "changes" == event.name
    assert ["alder_m3"] == [entry["id"] for entry in event.data["matches"]]


async def test_a_machine_without_a_board_has_no_changes() -> None:
    """Such a machine does not know any versions: the client keeps its list, and asks again."""
    async with open_site(cluster=ClusterStatus(("replica",), None), first_version=0) as site:
        answer = await site.get(f"/api/v2/changes?since=5000-{EPOCH}")

    assert (503, "commit_late") == (answer.status_code, answer.json()["code"])


async def test_a_stream_begins_when_the_machine_has_a_board() -> None:
    """Before the machine has a board, it sends no event with an empty list."""
    async with (
        open_site(cluster=ClusterStatus(("replica",), None), first_version=0) as site,
        streaming(site.base) as connection,
    ):
        await site.until(lambda: len(site.audience) == 1)
        site.publish("alder", match("m1"))
        event = await connection.event()

    assert ("snapshot", 1, 1) == (event.name, event.data["version"], event.data["matches_count"])


@pytest.mark.parametrize(
    "path", ["/api/v2/markets", "/api/v2/fixtures?market=1x2,btts", "/api/v2/fixtures/{id}"]
)
async def test_other_markets_wait_for_the_version_of_the_tag(path: str) -> None:
    """An answer made of several boards is no older than the client's answer from another machine."""
    base = match("m1")
    markets = of_markets(base, BTTS)
    async with open_site(cluster=ClusterStatus(("replica",), None), kinds=[Kind.BTTS]) as site:
        site.publish("alder", base, *markets)
        (fixture,) = (await site.get("/api/v2/fixtures")).json()["fixtures"]
        path = path.replace("{id}", fixture["id"])
        first = (await site.get(path)).headers["etag"]
        version, rest = first.strip('"').split("-", 1)
        answers = list[httpx2.Response]()

        async def ask() -> None:
            tag = f'"{int(version) + 1}-{rest}"'
            answers.append(await site.get(path, if_none_match=tag))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.05)
            before = [*answers]
            newer = match("m1", prices=(2.1, 3.4, 3.6))  # the new version is on all boards of the machine
            site.publish("alder", newer, *of_markets(newer, BTTS, odds=(1.8, 2.0)))

    assert ([], [304]) == (before, [answer.status_code for answer in answers])


class _Lists:
    """Answers of a machine that may be behind other machines for at most `longest_s`."""

    def __init__(self, longest_s: float = BEHIND_S) -> None:
        first, advance = first_snapshot(100, TERMS, EPOCH), FixtureUpdater(TERMS)
        self.board = Committing(first, BoardRules(), ManualClock(), advance=advance)
        self.board.put("alder", match("m1"))
        self.answers = Answers(self.board, {ALDER: "Alder"}, None, CatchUp(self.board, longest_s))
        self.found: list[Prepared] = []

    async def ask(self, tag: str) -> None:
        self.found.append(await self.answers.answer(View(Api.V2), tag, None))

    async def ask_fixture(self, match_id: str, tag: str) -> None:
        """Ask for the fixture whose first event is this match."""
        fixture_id = derived_id(EventKey(SOURCE, SourceMatchId(match_id)))
        found = await self.answers.fixture(fixture_id, tag, None)
        self.found += () if found is None else (found,)


@pytest.mark.parametrize("tag", ['"102-{}"', 'W/"102-{}"', '"7-{}", "102-{}"'])
async def test_a_list_waits_for_the_version_of_the_tag(tag: str) -> None:
    """The client already has that version from another machine, and must not get an older list."""
    lists = _Lists()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.ask, tag.replace("{}", EPOCH))
        await anyio.wait_all_tasks_blocked()
        before = [*lists.found]
        lists.board.put("alder", match("m1"), match("m2"))

    assert ([], [304]) == (before, [found.status for found in lists.found])


@pytest.mark.parametrize("tag", ['"100-0e90c002"', '"102"', "102-{}"])
async def test_an_older_tag_of_another_epoch_is_answered_at_once(tag: str) -> None:
    """A tag that another program made is also answered at once."""
    lists = _Lists()
    await lists.ask(tag.replace("{}", EPOCH))

    assert [200] == [found.status for found in lists.found]


async def test_a_newer_tag_of_another_epoch_waits_for_the_board_that_began_anew() -> None:
    """Another machine began the new board first; the client must not see the version go back."""
    lists = _Lists()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.ask, '"2001-anew"')
        await anyio.wait_all_tasks_blocked()
        before = [*lists.found]
        lists.board.restart(first_snapshot(2000, TERMS, "anew"))
        lists.board.put("alder", match("m2"))

    assert ([], [304]) == (before, [found.status for found in lists.found])


@pytest.mark.parametrize("is_list", [True, False])
async def test_a_tag_that_is_never_reached_is_awaited_once(*, is_list: bool) -> None:
    """A tag of another service is awaited for the longest time, and then the present list is the answer."""
    lists = _Lists(longest_s=0.01)
    with anyio.fail_after(60):
        await (lists.ask('"2001-anew"') if is_list else lists.ask_fixture("m1", '"2001-anew"'))

    assert [200] == [found.status for found in lists.found]


async def test_a_list_is_that_of_after_the_wait() -> None:
    """The board began anew during the wait: the list from before is older than the client's list."""
    lists = _Lists()
    await lists.ask('"7"')  # makes the list of the first board, which is kept
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.ask, f'"102-{EPOCH}"')
        await anyio.wait_all_tasks_blocked()
        lists.board.restart(first_snapshot(2000, TERMS, "anew"))
        lists.board.put("alder", match("m2"))
    _, found = lists.found

    assert (200, b'"2001-anew"') == (found.status, dict(found.headers)[b"etag"])


async def test_no_list_is_of_a_board_that_is_over() -> None:
    """The board began anew while the list was made, so the answer is a list of the new board."""
    lists = _Lists()
    lists.board.put("alder", *[match(f"m{number}") for number in range(20_000)])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.ask, '"7"')
        await anyio.lowlevel.checkpoint()
        lists.board.restart(first_snapshot(2000, TERMS, "anew"))
        lists.board.put("alder", match("m2"))
    (found,) = lists.found

    assert b'"2001-anew"' == dict(found.headers)[b"etag"]


async def test_a_fixture_waits_for_the_version_of_the_tag() -> None:
    """The fixture is not on this machine yet, but the client already has it from another machine."""
    lists = _Lists()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lists.ask_fixture, "m2", f'"102-{EPOCH}"')
        await anyio.wait_all_tasks_blocked()
        lists.board.put("alder", match("m1"), match("m2"))

    assert [304] == [found.status for found in lists.found]


async def test_a_machine_that_stays_behind_shows_nothing_older() -> None:
    """The client keeps its list, and asks again: another machine may answer then."""
    lists = _Lists(longest_s=0.02)
    with pytest.raises(CommitLateError):
        await lists.ask(f'"999-{EPOCH}"')
