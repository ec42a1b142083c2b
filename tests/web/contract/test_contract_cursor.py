"""Each answer has a cursor from which its changes begin; a client need not cut up the tag."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, Site

pytestmark = pytest.mark.anyio

CHANGES, ODDS = "/api/v2/changes", "/api/v2/odds"
OF_FIXTURES = ("view=fixtures", "view=fixtures&bookmaker=birch", "view=surebets")


@pytest.mark.parametrize("query", OF_FIXTURES)
async def test_cursor_of_fixtures_leads_to_their_changes(empty_site: Site, query: str) -> None:
    """`since` accepts the cursor of a list, and the cursor of each later answer."""
    empty_site.publish("birch", match("m1"))
    kind, _, filters = query.removeprefix("view=").partition("&")
    listed = await empty_site.json(f"/api/v2/{kind}?{filters}")
    empty_site.publish("birch", match("m1", prices=(2.1, 3.4, 3.9)))
    changes = await empty_site.json(f"{CHANGES}?{query}&since={listed['cursor']}")
    none = await empty_site.json(f"{CHANGES}?{query}&since={changes['cursor']}")

    assert f"{listed['version']}-{EPOCH}" == listed["cursor"]
    assert f"{changes['version']}-{EPOCH}" == changes["cursor"]
    assert (listed["version"], []) == (changes["since"], none["fixtures"])


@pytest.mark.parametrize("filters", ["from=1", "bookmaker=alder,birch", "fair=birch", "doubted=1"])
async def test_cursor_is_in_every_form_of_fixtures(empty_site: Site, filters: str) -> None:
    """Filtered fixtures, fixtures of other forms, and a single fixture have a cursor as well."""
    empty_site.publish("birch", match("m1"))
    listed = await empty_site.json("/api/v2/fixtures?" + filters)
    kind = "surebets" if "doubted" in filters else "fixtures"
    some = await empty_site.json(f"/api/v2/{kind}?{filters}")
    single = await empty_site.json(f"/api/v2/fixtures/{listed['fixtures'][0]['id']}")

    for body in (listed, some, single):
        assert f"{body['version']}-{EPOCH}" == body["cursor"]


async def test_cursor_of_the_list_is_a_header(site: Site) -> None:
    """The header is on 200 and 304 of version 2, equal for every coding; no body of a list has it."""
    first = await site.raw("GET", ODDS)
    cursor = first.headers["odds-cursor"]
    for method, coding, known in product(("GET", "HEAD"), ("identity", "gzip"), ("*", '"none"')):
        headers = f"Accept-Encoding: {coding}", f"If-None-Match: {known}"
        answer = await site.raw(method, ODDS, *headers)

        assert (304 if known == "*" else 200, cursor) == (answer.status, answer.headers["odds-cursor"])
    (await site.get(f"{CHANGES}?since={cursor}")).raise_for_status()
    assert "odds-cursor" not in (await site.raw("GET", "/api/odds")).headers
    assert ["version", "matches", "matches_count"] == [*await site.json(ODDS)]
