"""The pages and their files on a real socket: types, caching, policy, and the page of /monitor."""

from __future__ import annotations

import gzip
import re
from itertools import product
from pathlib import Path

import pytest

from tests.support.systems.site import Site
from web.endpoints.pages import BEGINNINGS, STATIC, script, sheet
from web.endpoints.pages import FILES as BY_NAME

pytestmark = pytest.mark.anyio

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FILES = {"/": BY_NAME["index.html"]} | {
    STATIC + file.name: file for file in BY_NAME.values() if file.suffix != ".html"
}
POLICY = {
    "default-src 'none'",
    *("script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
    *("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
    *("require-trusted-types-for 'script'", "trusted-types shared-stream"),
}
GZIP = "Accept-Encoding: gzip, deflate, br"


def _content(file: Path) -> bytes:
    """Return the bytes that are sent of a file: a first script or sheet includes its imports."""
    if file.name in BEGINNINGS:
        return script(file.name).encode()
    return sheet(file.name).encode() if file.suffix == ".css" else file.read_bytes()


async def test_a_file_is_sent_as_it_is_with_its_type(site: Site) -> None:
    """A file is sent byte for byte, with the type that browsers require."""
    for path, file in FILES.items():
        answered = await site.raw("GET", path)

        assert (200, _content(file)) == (answered.status, answered.body), path
        assert TYPES[file.suffix] == answered.headers["content-type"], path


async def test_a_file_is_compressed_where_that_saves_a_packet(site: Site) -> None:
    """Each coding has an ETag of its own, which gets 304 only in this coding; HEAD has the same headers."""
    sizes = {path: len(_content(file)) for path, file in FILES.items()}
    assert min(sizes.values()) < 1024 <= max(sizes.values())
    for path, size in sizes.items():
        plain = await site.raw("GET", path, "Accept-Encoding: br")
        packed, head = [await site.raw(method, path, GZIP) for method in ("GET", "HEAD")]
        etag = packed.headers["etag"]
        known = [await site.raw("GET", path, f"If-None-Match: {etag}", *line) for line in ([GZIP], [])]

        is_packed = "content-encoding" in packed.headers
        assert (size >= 1024) == is_packed == (etag != plain.headers["etag"]), path
        if is_packed:
            assert plain.body == gzip.decompress(packed.body)
            assert (True, "gzip") == (len(packed.body) < size, packed.headers["content-encoding"])
            varies = {answer.headers["vary"] for answer in (plain, packed, head, *known)}
            assert ({"Accept-Encoding"}, [304, 200]) == (varies, [answer.status for answer in known])
            length = str(len(packed.body))
            assert packed.headers["content-length"] == head.headers["content-length"] == length


async def test_a_cached_file_is_revalidated_with_304(site: Site) -> None:
    """The ETag follows the content; a matching request gets 304 with the headers that a 304 repeats."""
    for path in FILES:
        first = await site.raw("GET", path)

        again = await site.raw("GET", path, f"If-None-Match: {first.headers['etag']}")
        other = await site.raw("GET", path, 'If-None-Match: "5003"')

        assert re.fullmatch('"[0-9a-f]{16}"', first.headers["etag"])
        assert "no-cache" == first.headers["cache-control"]
        assert (304, b"", first.headers["etag"]) == (again.status, again.body, again.headers["etag"])
        assert {"content-type", "content-length"}.isdisjoint(again.headers)
        assert (200, first.body) == (other.status, other.body)


async def test_no_two_files_have_the_same_etag(site: Site) -> None:
    """An ETag names the content of one file."""
    etags = {(await site.get(path)).headers["ETag"] for path in FILES}

    assert len(FILES) == len(etags)


async def test_a_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(site: Site) -> None:
    """Every file has the policy, which allows this origin alone and nothing unsafe."""
    for method, path in product(["GET", "HEAD"], [*FILES, "/monitor"]):
        headers = (await site.raw(method, path, "Accept: text/html")).headers

        assert set(headers["content-security-policy"].split("; ")) == POLICY, path
        named = headers["x-content-type-options"], headers["referrer-policy"]
        assert ("nosniff", "no-referrer") == named, path


async def test_only_the_monitors_page_may_be_cached(site: Site) -> None:
    """A cache may keep the HTML, with a check each time, and never the JSON."""
    page = await site.raw("GET", "/monitor", "Accept: text/html")
    json = await site.raw("GET", "/monitor", f"If-None-Match: {page.headers['etag']}")
    again = await site.raw("GET", "/monitor", "Accept: text/html", f"If-None-Match: {page.headers['etag']}")

    assert ("no-cache", "no-store") == (page.headers["cache-control"], json.headers["cache-control"])
    assert ("Accept, Accept-Encoding", "Accept") == (page.headers["vary"], json.headers["vary"])
    assert page.body.startswith(b"<!doctype html>")
    assert (200, 304, "Accept, Accept-Encoding") == (json.status, again.status, again.headers["vary"])
