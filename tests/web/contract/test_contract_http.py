"""HEAD, OPTIONS, CORS and the headers of every answer, byte by byte on a real socket."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tests.support.systems.site import EPOCH, Site, parsed

pytestmark = pytest.mark.anyio

PATHS = (
    *("/api/capabilities", "/api/odds", "/api/v2/odds", "/api/v2/odds?bookmaker=cedar"),
    *("/api/stats", "/health", "/health/live", "/health/ready", "/monitor"),
    *("/", "/static/main.js", "/api/odds?bookmaker=nobody", "/nowhere"),
)
EXPOSED = {"ETag", "Odds-Cursor", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"}
OF_THE_MOMENT = {"date", "x-request-id"}


async def test_head_has_the_headers_of_get_and_no_body(site: Site) -> None:
    """HEAD differs from GET only in time, request id and a counter's digits (RFC 9110, 9.3.2)."""
    for path, coding in product(PATHS, ["identity", "gzip"]):
        wanted = f"Accept-Encoding: {coding}"
        get, head = await site.raw("GET", path, wanted), await site.raw("HEAD", path, wanted)

        ignored = OF_THE_MOMENT | ({"content-length"} if path in {"/api/stats", "/monitor"} else set())
        of_get, of_head = (
            {name: value for name, value in answer.headers.items() if name not in ignored}
            for answer in (get, head)
        )
        assert (get.status, b"") == (head.status, head.body), path
        assert of_get == of_head, path
        assert get.headers["content-length"] == str(len(get.body)), path


async def test_every_answer_has_the_common_headers(site: Site) -> None:
    """Any origin may read every answer, a browser trusts its type, and no header names the software.

    X-Request-Id is always made by the service, whatever the client sends.
    """
    ids: set[str] = set()
    for method, path in product(["GET", "HEAD", "OPTIONS", "POST"], PATHS):
        answered = await site.raw(method, path, "Origin: https://example.org", "X-Request-Id: forged")

        headers = answered.headers
        assert "*" == headers["access-control-allow-origin"], path
        assert EXPOSED == set(headers["access-control-expose-headers"].split(", ")), path
        assert "nosniff" == headers["x-content-type-options"], path
        assert {"server", "x-powered-by", "via"}.isdisjoint(headers), path
        assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"]), path
        ids.add(headers["x-request-id"])

    assert 4 * len(PATHS) == len(ids)


async def test_options_lists_the_allowed_methods(site: Site) -> None:
    """OPTIONS answers with the allowed methods and no body, also for the whole server (`*`)."""
    for path in (*PATHS[:-1], "*"):
        answered = await site.raw("OPTIONS", path)

        assert (True, b"") == (answered.status in {200, 204}, answered.body), path
        assert {"GET", "HEAD", "OPTIONS"} == set(answered.headers["allow"].split(", ")), path


@pytest.mark.parametrize("path", ["/api/odds", "/api/v2/odds", "/api/capabilities", "/health"])
async def test_a_preflight_is_answered(site: Site, path: str) -> None:
    """A browser may send If-None-Match from any origin, and may cache this permission."""
    answered = await site.raw(
        "OPTIONS",
        path,
        "Origin: https://example.org",
        "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: if-none-match",
    )

    allowed = answered.headers["access-control-allow-headers"].lower().split(", ")
    assert answered.status in {200, 204}
    assert "*" == answered.headers["access-control-allow-origin"]
    assert "GET" in answered.headers["access-control-allow-methods"].split(", ")
    assert "if-none-match" in allowed
    assert int(answered.headers["access-control-max-age"]) > 0


@pytest.mark.parametrize(
    "header", ["Cache-Control", "Pragma", "Expires", "Last-Event-ID", "X-Requested-With", "*"]
)
async def test_a_browser_may_send_what_libraries_send(site: Site, header: str) -> None:
    """EventSource libraries send more headers than our page does: without permission they never connect."""
    answered = await site.raw(
        "OPTIONS",
        "/api/v2/stream",
        "Origin: https://example.org",
        "Access-Control-Request-Method: GET",
        f"Access-Control-Request-Headers: {header.lower()}",
    )

    assert header.lower() in answered.headers["access-control-allow-headers"].lower().split(", ")


async def test_a_connection_is_kept_for_the_next_request(site: Site) -> None:
    """One connection serves several requests in a row, also after errors and a 304."""
    requests = [
        ("/api/odds", f'If-None-Match: "5003-{EPOCH}"\r\n'),
        ("/api/odds?bookmaker=nobody", ""),
        ("/nowhere", ""),
        ("/health", "Connection: close\r\n"),
    ]
    sent = "".join(f"GET {path} HTTP/1.1\r\nHost: board\r\n{lines}\r\n" for path, lines in requests)

    received = await site.exchange(sent.encode())

    statuses = re.findall(rb"HTTP/1\.1 ([0-9]{3})", received)
    assert [b"304", b"400", b"404", b"200"] == statuses


async def test_http_1_0_is_served(site: Site) -> None:
    """An HTTP/1.0 client without a Host header gets its list."""
    answered = parsed(await site.exchange(b"GET /api/odds HTTP/1.0\r\n\r\n"))

    assert (200, str(len(answered.body))) == (answered.status, answered.headers["content-length"])


async def test_a_body_of_a_get_is_ignored(site: Site) -> None:
    """No endpoint reads the body of a request, and a sent body does not change the answer."""
    answered = parsed(
        await site.exchange(
            b"GET /api/odds HTTP/1.1\r\nHost: board\r\nConnection: close\r\nContent-Length: 4\r\n\r\n{}{}"
        )
    )

    assert (200, f'"5003-{EPOCH}"') == (answered.status, answered.headers["etag"])
