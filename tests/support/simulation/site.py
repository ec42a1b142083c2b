"""The scripted site, in memory: a transport with one mood per scope; the model gets its answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from math import inf
from random import Random

import anyio
import msgspec

from actors.core.errors import TransportError
from actors.core.messages import BookmakerId, Scope
from actors.transports.polling import Fetched, NotModified, Transport, Validators
from tests.support.simulation.model import Belief
from tests.support.simulation.offers import CRASH, KEYS, SIZES, Calendar, Listed, Rows, changed, listed
from tests.support.time.virtual import VirtualClock

POLL_S, STALE_AFTER_S = 200.0, 600.0
TIMEOUT_S = 10.0
SUSPENDED_S = 1.0
RETRY_AFTER_S = 150.0

REFUSALS: Mapping[str, Callable[[], TransportError]] = {
    "refused": lambda: TransportError("refused", reason="refused", is_sent=False),
    "reset": lambda: TransportError("reset within the body", reason="reset"),
    "503": lambda: TransportError("status 503", reason="status", status=503),
    "429": lambda: TransportError("status 429", RETRY_AFTER_S, reason="status", status=429),
    "401": lambda: TransportError("status 401", 60.0, reason="denied", status=401),
}
"""Moods in which there is no answer."""

SPOILED: Mapping[str, Callable[[bytes], bytes]] = {
    "html": lambda _: b"<!doctype html><title>Maintenance</title>",
    "empty": lambda _: b"",
    "cut": lambda body: body[: len(body) * 2 // 3],
    "latin": lambda body: body.replace(b"serial", b"s\xe9rial"),
    "nested": lambda _: b"[" * 100_000,
    "array": lambda body: b"[%b]" % body,
    "huge": lambda _: b'{"A": [["a-1", "H", "A", null, [1e400, 3.5, 4.0], null]]}',
    "decode": lambda body: _with_crash(body, "decode"),
    "A": lambda body: _with_crash(body, "A"),
}
"""Moods in which the answer is damaged; the last two crash the decoder, and a bookmaker's actor."""

CRASHING = ("decode", "A")
MOODS = (*REFUSALS, *SPOILED, "timeout", "slow", "flapping", "bug", "frozen", "old", "shrunk", "flood")


class Site:
    """A peer of the polled source; `moods` says how each scope behaves."""

    def __init__(
        self, random: Random, clock: VirtualClock, names: Mapping[str, BookmakerId], calendar: Calendar
    ) -> None:
        self.random = random
        self.calendar = calendar
        self.clock = clock
        self.moods = dict.fromkeys(SIZES, "fine")
        self.bad_share = 0.1
        self.requests = 0
        self.beliefs: dict[tuple[BookmakerId, Scope], Belief] = {
            (names[key], scope): Belief(f"{names[key]}/{scope}", STALE_AFTER_S)
            for key in KEYS
            for scope in SIZES
        }
        self.tainted: set[int] = set()
        """Lists that an actor worked on when it was killed: the second time the actor sets them aside."""
        self.on_crash: Callable[[], None] = lambda: None
        self._names = names
        self._serial = 0
        self._barred = dict.fromkeys(SIZES, -inf)
        self._rows: dict[Scope, dict[str, Rows]] = {scope: {key: {} for key in KEYS} for scope in SIZES}
        self._lists: dict[Scope, list[Listed]] = {scope: [self._next(scope)] for scope in SIZES}

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Transport]:
        """Return the transport, which is the site itself."""
        yield self

    async def fetch(self, url: str, validators: Validators, body: bytes = b"") -> Fetched | NotModified:
        """Answer by the scope's mood. Raises: TransportError; RuntimeError for a bug of the transport."""
        del body
        scope, asked_mono = Scope(url.rpartition("/")[2]), self.clock.now().mono
        assert asked_mono >= self._barred[scope], f"{scope} was asked before Retry-After"
        self.requests += 1
        mood = self.moods[scope]
        if mood == "flapping":
            mood = self.random.choice(("refused", "fine"))
        if mood in {"slow", "timeout"}:
            await anyio.sleep(TIMEOUT_S if mood == "timeout" else self.random.uniform(0, TIMEOUT_S - 0.1))
        took_s = self.clock.now().mono - asked_mono
        if mood == "timeout":
            raise TransportError("no whole answer", reason="timeout")
        if mood in REFUSALS:
            error = REFUSALS[mood]()
            self._barred[scope] = self.clock.now().mono + (error.retry_after_s or 0.0)
            raise error
        if mood == "bug":
            self.on_crash()
            raise RuntimeError("the transport broke")
        return self._answer(scope, mood, validators, asked_mono, counts=took_s <= TIMEOUT_S + SUSPENDED_S)

    def latest(self, scope: Scope) -> Listed:
        """Return the newest list of a scope."""
        return self._lists[scope][-1]

    def _answer(
        self, scope: Scope, mood: str, validators: Validators, asked_mono: float, *, counts: bool
    ) -> Fetched | NotModified:
        listing = self._listed(scope, mood)
        if validators.etag == str(listing.serial) and mood not in SPOILED:
            if counts:
                self._vouched(scope, listing, asked_mono)
            return NotModified(asked_mono)
        is_large = max(map(len, listing.rows.values())) > max(SIZES.values())
        if mood in CRASHING or is_large or listing.serial in self.tainted:
            self.on_crash()  # the model does not know which answers are lost, or which matches find room
        readers = [key for key in KEYS if mood not in SPOILED or (mood in KEYS and key != mood)]
        serial = -listing.serial if mood in SPOILED else listing.serial  # another body is another list
        for key in readers if counts else ():
            belief = self.beliefs[self._names[key], scope]
            belief.accept(listing.rows[key], listing.named[key], serial, asked_mono, self.clock.now())
        body = SPOILED[mood](listing.body) if mood in SPOILED else listing.body
        etag = str(listing.serial) if self.random.random() < 0.8 and mood not in SPOILED else None
        return Fetched(body, len(body), Validators(etag), None, asked_mono)

    def _vouched(self, scope: Scope, listing: Listed, asked_mono: float) -> None:
        beliefs = [self.beliefs[self._names[key], scope] for key in KEYS]
        holds = all(belief.holds(listing.serial, self.clock.now()) for belief in beliefs)
        for belief in beliefs:
            belief.vouch(asked_mono, counts=holds)

    def _listed(self, scope: Scope, mood: str) -> Listed:
        """Return the site's present list: often the last list again."""
        lists = self._lists[scope]
        if mood == "old":
            return lists[0]
        if mood not in {"frozen", *SPOILED} and self.random.random() < 0.6:
            lists.append(self._next(scope, mood))
            del lists[:-6]
        return lists[-1]

    def _next(self, scope: Scope, mood: str = "fine") -> Listed:
        self._serial += 1
        for key in KEYS:
            rows = changed(
                self._rows[scope][key], self.calendar, scope, SIZES[scope], self.clock.now().wall
            )
            self._rows[scope][key] = rows
        rows_now = dict(self._rows[scope])
        if mood == "shrunk":
            rows_now = {
                key: dict(list(rows.items())[: self.random.choice((0, 5, 30))])
                for key, rows in rows_now.items()
            }
        if mood == "flood":
            more = changed({}, self.calendar, f"{scope}x", 150, self.clock.now().wall)
            rows_now = {key: rows | more for key, rows in rows_now.items()}
        return listed(self._serial, rows_now, self.random, self.bad_share)


def _with_crash(body: bytes, where: str) -> bytes:
    return msgspec.json.encode({**msgspec.json.decode(body), CRASH: where})
