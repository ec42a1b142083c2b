"""`at` of /api/v2/odds and /api/v2/archive, over a socket: a past list comes back byte for byte."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio
LIST = "/api/v2/odds"


def _time(site: Site, offset: str = "+00:00") -> str:
    text = datetime.fromtimestamp(site.clock.wall, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", offset)


@pytest.mark.parametrize("query", ["", "&bookmaker=birch"])
async def test_a_version_is_what_was_served(tmp_path: Path, query: str) -> None:
    """The bytes are the same for ever; the tag names the format; gzip and 304 work as for other lists."""
    async with open_site(archived=tmp_path) as site:
        site.publish("birch", match("m1", home="Ünión", league=None), match("m2", start_time=None))
        served = await site.get(f"{LIST}?{query}")
        version = served.json()["version"]
        site.clock.pass_(3)
        site.publish("birch", match("m1", prices=(2.5, 3.3, 3.9)))
        past = await site.get(f"{LIST}?at={version}{query}")
        packed = await site.raw("GET", f"{LIST}?at={version}{query}", "Accept-Encoding: gzip")
        again = await site.get(f"{LIST}?at={version}{query}", if_none_match=past.headers["etag"])

    assert (200, served.content) == (past.status_code, past.content)
    assert served.content == gzip.decompress(packed.body)
    assert f'"{version}-{served.headers["etag"].split("-")[1][:-1]}-a1"' == past.headers["etag"]
    assert "public, max-age=31536000, immutable" == past.headers["cache-control"]
    assert (304, b"") == (again.status_code, again.content)


@pytest.mark.parametrize("offset", ["Z", "+00:00", " 00:00", "-00:00"])
async def test_a_time_leads_to_its_version(tmp_path: Path, offset: str) -> None:
    """The answer is a 303, also if a plus sign became a blank."""
    async with open_site(archived=tmp_path) as site:
        version = site.publish("birch", match("m1"))
        site.clock.pass_(5)
        at = _time(site, offset)
        site.clock.pass_(5)
        site.publish("birch", match("m2"))
        answer = await site.get(f"{LIST}?at={quote(at, safe=' ').replace(' ', '+')}")

    assert (303, f"{LIST}?at={version}") == (answer.status_code, answer.headers["location"])
    assert "no-store" == answer.headers["cache-control"]


async def test_a_version_of_another_view_leads_to_that_before(tmp_path: Path) -> None:
    """The address of the redirect keeps the requested bookmaker."""
    async with open_site(archived=tmp_path) as site:
        own = site.publish("birch", match("m1"))
        other = site.publish("alder", match("m1"))
        answer = await site.get(f"{LIST}?bookmaker=birch&at={other}")

    assert (303, f"{LIST}?at={own}&bookmaker=birch") == (answer.status_code, answer.headers["location"])


async def test_what_is_not_yet_is_404(tmp_path: Path) -> None:
    """A version above the newest, and a future time, are 404; no cache keeps this answer."""
    async with open_site(archived=tmp_path) as site:
        version = site.publish("birch", match("m1"))
        answers = [await site.get(f"{LIST}?at={at}") for at in (version + 1, "2099-01-01T00:00:00Z")]

    assert [(404, "version_not_yet", "no-store")] * 2 == [
        (answer.status_code, answer.json()["code"], answer.headers["cache-control"]) for answer in answers
    ]


async def test_versions_that_are_not_kept_are_410(tmp_path: Path) -> None:
    """The versions are before the first day, lost on a full disk, or never used; their times are 410."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        assert site.archive is not None
        first = site.published.newest.version
        clock.pass_(5)
        known = site.publish("birch", match("m1"))
        site.archive.writer.max_waiting = 0
        lost = site.published.put("birch", match("m2"))
        clock.pass_(5)
        lost_at = _time(site, "Z")
        clock.pass_(5)
        after = site.publish("birch", match("m3"))
    async with open_site(archived=tmp_path, clock=clock) as site:
        moments = (first - 1, "2020-01-01T00:00:00Z", lost, lost_at, after + 1)
        answers = [await site.get(f"{LIST}?at={moment}") for moment in moments]

    assert [(410, "no-store")] * 5 == [
        (answer.status_code, answer.headers["cache-control"]) for answer in answers
    ]
    assert [
        ("before_first", None, first),
        ("before_first", None, first),
        ("lost", known, after),
        ("lost", known, after),
        ("stopped", after, after),  # no version was lost, as the list was restored
    ] == [
        (found["reason"], found.get("before_version"), found["after_version"])
        for found in (answer.json() for answer in answers)
    ]


async def test_unix_seconds_are_told_from_a_version(tmp_path: Path) -> None:
    """`from` takes Unix seconds, but `at` does not: the error has the time in a form that `at` takes."""
    async with open_site(archived=tmp_path) as site:
        site.publish("birch", match("m1"))
        told = await site.get(f"{LIST}?at={int(site.clock.wall)}")
        (meant,) = re.findall(r"at=([0-9TZ:-]+)", told.json()["detail"])
        other = await site.get(f"{LIST}?at=1234")
        site.clock.pass_(10)
        led = await site.get(f"{LIST}?at={meant}")

    assert (410, "before_first", 303) == (told.status_code, told.json()["reason"], led.status_code)
    assert "at=" not in other.json()["detail"]


