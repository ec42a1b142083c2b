"""ETags, 304 and compression on a real socket (docs/api.md, 8 and 9)."""

from __future__ import annotations

import gzip
import json
import re
import zlib

import pytest

from actors.board.validity import BoardRules
from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, Answered, Site

pytestmark = pytest.mark.anyio

LISTS = ("/api/odds", "/api/v2/odds")
VIEWS = tuple(path + query for path in LISTS for query in ("", "?bookmaker=cedar", "?bookmaker=birch"))
LIST = pytest.mark.parametrize("path", LISTS)
COMMON = {
    *("access-control-allow-origin", "access-control-expose-headers"),
    *("connection", "date", "x-request-id", "x-content-type-options"),
}
TAG = f"5003-{EPOCH}"
HAD = ('"@"', 'W/"@"', '"x", W/"@" ,"y"', ', "@",', "*", ",".join(['"x"'] * 1900) + ',"@"')
NOT_HAD = (
    *('"@-gzip"', "@", 'w/"@"', '"@0"', '"@" "@"', '"', "'@'", '"é"', "x" * 8000, '*, "@"'),
    *('"#"', '"#-0e90c002"', '"#-gzip"', '"#-0e90c002-gzip"'),
)
"""In the cases, @ is the tag without quotes; # is its version, which alone is no tag."""
CAPABILITIES = "/api/capabilities"
LINKS = {
    "/api/odds": {"link": '</api/v2/odds>; rel="successor-version"'},
    "/api/v2/odds": {"odds-cursor": TAG},
}
"""The headers of each version only: version 1 names the path to use, version 2 has its cursor."""


async def test_the_etag_is_the_bodys_version_and_epoch(site: Site) -> None:
    """The ETag and the JSON name the same version, and the ETag adds the epoch."""
    for view in VIEWS:
        response = await site.get(view)

        assert f'"{response.json()["version"]}-{EPOCH}"' == response.headers["ETag"], view


async def test_gzip_has_its_own_etag_and_the_same_content(site: Site) -> None:
    """Each coding has its own strong ETag, and the gzip body is one member that holds the plain body."""
    for view in VIEWS:
        plain = await site.raw("GET", view)
        zipped = await site.raw("GET", view, "Accept-Encoding: br, gzip")

        inflater = zlib.decompressobj(31)
        assert plain.headers["etag"][:-1] + '-gzip"' == zipped.headers["etag"]
        assert plain.body == inflater.decompress(zipped.body)
        assert (True, b"") == (inflater.eof, inflater.unused_data)
        assert "gzip" == zipped.headers["content-encoding"]
        assert str(len(zipped.body)) == zipped.headers["content-length"]
        assert "content-encoding" not in plain.headers


@LIST
async def test_an_answer_has_exactly_these_headers(site: Site, path: str) -> None:
    """A 200 has the headers for caches and the headers of every answer; a 304 has none about content."""
    for coding, tag in (("identity", f'"{TAG}"'), ("gzip", f'"{TAG}-gzip"')):
        wanted = f"Accept-Encoding: {coding}"
        full = await site.raw("GET", path, wanted)
        known = [await site.raw(method, path, wanted, "If-None-Match: *") for method in ("GET", "HEAD")]

        own = {"etag": tag, "vary": "Accept-Encoding", "cache-control": "no-cache", **LINKS[path]}
        content = {"content-type": "application/json", "content-length": str(len(full.body))}
        if coding == "gzip":
            content["content-encoding"] = "gzip"
        assert own | content == _own(full)
        assert [(304, b"", own)] * 2 == [(answer.status, answer.body, _own(answer)) for answer in known]


def _own(answered: Answered) -> dict[str, str]:
    return {name: value for name, value in answered.headers.items() if name not in COMMON}


async def test_if_none_match_names_the_tag_or_gets_the_body(site: Site) -> None:
    """If-None-Match compares weakly and accepts lists and the asterisk (RFC 9110, 13.1.2).

    A tag of the other coding, of another version or of another epoch does not match, nor does garbage.
    """
    for view in VIEWS:
        plain = await site.get(view)
        version = str(plain.json()["version"])
        for form in (*HAD, *NOT_HAD):
            condition = form.replace("@", f"{version}-{EPOCH}").replace("#", version)
            answered = await site.raw("GET", view, f"If-None-Match: {condition}")

            expected = (304, b"") if form in HAD else (200, plain.content)
            assert expected == (answered.status, answered.body), condition
        for tag, status in (("-gzip", 304), ("", 200)):
            known = f'If-None-Match: "{version}-{EPOCH}{tag}"'
            assert status == (await site.raw("GET", view, "Accept-Encoding: gzip", known)).status


@LIST
async def test_a_condition_on_two_lines_is_one_list(site: Site, path: str) -> None:
    """Repeated If-None-Match lines mean the same as one line with commas (RFC 9110, 5.3)."""
    answered = await site.raw("GET", path, 'If-None-Match: "1"', f'If-None-Match: "{TAG}"')

    assert 304 == answered.status


