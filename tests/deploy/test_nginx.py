"""nginx with the settings that we ship, in front of a scripted service (config/deploy/nginx.conf)."""

from __future__ import annotations

import http.server
import json
import re
import select
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx2
import pytest

from tests.support.builders.certificates import Authority
from tests.support.peers.http import Answer, Asked, HttpPeer, drop, hang, http_peer, respond
from tests.support.source_code import ROOT
from tests.support.systems.process import free_port
from tests.support.systems.proxies import UNTIL_S, client_of, needs_nginx, nginx
from tests.support.time.waiting import eventually, let_pass

LIST, STREAM = "/api/v2/odds", "/api/v2/stream"
KEPT = {"Cache-Control": "no-cache", "ETag": '"1-e"'}

pytestmark = [pytest.mark.long, needs_nginx]


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[tuple[HttpPeer, str]]:
    """Return a scripted service and the address of nginx in front of it."""
    with http_peer() as peer, nginx(f"127.0.0.1:{peer.port}", tmp_path) as address:
        peer.otherwise = respond(b"[]", headers=KEPT)
        yield peer, address


def _address(front: str) -> tuple[str, int]:
    return "127.0.0.1", int(front.rpartition(":")[2])


def _answered(front: str, sent: str) -> tuple[int, dict[str, str], bytes]:
    """Send bytes on a connection of their own, and return status, headers and body."""
    with socket.create_connection(_address(front), UNTIL_S) as client:
        client.sendall(sent.encode())
        head, _, body = b"".join(iter(lambda: client.recv(65_536), b"")).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body


@pytest.mark.parametrize("gone", [respond(b"no", 503, {"Cache-Control": "no-store"}), drop])
def test_an_old_list_is_not_shown_in_the_place_of_an_error(
    scripted: tuple[HttpPeer, str], gone: Answer
) -> None:
    """Soon after the service has nothing to show, no client gets the list, however many ask together."""
    peer, front = scripted
    is_over = threading.Event()

    def errors_in_a_row() -> int:
        count = 0
        with client_of(front) as client:
            while count < 10 and not is_over.is_set():
                count = 0 if client.get(LIST).status_code == 200 else count + 1
        return count

    with client_of(front) as client:
        assert 200 == client.get(LIST).status_code
    peer.answers[LIST] = gone
    with ThreadPoolExecutor(8) as clients:
        counts = [clients.submit(errors_in_a_row) for _ in range(8)]
        threading.Timer(UNTIL_S, is_over.set).start()

    assert [10] * 8 == [count.result() for count in counts]


def test_an_answer_is_shown_in_its_second_only(scripted: tuple[HttpPeer, str]) -> None:
    """No client gets an answer that was made in a second before the second of its request."""
    peer, front = scripted

    def answer(connection: socket.socket, asked: Asked) -> None:
        respond(str(int(time.time())).encode(), headers=KEPT)(connection, asked)

    peer.answers[LIST] = answer
    with client_of(front) as client:
        answers = [(int(time.time()), int(client.get(LIST).content)) for _ in range(1000)]

    assert [] == [pair for pair in answers if pair[1] < pair[0]]


def test_many_who_ask_at_once_ask_the_service_once(scripted: tuple[HttpPeer, str]) -> None:
    """This holds for the first requests, and when the kept answer is too old to be shown."""
    peer, front = scripted

    def answer(connection: socket.socket, asked: Asked) -> None:
        let_pass(0.1)
        respond(b"[]", headers=KEPT)(connection, asked)

    def ask(_: int) -> int:
        with client_of(front) as client:
            return client.get(LIST).status_code

    peer.answers[LIST] = answer
    asked: list[int] = []
    with ThreadPoolExecutor(40) as clients:
        for _ in range(2):
            began, before = int(time.time()), len(peer.asked)
            assert [200] * 40 == list(clients.map(ask, range(40)))
            asked.append(len(peer.asked) - before - (int(time.time()) - began))
            let_pass(3.5)

    assert max(asked) <= 1


def test_a_password_is_two_lines(tmp_path: Path) -> None:
    """The lines of the comment require it: without it even a kept list is 401, as a problem document."""
    users = tmp_path / "users"
    users.write_text("anna:{PLAIN}s3cret\n", "utf-8")
    lines = f'    auth_basic "oddsboard";\n    auth_basic_user_file {users};\n'
    with http_peer() as peer, nginx(f"127.0.0.1:{peer.port}", tmp_path, tls=lines) as front:
        peer.otherwise = respond(b"{}", headers=KEPT)
        with client_of(front) as client:
            there = [client.get(path, auth=("anna", "s3cret")).status_code for path in (LIST, "/health")]
            refused = [
                client.get(path, auth=auth) for path in (LIST, "/health") for auth in (None, ("anna", "x"))
            ]

    assert [200, 200] == there
    assert [(401, "unauthorized", 'Basic realm="oddsboard"')] * 4 == [
        (answer.status_code, answer.json()["code"], answer.headers["www-authenticate"])
        for answer in refused
    ]


