"""Redirects are followed on the same host only, and only a few times (faults.md, A14)."""

from __future__ import annotations

import httpx2
import pytest

from actors.core.clock import SystemClock
from actors.core.errors import TransportError
from actors.transports.polling import MAX_REDIRECTS, NotModified, PollingTransport, Validators
from tests.support.peers.broken import ELSEWHERE
from tests.support.peers.fetching import LIMITS, fetch, fetched, trouble
from tests.support.peers.http import HttpPeer, http_peer, raw, respond

pytestmark = pytest.mark.anyio

BODY = b"Div,Date,HomeTeam,AwayTeam\r\n"


class Scripted(PollingTransport):
    """The transport with `sites`, address to answer, in place of the network: TLS needs no certificate."""

    def __init__(self, sites: dict[str, httpx2.Response]) -> None:
        super().__init__(LIMITS, SystemClock())
        self.asked: list[str] = []
        self._sites = sites
        self._client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(str(request.url))
        return self._sites[str(request.url)]


def _moved(location: str, status: int = 302) -> httpx2.Response:
    return httpx2.Response(status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location", ["/new/f.csv", "f.csv", "//{host}/new/f.csv", "http://{host}/new/f.csv"]
)
async def test_redirect_on_the_same_host_is_followed(peer: HttpPeer, status: int, location: str) -> None:
    """The new address is requested with the same validators."""
    target = location.format(host=f"127.0.0.1:{peer.port}")
    peer.answers["/new/old.csv"] = respond(status=status, headers={"Location": target})
    peer.answers["/new/f.csv"] = respond(BODY, headers={"ETag": '"new"'})
    answer = await fetched(peer.url("/new/old.csv"), Validators('"old"', None))

    assert (answer.body, answer.validators) == (BODY, Validators('"new"', None))
    assert [asked.headers["if-none-match"] for asked in peer.asked] == ['"old"', '"old"']


async def test_304_after_a_redirect_confirms(peer: HttpPeer) -> None:
    """The validators are those of the file at the last address."""
    peer.answers["/old.csv"] = respond(status=302, headers={"Location": "/f.csv"})
    peer.answers["/f.csv"] = respond(status=304)

    assert await fetch(peer.url("/old.csv"), Validators('"one"', None)) == NotModified(0.0)


@pytest.mark.parametrize("location", ELSEWHERE)
async def test_redirect_elsewhere_is_refused(peer: HttpPeer, location: str) -> None:
    """Another host, port, user or scheme is refused: the error says so, and no connection is made."""
    with http_peer() as other:
        target = location.format(other=other.port, port=peer.port)
        peer.answers["/f.csv"] = respond(status=302, headers={"Location": target})
        error = await trouble(peer.url("/f.csv"))

        assert isinstance(error, TransportError)
        assert str(error) == "redirected to another host, which is not followed"
        assert (other.connections, peer.connections) == (0, 1)


@pytest.mark.parametrize(
    "location",
    [
        *(b"http://[::1/f.csv", b"http://[x]/f.csv", b"//["),
        *(b"http://127.0.0.1:port/", b"http://a:99999999/"),
        *(b"http://\xe2\x84\x80.example/", b"\xff\xfe", b"http://\xff/", b"/\xc3\xa9.csv"),
        *(b"/a b\tc", b"/%zz%"),
        *(
            b"?",
            b"#",
            b"http://",
            b"http:///f.csv",
            b":",
            b"/" + b"a" * 70_000,
            b"\\\\other\\f.csv",
            b"/\x7f",
        ),
    ],
)
async def test_invalid_location_is_a_transport_error(peer: HttpPeer, location: bytes) -> None:
    """For any value of Location, the request ends with an expected error."""
    peer.answers["/f.csv"] = raw(
        b"HTTP/1.1 302 Moved\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
    )

    assert isinstance(await trouble(peer.url("/f.csv")), TransportError)


async def test_redirect_without_a_location_is_refused(peer: HttpPeer) -> None:
    """Without a Location there is no address to request."""
    peer.answers["/f.csv"] = respond(status=301)

    assert isinstance(await trouble(peer.url("/f.csv")), TransportError)


@pytest.mark.parametrize("first", ["/a", "/self", "/count/0"])
async def test_redirects_are_limited(peer: HttpPeer, first: str) -> None:
    """Loops and long chains are given up after a few requests."""
    steps = {"/a": "/b", "/b": "/a", "/self": "/self"} | {
        f"/count/{n}": f"/count/{n + 1}" for n in range(20)
    }
    for path, location in steps.items():
        peer.answers[path] = respond(status=302, headers={"Location": location})
    error = await trouble(peer.url(first))

    assert str(error) == f"more than {MAX_REDIRECTS} redirects"
    assert len(peer.asked) == MAX_REDIRECTS + 1


async def test_redirect_from_http_to_https_is_followed() -> None:
    """A redirect to https on the same host is followed, and one back to http is refused."""
    sites = {
        "http://feed.example/f.csv": _moved("https://feed.example/f.csv", 301),
        "https://feed.example/f.csv": _moved("http://feed.example/f.csv"),
    }
    async with Scripted(sites) as transport:
        with pytest.raises(TransportError, match="not followed"):
            await transport.fetch("http://feed.example/f.csv", Validators())

    assert transport.asked == list(sites)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://feed.example", "https://feed.example:8443"),
        ("http://feed.example:8080", "https://feed.example"),
    ],
)
async def test_redirect_to_another_port_is_refused(before: str, after: str) -> None:
    """Also with TLS: at another port of the same host there may be somebody else's service."""
    async with Scripted({f"{before}/f.csv": _moved(f"{after}/f.csv")}) as transport:
        with pytest.raises(TransportError, match="not followed"):
            await transport.fetch(f"{before}/f.csv", Validators())

    assert transport.asked == [f"{before}/f.csv"]
