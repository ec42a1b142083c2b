"""The values that the logic and the shells exchange: the logic yields effects, a shell does them.

A shell sends the result of an effect back, or throws a `CutError` for a failure of the network. It keeps at
most one answer open, and closes it before it opens another and when it ends.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Steps = Generator[Any, Any, T]
"""Logic that yields effects, and values for the caller; its result is a T."""


class Open(NamedTuple):
    """Send a GET; the result is a `Head`. `read_s` bounds each wait for bytes."""

    target: str
    headers: Mapping[str, str]
    read_s: float


class Read(NamedTuple):
    """Read from the open answer; the result is a `Chunk`."""


class Close(NamedTuple):
    """Close the open answer, if there is one."""


class Sleep(NamedTuple):
    """Wait."""

    seconds: float


EFFECTS = (Open, Read, Close, Sleep)


class Head(NamedTuple):
    """Status and headers of an answer; the names of the headers are in lower case."""

    status: int
    headers: Mapping[str, str]


class Chunk(NamedTuple):
    """Bytes of an answer, none at its end; `was_ready`: the bytes had arrived before the read began."""

    data: bytes
    was_ready: bool = False


class CutError(Exception):
    """The connection failed, or the answer cannot be used; a repetition may help after `after_s`."""

    def __init__(self, why: str, after_s: float = 0.0, code: str = "") -> None:
        super().__init__(why)
        self.after_s, self.code = after_s, code


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Deadlines and delays.

    The service sends a heartbeat every 10 s. After `silence_s` without a sign a connection counts as cut,
    and a board as not current. A failed request is repeated after `first_s`, doubled with each failure up
    to `limit_s`, less a random part of up to half, and never before the service's `Retry-After`. A success
    counts once it has lasted `calm_s`. A call makes at most this number of `attempts`, a board does not
    end. An answer takes at most `answer_s` and has at most `max_bytes`. A board that polls lets the service
    wait `wait_s` for a change.
    """

    silence_s: float = 20.0
    first_s: float = 0.5
    limit_s: float = 30.0
    calm_s: float = 10.0
    attempts: int = 5
    connect_s: float = 10.0
    answer_s: float = 120.0
    wait_s: float = 5.0
    max_bytes: int = 256 * 1024 * 1024


class Pause:
    """The delays before attempts, also for a service that accepts connections and drops them."""

    def __init__(self, policy: Policy, random: Random) -> None:
        self._policy, self._random = policy, random
        self._failures = 0

    def next_s(self, lasted_s: float = 0.0) -> float:
        """Count a failure after a success of that length; return the seconds to wait."""
        if lasted_s >= self._policy.calm_s:
            self._failures = 0
        longest: float = min(self._policy.limit_s, self._policy.first_s * 2.0 ** min(self._failures, 32))
        self._failures += 1
        return longest * self._random.uniform(0.5, 1.0)


class Message(NamedTuple):
    """A Server-Sent Event."""

    name: str
    data: bytes
    id: str


class Messages:
    """A parser of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def has_part(self) -> bool:
        """Whether a part of a message has been read."""
        return bool(self._parts)

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that these bytes complete. Raises: CutError if one is too large."""
        whole, end, rest = data.rpartition(b"\n\n")
        if not end and self._parts and self._parts[-1].endswith(b"\n") and data.startswith(b"\n"):
            whole, end, rest = b"", b"\n", data[1:]  # the end came in two parts
        if end:
            text = b"".join([*self._parts, whole, end])
            self._parts, self._size = [], 0
            for raw in text.split(b"\n\n"):
                if raw.strip(b"\n"):
                    yield _message(raw)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._max_bytes:
            raise CutError(f"a message had more than {self._max_bytes} bytes")


def _message(raw: bytes) -> Message:
    fields: dict[bytes, bytes] = {}
    for line in raw.split(b"\n"):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        fields[name] = fields[name] + b"\n" + value if name == b"data" and name in fields else value
    name, message_id = fields.get(b"event", b"message"), fields.get(b"id", b"")
    return Message(
        name.decode(errors="replace"), fields.get(b"data", b""), message_id.decode(errors="replace")
    )


_CURSOR = re.compile(r'(?:W/)?"?([0-9]{1,18})-([0-9a-z]+)', re.ASCII)


def cursor_of(text: str) -> tuple[int, str] | None:
    """Return version and epoch of a cursor, an event's id or an ETag; None if the text has none."""
    found = _CURSOR.match(text)
    return None if found is None else (int(found[1]), found[2])
