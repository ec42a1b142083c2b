"""A cluster of real processes over a real server, and clients that keep a history.

The faults are in `harm.py`. Each process reaches the server through a proxy of its own, which can be cut in
either direction, or slow.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from random import Random

import httpx2

from actors.board.validity import HOLDS_S
from tests.support.builders.clusters import two_sources
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.moving import MovingClient, digest
from tests.support.systems.process import Service, service
from tests.support.systems.shared_server import SharedServer
from tests.support.time.waiting import eventually

LIMITS = """
[limits]
requests_per_s = 10000
burst = 10000
"""
PATHS = (
    "/api/v2/odds",
    "/api/odds?bookmaker=alder",
    "/api/v2/odds?bookmaker=birch",
    "/api/v2/fixtures",
    "/api/v2/fixtures?bookmaker=alder",
    "/api/v2/surebets",
    "/api/v2/surebets?market=any",
    "/api/v2/fixtures?market=over_under:2.5",
    "/api/v2/fixtures?market=main",
    "/api/v2/fixtures?market=1x2,asian_handicap:-0.5,btts",
    "/api/v2/markets",
)
LIST = "/api/v2/odds"
OK, UNCHANGED, MISSING, UNAVAILABLE = 200, 304, 410, 503
MAX_COMPARED = 2_000
KNOWN = 0.5
"""The share of requests that send the tag that the client has."""
BACK_S = 60.0
LATE_S = 0.5
"""Time for a client that notes an answer late, on a busy machine."""


class Proxy:
    """Passes bytes on to a server, unless one direction is cut; `delay_s` is the delay of each piece.

    With `tls` the clients of the server speak TLS with the proxy.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._target, self._tls = ("127.0.0.1", port), tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.is_cut_there = self.is_cut_back = False
        self.delay_s = 0.0
        self.held = self.connections = 0
        self._is_over = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End the proxy, with its connections."""
        self._is_over = True
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve_counted, args=(client,), daemon=True).start()

    def _serve_counted(self, accepted: socket.socket) -> None:
        try:
            self._serve(accepted)
        finally:
            self.connections -= 1

    def _serve(self, accepted: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            accepted if self._tls is None else self._tls.wrap_socket(accepted, server_side=True) as client,
            socket.create_connection(self._target, 2.0) as server,
            selectors.DefaultSelector() as selector,
        ):
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while not self._is_over:
                for key, _ in selector.select(0.1):
                    source, to = key.fileobj, key.data
                    assert isinstance(source, socket.socket)
                    if not self._passes(source is client):
                        continue
                    if not (data := _received(source)):
                        return
                    to.sendall(data)

    def _passes(self, is_there: bool) -> bool:  # noqa: FBT001 - the direction
        """Wait as long as a piece is held up; return whether the piece may go on now."""
        time.sleep(self.delay_s)
        is_cut = self.is_cut_there if is_there else self.is_cut_back
        self.held += is_cut or self.delay_s > 0
        if is_cut:
            time.sleep(0.02)
        return not is_cut


def _received(source: socket.socket) -> bytes:
    """Return the bytes that have come; with TLS all bytes that are decrypted already."""
    data = source.recv(65_536)
    while isinstance(source, ssl.SSLSocket) and (left := source.pending()):
        data += source.recv(left)
    return data


@dataclass
class History:
    """The answers to clients: a digest of the bytes for each tag, and when each version was shown.

    `fired` counts faults, and answers of 503; `taken_over_s` is how long the sources of each collector that
    was killed were not all live at another collector. `followed` counts the changes of a client that asks
    another machine each time, `matched` the resulting lists that were served as well.
    """

    violations: list[str] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    taken_over_s: list[float] = field(default_factory=list)
    answers: int = 0
    compared: int = 0
    followed: int = 0
    matched: int = 0
    bodies: dict[tuple[str, str, str], bytes] = field(default_factory=dict)
    _seen: dict[tuple[str, str], list[tuple[float, int]]] = field(default_factory=dict)
    _last: dict[str, dict[str, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(
        self, machine: str, path: str, asked: float, answer: httpx2.Response, body: bytes, *, sent: str
    ) -> None:
        """Take an answer to a request sent at `asked` (monotonic seconds), with its body as sent.

        The client has `sent` the tag that it had: it must not get an older list.
        """
        with self._lock:
            self.answers += 1
            if answer.status_code == UNAVAILABLE:
                self.fired["503"] += 1
                return
            tag = answer.headers["etag"]
            version, epoch = int(tag.strip('"').split("-")[0]), tag.strip('"').split("-")[1]
            where = f"{machine} {path} {tag}"
            coding = answer.headers.get("content-encoding", "identity")
            if sent and version < int(sent.strip('"').split("-")[0]):
                self.violations.append(f"{where}: older than {sent}")
            if answer.status_code == UNCHANGED:
                return
            raw, found = (path, coding, tag), digest(body)
            self.compared += raw in self.bodies
            if self.bodies.setdefault(raw, found) != found:
                self.violations.append(f"{where}: other bytes")
            self._check_age(where, path, epoch, version, asked)

    def take(self, moving: MovingClient) -> None:
        """Take a client's lists from changes: each list that was also served must equal the served one."""
        self.followed += moving.followed
        self.violations += moving.wrong
        for cursor, body in moving.kept.items():
            if (served := self._served(cursor)) is not None:
                self.matched += 1
                if served != body:
                    self.violations.append(f"{cursor}: another list was kept from changes")

    def has_all(self, moving: MovingClient) -> bool:
        """Return whether answers were compared, and a client's changes led to a list that was served."""
        is_matched = any(self._served(cursor) is not None for cursor in list(moving.kept))
        return self.compared > 0 and moving.followed > 0 and is_matched

    def _served(self, cursor: str) -> bytes | None:
        return self.bodies.get((LIST, "identity", f'"{cursor}"'))

    def _check_age(self, where: str, path: str, epoch: str, version: int, asked: float) -> None:
        """Check that no client got a newer version of this list long before this answer."""
        seen = self._seen.setdefault((path, epoch), [])
        newer = bisect_right(seen, version, key=itemgetter(1))
        if newer < len(seen) and (behind_s := asked - seen[newer][0]) > HOLDS_S + LATE_S:
            self.violations.append(f"{where}: {behind_s:.1f} s behind")
        firsts = self._last.setdefault(path, {})
        firsts.setdefault(epoch, version)
        before = [last[-1][1] for (of, e), last in self._seen.items() if of == path and e != epoch and last]
        if epoch == list(firsts)[-1] and before and version <= max(before):
            self.violations.append(f"{where}: a version of another epoch")
        if not seen or version > seen[-1][1]:
            seen.append((time.monotonic(), version))