def test_a_stream_passes_as_far_as_it_has_come(scripted: tuple[HttpPeer, str]) -> None:
    """A few bytes pass although the rest of the event does not come."""
    peer, front = scripted
    is_over = threading.Event()

    def answer(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nid: 1")
        hang(is_over)(connection, asked)

    peer.answers[STREAM] = answer
    with client_of(front) as client, client.stream("GET", STREAM) as response:
        first = next(response.iter_bytes())
        is_over.set()

    assert b"id: 1" == first


@pytest.mark.parametrize("path", ["/api/v2/changes", "/api/v2/fixtures?from=1", "/health"])
def test_the_service_is_rid_of_a_long_answer_that_is_not_read(
    scripted: tuple[HttpPeer, str], path: str
) -> None:
    """The proxy takes the whole answer although the client reads nothing."""
    peer, front = scripted
    is_sent = threading.Event()

    def answer(connection: socket.socket, asked: Asked) -> None:
        respond(bytes(16_777_216), headers={"Cache-Control": "no-store"})(connection, asked)
        is_sent.set()

    peer.answers[path] = answer
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(_address(front))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

        assert is_sent.wait(UNTIL_S)


def test_each_spelling_of_a_path_has_the_same_copy(scripted: tuple[HttpPeer, str]) -> None:
    """However many spellings a path has, the cache has one file for them."""
    peer, front = scripted
    paths = [f"/api/v2/{tail}" for tail in ("odds", "odd%73", "%6Fdds", "./odds", "x/../odds")] * 20
    began = int(time.time())
    with socket.create_connection(_address(front)) as client:
        for path in paths:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            while not client.recv(65_536).endswith(b"[]"):
                pass

    assert len(peer.asked) <= 1 + int(time.time()) - began


@pytest.mark.parametrize(
    ("request_line", "more", "status"),
    [
        ("GET /%zz HTTP/1.1", "", 400),
        ("GET / HTTP/1.1", "Content-Length: 4000", 413),
        ("x", "", 400),
        ("TRACE / HTTP/1.1", "", 405),
        (f"GET /{'x' * 5_000} HTTP/1.1", "", 414),
        ("GET / HTTP/1.1", f"X-Large: {'x' * 5_000}", 431),
        ("GET / HTTP/1.1", f"X-Many: {'x' * 1_000}\r\n" * 20, 431),
        ("POST / HTTP/1.1", "Transfer-Encoding: gzip, chunked", 501),
        ("GET / HTTP/9.9", "", 505),
    ],
)
def test_what_nginx_refuses_is_a_problem_document(
    scripted: tuple[HttpPeer, str], request_line: str, more: str, status: int
) -> None:
    """Such a request never reaches the service."""
    peer, front = scripted
    code, headers, body = _answered(front, f"{request_line}\r\nHost: x\r\n{more}\r\n\r\n")
    problem = json.loads(body)

    assert (status, status, []) == (code, problem["status"], peer.asked)
    assert headers["X-Request-Id"] == problem["request_id"]
    assert ("nosniff", "Retry-After, X-Request-Id") == (
        headers["X-Content-Type-Options"],
        headers["Access-Control-Expose-Headers"],
    )


def test_the_service_learns_who_asks(scripted: tuple[HttpPeer, str]) -> None:
    """The client's address is the last one of X-Forwarded-For, whatever the client has sent.

    HTTP/1.0 needs no Host, and simple probes speak that.
    """
    peer, front = scripted
    paths = (LIST, "/health", STREAM)
    with client_of(front, Host="odds.example", **{"X-Forwarded-For": "192.0.2.1"}) as client:
        for path in paths:
            client.get(path)
    simple = [_answered(front, f"GET {path} HTTP/1.0\r\n\r\n")[0] for path in (LIST, "/health/live")]

    found = [(request.headers["x-forwarded-for"], request.headers["host"]) for request in peer.asked[:3]]
    assert ([("192.0.2.1, 127.0.0.1", "odds.example")] * 3, [200, 200]) == (found, simple)


class _Keeping(http.server.ThreadingHTTPServer):
    """A server that keeps its connections, on TCP or a Unix socket, and counts new connections."""

    def __init__(self, address: tuple[str, int] | str) -> None:
        self.connections = 0
        self.address_family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        super().__init__(address, _Answering)  # type: ignore[arg-type]  # a path is fine for AF_UNIX

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's own method looks up a name

    def process_request(self, request: object, client_address: object) -> None:
        self.connections += 1
        super().process_request(request, client_address)  # type: ignore[arg-type]


class _Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")


@pytest.mark.parametrize("is_unix", [False, True])
def test_connections_to_the_service_are_kept(tmp_path: Path, *, is_unix: bool) -> None:
    """The proxy keeps its connections over TCP and over a Unix socket."""
    path = str(tmp_path / "socket")
    with _Keeping(path if is_unix else ("127.0.0.1", 0)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        upstream = f"unix:{path}" if is_unix else f"127.0.0.1:{server.server_address[1]}"
        with nginx(upstream, tmp_path) as front, client_of(front) as client:
            bodies = {client.get("/health").content for _ in range(20)}
        server.shutdown()

    assert ({b"ok"}, 1) == (bodies, server.connections)


def test_tls_and_http_2_are_spoken_there(tmp_path: Path) -> None:
    """With the lines for a certificate, browsers get HTTP/2, and the service still gets HTTP/1.1."""
    port, pair = free_port(), Authority(tmp_path).self_signed("site")
    tls = (
        f"listen 127.0.0.1:{port} ssl http2;\n"
        f"ssl_certificate {pair.certificate};\nssl_certificate_key {pair.key};\n"
    )
    context = ssl.create_default_context(cafile=str(pair.certificate))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with http_peer() as peer, nginx(f"127.0.0.1:{peer.port}", tmp_path, tls=tls):
        peer.otherwise = respond(b"[]", headers=KEPT)
        plain = socket.create_connection(("127.0.0.1", port), UNTIL_S)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            spoken = wrapped.selected_alpn_protocol()
        trusted = ssl.create_default_context(cafile=str(pair.certificate))
        answer = httpx2.get(f"https://127.0.0.1:{port}{LIST}", trust_env=False, verify=trusted)
        without = httpx2.get(f"http://127.0.0.1:{port}{LIST}", trust_env=False)

    assert ("h2", 200) == (spoken, answer.status_code)
    assert 400 == without.status_code == without.json()["status"]


def test_a_replica_that_shows_nothing_is_passed_over(tmp_path: Path) -> None:
    """One of three replicas in a cluster answers; if all three answer 503, the client gets the 503."""
    shipped = (ROOT / "config" / "deploy" / "cluster" / "compose.yaml").read_text("utf-8")
    paths = (LIST, "/api/v2/changes?since=1", "/health")
    with ExitStack() as stack:
        peers = [stack.enter_context(http_peer()) for _ in range(3)]
        (replaced,) = re.findall(r"8000;/(server [^/]+);/", shipped)
        for peer in peers:
            replaced = re.sub(r"172[.0-9]+:8000", f"127.0.0.1:{peer.port}", replaced, count=1)
            peer.otherwise = respond(b"none of this replica", 503)
        front = stack.enter_context(nginx(replaced.removeprefix("server "), tmp_path))
        client = stack.enter_context(client_of(front))
        nothing = {client.get(path).text for path in paths * 20}
        peers[1].otherwise = respond(b"a list")
        shown = {client.get(path).text for path in paths * 20}

    assert ({"none of this replica"}, {"a list"}) == (nothing, shown)


def _has_asked(peer: HttpPeer, count: int) -> bool:
    return len(peer.asked) == count


def test_a_client_for_which_it_has_no_connection_is_refused(tmp_path: Path) -> None:
    """One of eleven clients that need two connections each finds only one, and gets a problem document."""
    is_over = threading.Event()
    with http_peer() as peer, ExitStack() as opened:
        peer.otherwise = hang(is_over)
        front = opened.enter_context(nginx(f"127.0.0.1:{peer.port}", tmp_path, connections=24))
        for count in range(1, 11):
            waiting = opened.enter_context(socket.create_connection(_address(front)))
            waiting.sendall(f"GET {STREAM} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            eventually(partial(_has_asked, peer, count), "it waits for the service")
        code, _, body = _answered(front, f"GET {STREAM} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        is_over.set()

    assert 503 == code == json.loads(body)["status"]


def test_one_client_has_a_hundred_requests_at_once(scripted: tuple[HttpPeer, str]) -> None:
    """A further request gets 429 as a problem document, until one of the hundred is over."""
    peer, front = scripted
    is_over = threading.Event()
    peer.answers[STREAM] = hang(is_over)
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_connection(_address(front))) for _ in range(101)]
        for connection in sockets:
            connection.sendall(f"GET {STREAM} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answered = select.select(sockets, [], [], UNTIL_S)[0]
        (refused,) = [connection.recv(65_536) for connection in answered]
        is_over.set()

    head, _, body = refused.partition(b"\r\n\r\n")
    assert (b"429", "too_many_requests") == (head.split()[1], json.loads(body)["code"])
    assert b"\r\nRetry-After: 1\r\n" in head


def test_half_a_request_is_not_waited_for(scripted: tuple[HttpPeer, str]) -> None:
    """The connection with half a request ends by itself."""
    _, front = scripted
    halves = b"GET /health HT", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_connection(_address(front), UNTIL_S)) for _ in halves]
        for connection, half in zip(sockets, halves, strict=True):
            connection.sendall(half)
        received = [b"".join(iter(partial(sock.recv, 65536), b"")) for sock in sockets]

    assert not any(b"200 OK" in answer for answer in received)
