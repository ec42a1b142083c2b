"""A client that keeps a list from changes, and asks another machine of a cluster each time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from random import Random

import httpx2
import msgspec

from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import Service

LIST, CHANGES, STREAM = "/api/v2/odds", "/api/v2/changes", "/api/v2/stream"
OK, GONE = 200, 410
FOLLOWED_S = 0.3  # for so long a stream is followed, before the next machine is asked
Pick = Callable[[Random], Service | None]


def digest(body: bytes) -> bytes:
    """Return a digest of a body: an hour has too many bodies to keep them all."""
    return blake2b(body, digest_size=16).digest()


class _Listed(msgspec.Struct):
    version: int
    matches: list[msgspec.Raw]
    since: int | None = None
    removed: list[dict[str, object]] = []


class _Id(msgspec.Struct):
    id: str


class MovingClient:
    """Asks any machine that `pick` returns, in a thread of its own.

    `kept` has a digest of each list of the client, by its cursor; `followed` counts the changes that it has
    taken. `wrong` has the broken rules: no version goes back, no change is missing or comes twice.
    """

    def __init__(self, pick: Pick, random: Random) -> None:
        self.wrong: list[str] = []
        self.kept: dict[str, bytes] = {}
        self.followed = 0
        self._pick, self._random = pick, random
        self._cursor = ""
        self._entries: dict[str, bytes] = {}

    def run(self, is_over: Callable[[], bool]) -> None:
        """Ask until `is_over` is set."""
        with httpx2.Client(trust_env=False, verify=NO_TLS, timeout=3.0) as client:
            while not is_over():
                if (running := self._pick(self._random)) is None:
                    time.sleep(0.02)
                    continue
                ask = (
                    self._random.choice((self._poll, self._poll, self._stream))
                    if self._cursor
                    else self._list
                )
                with contextlib.suppress(httpx2.TransportError):
                    ask(client, running.base)

    @property
    def _version(self) -> int:
        return int(self._cursor.partition("-")[0])

    def _list(self, client: httpx2.Client, base: str) -> None:
        answer = client.get(base + LIST, headers={"Accept-Encoding": "identity"})
        if answer.status_code == OK:
            self._replace(answer.content, answer.headers["odds-cursor"])

    def _poll(self, client: httpx2.Client, base: str) -> None:
        wait = self._random.choice(("", "&wait=1"))
        answer = client.get(f"{base}{CHANGES}?since={self._cursor}{wait}")
        if answer.status_code == OK:
            self._change(answer.content, answer.json()["cursor"])
        elif answer.status_code == GONE:
            told = answer.json()
            if told["epoch"] == self._cursor.partition("-")[2] and told["current_version"] < self._version:
                self.wrong.append(f"{base} is at {told['current_version']}, the client at {self._cursor}")
            self._cursor = ""

    def _stream(self, client: httpx2.Client, base: str) -> None:
        """Follow a stream for a moment; an event that is cut off in the middle does not count."""
        until, headers = time.monotonic() + FOLLOWED_S, {"Last-Event-ID": self._cursor}
        with client.stream(
            "GET", base + STREAM, headers=headers | {"Accept-Encoding": "identity"}
        ) as answer:
            if answer.status_code != OK:
                return
            for name, told_id, data in _events(answer):
                if name == "reset" and msgspec.json.decode(data)["reason"] == "future":
                    self.wrong.append(f"{base} has not the version that the client has: {self._cursor}")
                elif name == "snapshot":
                    self._replace(data, told_id)
                elif name == "changes":
                    self._change(data, told_id)
                if time.monotonic() > until:
                    return

    def _replace(self, body: bytes, cursor: str) -> None:
        listed = msgspec.json.decode(body, type=_Listed)
        self._entries = {_id_of(entry): bytes(entry) for entry in listed.matches}
        self._keep(cursor)

    def _change(self, body: bytes, cursor: str) -> None:
        delta = msgspec.json.decode(body, type=_Listed)
        if delta.since != self._version or delta.version < self._version:
            self.wrong.append(f"changes from {delta.since} to {delta.version} for {self._cursor}")
        for gone in delta.removed:
            self._entries.pop(str(gone["id"]), None)
        self._entries.update({_id_of(entry): bytes(entry) for entry in delta.matches})
        self.followed += 1
        self._keep(cursor)

    def _keep(self, cursor: str) -> None:
        """Keep the list as it would be served: bookmakers are in the order of their ids here."""
        self._cursor = cursor
        entries = [self._entries[name] for name in sorted(self._entries)]
        parts = self._version, b",".join(entries), len(entries)
        found = digest(b'{"version":%d,"matches":[%b],"matches_count":%d}' % parts)
        if self.kept.setdefault(cursor, found) != found:
            self.wrong.append(f"{cursor}: two lists were kept from changes")


def _id_of(entry: msgspec.Raw) -> str:
    return msgspec.json.decode(entry, type=_Id).id


def _events(answer: httpx2.Response) -> Iterator[tuple[str, str, bytes]]:
    """Iterate over the events of a stream: name, id and data."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield fields.get("event", ""), fields.get("id", ""), fields.get("data", "").encode()
            fields = {}