async def test_what_is_not_kept_is_410_with_its_neighbours(tmp_path: Path) -> None:
    """While the service was down nothing was shown: the error names the versions before and after."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        before = site.publish("birch", match("m1"))
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", match("m1"))
        clock.pass_(-50)
        during = _time(site, "Z")
        clock.pass_(60)
        answer = await site.get(f"{LIST}?at={during}")
        found = answer.json()

    assert (410, "no-store", "version_not_archived", "stopped") == (
        answer.status_code,
        answer.headers["cache-control"],
        found["code"],
        found["reason"],
    )
    assert found["before_version"] == before < found["after_version"]
    assert found["after_time"] < during < found["until_time"]


@pytest.mark.parametrize("at", ["", "yesterday", "-1", "2026-02-30T00:00:00Z", "2026-11-25", "1&at=2"])
async def test_any_other_moment_is_400(tmp_path: Path, at: str) -> None:
    """The answer says what is allowed."""
    async with open_site(archived=tmp_path) as site:
        answer = await site.get(f"{LIST}?at={at}")

    assert (400, "invalid_at") == (answer.status_code, answer.json()["code"])


async def test_without_an_archive_there_is_no_past(tmp_path: Path) -> None:
    """The present list is never given for a past one; the error of version 1 names version 2's path."""
    async with open_site() as site:
        site.publish("birch", match("m1"))
        plain = await site.get(f"{LIST}?at=1")
    async with open_site(archived=tmp_path) as site:
        legacy = await site.get("/api/odds?at=1")

    assert [(400, "invalid_at")] * 2 == [
        (answer.status_code, answer.json()["code"]) for answer in (plain, legacy)
    ]
    assert LIST in legacy.json()["detail"]


async def test_changes_go_on_after_a_restart(tmp_path: Path) -> None:
    """A client that comes back after a restart gets the difference, from `changes` and from the stream."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", match("m1"), match("m2"))
        cursor = (await site.get(LIST)).headers["odds-cursor"]
        site.publish("birch", match("m1", prices=(2.5, 3.3, 3.9)), match("m2"))
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("alder", match("m3"))
        changes = await site.json(f"/api/v2/changes?since={cursor}")
        async with site.client.stream("GET", f"/api/v2/stream?since={cursor}") as stream:
            lines = stream.aiter_lines()
            event = [await anext(lines), await anext(lines)]

    assert ["alder_m3"] == [entry["id"] for entry in changes["matches"]]
    assert [("birch_m1", "stale"), ("birch_m2", "stale")] == [
        (gone["id"], gone["reason"]) for gone in changes["removed"]
    ]
    assert [f"id: {changes['cursor']}", "event: changes"] == event


async def test_a_list_that_is_restored_keeps_its_tag(tmp_path: Path) -> None:
    """A client that polls gets 304 after the restart, and the bytes are equal, also compressed."""
    clock, matches = ManualClock(), [match(f"{at:03}") for at in range(500)]
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", *matches)
        site.publish("birch", *matches[15:])  # now the chunks differ from those of a new list
        tag = (await site.get(LIST)).headers["etag"]
        before = await site.raw("GET", LIST, "Accept-Encoding: gzip")
    clock.pass_(10)
    async with open_site(archived=tmp_path, clock=clock) as site:
        answer = await site.get(LIST, if_none_match=tag)
        after = await site.raw("GET", LIST, "Accept-Encoding: gzip")

    assert 304 == answer.status_code
    assert (485, before.body) == (gzip.decompress(after.body).count(b"birch_"), after.body)


async def test_410_names_the_oldest_version_that_is_known(tmp_path: Path) -> None:
    """The version is the archive's first, of an earlier run; after a gap it is the first after the gap."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        first = site.published.newest.version
        site.publish("birch", match("m1"))
        epoch = site.published.newest.epoch
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        assert site.archive is not None
        before = await site.get(f"/api/v2/changes?since={first - 1}-{epoch}")
        since_first = await site.get(f"/api/v2/changes?since={first}-{epoch}")
        last = site.publish("birch", match("m1"))
        site.archive.writer.max_waiting = 0
        lost = site.publish("birch", match("m2"))
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        since_last = await site.get(f"/api/v2/changes?since={last}-{epoch}")
        since_lost = await site.get(f"/api/v2/changes?since={lost}-{epoch}")

    assert (410, first, 200) == (
        before.status_code,
        before.json()["oldest_version"],
        since_first.status_code,
    )
    assert (410, lost, 200) == (
        since_last.status_code,
        since_last.json()["oldest_version"],
        since_lost.status_code,
    )


async def test_what_was_not_written_before_a_restart_is_refused(tmp_path: Path) -> None:
    """Such a version may have another content now: the answer is 410, and a stream begins anew."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", match("m1"))
        epoch = site.published.newest.epoch
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        between = site.published.newest.version - 1
        site.publish("birch", match("m1"))
        answer = await site.get(f"/api/v2/changes?since={between}-{epoch}")
        found = answer.json()

    assert (410, "version_not_available") == (answer.status_code, found["code"])
    assert found["oldest_version"] < between
    assert "is in a gap" in found["detail"]


async def test_the_archive_says_what_it_has(tmp_path: Path) -> None:
    """The answer has the intervals, and the gaps between the intervals."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        last = site.publish("birch", match("m1"))
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        version = site.publish("birch", match("m1"))
        found = await site.json("/api/v2/archive")

    assert [("stopped", last)] == [(gap["reason"], gap["after_version"]) for gap in found["gaps"]]
    assert 2 == len(found["intervals"])
    assert (version, 1, None) == (found["written_version"], found["days"], found["error"])
