"""Look-ups of names: one at a time for each name, with real connections and a resolver of the test."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import anyio
import pytest

from actors.core.errors import TransportError
from actors.transports.connections import LookUpLoop
from actors.transports.http import RestTransport
from actors.transports.lines import connected, tls_context
from actors.transports.polling import FetchLimits, PollingTransport, Validators
from tests.support.builders.certificates import Authority
from tests.support.peers.http import HttpPeer, respond
from tests.support.peers.lines import MAX, line_peer
from tests.support.time.virtual import ManualClock
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.anyio

NAME = "odds.example"
LOCAL = "127.0.0.1"
NOT_LISTENING = "127.0.0.2"
Ask = Callable[[str, float], Coroutine[Any, Any, object]]


@pytest.fixture
def anyio_backend() -> object:
    """Run the tests on the service's own loop."""
    return "asyncio", {"loop_factory": LookUpLoop}


class Resolver:
    """A resolver that, once released, returns the same addresses for every name; it counts look-ups."""

    def __init__(self, *addresses: str, is_released: bool = False) -> None:
        self.asked: list[tuple[str, int]] = []
        self.running = self.most = 0
        self.released = threading.Event()
        self._addresses = addresses
        self._lock = threading.Lock()
        if is_released:
            self.released.set()

    def __call__(self, name: bytes, port: int, *_: int) -> list[Any]:
        """Wait in the thread of the look-up."""
        with self._lock:
            self.asked.append((name.decode(), port))
            self.running += 1
            self.most = max(self.most, self.running)
        self.released.wait(60)
        with self._lock:
            self.running -= 1
        if not self._addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)) for address in self._addresses]

    def use(self) -> None:
        """Have this resolver answer all look-ups of the running loop."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, LookUpLoop)
        loop.resolve = self


@pytest.fixture
def hanging() -> Iterator[Resolver]:
    """Return a resolver that hangs until it is released, at the latest when the test ends."""
    resolver = Resolver(LOCAL)
    yield resolver
    resolver.released.set()


async def _poll(url: str, timeout_s: float) -> object:
    limits = FetchLimits(timeout_s, 1000, 1000)
    async with PollingTransport(limits, ManualClock()) as transport:
        return await transport.fetch(url, Validators())


async def _rest(url: str, timeout_s: float) -> object:
    async with RestTransport(timeout_s, ManualClock(), tls_context(None, None)) as transport:
        return await transport.ask("GET", url, {}, b"")


async def _lines(url: str, timeout_s: float) -> object:
    place = url.replace("http:", "tcp:")
    async with connected(place, timeout_s, MAX, tls_context(None, None)) as connection:
        return connection


EVERY_WAY = pytest.mark.parametrize("ask", [_poll, _rest, _lines])


def _named(peer: HttpPeer, name: str = NAME) -> str:
    peer.answers["/odds"] = respond(b"odds")
    return f"http://{name}:{peer.port}/odds"


@pytest.mark.long
@EVERY_WAY
async def test_hanging_look_up_is_not_started_again(ask: Ask, peer: HttpPeer, hanging: Resolver) -> None:
    """Each attempt ends at its deadline, as a timeout, and the next one waits for the same look-up."""
    url = _named(peer)
    hanging.use()
    reasons = []
    for _ in range(4):
        with pytest.raises(TransportError) as caught:
            await ask(url, 0.05)
        reasons.append(caught.value.reason)

    assert (["timeout"] * 4, [(NAME, peer.port)]) == (reasons, hanging.asked)


@EVERY_WAY
async def test_attempt_uses_a_late_look_up(ask: Ask, peer: HttpPeer, hanging: Resolver) -> None:
    """A late result is used by the attempt that waits for it; the attempt after that looks up again."""
    url = _named(peer)
    hanging.use()
    with pytest.raises(TransportError):
        await ask(url, 0.05)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, url, 10.0)
        await anyio.lowlevel.checkpoint()
        hanging.released.set()
    await ask(url, 10.0)

    assert ([(NAME, peer.port)] * 2, 1) == (hanging.asked, hanging.most)


@EVERY_WAY
async def test_sources_do_not_wait_for_each_other(ask: Ask, peer: HttpPeer, hanging: Resolver) -> None:
    """More look-ups hang than any executor has threads, and another source is still served."""
    url, good = _named(peer), Resolver(LOCAL, is_released=True)
    hanging.use()
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(anyio.getaddrinfo, f"{number}.example", 80)
        await anyio.to_thread.run_sync(eventually, lambda: hanging.running == 50, "all of them hang")
        good.use()
        await ask(url, 10.0)
        tasks.cancel_scope.cancel()

    assert ([(NAME, peer.port)], 50) == (good.asked, hanging.running)


@EVERY_WAY
async def test_each_address_of_a_name_is_tried(ask: Ask, peer: HttpPeer, hanging: Resolver) -> None:
    """If no address is reached or known, no request can have been sent; an address needs no look-up."""
    words = r"no address is known for the host \(Name or service not known\)"
    Resolver(NOT_LISTENING, LOCAL, is_released=True).use()
    await ask(_named(peer), 10.0)
    for addresses, why in (((NOT_LISTENING, "127.0.0.3"), ""), ((), words)):
        Resolver(*addresses, is_released=True).use()
        with pytest.raises(TransportError, match=why or None) as caught:
            await ask(_named(peer), 10.0)
        assert ("connection", False) == (caught.value.reason, caught.value.is_sent)
    hanging.use()
    await ask(_named(peer, LOCAL), 10.0)

    assert [] == hanging.asked


async def test_host_header_is_the_requested_name(peer: HttpPeer) -> None:
    """The Host header has the name, not its address."""
    Resolver(LOCAL, is_released=True).use()
    await _poll(_named(peer), 10.0)

    assert [f"{NAME}:{peer.port}"] == [request.headers["host"] for request in peer.asked]


@pytest.mark.parametrize("certified", [f"DNS:{NAME}", f"DNS:other.example,IP:{LOCAL}"])
@pytest.mark.parametrize("scheme", ["https", "tls"])
async def test_certificate_is_checked_by_the_name(
    tmp_path_factory: pytest.TempPathFactory, certified: str, scheme: str
) -> None:
    """A certificate of another name or of the address is refused; the server gets the name (SNI)."""
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    server, told = authority.signed("server", certified).server_context(), []
    server.set_servername_callback(lambda _, name, __: told.append(name))
    trusting = tls_context(None, None)
    trusting.load_verify_locations(authority.itself.certificate)

    def answer(connection: socket.socket) -> None:
        with server.wrap_socket(connection, server_side=True) as secured:
            secured.recv(4096)
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nodds")

    Resolver(LOCAL, is_released=True).use()
    with line_peer(answer) as peer:
        outcome = await _secured(f"{scheme}://{NAME}:{peer.port}/", trusting)

    assert ("odds" if certified == f"DNS:{NAME}" else "connection", [NAME]) == (outcome, told)


async def _secured(url: str, context: ssl.SSLContext) -> str:
    try:
        if url.startswith("https"):
            async with RestTransport(10.0, ManualClock(), context) as rest:
                return (await rest.ask("GET", url, {}, b"")).decode()
        async with connected(url, 10.0, MAX, context) as connection:
            await connection.send(b"hello\n")
            while not (await connection.receive()):
                pass
            return "odds"
    except TransportError as error:
        return error.reason


async def test_failed_thread_start_does_not_block_later_look_ups() -> None:
    """If the machine allows no further thread, the look-up fails; the next look-up starts again."""
    Resolver(LOCAL, is_released=True).use()
    usual = threading.stack_size(2**45)  # more than the machine has
    try:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await anyio.getaddrinfo(NAME, 80)
    finally:
        threading.stack_size(usual)
    with anyio.fail_after(5):
        found = await anyio.getaddrinfo(NAME, 80)

    assert [LOCAL] == [address[0] for *_, address in found]