class Machines:
    """Processes by name, each with its proxy; they share `server`, and `shown` are the replicas.

    The process `archiving` has an archive, if any. All read the other `markets` besides 1X2.
    """

    def __init__(
        self,
        server: SharedServer,
        folder: Path,
        roles: dict[str, str],
        archiving: str = "",
        markets: Sequence[str] = (),
    ) -> None:
        self.server, self.roles = server, roles
        self.running: dict[str, Service] = {}
        self.proxies = {name: Proxy(server.port) for name in roles}
        self._ends: dict[str, contextlib.ExitStack] = {}
        self.shown = [name for name, of in roles.items() if "replica" in of]
        self._configs = {}
        for name, of in roles.items():
            file = folder / f"{name}.toml"
            url = f"redis://127.0.0.1:{self.proxies[name].port}/0"
            archive = f"[archive]\npath = {str(folder / 'archive')!r}\n" if name == archiving else ""
            file.write_text(LIMITS + archive + two_sources(url, of, 60, 20.0, markets), "utf-8")
            self._configs[name] = file

    def start_all(self) -> None:
        """Start all processes together, and wait until all show every bookmaker."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.start, self.roles))
        wait_back(self)

    def start(self, name: str) -> None:
        """Start a process."""
        end = contextlib.ExitStack()
        self.running[name] = end.enter_context(service(self._configs[name]))
        self._ends[name] = end

    def kill(self, name: str) -> None:
        """Kill a process."""
        self.running.pop(name, None)
        self._ends.pop(name).close()

    def close(self) -> None:
        """End all processes."""
        for name in list(self._ends):
            self.kill(name)
        for proxy in self.proxies.values():
            proxy.close()


@contextlib.contextmanager
def asked(machines: Machines, history: History, random: Random) -> Iterator[MovingClient]:
    """Have clients ask any machine for anything within the block; return the client that keeps a list."""
    is_over = threading.Event()

    def ask(own: Random) -> None:
        tags: dict[tuple[str, str], str] = {}  # the tags of the last answers
        with httpx2.Client(trust_env=False, verify=NO_TLS, timeout=3.0) as client:
            while not is_over.is_set():
                is_over.wait(0.02)
                name = own.choice(machines.shown)
                if (running := machines.running.get(name)) is None:
                    continue
                path, coding, at = own.choice(PATHS), own.choice(["gzip", "identity"]), time.monotonic()
                with contextlib.suppress(httpx2.TransportError):
                    sent = tags.get((path, coding), "") if own.random() < KNOWN else ""
                    headers = {"Accept-Encoding": coding, **({"If-None-Match": sent} if sent else {})}
                    with client.stream("GET", running.base + path, headers=headers) as answer:
                        body = b"".join(answer.iter_raw())
                    history.note(name, path, at, answer, body, sent=sent)
                    if "etag" in answer.headers:
                        tags[path, coding] = answer.headers["etag"]

    moving = MovingClient(
        lambda own: machines.running.get(own.choice(machines.shown)), Random(random.random())
    )
    threads = [threading.Thread(target=ask, args=(Random(random.random()),), daemon=True) for _ in range(2)]
    threads.append(threading.Thread(target=moving.run, args=(is_over.is_set,), daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield moving
    finally:
        is_over.set()
        for thread in threads:
            thread.join(5.0)
        history.take(moving)


def compare(history: History, running: Service, random: Random) -> Counter[int]:
    """Compare served lists with the archive of a process; return the statuses of its answers."""
    served = [key for key in history.bodies if key[0].startswith(LIST) and key[1] == "identity"]
    answered = Counter[int]()
    with httpx2.Client(trust_env=False, verify=NO_TLS, timeout=30.0) as client:
        for key in random.sample(served, min(MAX_COMPARED, len(served))):
            path, _, tag = key
            version, epoch = tag.strip('"').split("-")[:2]
            found = client.get(f"{running.base}{path}{'&' if '?' in path else '?'}at={version}")
            answered[found.status_code] += 1
            if found.status_code == OK and (digest(found.content), found.headers["odds-cursor"]) != (
                history.bodies[key],
                f"{version}-{epoch}",
            ):
                history.violations.append(f"archive {path} {tag}: other bytes")
            if found.status_code not in {OK, MISSING}:
                history.violations.append(f"archive {path} {tag}: {found.status_code}")
    return answered


def wait_back(machines: Machines) -> None:
    """Wait until every machine shows every bookmaker."""
    for name, running in machines.running.items():
        eventually(partial(is_live, running), f"{name} is back", BACK_S)


def is_live(running: Service) -> bool:
    """Return whether a machine shows every bookmaker."""
    with contextlib.suppress(httpx2.TransportError):
        checks = running.get("/health").json()["checks"]
        return {check["state"] for check in checks.values()} == {"live"}
    return False
