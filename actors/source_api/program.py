"""The parts of a source that is a program: its options, and its lists as a state machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Extract, ListId, Offer, Prices, Scope
from actors.markets.market import Kind as MarketKind
from actors.source_api.options import HIDDEN, Markets, Seconds, Secret, SourceOptions

Argument = Annotated[str, Meta(pattern=r"^[^\x00]*$", title="text without a zero character")]
Variable = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", title="the name of a variable")]


class ProgramOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a program: `command` is its file and arguments, run without a shell.

    Its environment is only `environment` and `secrets`. After `silence_s` without a line the program is
    ended. `on_exit` says whether its prices are withdrawn when it ends, or stay until they are stale.
    `prices` says whether a confirmation means that prices are on offer now, or were so when the program
    collected them.
    """

    command: Annotated[
        tuple[Argument, ...],
        Meta(min_length=1, description="The program and its arguments, without a shell."),
    ]
    environment: Annotated[
        dict[Variable, Argument],
        Meta(extra=HIDDEN, description="Its whole environment, besides `secrets`."),
    ] = {}  # noqa: RUF012 - msgspec copies it
    secrets: Annotated[
        dict[Variable, Secret],
        Meta(description="Secret variables of its environment, removed from logs and recordings."),
    ] = {}  # noqa: RUF012
    silence_s: Annotated[
        Seconds | None,
        Meta(description="Seconds without a line after which it is ended; not set, half of stale_after_s."),
    ] = None
    prices: Annotated[
        Prices,
        Meta(description="Whether confirmed prices are on offer now, or were collected before."),
    ] = Prices.LIVE
    on_exit: Annotated[
        Literal["keep", "withdraw"],
        Meta(description="Whether its prices stay until they are stale, or leave at once, after its end."),
    ] = "keep"
    markets: Markets = (MarketKind.ONE_X_TWO,)

    @property
    def longest_silence_s(self) -> float:
        """Seconds without output until the program is ended: as configured, or half of the staleness."""
        return self.staleness_s / 2 if self.silence_s is None else self.silence_s


class ListChange(Struct, frozen=True):
    """The change of a list: the complete list, changes of it, or its withdrawal.

    `confirmed_mono` is the oldest of the times at which its matches were last confirmed. `why` is the
    program's reason for a withdrawal, or empty.
    """

    scope: Scope
    list_id: ListId
    extract: Extract
    confirmed_mono: float
    complete: bool = False
    withdrawn: bool = False
    why: str = ""


class ProgramLists(Protocol):
    """All lists of a program, which outlive its processes. Never waits.

    Between the slices of a `receive` no other method may be called.
    """

    def begin(self) -> None:
        """Begin with a new process, which must send each list completely before its changes."""

    def receive(self, line: bytes, now: Instant) -> Sliced[None]:
        """Read a line. Raises: PayloadError if it breaks the protocol; then no list has changed."""

    def expire(self, now: Instant) -> None:
        """Drop stale lists, and remove stale matches from the other lists."""

    def withdraw(self) -> None:
        """Withdraw all lists."""

    def changes(self) -> tuple[ListChange, ...]:
        """Return the changes since the last call, at most one for a list."""

    def images(self) -> tuple[ListChange, ...]:
        """Return every known list completely; this replaces its pending changes."""

    def scopes(self) -> tuple[Scope, ...]:
        """Return the names of the known lists."""


class ProgramKind(Struct, frozen=True):
    """A kind of source that is a child process; `check(options, keys)` raises ValueError."""

    name: str
    options: type[ProgramOptions]
    check_key: Callable[[str], None]
    check: Callable[[Any, tuple[str, ...]], None]
    lists: Callable[[Any], ProgramLists]
    offer_of: Callable[[str, Any], Offer] = lambda _key, _options: Offer()


def environment_of(options: ProgramOptions) -> Mapping[str, str]:
    """Return the environment of the process."""
    return {**options.environment, **options.secrets}
