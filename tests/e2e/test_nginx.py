"""The service behind nginx, with the settings that we ship (config/deploy/nginx.conf)."""

from __future__ import annotations

import gzip
import http.server
import itertools
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
from tests.support.builders.football_data import sheet
from tests.support.peers.http import Answer, Asked, HttpPeer, drop, hang, http_peer, respond
from tests.support.source_code import ROOT
from tests.support.systems.feed import configured, unmoving
from tests.support.systems.process import Service, free_port, service
from tests.support.systems.proxies import UNTIL_S, client_of, needs_nginx, nginx
from tests.support.time.waiting import eventually, let_pass

LIST = "/api/v2/odds"
KEPT = {"Cache-Control": "no-cache", "ETag": '"1-e"'}

pytestmark = [pytest.mark.long, needs_nginx]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of nginx in front of a service whose list stays as it is."""
    folder = tmp_path_factory.mktemp("nginx")
    with unmoving(folder) as running, nginx(_host_of(running), folder) as address:
        yield address


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[tuple[HttpPeer, str]]:
    """Return a scripted service and the address of nginx in front of it."""
    with http_peer() as peer, nginx(f"127.0.0.1:{peer.port}", tmp_path) as address:
        yield peer, address


def _host_of(running: Service) -> str:
    return running.base.removeprefix("http://")


def _numbered(peer: HttpPeer, path: str, headers: dict[str, str] = KEPT) -> None:
    """Have the peer answer with a number that is another one each time."""
    numbers = itertools.count()

    def answer(connection: socket.socket, asked: Asked) -> None:
        respond(str(next(numbers)).encode(), headers=headers)(connection, asked)

    peer.answers[path] = answer


@pytest.mark.parametrize("coding", ["identity", "gzip", "gzip, deflate, br", "gzip;q=0", "br"])
def test_a_poll_with_a_tag_is_304(front: str, coding: str) -> None:
    """With the cache in between too: for the tag of that coding, strong, weak, in a list, and for `*`."""
    with client_of(front, **{"Accept-Encoding": coding}) as client:
        first = client.get(LIST)
        tag = first.headers["etag"]
        again = [
            client.get(LIST, headers={"If-None-Match": name})
            for name in (tag, f"W/{tag}", f'"x", {tag}', "*")
        ]
        other = client.get(LIST, headers={"If-None-Match": '"1-e"'})

    assert [(304, tag, b"", "no-cache")] * 4 == [
        (
            response.status_code,
            response.headers["etag"],
            response.content,
            response.headers["cache-control"],
        )
        for response in again
    ]
    assert [(200, "no-cache")] * 2 == [
        (response.status_code, response.headers["cache-control"]) for response in (first, other)
    ]
    assert (coding in {"gzip", "gzip, deflate, br"}) == tag.endswith('-gzip"')


def test_each_coding_has_the_list_of_the_service(front: str) -> None:
    """They are kept apart, and gzip is as the service made it."""
    with client_of(front) as client:
        plain = client.get(LIST, headers={"Accept-Encoding": "identity"})
        with client.stream("GET", LIST, headers={"Accept-Encoding": "gzip"}) as packed:
            raw = b"".join(packed.iter_raw())

    assert plain.content == gzip.decompress(raw)
    assert (None, "gzip") == (plain.headers.get("content-encoding"), packed.headers["content-encoding"])
    assert plain.headers["etag"].replace('"', "") + "-gzip" == packed.headers["etag"].replace('"', "")


@pytest.mark.parametrize(
    "path",
    [
        LIST,
        f"{LIST}?bookmaker=a",
        "/api/odds",
        "/api/v2/fixtures",
        "/api/v2/surebets?bookmaker=a",
        "/",
        "/static/main.js",
    ],
)
def test_the_service_is_asked_once_a_second(scripted: tuple[HttpPeer, str], path: str) -> None:
    """At most so often, for each address."""
    peer, front = scripted
    peer.answers[path] = respond(b"[]", headers=KEPT)
    began = time.monotonic()
    with client_of(front) as client:
        statuses = {client.get(path).status_code for _ in range(800)}

    assert {200} == statuses
    assert 1 <= len(peer.asked) <= 2 + (time.monotonic() - began)


@pytest.mark.parametrize("gone", [respond(b"no", 503, {"Cache-Control": "no-store"}), drop])
def test_an_old_list_is_not_shown_in_the_place_of_an_error(
    scripted: tuple[HttpPeer, str], gone: Answer
) -> None:
    """However many ask at once: soon after the service has nothing to show, nobody gets the list."""
    peer, front = scripted
    peer.answers[LIST] = respond(b"[]", headers=KEPT)
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
    """Nobody gets one that was made in an earlier second than the one in which he asked."""
    peer, front = scripted

    def answer(connection: socket.socket, asked: Asked) -> None:
        respond(str(int(time.time())).encode(), headers=KEPT)(connection, asked)

    peer.answers[LIST] = answer
    with client_of(front) as client:
        answers = [(int(time.time()), int(client.get(LIST).content)) for _ in range(1500)]

    assert [] == [pair for pair in answers if pair[1] < pair[0]]


def test_what_is_about_to_go_is_not_kept(scripted: tuple[HttpPeer, str]) -> None:
    """Each client gets an answer of its own."""
    peer, front = scripted
    _numbered(peer, LIST, {**KEPT, "X-Accel-Expires": "0"})
    with client_of(front) as client:
        answers = [client.get(LIST) for _ in range(5)]

    assert [b"0", b"1", b"2", b"3", b"4"] == [answer.content for answer in answers]
    assert not any("x-accel-expires" in answer.headers for answer in answers)


def test_many_who_ask_at_once_ask_the_service_once(scripted: tuple[HttpPeer, str]) -> None:
    """Also at first, and when nobody has asked for so long that what is kept may not be shown."""
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


@pytest.mark.parametrize("query", ["?x=1", "?bookmaker=a&bookmaker=b", "?bookmaker=%61", "?bookmaker="])
def test_other_queries_are_not_kept(scripted: tuple[HttpPeer, str], query: str) -> None:
    """Whatever clients invent, the cache holds one copy for each bookmaker and coding."""
    peer, front = scripted
    _numbered(peer, LIST)
    with client_of(front) as client:
        assert [b"0", b"1"] == [client.get(LIST + query).content for _ in range(2)]


@pytest.mark.parametrize("path", ["/health", "/health/ready", "/api/v2/changes", "/nothing"])
def test_other_paths_are_not_kept(scripted: tuple[HttpPeer, str], path: str) -> None:
    """Probes, counters and changes always come from the service."""
    peer, front = scripted
    _numbered(peer, path)
    with client_of(front) as client:
        assert [b"0", b"1"] == [client.get(path).content for _ in range(2)]


@pytest.mark.parametrize(
    "path",
    [
        *("/metrics", "/metrics?x=1", "/%6Detrics", "/monitor", "/%6Donitor", "/monitor?x=1", "/monitor/"),
        *("/monitor/entries/a_1", "/monitor%2Ffixtures/1", "/api/stats", "/api%2Fst%61ts?x=1"),
    ],
)
def test_the_public_gets_nothing_of_operators(scripted: tuple[HttpPeer, str], path: str) -> None:
    """However the path is spelled, the service is not asked."""
    peer, front = scripted
    with client_of(front) as client:
        answer = client.get(path)

    assert (404, "not_found", []) == (answer.status_code, answer.json()["code"], peer.asked)


def test_a_password_is_two_lines(tmp_path: Path) -> None:
    """Those of the comment: without it 401 as a problem document, also for lists that are kept."""
    users = tmp_path / "users"
    users.write_text("anna:{PLAIN}s3cret\n", "utf-8")
    lines = f'    auth_basic "oddsboard";\n    auth_basic_user_file {users};\n'
    with http_peer() as peer, nginx(f"127.0.0.1:{peer.port}", tmp_path, tls=lines) as front:
        peer.answers[LIST] = respond(b"{}", headers=KEPT)
        peer.answers["/health"] = respond(b"{}")
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


def test_a_list_goes_when_its_source_is_silent(tmp_path: Path) -> None:
    """From two seconds before its deadline the service says that it must not be kept; then it is 503."""
    with http_peer() as peer:
        peer.answers["/only.csv"] = respond(sheet("B365", (2.0, 3.5, 4.0)))
        config = configured(tmp_path, peer, ["only"], stale_after_s=4)
        with (
            service(config) as feed,
            nginx(feed.base.removeprefix("http://"), tmp_path) as front,
            client_of(front) as client,
        ):
            eventually(lambda: client.get(LIST).status_code == 200, "nginx shows the list")
            kept = feed.get(LIST).headers
            peer.answers["/only.csv"] = drop
            eventually(lambda: feed.get(LIST).headers.get("x-accel-expires") == "0", "it is due")
            eventually(lambda: client.get(LIST).status_code == 503, "nginx shows it no more")

    assert "x-accel-expires" not in kept


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_streams_and_waits_are_not_held_back(front: str, coding: str) -> None:
    """The first event of a stream comes at once, compressed or not, and an answer when it is there."""
    with client_of(front, **{"Accept-Encoding": coding}) as client:
        since = client.get(LIST).headers["etag"].replace('"', "").removesuffix("-gzip")
        wait = client.get("/api/v2/changes", params={"since": since, "wait": "0.1"})
        with client.stream("GET", "/api/v2/stream") as stream:
            first = next(filter(None, stream.iter_bytes()))

    assert (200, "no-store") == (wait.status_code, wait.headers["cache-control"])
    assert first.startswith(b"id: ")
    assert coding == stream.headers.get("content-encoding", "identity")


def test_a_stream_passes_as_far_as_it_has_come(scripted: tuple[HttpPeer, str]) -> None:
    """A few bytes pass although the rest does not come."""
    path = "/api/v2/stream"
    peer, front = scripted
    is_over = threading.Event()

    def answer(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nid: 1")
        hang(is_over)(connection, asked)

    peer.answers[path] = answer
    with client_of(front) as client, client.stream("GET", path) as response:
        first = next(response.iter_bytes())
        is_over.set()

    assert b"id: 1" == first


@pytest.mark.parametrize("path", ["/api/v2/changes", "/api/v2/fixtures?from=1", "/health"])
def test_the_service_is_rid_of_a_long_answer_that_is_not_read(
    scripted: tuple[HttpPeer, str], path: str
) -> None:
    """The client reads nothing, nginx takes all of it."""
    peer, front = scripted
    is_sent = threading.Event()

    def answer(connection: socket.socket, asked: Asked) -> None:
        respond(bytes(16_777_216), headers={"Cache-Control": "no-store"})(connection, asked)
        is_sent.set()

    peer.answers[path] = answer
    host, _, port = front.removeprefix("http://").partition(":")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect((host, int(port)))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

        assert is_sent.wait(UNTIL_S)


@pytest.mark.parametrize("tail", ["odd%73", "%6Fdds", "./odds", "x/../odds"])
def test_each_spelling_of_a_path_has_the_same_copy(scripted: tuple[HttpPeer, str], tail: str) -> None:
    """However many there are, the cache has one file for them."""
    peer, front = scripted
    for path in (LIST, f"/api/v2/{tail}"):
        peer.answers[path] = respond(b"[]", headers=KEPT)
    began = int(time.time())
    with socket.create_connection(("127.0.0.1", int(front.rpartition(":")[2]))) as client:
        for count in range(100):
            path = LIST if count % 2 else f"/api/v2/{tail}"
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            while not client.recv(65_536).endswith(b"[]"):
                pass

    assert len(peer.asked) <= 1 + int(time.time()) - began


@pytest.mark.parametrize("path", [LIST, "/", "/api/v2/changes", "/api/v2/stream", "/health"])
def test_while_the_service_is_down_errors_are_problem_documents(tmp_path: Path, path: str) -> None:
    """As it is for a moment in a restart: 503 with when to come again, as any error of the service."""
    with nginx(f"127.0.0.1:{free_port()}", tmp_path) as front, client_of(front) as client:
        answer = client.get(path)

    problem = answer.json()
    assert (503, "application/problem+json") == (answer.status_code, answer.headers["content-type"])
    assert ("1", "*") == (answer.headers["retry-after"], answer.headers["access-control-allow-origin"])
    assert {"code", "detail", "instance", "request_id", "status", "title", "type"} == problem.keys()
    assert (503, "overloaded") == (problem["status"], problem["code"])
    assert answer.headers["x-request-id"] == problem["request_id"]
    assert ("nosniff", "Retry-After, X-Request-Id") == (
        answer.headers["x-content-type-options"],
        answer.headers["access-control-expose-headers"],
    )


@pytest.mark.parametrize(
    ("request_line", "more", "status"),
    [
        ("GET /%zz HTTP/1.1", "", 400),
        ("GET / HTTP/1.1", "Content-Length: 4000", 413),
        ("x", "", 400),
        ("TRACE / HTTP/1.1", "", 405),
        ("GET / HTTP/1.1", f"X-Large: {'x' * 5_000}", 431),
        ("POST / HTTP/1.1", "Transfer-Encoding: gzip, chunked", 501),
        ("GET / HTTP/9.9", "", 505),
        (f"GET {LIST} HTTP/1.1", 'If-Match: "x"\r\nConnection: close', 412),
    ],
)
def test_what_nginx_refuses_is_a_problem_document(
    front: str, request_line: str, more: str, status: int
) -> None:
    """And a target that is too long."""
    for line, code in ((request_line, status), (f"GET /{'x' * 5_000} HTTP/1.1", 414)):
        with socket.create_connection(("127.0.0.1", int(front.rpartition(":")[2])), UNTIL_S) as client:
            client.sendall(f"{line}\r\nHost: x\r\n{more}\r\n\r\n".encode())
            head, _, body = b"".join(iter(lambda: client.recv(65_536), b"")).partition(b"\r\n\r\n")

        assert code == json.loads(body)["status"] == int(head.split()[1])


@pytest.mark.parametrize("path", [LIST, "/health/live"])
def test_a_request_without_a_host_is_answered(front: str, path: str) -> None:
    """HTTP/1.0 has no need of it, and simple probes speak that."""
    with socket.create_connection(("127.0.0.1", int(front.rpartition(":")[2])), UNTIL_S) as client:
        client.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        answer = b"".join(iter(lambda: client.recv(65_536), b""))

    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", [LIST, "/health", "/api/v2/stream"])
def test_the_service_learns_who_asks(scripted: tuple[HttpPeer, str], path: str) -> None:
    """The client's address is the last one of X-Forwarded-For, whatever the client has sent."""
    peer, front = scripted
    peer.answers[path] = respond(b"[]", headers=KEPT)
    with client_of(front, Host="odds.example", **{"X-Forwarded-For": "192.0.2.1"}) as client:
        client.get(path)

    headers = peer.asked[0].headers
    assert ("192.0.2.1, 127.0.0.1", "odds.example") == (headers["x-forwarded-for"], headers["host"])


