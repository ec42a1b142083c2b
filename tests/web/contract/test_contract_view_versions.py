"""The version of each view on a real socket, which follows what the view shows (docs/api.md, 9)."""

from __future__ import annotations

import pytest

from tests.support.builders.messages import batch, match
from tests.support.systems.site import Site

pytestmark = pytest.mark.anyio

LISTS = ("/api/odds", "/api/v2/odds")
VIEWS = tuple(path + query for path in LISTS for query in ("", "?bookmaker=cedar", "?bookmaker=birch"))
VIEW = pytest.mark.parametrize("view", VIEWS)
LIST = pytest.mark.parametrize("path", LISTS)


@VIEW
async def test_a_view_has_the_version_of_its_own_last_change(site: Site, view: str) -> None:
    """At board version 5003 birch has 5002, but 5000 in v2, which shows none of birch's entries."""
    expected = {"/api/odds?bookmaker=birch": 5002, "/api/v2/odds?bookmaker=birch": 5000}.get(view, 5003)

    assert expected == (await site.json(view))["version"]


@LIST
async def test_a_change_elsewhere_leaves_a_filtered_view_unchanged(site: Site, path: str) -> None:
    """A poll of one bookmaker gets 304 until that bookmaker changes."""
    cedar, alder, everything = (f"{path}?bookmaker=cedar", f"{path}?bookmaker=alder", path)
    had = {view: await site.get(view) for view in (cedar, alder, everything)}

    version = site.publish("alder", match("new"))

    again = {
        view: await site.get(view, if_none_match=response.headers["ETag"]) for view, response in had.items()
    }
    statuses = [again[view].status_code for view in (cedar, alder, everything)]
    assert [304, 200, 200] == statuses
    assert {version} == {again[view].json()["version"] for view in (alder, everything)}
    assert had[cedar].content == (await site.get(cedar)).content


async def test_a_change_of_an_unnamed_entry_leaves_v2_unchanged(site: Site) -> None:
    """v2 does not show entries with an empty team name, so its views keep their version."""
    version = site.publish("birch", match("x.1", away="", prices=(3, 3, 3)))

    versions = {view: (await site.json(view))["version"] for view in VIEWS if "cedar" not in view}

    assert versions == {
        "/api/odds": version,
        "/api/odds?bookmaker=birch": version,
        "/api/v2/odds": 5003,
        "/api/v2/odds?bookmaker=birch": 5000,
    }


@VIEW
async def test_a_confirmation_changes_nothing(site: Site, view: str) -> None:
    """A heartbeat or an unchanged poll adds no version and leaves every body unchanged."""
    before = await site.get(view)
    site.clock.pass_(3)

    version = site.apply(
        batch(bookmaker="cedar", list_id="list-3", complete=False, received_mono=site.clock.mono)
    )

    after = await site.get(view, if_none_match=before.headers["ETag"])
    assert (5003, 304) == (version, after.status_code)


@LIST
async def test_a_version_never_names_two_bodies(site: Site, path: str) -> None:
    """After changes, removals and withdrawals a view has a larger version or the same bytes."""
    seen: dict[str, bytes] = {}
    lists = [("cedar", ["10"]), ("cedar", ["10", "9"]), ("alder", []), ("birch", ["b"]), ("birch", ["b"])]
    versions = []
    for bookmaker, ids in lists:
        site.clock.pass_(10)
        site.publish(bookmaker, *(match(match_id) for match_id in ids))
        response = await site.get(path)
        versions.append(response.json()["version"])

        assert seen.setdefault(response.headers["ETag"], response.content) == response.content

    assert sorted(versions) == versions
    assert len(set(versions)) == len(seen)
