"""The parts of a pushed source: its options, its protocol as a state machine, its HTTP requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from actors.core.cooperative import Sliced
from actors.core.messages import Extract, Offer
from actors.source_api.options import Bytes, Seconds, Secret, SourceOptions


class StreamOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a source that pushes lines; `certificate` and its key are files for the login.

    A `session_token` replaces the login. If the server refuses a subscription to all matches, only the
    `max_markets` with the nearest kick-offs are subscribed to.
    """

    stream_url: Annotated[str, Meta(description="The stream, tls://HOST:PORT.")]
    timeout_s: Annotated[
        Seconds, Meta(description="Seconds for connecting, for a login, and for sending a line.")
    ] = 10.0
    max_line_bytes: Annotated[Bytes, Meta(description="The longest line.")] = 8 * 1024 * 1024
    certificate: Annotated[
        str | None, Meta(description="A PEM file, for a login with a client certificate.")
    ] = None
    certificate_key: Annotated[str | None, Meta(description="Its key, a PEM file; both or neither.")] = None
    session_token: Annotated[
        Secret | None, Meta(description="The token of a session, in place of a login.")
    ] = None
    max_markets: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="The number of nearest kick-offs to follow, if the server refuses all matches.",
        ),
    ] = 200

    @property
    def silence_s(self) -> float:
        """Seconds without a message after which the connection is lost."""
        return self.timeout_s


class Reaction(Struct, frozen=True):
    """The reaction to a line: lines to `send`, the complete list as an `image`, or `changes` of it.

    With `vouches` the server confirms the rest of the list; otherwise changes are only removals. With
    `withdraw` the whole list is in doubt until the next image. `unnamed` are matches without names.
    `lacking` are matches with a part that could not be applied: only an image can complete them.
    """

    send: tuple[bytes, ...] = ()
    image: Extract | None = None
    changes: Extract | None = None
    vouches: bool = False
    withdraw: bool = False
    unnamed: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


class Session(Protocol):
    """The protocol of a subscription, which outlives connections. Never waits.

    Between the slices of a `receive` only the properties may be used.
    `slow_messages` counts the changes that the server merged because it was read too slowly.
    """

    slow_messages: int

    @property
    def is_unreliable(self) -> bool:
        """Whether the server says that its stream is late."""

    @property
    def silence_s(self) -> float | None:
        """Seconds for which this connection may be silent; None if the server announced no limit."""

    @property
    def delay_s(self) -> float:
        """The greatest delay of the prices in seconds, as announced by the server; otherwise 0."""

    def connect(self, token: str) -> None:
        """Begin a connection with this session token; the server sends the first line."""

    def receive(self, line: bytes) -> Sliced[Reaction]:
        """Read a line. Raises: PayloadError if it is not a message, StreamError for a refusal."""

    def refresh(self) -> Reaction:
        """Ask for an image on the present connection, if there is one."""

    def forget(self) -> None:
        """Forget the subscription's state, so that the next connection begins with an image."""

    def narrow(self, wanted: Sequence[str]) -> None:
        """Subscribe only to the `wanted` matches from the next `connect` or `refresh` on."""

    def name(self, names: Mapping[str, Any]) -> Extract:
        """Take the names of matches and return the changes."""


class Request(Struct, frozen=True):
    """An HTTP request beside a stream, for a session or names."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class StreamKind(Struct, frozen=True):
    """A kind of source that pushes lines over its own connection.

    `session(options)` is its protocol, `historic(options)` the protocol of a file of its messages. `login`
    and `keep_alive` return a request for a session token, `names_of` for names of matches, `nearest` for
    the matches that kick off next; None if there is nothing to request. `read_token` and `read_names` raise
    PayloadError; `check(options, keys)` raises ValueError, naming the option.
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
    offer_of: Callable[[str, Any], Offer] = lambda _key, _options: Offer()
