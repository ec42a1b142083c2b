"""Redirects are followed on the same host only, and only a few times (faults.md, A14)."""

from __future__ import annotations

from itertools import pairwise

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
    """The new address is requested with the same validators, which are those of its file."""
    target = location.format(host=f"127.0.0.1:{peer.port}")
    peer.answers["/new/old.csv"] = respond(status=status, headers={"Location": target})
    peer.answers["/new/f.csv"] = respond(BODY, headers={"ETag": '"new"'})
    answer = await fetched(peer.url("/new/old.csv"), Validators('"old"', None))

    assert (answer.body, answer.validators) == (BODY, Validators('"new"', None))
    assert [asked.headers["if-none-match"] for asked in peer.asked] == ['"old"', '"old"']
    peer.answers["/new/f.csv"] = respond(status=304)
    assert await fetch(peer.url("/new/old.csv"), Validators('"new"', None)) == NotModified(0.0)


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
            b"",
        ),
    ],
)
async def test_invalid_location_is_a_transport_error(peer: HttpPeer, location: bytes) -> None:
    """For any value of Location, the request ends with an expected error."""
    peer.answers["/f.csv"] = raw(
        b"HTTP/1.1 302 Moved\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
    )

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


@pytest.mark.parametrize(
    "chain",
    [
        ["http://feed.example", "https://feed.example", "http://feed.example"],
        ["http://feed.example", "https://feed.example:8443"],
        ["http://feed.example:8080", "https://feed.example"],
    ],
)
async def test_redirect_from_http_to_https_alone_is_followed(chain: list[str]) -> None:
    """Not back, nor to another port: there may be somebody else's service."""
    sites = {f"{before}/f.csv": _moved(f"{after}/f.csv") for before, after in reversed([*pairwise(chain)])}
    async with Scripted(sites) as transport:
        with pytest.raises(TransportError, match="not followed"):
            await transport.fetch(f"{chain[0]}/f.csv", Validators())

    assert transport.asked == [f"{place}/f.csv" for place in chain[:-1]]
