"""Bodies that few clients share, such as a delta from an old version, or some fixtures.

Such a body may be as long as the whole list, and each client can request another. So there are limits: on
the bytes of all unsent bodies, on the work for each client, and on the number of bodies that wait to be
made.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import ceil
from typing import TypeAlias, TypeVar

import anyio
import anyio.lowlevel
from msgspec import Struct

from actors.core.clock import elapsed_s, worked_s
from actors.core.cooperative import BUDGET_S, Sliced, advance
from web.encoding.members import Text
from web.protocol.negotiation import Coding
from web.protocol.problems import Problem
from web.protocol.rate_limit import WorkLimit

MAX_HELD_BYTES = 33_554_432
"""Bytes of all bodies in memory, kept or not yet sent."""
MAX_SHARE = 4
"""One client may hold a quarter of the bytes, and always one body, because it may read slowly."""
MAX_KEPT_BYTES = 8_388_608
"""Bytes of the bodies that are kept for further clients; the newest body is always kept."""
MAX_KEPT = 1_000
"""The most bodies that are kept."""
SMALL_BYTES = 65_536
"""A body up to this size is always made."""
MAX_WAITING = 32
"""Long bodies that wait while another is made; each may already refer to all its entries."""
RETRY_AFTER = {"Retry-After": "5"}


T = TypeVar("T")


class Content(Struct, frozen=True):
    """The content of a body: the version that it leads to, the bytes in parts, their coding.

    `text` is set if the parts are blocks of a gzip member. `is_merged` says that the changes span several
    versions, `is_empty` that nothing in the view changed until `version`.
    """

    version: int
    parts: Sequence[bytes]
    coding: Coding = Coding.IDENTITY
    text: Text | None = None
    is_merged: bool = False
    is_empty: bool = False


class OwnBody:
    """A body. Its sender keeps it until its parts are sent; its bytes count until the body is freed.

    The bytes also count for `client`, for which the body was made.
    """

    def __init__(self, made: Content, of: OwnBodies, client: str | None = None) -> None:
        self.version = made.version
        self.parts = tuple(made.parts)
        self.coding = made.coding
        self.text = made.text
        self.is_merged = made.is_merged
        self.is_empty = made.is_empty
        self.size = sum(map(len, self.parts)) + (0 if made.text is None else len(made.text.short))
        self._of = of
        self._client = client
        of.count(client, self.size)

    def __del__(self) -> None:
        self._of.count(self._client, -self.size)


Key: TypeAlias = tuple[Hashable, Hashable]
"""A view, whose versions rise, and the part of it in a body."""
Room: TypeAlias = Callable[[int], None]
"""Checks that there is room for a body of this many bytes. Raises: Problem 503."""
Making: TypeAlias = Callable[[Room], Sliced[Content | None]]
"""Makes a body, or None; must check for room as the body grows."""


class OwnBodies:
    """Makes and keeps bodies. `work` is the limit of each client; `held_bytes` are the bytes in memory."""

    def __init__(self, work: WorkLimit | None = None, max_held_bytes: int = MAX_HELD_BYTES) -> None:
        self.held_bytes = 0
        self._work = work or WorkLimit()
        self._max_held_bytes = max_held_bytes
        self._held_for: Counter[str] = Counter()
        self._kept: OrderedDict[Key, OwnBody] = OrderedDict()
        self._kept_bytes = 0
        self._kept_of: dict[Hashable, tuple[int, set[Key]]] = {}  # newest version and bodies by view
        self._in_work: dict[Key, anyio.Event] = {}
        self._long = anyio.Lock(fast_acquire=True)

    async def get(self, key: Key, version: int, client: str | None, make: Making) -> OwnBody | None:
        """Return the body of `key` at `version` or a newer version; the first of equal requests makes it.

        A new version of the key's view drops the view's older bodies. Raises: Problem 429 if the client has
        caused too much work, 503 if there is no room; the errors of `make`.
        """
        while True:
            kept = self._kept.get(key)
            if kept is not None and kept.version >= version:
                self._kept.move_to_end(key)
                return kept
            if (other := self._in_work.get(key)) is None:
                break
            await other.wait()
        self._in_work[key] = anyio.Event()
        try:
            made = await self.run(make(partial(self._check_room, client=client)), client)
        finally:
            self._in_work.pop(key).set()
        if made is None:
            return None
        body = OwnBody(made, self, client)
        self._keep(key, body)
        return body

    async def run(self, steps: Sliced[T], client: str | None) -> T:
        """Return the result of the steps, and charge the client for their time.

        A short computation never waits; only one long computation runs at a time. Raises: Problem 429 if
        the client has caused too much work, 503 if too many computations wait.
        """
        self.check_work(client)
        if (done := self._advance(steps, client)) is None:
            if self._long.statistics().tasks_waiting >= MAX_WAITING:
                raise _no_room()
            async with self._long:
                while (done := self._advance(steps, client)) is None:
                    await anyio.lowlevel.checkpoint()
        return done[0]

    async def charged(self, steps: Sliced[T], client: str | None) -> T:
        """Run the steps without a queue, return their result, and charge the client for their time.

        Raises: Problem 429 if the client has caused too much work.
        """
        self.check_work(client)
        while (done := self._advance(steps, client)) is None:
            await anyio.lowlevel.checkpoint()
        return done[0]

    def _advance(self, steps: Sliced[T], client: str | None) -> tuple[T] | None:
        began = worked_s()
        try:
            return advance(steps, BUDGET_S)
        finally:
            self._work.charge(client, worked_s() - began, elapsed_s())

    def check_work(self, client: str | None) -> None:
        """Raise Problem 429 if a client has caused too much work."""
        if wait_s := self._work.wait_s(client, elapsed_s()):
            detail = "what this client alone asks for takes too much work"
            raise Problem(429, "too_many_requests", detail, {"Retry-After": str(ceil(wait_s))})

    def charge(self, client: str | None, work_s: float) -> None:
        """Charge a client for work that was done for it in a thread."""
        self._work.charge(client, work_s, elapsed_s())

    def hold(self, parts: Sequence[bytes]) -> OwnBody:
        """Return a body that was made elsewhere. Raises: Problem 503 if there is no room."""
        self._check_room(sum(map(len, parts)))
        return OwnBody(Content(0, parts), self)

    def count(self, client: str | None, size: int) -> None:
        """Add `size` to the bytes in memory, also the client's; `size` is below 0 for freed bytes."""
        self.held_bytes += size
        if client is not None:
            self._held_for[client] += size
            if not self._held_for[client]:
                del self._held_for[client]

    def _check_room(self, size: int, client: str | None = None) -> None:
        if size <= SMALL_BYTES or self._has_room(size, client):
            return
        while self._kept:
            self._drop(next(iter(self._kept)))
        if not self._has_room(size, client):
            raise _no_room()

    def _has_room(self, size: int, client: str | None) -> bool:
        held = 0 if client is None else self._held_for[client]
        is_fair = not held or held + size <= self._max_held_bytes // MAX_SHARE
        return is_fair and self.held_bytes + size <= self._max_held_bytes

    def _keep(self, key: Key, body: OwnBody) -> None:
        newest, keys = self._kept_of.get(key[0], (body.version, set[Key]()))
        if body.version < newest:
            return
        for old in [*keys] if body.version > newest else [key] if key in keys else []:
            self._drop(old)
        self._kept[key] = body
        self._kept_bytes += body.size
        keys.add(key)
        self._kept_of[key[0]] = body.version, keys
        while (self._kept_bytes > MAX_KEPT_BYTES and len(self._kept) > 1) or len(self._kept) > MAX_KEPT:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        self._kept_bytes -= self._kept.pop(key).size
        _, keys = self._kept_of[key[0]]
        keys.remove(key)
        if not keys:
            del self._kept_of[key[0]]


def _no_room() -> Problem:
    detail = "too many long answers are on their way, each for a single client; try again later"
    return Problem(503, "overloaded", detail, dict(RETRY_AFTER))
