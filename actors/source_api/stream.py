"""What a pushed source is made of: its options, its protocol as a state machine, its errands.

Pure declarations beside `kinds.py`. The actor (`streaming.py`) owns the connection, the errands
(`stream_errands.py`) are asked over HTTP beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from actors.core.cooperative import Sliced
from actors.core.messages import Extract
from actors.source_api.options import Bytes, Seconds, Secret, SourceOptions


class StreamOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a source that pushes lines: where it listens, and the bounds of what it may send.

    `session_token` is one that needs no login; `max_markets` is what the account may subscribe to.
    """

    stream_url: str
    timeout_s: Seconds = 10.0
    max_line_bytes: Bytes = 8 * 1024 * 1024
    certificate: str | None = None
    certificate_key: str | None = None
    session_token: Secret | None = None
    max_markets: Annotated[int, Meta(ge=1, le=10_000)] = 200

    @property
    def silence_s(self) -> float:
        """Seconds without a message after which the connection is lost."""
        return self.timeout_s


class Reaction(Struct, frozen=True):
    """What a line asks for.

    `send` are lines to write. `image` is the complete list, `changes` what differs from it;
    `vouches` when the server says with this line that all the rest still holds; without it, changes
    only take matches off. With `withdraw` nothing of it may be believed until the next image.
    `unnamed` are matches whose names are not known.
    """

    send: tuple[bytes, ...] = ()
    image: Extract | None = None
    changes: Extract | None = None
    vouches: bool = False
    withdraw: bool = False
    unnamed: tuple[str, ...] = ()


class Session(Protocol):
    """The protocol of one subscription, which outlives connections. Never waits.

    While a line is being taken in slices, nothing else may be called that asks or tells of matches.

    `slow_messages` counts what the server held back because it was read too slowly.
    """

    slow_messages: int

    @property
    def is_unreliable(self) -> bool:
        """Whether the server says that its stream is late."""
        ...

    @property
    def silence_s(self) -> float | None:
        """Seconds for which this connection may be silent by the server's word; None without one."""
        ...

    def connect(self, token: str) -> None:
        """Begin a connection with that session token; the server speaks first."""
        ...

    def receive(self, line: bytes) -> Sliced[Reaction]:
        """Take one line, a long one in slices.

        Raises: PayloadError for what is no message, StreamError for a refusal.
        """
        ...

    def refresh(self) -> Reaction:
        """Ask for an image, on the connection that there is; nothing before there is one."""
        ...

    def forget(self) -> None:
        """Resume nothing: the next connection begins with an image."""
        ...

    def narrow(self, wanted: Sequence[str]) -> None:
        """Subscribe to these alone from the next `connect` or `refresh` on."""
        ...

    def name(self, names: Mapping[str, Any]) -> Extract:
        """Take names, and give what changes by them."""
        ...


class Request(Struct, frozen=True):
    """One HTTP request beside a stream: for a session, or for names."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class StreamKind(Struct, frozen=True):
    """A kind of source that pushes lines over a connection of its own.

    `session(options)` gives its protocol, `historic(options)` that of a file of its messages. `login`
    and `keep_alive` ask for a session token, `names_of` and `nearest` ask a catalogue for the names of
    matches, or for the matches that are nearest; each gives None where there is nothing to ask.
    `read_token` and `read_names` read the answers, raising PayloadError. `check(options, keys)` raises
    ValueError, naming the option.
    """

    name: str
    options: type[StreamOptions]
    check_key: Callable[[str], None]
    check: Callable[[Any, tuple[str, ...]], None]
    session: Callable[[Any], Session]
    historic: Callable[[Any], Session]
    login: Callable[[Any], Request | None]
    keep_alive: Callable[[Any, str], Request | None]
    read_token: Callable[[bytes], str]
    names_of: Callable[[Any, str, Sequence[str]], Request | None]
    nearest: Callable[[Any, str, int], Request | None]
    read_names: Callable[[bytes], Mapping[str, Any]]
