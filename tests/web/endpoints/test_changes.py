"""/api/v2/changes on a real socket: exactly the changes since a version."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from actors.board.history import MAX_ANSWER, HistoryLimits
from actors.core.messages import BookmakerId
from tests.support.builders.messages import match
from tests.support.peers.stream_client import Copy, shown
from tests.support.systems.site import EPOCH, NAMES, Site, open_site

pytestmark = pytest.mark.anyio

CHANGES = "/api/v2/changes"
ORDER = list(NAMES)
VIEW = pytest.mark.parametrize("view", [None, *NAMES])
NO_INTEGERS = (
    "",
    "x",
    "5003.0",
    "5e3",
    "+5003",
    "%205003",
    "5003%20",
    "0x1",
    "%D9%A5",  # the digit five in Arabic script
    "null",
    '"5003"',
    "5_003",
)
NO_TOKENS = (
    *("5003-", "5003--1", f"5003-{EPOCH}-gzip", f'"5003-{EPOCH}"', "5003-0E90C001", f"-{EPOCH}"),
    *("5003-" + "0" * 33, f"5003_{EPOCH}", "5003-%D9%A5"),
)
OLD = ("0", "-1", "4999", "5004", "9" * 19, "9" * 1900, "-" + "9" * 1900)
GONE = (*OLD, *(f"{version}-{EPOCH}" for version in OLD))
OTHER_EPOCHS = (
    "5003-0e90c002",
    "5002-0",
    "5003-gzip",
    "4999-x",
    "9" * 1900 + "-x",
    "-1-x",
    "5003-" + "0" * 32,
)


def _query(since: int | str, view: str | None = None) -> str:
    return f"{CHANGES}?since={since}" + (f"&bookmaker={view}" if view else "")


async def _refused(site: Site, path: str) -> tuple[int, str, dict[str, Any]]:
    response = await site.get(path)
    problem = response.json()
    assert "application/problem+json" == response.headers["Content-Type"]
    return response.status_code, problem["code"], problem


async def test_the_answer_is_what_changed(site: Site) -> None:
    """The answer has version, since, v2 entries in list order, and removals with reason and version."""
    site.clock.pass_(1)
    site.publish("alder", match("b-2", home="São Paulo", away="Grêmio", prices=(1.6, 4.25, 6)), match("n"))

    response = await site.get(_query(5003))

    answered = response.json()
    expected = {
        "version": 5004,
        "since": 5003,
        "matches": (await site.json("/api/v2/odds?bookmaker=alder"))["matches"],
        "removed": [{"id": "alder_B-1", "bookmaker": "Alder", "reason": "withdrawn", "version": 5004}],
        "cursor": f"5004-{EPOCH}",
    }
    assert (expected, list(expected)) == (answered, list(answered))
    assert ["id", "bookmaker", "reason", "version"] == list(answered["removed"][0])
    assert ("application/json", "no-store") == (
        response.headers["Content-Type"],
        response.headers["Cache-Control"],
    )


@pytest.mark.parametrize("accepted", ["gzip", "gzip;q=0.5, identity;q=0", "identity", "br", ""])
async def test_long_answers_are_compressed(site: Site, accepted: str) -> None:
    """Answers from two kilobytes on are compressed if the client accepts gzip; their content is equal."""
    site.publish("alder", *(match(f"{number:04}") for number in range(300)))
    wanted = f"Accept-Encoding: {accepted}"

    short = await site.raw("GET", _query(5003, "cedar"), wanted)
    long = await site.raw("GET", _query(5003), wanted)
    plain = await site.raw("GET", _query(5003))

    is_packed = accepted.startswith("gzip")
    assert plain.body == (gzip.decompress(long.body) if is_packed else long.body)
    assert ("gzip" if is_packed else None) == long.headers.get("content-encoding")
    assert "content-encoding" not in short.headers
    assert {"Accept-Encoding"} == {answer.headers["vary"] for answer in (short, long, plain)}
    assert len(long.body) == int(long.headers["content-length"])
    assert not is_packed or len(long.body) * 5 < len(plain.body)


@VIEW
async def test_the_answer_leads_from_the_old_list_to_the_new_one(
    empty_site: Site, view: str | None
) -> None:
    """The changes turn the list of any earlier version, of this view or another, into the present list."""
    site, copies = empty_site, []
    for number in range(9):
        copies.append(Copy.of(ORDER, site.published.current(), view))
        copies[-1].version = site.published.current().version
        site.clock.pass_(4)
        some = (match(f"m{count}", home="Home" * ((count + number) % 3)) for count in range(number))
        site.publish(ORDER[number % 3], *some)

    for copy in copies:
        copy.change(await site.json(_query(f"{copy.version}-{EPOCH}", view)))

    newest = Copy.of(ORDER, site.published.current(), view)
    assert {(newest.version, newest.matches)} == {
        (followed.version, followed.matches) for followed in copies[:-1]
    }


@pytest.mark.parametrize("epoch", ["", f"-{EPOCH}"])
@pytest.mark.parametrize("since", [5002, 5003, 5004])
async def test_the_answer_is_empty_since_the_views_own_version(site: Site, since: int, epoch: str) -> None:
    """From the view's version up to the newest commit, `version` equals `since`."""
    site.publish("alder", match("later"))

    nothing = {"version": since, "since": since, "matches": [], "removed": [], "cursor": f"{since}-{EPOCH}"}
    assert nothing == await site.json(_query(f"{since}{epoch}", "birch"))