class _Keeping(http.server.ThreadingHTTPServer):
    """A server that keeps its connections, on TCP or a Unix socket; counts those that came."""

    def __init__(self, address: tuple[str, int] | str) -> None:
        self.connections = 0
        self.address_family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        super().__init__(address, _Answering)  # type: ignore[arg-type]  # a path is fine for AF_UNIX

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # the other one looks up a name

    def process_request(self, request: object, client_address: object) -> None:
        self.connections += 1
        super().process_request(request, client_address)  # type: ignore[arg-type]


class _Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")


@pytest.mark.parametrize("is_unix", [False, True])
def test_connections_to_the_service_are_kept(tmp_path: Path, *, is_unix: bool) -> None:
    """Over TCP, and over a Unix socket."""
    path = str(tmp_path / "socket")
    with _Keeping(path if is_unix else ("127.0.0.1", 0)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        upstream = f"unix:{path}" if is_unix else f"127.0.0.1:{server.server_address[1]}"
        with nginx(upstream, tmp_path) as front, client_of(front) as client:
            bodies = {client.get("/health").content for _ in range(20)}
        server.shutdown()

    assert ({b"ok"}, 1) == (bodies, server.connections)


def test_the_site_may_have_it_below_a_path(tmp_path: Path) -> None:
    """Page, lists, stream and 304 work there without any setting of the service."""
    port = free_port()
    site = (
        f"server {{ listen 127.0.0.1:{port}; location /odds/ {{ proxy_pass http://127.0.0.1:PORT/;"
        " proxy_http_version 1.1; proxy_buffering off; proxy_read_timeout 40s;"
        " proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } }"
    )
    with (
        unmoving(tmp_path) as running,
        nginx(_host_of(running), tmp_path, more=site),
        client_of(f"http://127.0.0.1:{port}") as client,
    ):
        tag = client.get(f"/odds{LIST}").headers["etag"]
        again = client.get(f"/odds{LIST}", headers={"If-None-Match": tag})
        page, script = client.get("/odds/"), client.get("/odds/static/main.js")
        with client.stream("GET", "/odds/api/v2/stream") as stream:
            first = next(stream.iter_bytes())

    assert (304, 200, 200) == (again.status_code, page.status_code, script.status_code)
    assert '"static/main.js"' in page.text
    assert first.startswith(b"id: ")


def test_tls_and_http_2_are_spoken_there(tmp_path: Path) -> None:
    """With the lines for a certificate, browsers get HTTP/2, and the service HTTP/1.1 as ever."""
    port, pair = free_port(), Authority(tmp_path).self_signed("site")
    tls = (
        f"listen 127.0.0.1:{port} ssl http2;\n"
        f"ssl_certificate {pair.certificate};\nssl_certificate_key {pair.key};\n"
    )
    context = ssl.create_default_context(cafile=str(pair.certificate))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with unmoving(tmp_path) as running, nginx(_host_of(running), tmp_path, tls=tls):
        plain = socket.create_connection(("127.0.0.1", port), UNTIL_S)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            spoken = wrapped.selected_alpn_protocol()
        trusted = ssl.create_default_context(cafile=str(pair.certificate))
        answer = httpx2.get(f"https://127.0.0.1:{port}{LIST}", trust_env=False, verify=trusted)
        without = httpx2.get(f"http://127.0.0.1:{port}{LIST}", trust_env=False)

    assert ("h2", 200) == (spoken, answer.status_code)
    assert 400 == without.status_code == without.json()["status"]


@pytest.mark.parametrize("path", [LIST, "/api/v2/changes?since=1", "/health"])
def test_a_replica_that_shows_nothing_is_passed_over(tmp_path: Path, path: str) -> None:
    """Of three in a cluster another answers; if all are so, that is what the client gets, each time."""
    shipped = (ROOT / "config" / "deploy" / "cluster" / "compose.yaml").read_text("utf-8")
    with ExitStack() as stack:
        peers = [stack.enter_context(http_peer()) for _ in range(3)]
        (replaced,) = re.findall(r"8000;/(server [^/]+);/", shipped)
        for peer in peers:
            replaced = re.sub(r"172[.0-9]+:8000", f"127.0.0.1:{peer.port}", replaced, count=1)
            peer.otherwise = respond(b"none of this replica", 503)
        front = stack.enter_context(nginx(replaced.removeprefix("server "), tmp_path))
        client = stack.enter_context(client_of(front))
        nothing = {client.get(path).text for _ in range(20)}
        peers[1].otherwise = respond(b"a list")
        shown = {client.get(path).text for _ in range(20)}

    assert ({"none of this replica"}, {"a list"}) == (nothing, shown)


def _has_asked(peer: HttpPeer, count: int) -> bool:
    return len(peer.asked) == count


def test_a_client_for_which_it_has_no_connection_is_refused(tmp_path: Path) -> None:
    """With a problem document: of eleven that wait, each with two connections, one has no second."""
    is_over = threading.Event()
    with http_peer() as peer, ExitStack() as opened:
        peer.otherwise = hang(is_over)
        front = opened.enter_context(nginx(f"127.0.0.1:{peer.port}", tmp_path, connections=24))
        address = ("127.0.0.1", int(front.rpartition(":")[2]))
        for count in range(1, 11):
            waiting = opened.enter_context(socket.create_connection(address))
            waiting.sendall(b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually(partial(_has_asked, peer, count), "it waits for the service")
        with socket.create_connection(address, UNTIL_S) as refused:
            refused.sendall(b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            head, _, body = b"".join(iter(lambda: refused.recv(65_536), b"")).partition(b"\r\n\r\n")
        is_over.set()

    assert b"503" == head.split()[1]
    assert 503 == json.loads(body)["status"]


def test_one_client_has_a_hundred_requests_at_once(scripted: tuple[HttpPeer, str]) -> None:
    """One more is 429 as a problem document, until one of them is over."""
    peer, front = scripted
    is_over, port = threading.Event(), int(front.rpartition(":")[2])
    peer.answers["/api/v2/stream"] = hang(is_over)
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(101)]
        for connection in sockets:
            connection.sendall(b"GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n")
        answered = select.select(sockets, [], [], UNTIL_S)[0]
        (refused,) = [connection.recv(65_536) for connection in answered]
        is_over.set()

    head, _, body = refused.partition(b"\r\n\r\n")
    assert (b"429", "too_many_requests") == (head.split()[1], json.loads(body)["code"])
    assert b"\r\nRetry-After: 1\r\n" in head


@pytest.mark.parametrize(
    "sent", [b"GET /health HT", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"]
)
def test_half_a_request_is_not_waited_for(front: str, sent: bytes) -> None:
    """Its connection ends by itself."""
    with socket.create_connection(("127.0.0.1", int(front.rpartition(":")[2])), UNTIL_S) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert b"200 OK" not in received


def test_a_large_head_is_refused(scripted: tuple[HttpPeer, str]) -> None:
    """It never reaches the service."""
    peer, front = scripted
    with client_of(front) as client:
        statuses = [
            client.get("/health", params={"x": "y" * 5000}).status_code,
            client.get("/health", headers={"X-Large": "y" * 5000}).status_code,
            client.get("/health", headers=[("X-Many", "y" * 1000)] * 20).status_code,
            client.post("/health", content=b"y" * 2000).status_code,
        ]

    assert ([414, 431, 431, 413], []) == (statuses, peer.asked)
