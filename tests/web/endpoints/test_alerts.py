"""/api/v2/alerts and its stream: the alerts that fired lately, without their receivers."""

from __future__ import annotations

import pytest

from actors.alerts.recent import MAX_RECENT, Recent
from tests.support.builders.alerts import alert
from tests.support.peers.stream_client import Event, streaming
from tests.support.systems.site import open_site

pytestmark = pytest.mark.anyio

PATH = "/api/v2/alerts"


async def test_alerts_are_asked_for_since_an_answer() -> None:
    """The newest alert is last; a cursor gives only later alerts, an ETag gives 304 until there is one."""
    recent = Recent()
    async with open_site(recent=recent) as site:
        none = await site.json(PATH)
        recent.add(alert(1, "secret-receiver"))
        first = await site.get(PATH)
        again = await site.get(PATH, if_none_match=first.headers["ETag"])
        recent.add(alert(2))
        later = await site.json(f"{PATH}?since={first.json()['cursor']}")
        refused = await site.get(f"{PATH}?since=x")

    assert ({"cursor": f"0-{recent.epoch}", "complete": True, "alerts": []}, 304) == (
        none,
        again.status_code,
    )
    assert [alert(1).id] == [found["id"] for found in first.json()["alerts"]]
    assert (True, [alert(2).id]) == (later["complete"], [found["id"] for found in later["alerts"]])
    assert "secret-receiver" not in first.text
    assert (400, "invalid_since") == (refused.status_code, refused.json()["code"])


@pytest.mark.parametrize("since", ["0-0badc0de", "999", "-5", "0"])
async def test_what_is_not_known_any_more_is_said(since: str) -> None:
    """After a restart, or too late, a client gets all known alerts, and `complete` is false."""
    recent = Recent()
    for number in range(MAX_RECENT + 1):
        recent.add(alert(number))
    async with open_site(recent=recent) as site:
        found = await site.json(f"{PATH}?since={since}")

    assert (False, MAX_RECENT) == (found["complete"], len(found["alerts"]))


def _filled(count: int) -> Recent:
    recent = Recent()
    for number in range(1, count + 1):
        recent.add(alert(number))
    return recent


def _ids(event: Event) -> tuple[str, str | None, list[str]]:
    return event.name, event.id, [found["id"] for found in event.data["alerts"]]


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_a_stream_has_the_alerts_and_then_each_later_one(coding: str) -> None:
    """The lists are those of the path; when the service ends, the stream sends `bye`."""
    recent = _filled(1)
    async with open_site(recent=recent) as site:
        listed = await site.json(PATH)
        async with streaming(site.base, "?view=alerts", f"Accept-Encoding: {coding}") as connection:
            first = await connection.event()
            await site.until(lambda: len(site.audience) == 1)
            recent.add(alert(2))
            recent.add(alert(3))
            later = await connection.event()
            await site.audience.leave()
            (bye,) = await connection.rest()

    assert listed == first.data
    assert ("snapshot", f"1-{recent.epoch}", [alert(1).id]) == _ids(first)
    assert ("changes", f"3-{recent.epoch}", [alert(2).id, alert(3).id]) == _ids(later)
    assert (True, "bye", 3) == (later.data["complete"], bye.name, bye.data["version"])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("1", "too_old"),
        ("-3", "too_old"),
        (f"{MAX_RECENT + 3}", "future"),
        ("5-0badc0de", "other_epoch"),
        ("x", "malformed"),
    ],
)
async def test_a_stream_says_what_it_cannot_resume_from(given: str, reason: str) -> None:
    """After the reset all known alerts follow, and `complete` is false."""
    recent = _filled(MAX_RECENT + 2)
    async with (
        open_site(recent=recent) as site,
        streaming(site.base, "?view=alerts", f"Last-Event-ID: {given}") as connection,
    ):
        reset, listed = await connection.event(), await connection.event()

    assert ("reset", {"reason": reason, "version": MAX_RECENT + 2}) == (reset.name, reset.data)
    assert ("snapshot", False, MAX_RECENT) == (
        listed.name,
        listed.data["complete"],
        len(listed.data["alerts"]),
    )


async def test_a_stream_resumes_from_each_alert_that_is_known() -> None:
    """A client can also resume from the last forgotten alert, or with a heartbeat from the newest."""
    recent = _filled(MAX_RECENT + 2)
    async with open_site(recent=recent) as site:
        for number in (2, 3, MAX_RECENT + 1):
            query = f"?view=alerts&since={number}-{recent.epoch}"
            async with streaming(site.base, query) as connection:
                name, _, ids = _ids(await connection.event())
            assert ("changes", alert(number + 1).id, MAX_RECENT + 2 - number) == (name, ids[0], len(ids))
        async with streaming(site.base, f"?view=alerts&since={recent.newest}") as connection:
            event = await connection.event()

    assert ("heartbeat", {"version": recent.newest}) == (event.name, event.data)


async def test_a_client_that_missed_too_many_gets_all_that_is_known() -> None:
    """Such a client is answered like a client that came back too late."""
    recent = _filled(1)
    async with open_site(recent=recent) as site, streaming(site.base, "?view=alerts") as connection:
        await connection.event()
        await site.until(lambda: len(site.audience) == 1)
        for number in range(2, MAX_RECENT + 3):
            recent.add(alert(number))
        reset, listed = await connection.event(), await connection.event()

    assert ("too_old", "snapshot", MAX_RECENT) == (
        reset.data["reason"],
        listed.name,
        len(listed.data["alerts"]),
    )


@pytest.mark.parametrize("choice", ["bookmaker=alder", "league=x", "market=btts", "weak=1", "to=1"])
async def test_no_filter_chooses_alerts(choice: str) -> None:
    """With a filter a client would miss alerts, or believe that it gets fewer alerts than it does."""
    async with open_site() as site:
        refused = await site.get(f"/api/v2/stream?view=alerts&{choice}")

    assert (400, f"invalid_{choice.partition('=')[0]}") == (refused.status_code, refused.json()["code"])