@LIST
async def test_codings_on_two_lines_are_one_list(site: Site, path: str) -> None:
    """Repeated Accept-Encoding lines mean the same as one line with commas (RFC 9110, 5.3)."""
    answered = await site.raw("GET", path, "Accept-Encoding: br", "Accept-Encoding: gzip")

    assert "gzip" == answered.headers.get("content-encoding")


async def test_the_capabilities_are_cached_for_five_minutes(site: Site) -> None:
    """Capabilities may be cached, have a strong ETag and can be requested conditionally (8)."""
    first = await site.raw("GET", CAPABILITIES)

    again = await site.raw("GET", CAPABILITIES, f"If-None-Match: {first.headers['etag']}")

    assert re.fullmatch('"[^"]+"', first.headers["etag"])
    assert "max-age=300" == first.headers["cache-control"]
    headers = {"etag": first.headers["etag"], "cache-control": "max-age=300", "vary": "Accept-Encoding"}
    assert (304, b"", headers) == (
        again.status,
        again.body,
        _own(again),
    )


async def test_no_probe_is_cached(site: Site) -> None:
    """A probe always shows the present state, so no cache may keep its answer."""
    for path in ("/health", "/health/live", "/health/ready", "/monitor", "/api/stats"):
        assert "no-store" == (await site.get(path)).headers["Cache-Control"], path


async def test_a_large_list_arrives_complete_in_both_codings(site: Site) -> None:
    """A list of 3,000 entries in many chunks is complete and equal, plain and compressed."""
    site.publish("cedar", *(match(f"{number:05}") for number in range(3000)))

    plain = await site.raw("GET", "/api/v2/odds?bookmaker=cedar")
    zipped = await site.raw("GET", "/api/v2/odds?bookmaker=cedar", "Accept-Encoding: gzip")

    assert plain.body == gzip.decompress(zipped.body)
    assert 3000 == json.loads(plain.body)["matches_count"]


DUE = "x-accel-expires"
EXPIRE_S = BoardRules().expire_after_kickoff_s


async def _kept(site: Site, view: str) -> list[bool]:
    """Return whether a cache may keep the list, for both codings, each with its answers 200 and 304."""
    answers = [
        await site.raw("GET", view, f"Accept-Encoding: {coding}", *tag)
        for coding in ("identity", "gzip")
        for tag in ((), ("If-None-Match: *",))
    ]
    assert [200, 304, 200, 304] == [answer.status for answer in answers]
    assert {"0", "kept"} >= {answer.headers.get(DUE, "kept") for answer in answers}
    return [DUE not in answer.headers for answer in answers]


@LIST
@pytest.mark.parametrize("by", ["", "?bookmaker=cedar"])
async def test_no_cache_keeps_a_list_that_is_stale_within_two_seconds(
    empty_site: Site, path: str, by: str
) -> None:
    """From two seconds before its deadline until a confirmation, its answers have X-Accel-Expires: 0."""
    site, view = empty_site, path + by
    site.publish("cedar", match("1"), stale_after_s=30.0)

    site.clock.pass_(27.9)
    before = await _kept(site, view)
    site.clock.pass_(0.2)
    due = await _kept(site, view)
    site.publish("cedar", match("1"), stale_after_s=30.0)

    assert ([True] * 4, [False] * 4, [True] * 4) == (before, due, await _kept(site, view))


@LIST
async def test_a_cache_keeps_what_shows_nothing_that_is_due(empty_site: Site, path: str) -> None:
    """A list of one bookmaker is not affected by the deadlines of other bookmakers."""
    empty_site.publish("cedar", match("1"), stale_after_s=10.0)
    empty_site.publish("alder", match("2"), stale_after_s=30.0)

    empty_site.clock.pass_(9.0)

    assert [[False] * 4, [False] * 4, [True] * 4] == [
        await _kept(empty_site, path + by) for by in ("", "?bookmaker=cedar", "?bookmaker=alder")
    ]


@LIST
async def test_no_cache_keeps_a_match_that_is_over_within_two_seconds(empty_site: Site, path: str) -> None:
    """A match leaves hours after its kick-off; from two seconds before that no cache keeps the list."""
    site = empty_site
    start = int(site.clock.now().wall) + 100
    site.publish("cedar", match("1", start_time=start), match("2", start_time=None), stale_after_s=1e6)

    site.clock.pass_(100 + EXPIRE_S - 10.0)
    site.publish("cedar", match("1", start_time=start), match("2", start_time=None), stale_after_s=1e6)
    site.clock.pass_(7.9)
    before = await _kept(site, path)
    site.clock.pass_(0.2)
    due = await _kept(site, path)
    site.clock.pass_(2.0)

    assert ([True] * 4, [False] * 4, [True] * 4) == (before, due, await _kept(site, path))
