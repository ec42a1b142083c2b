"""Hostile requests on a real socket: 400, 404 or ignored, never a failure of the server (faults.md, F)."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.support.systems.site import EPOCH, Site, parsed

pytestmark = pytest.mark.anyio

LIST = pytest.mark.parametrize("path", ["/api/odds", "/api/v2/odds"])
IGNORED = (
    *("%00", "%zz", "%", "%%", "%c0%af=1", "%ed%a0%80", "%ff%fe=%80", "\\x00=1", "[]=1", "a[b]=c", ";;;"),
    *("bookmaker%00=x", "book%zzmaker=1", "x" * 1900, "&" * 15, "=" * 1900, "a=1&" * 15, "%F0%9F%97%9C"),
    *("../../etc/passwd", "<script>", "'--", "${jndi:ldap://x}", "{{7*7}}", "a=b=c=d", "+", "%2526"),
)
REFUSED = (
    *("%00", "cedar%00", "%zz", "%", "%c0%af", "%ed%a0%80", "%ff", "cedar%0d%0aX-Evil:%201", "%5B%5D"),
    *("x" * 1900, "%F0%9F%97%9C", "%E2%80%AEcedar", "cedar;cedar", "cedar%26", "<script>", "%2563edar"),
)
TARGETS = (
    *(
        "?x",
        "*",
        "api/odds",
        "http://[evil/api/odds",
        "http://evil:99999999/",
        "://",
        "/%ff",
        "/%00",
        "/%zz",
    ),
    *("/" * 3000, "/" + "%2e%2e%2f" * 300, "/api/odds%0d%0aX-Evil:%201", "/\\..\\api", "#", "/x#", "@"),
    *("http://", "http:", "//", "//[", "/;", "/api/odds\\", "%", "/api/odds%3Fbookmaker=x", "~", "&"),
)
HOSTS = (
    *("", "..", ".", "a..b", "[::1", "[", "]", "x:99999999", "x:y", "a b", "<script>", "\xff\xfe", "@"),
    *(".".join(["x" * 63] * 8), "x" * 64 + ".org", "xn--a", "xn--\xff", "%00", "a\tb", "user@host", "\\"),
)
PIECES = (
    *("/", "api", "odds", "v2", "?", "&", "=", "bookmaker", "cedar", "%", "%00", "%zz", "%c0%af", "+", ";"),
    *("#", "..", "//", "%2f", "\\", "http:", "[", "]", ":", "@", "*", "~", "%ff", "%e2%80%ae", "x" * 99),
)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "get", "FOO")


@LIST
@pytest.mark.parametrize("query", IGNORED)
async def test_a_strange_parameter_is_ignored(site: Site, path: str, query: str) -> None:
    """A parameter other than `bookmaker` has no meaning."""
    plain, asked = await site.raw("GET", path), await site.raw("GET", f"{path}?{query}")

    assert (200, plain.body) == (asked.status, asked.body)


@LIST
@pytest.mark.parametrize("value", REFUSED)
async def test_a_strange_bookmaker_is_400(site: Site, path: str, value: str) -> None:
    """The problem document is valid JSON, and no header is made of what the client sent."""
    asked = await site.raw("GET", f"{path}?bookmaker={value}")

    assert (400, "application/problem+json") == (asked.status, asked.headers["content-type"])
    assert "invalid_bookmaker" == json.loads(asked.body.decode("utf-8"))["code"]
    assert "x-evil" not in asked.headers
    assert len(asked.body) < 1000


@pytest.mark.parametrize("target", TARGETS)
async def test_a_strange_target_is_a_client_error(site: Site, target: str) -> None:
    """A strange request target is answered with 400, 404 or 414."""
    asked = await site.raw("GET", target)

    assert asked.status in {400, 404, 414}
    assert "x-evil" not in asked.headers


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("path", "status"), [("/api/odds", 200), ("/nowhere", 404)])
async def test_a_strange_host_is_ignored_or_refused(site: Site, host: str, path: str, status: int) -> None:
    """A Host header that makes no sense never causes a server error, whichever layer answers."""
    sent = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"

    answered = parsed(await site.exchange(sent.encode("latin-1")))

    assert answered.status in {status, 400}
    assert "nosniff" == answered.headers["x-content-type-options"]


@pytest.mark.parametrize("path", ["/api/odds", "/nowhere", "/health"])
async def test_a_websocket_handshake_is_not_accepted(site: Site, path: str) -> None:
    """A WebSocket handshake is refused as a client error, or answered as a plain request."""
    plain = await site.raw("GET", path)
    answered = await site.raw(
        "GET",
        path,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    )

    assert 400 <= answered.status < 500 or (plain.status, plain.body) == (answered.status, answered.body)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["If-None-Match", "Accept-Encoding"])
@pytest.mark.parametrize("value", [", " * 4000 + "x", '"' * 8000, "*" * 8000, ";q=" * 2600, "\xff" * 8000])
async def test_8_kb_in_a_header_are_answered_at_once(site: Site, name: str, value: str) -> None:
    """Garbage in a header is ignored, in so short a time that other requests are not delayed."""
    answered = await site.raw("GET", "/api/v2/odds", f"{name}: {value}")

    assert (200, f'"5003-{EPOCH}"') == (answered.status, answered.headers["etag"])


@pytest.mark.long
async def test_random_requests_never_make_the_server_fail(site: Site) -> None:
    """Some hundred random mixtures of valid and broken parts, from fixed seeds, never get a 5xx."""
    random = Random(20261121)
    targets = ["/" + "".join(random.choices(PIECES, k=random.randrange(1, 9))) for _ in range(500)]

    statuses = {target: (await site.raw(random.choice(METHODS), target)).status for target in targets}

    assert {} == {target: status for target, status in statuses.items() if status >= 500}