async def test_a_stale_bookmaker_has_changes(site: Site) -> None:
    """Stale entries are removals, where the list would be 503."""
    site.clock.pass_(31)

    answered = await site.json(_query(5003))

    assert 503 == (await site.get("/api/v2/odds")).status_code
    assert (5004, []) == (answered["version"], answered["matches"])
    assert [("cedar_10", "Cédar 足球", "stale", 5004)] == [
        tuple(removal.values()) for removal in answered["removed"][:1]
    ]
    assert 4 == len(answered["removed"])


async def test_since_must_be_an_integer_with_or_without_an_epoch(site: Site) -> None:
    """Any other `since` is 400; the error has the parameter and its allowed form."""
    for since in [*NO_INTEGERS, *NO_TOKENS]:
        status, code, problem = await _refused(site, _query(since))

        assert (400, "invalid_since") == (status, code), since
        assert "'since'" in problem["detail"], since


async def test_since_must_be_given_once(site: Site) -> None:
    """`since` has no default and may not be repeated."""
    for query in ["", "?bookmaker=cedar", "?since=5001&since=5002", "?Since=5003"]:
        assert (400, "invalid_since") == (await _refused(site, CHANGES + query))[:2], query


async def test_an_unknown_version_is_410(site: Site) -> None:
    """The answer comes at once, also for another epoch, and names the known versions; none is guessed."""
    for since in (*GONE, *OTHER_EPOCHS):
        for wait in ["", "&wait=30"]:
            with anyio.fail_after(5):
                status, code, problem = await _refused(site, _query(since) + wait)

            assert (410, "version_not_available") == (status, code), (since, wait)
            assert (5000, 5003, EPOCH) == (
                problem["oldest_version"],
                problem["current_version"],
                problem["epoch"],
            ), (since, wait)
            assert ("Gone", CHANGES) == (problem["title"], problem["instance"]), since


async def test_a_dropped_version_is_410() -> None:
    """Answers go back exactly to the oldest kept version; a view with few changes goes further back."""
    async with open_site(limits=HistoryLimits(max_changes=3)) as site:
        site.publish("cedar", match("1"))
        for number in range(4):
            site.publish("alder", match(f"a{number}"))

        answers = [
            await site.get(_query(since, view)) for view in (None, "cedar") for since in (5000, 5001)
        ]
        oldest = answers[0].json()["oldest_version"]
        exact, beyond = await site.get(_query(oldest)), await site.get(_query(oldest - 1))

    assert [410, 410, 410, 200] == [answer.status_code for answer in answers]
    assert (200, 410) == (exact.status_code, beyond.status_code)


async def test_too_many_changes_for_one_answer_are_410() -> None:
    """The whole list is then smaller than the changes; a view with fewer changes is not affected."""
    async with open_site() as site:
        since = site.publish("birch", match("x"))
        site.publish("alder", *(match(f"{number:05}") for number in range(MAX_ANSWER)))
        fits = await site.json(_query(since))
        site.publish("cedar", match("y"))

        status, code, problem = await _refused(site, _query(since))
        of_one = await site.json(_query(since, "cedar"))

    assert (410, "version_not_available", MAX_ANSWER) == (status, code, len(fits["matches"]))
    assert f"more than {MAX_ANSWER} matches changed since version {since}" in problem["detail"]
    assert problem["oldest_version"] < since < problem["current_version"]
    assert ["cedar_y"] == [entry["id"] for entry in of_one["matches"]]


