"""ETags, 304 and compression on a real socket (docs/interface.md, 8 and 9)."""

from __future__ import annotations

import gzip
import json
import re
import zlib

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, Site

pytestmark = pytest.mark.anyio

LISTS = ("/api/odds", "/api/v2/odds")
VIEWS = tuple(path + who for path in LISTS for who in ("", "?bookmaker=cedar", "?bookmaker=birch"))
VIEW = pytest.mark.parametrize("view", VIEWS)
LIST = pytest.mark.parametrize("path", LISTS)
CODING = pytest.mark.parametrize("coding", ["identity", "gzip"])
COMMON = {
    *("access-control-allow-origin", "access-control-expose-headers"),
    *("connection", "date", "x-request-id"),
}
TAG = f"5003-{EPOCH}"
HAD = ('"@"', 'W/"@"', '"x", W/"@" ,"y"', ', "@",', "*", ",".join(['"x"'] * 1900) + ',"@"')
NOT_HAD = (
    *('"@-gzip"', "@", 'w/"@"', '"@0"', '"@" "@"', '"', "'@'", '"é"', "x" * 8000, '*, "@"'),
    *('"#"', '"#-0e90c002"', '"#-gzip"', '"#-0e90c002-gzip"'),
)
"""@ is the tag without its quotes, # the version alone: that of another epoch is not this one."""
CAPABILITIES = "/api/capabilities"
LINKS = {"/api/odds": {"link": '</api/v2/odds>; rel="successor-version"'}, "/api/v2/odds": {}}
"""What version 1 alone says: what to move to."""


@VIEW
async def test_the_etag_is_the_version_of_the_body_and_its_epoch(site: Site, view: str) -> None:
    """One number names a body in the header and in the JSON, and the epoch tells whose count it is."""
    response = await site.get(view)

    assert f'"{response.json()["version"]}-{EPOCH}"' == response.headers["ETag"]


@VIEW
async def test_the_gzip_form_has_an_etag_of_its_own_and_the_same_content(site: Site, view: str) -> None:
    """Each coding has its own strong ETag; the body is one gzip member with the plain one in it."""
    plain = await site.raw("GET", view)
    zipped = await site.raw("GET", view, "Accept-Encoding: br, gzip")

    inflater = zlib.decompressobj(31)
    assert plain.headers["etag"].replace('"', "") + "-gzip" == zipped.headers["etag"].replace('"', "")
    assert (plain.body, True, b"") == (
        inflater.decompress(zipped.body),
        inflater.eof,
        inflater.unused_data,
    )
    assert ("gzip", str(len(zipped.body))) == (
        zipped.headers["content-encoding"],
        zipped.headers["content-length"],
    )
    assert "content-encoding" not in plain.headers


@LIST
@CODING
async def test_a_200_has_exactly_these_headers(site: Site, path: str, coding: str) -> None:
    """What a cache needs, the length, and what every answer has."""
    answered = await site.raw("GET", path, f"Accept-Encoding: {coding}")

    own = {name: value for name, value in answered.headers.items() if name not in COMMON}
    zipped = coding == "gzip"
    assert {
        "etag": f'"{TAG}-gzip"' if zipped else f'"{TAG}"',
        "vary": "Accept-Encoding",
        "cache-control": "no-cache",
        "content-type": "application/json",
        "content-length": str(len(answered.body)),
        **({"content-encoding": "gzip"} if zipped else {}),
        **LINKS[path],
    } == own


@LIST
@CODING
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_304_has_exactly_these_headers(site: Site, path: str, coding: str, method: str) -> None:
    """ETag, Vary and Cache-Control again; nothing about a content that is not sent."""
    answered = await site.raw(method, path, f"Accept-Encoding: {coding}", "If-None-Match: *")

    own = {name: value for name, value in answered.headers.items() if name not in COMMON}
    assert (304, b"") == (answered.status, answered.body)
    assert {
        "etag": f'"{TAG}-gzip"' if coding == "gzip" else f'"{TAG}"',
        "vary": "Accept-Encoding",
        "cache-control": "no-cache",
        **LINKS[path],
    } == own


@VIEW
@pytest.mark.parametrize("form", HAD)
async def test_who_has_the_body_already_gets_304(site: Site, view: str, form: str) -> None:
    """RFC 9110, 13.1.2: weak comparison, lists and the asterisk."""
    version = (await site.json(view))["version"]

    answered = await site.raw("GET", view, f"If-None-Match: {form.replace('@', f'{version}-{EPOCH}')}")

    assert 304 == answered.status


@VIEW
@pytest.mark.parametrize("form", NOT_HAD)
async def test_everybody_else_gets_the_body(site: Site, view: str, form: str) -> None:
    """The tag of the other coding, of another version or epoch, and garbage, which is ignored."""
    plain = await site.get(view)
    version = str(plain.json()["version"])
    condition = form.replace("@", f"{version}-{EPOCH}").replace("#", version)

    answered = await site.raw("GET", view, f"If-None-Match: {condition}")

    assert (200, plain.content) == (answered.status, answered.body)


@LIST
async def test_a_condition_on_two_lines_is_one_list(site: Site, path: str) -> None:
    """Repeated field lines mean the same as one with commas (RFC 9110, 5.3)."""
    answered = await site.raw("GET", path, 'If-None-Match: "1"', f'If-None-Match: "{TAG}"')

    assert 304 == answered.status


@LIST
async def test_codings_on_two_lines_are_one_list(site: Site, path: str) -> None:
    """Repeated field lines mean the same as one with commas (RFC 9110, 5.3)."""
    answered = await site.raw("GET", path, "Accept-Encoding: br", "Accept-Encoding: gzip")

    assert "gzip" == answered.headers.get("content-encoding")


async def test_the_capabilities_are_cached_for_five_minutes(site: Site) -> None:
    """8: clients cache them; they have a strong ETag and can be asked for conditionally."""
    first = await site.raw("GET", CAPABILITIES)

    again = await site.raw("GET", CAPABILITIES, f"If-None-Match: {first.headers['etag']}")

    own = {name: value for name, value in again.headers.items() if name not in COMMON}
    assert re.fullmatch('"[^"]+"', first.headers["etag"])
    assert "max-age=300" == first.headers["cache-control"]
    assert (304, b"", {"etag": first.headers["etag"], "cache-control": "max-age=300"}) == (
        again.status,
        again.body,
        own,
    )


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/monitor", "/api/stats"])
async def test_no_probe_is_cached(site: Site, path: str) -> None:
    """What an operator sees is of now."""
    assert "no-store" == (await site.get(path)).headers["Cache-Control"]


async def test_a_large_list_arrives_whole_in_both_codings(site: Site) -> None:
    """Some thousand entries, many chunks: the same list, plain and compressed."""
    site.publish("cedar", *(match(f"{number:05}") for number in range(3000)))

    plain = await site.raw("GET", "/api/v2/odds?bookmaker=cedar")
    zipped = await site.raw("GET", "/api/v2/odds?bookmaker=cedar", "Accept-Encoding: gzip")

    assert plain.body == gzip.decompress(zipped.body)
    assert 3000 == json.loads(plain.body)["matches_count"]