async def test_the_filter_works_as_for_the_lists(site: Site) -> None:
    """One supported bookmaker is accepted; any other value is 400 with the same text as for the lists."""
    for bookmaker in ["", "nobody", "CEDAR", "cedar&bookmaker=cedar"]:
        path = f"{CHANGES}?since=5003&bookmaker={bookmaker}"
        status, code, problem = await _refused(site, path)
        of_list = (await site.get(f"/api/v2/odds?bookmaker={bookmaker}")).json()

        assert (400, "invalid_bookmaker") == (status, code), bookmaker
        assert of_list["detail"] == problem["detail"], bookmaker


async def test_wait_must_be_seconds_up_to_30(site: Site) -> None:
    """Any other `wait` is 400, without a wait."""
    for wait in ["", "x", "-1", "31", "30.1", "1e1", "inf", "nan", "9" * 400, "1&wait=1"]:
        assert (400, "invalid_wait") == (await _refused(site, f"{_query(5003)}&wait={wait}"))[:2], wait


async def test_wait_does_not_delay_available_changes(site: Site) -> None:
    """Available changes and errors are answered at once."""
    for wait in ["0", "0.05", "30"]:
        with anyio.fail_after(5):
            answered = await site.json(f"{_query(5002)}&wait={wait}")
            refused = await site.get(f"{_query(5004)}&wait={wait}")

        assert (5003, 410) == (answered["version"], refused.status_code), wait


async def test_wait_answers_when_the_view_changes(site: Site) -> None:
    """A change of another view does not end the wait."""
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await site.json(f"{_query(5003, 'birch')}&wait=30"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await site.until(lambda: len(site.audience) == 1)
        site.publish("cedar", match("c"))
        site.publish("birch", match("b"))

    assert [("5005", ["birch_b"])] == [
        (str(answer["version"]), [match["id"] for match in answer["matches"]]) for answer in answers
    ]


async def test_wait_ends_with_an_empty_answer(site: Site) -> None:
    """When the time is over, the answer has no changes."""
    assert (5003, []) == shown(await site.json(f"{_query(5003)}&wait=0.05"))


async def test_waiting_clients_are_answered_when_the_service_ends(site: Site) -> None:
    """The waiting clients get an answer without changes."""
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await site.json(f"{_query(5003)}&wait=30"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await site.until(lambda: len(site.audience) == 1)
            await site.audience.leave()

    assert [(5003, [])] == [shown(answer) for answer in answers]


async def test_waiting_clients_count_towards_the_cap(site: Site) -> None:
    """Above the cap a wait is 503 with Retry-After; a request without a wait is answered."""
    async with anyio.create_task_group() as tasks:
        for _ in range(site.max_streams):
            tasks.start_soon(site.get, f"{_query(5003)}&wait=30")
        await site.until(lambda: len(site.audience) == site.max_streams)
        full = await site.get(f"{_query(5003)}&wait=30")
        plain = await site.get(_query(5003))
        site.publish("birch", match("b"))

    assert (503, "5", "too_many_streams") == (
        full.status_code,
        full.headers["Retry-After"],
        full.json()["code"],
    )
    assert 200 == plain.status_code


class _Names(dict[BookmakerId, str]):
    """Names that run a function at their next reading, which happens while an answer is made."""

    happen: Callable[[], None] | None = None

    def __getitem__(self, bookmaker: BookmakerId) -> str:
        happen, self.happen = self.happen, None
        if happen is not None:
            happen()
        return super().__getitem__(bookmaker)


async def test_an_entry_that_goes_stale_while_answering_is_left_out() -> None:
    """No answer has an entry past its deadline, however long the answer took."""
    names = _Names(NAMES)
    async with open_site(names=names) as site:
        since = site.publish("birch", match("x"), stale_after_s=1e6)
        site.publish("alder", *(match(f"{number:04}") for number in range(2000)))
        names.happen = lambda: site.clock.pass_(31)

        answered = await site.json(_query(since, None))

    assert (0, 2000) == (len(answered["matches"]), len(answered["removed"]))
