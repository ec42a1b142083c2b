"""What a kind of source is made of: its options, and the pure functions that read it.

Pure declarations, between the messages and the modules in `sources/`. An actor (`source.py`,
`ticking.py`) runs a kind; a kind itself touches no network, no clock and no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from actors.clock import Instant
from actors.messages import Extract, Payload, Scope
from actors.slices import Steps

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Bytes = Annotated[int, Meta(gt=0, le=2**30)]
BookSum = Annotated[float, Meta(gt=0, le=100)]

MIN_STALE_AFTER_S = 30.0


class SourceOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that every kind of source has: staleness (seconds) and the bounds of a book sum."""

    kind: str
    stale_after_s: Seconds | None = None
    book_sum_min: BookSum = 0.95
    book_sum_max: BookSum = 1.40

    @property
    def staleness_s(self) -> float:
        """Seconds without confirmation after which a list is withdrawn."""
        return MIN_STALE_AFTER_S if self.stale_after_s is None else self.stale_after_s


class PolledOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a source that is asked for its data over HTTP."""

    url: str
    poll_interval_s: Seconds
    timeout_s: Seconds = 10.0
    max_payload_bytes: Bytes = 4 * 1024 * 1024
    max_inflated_bytes: Bytes = 16 * 1024 * 1024

    @property
    def staleness_s(self) -> float:
        """Seconds without confirmation: as configured, else three polls and at least 30 s."""
        if self.stale_after_s is not None:
            return self.stale_after_s
        return max(3 * self.poll_interval_s, MIN_STALE_AFTER_S)


class Target(Struct, frozen=True):
    """One thing to poll: a scope and the address that speaks for it."""

    scope: Scope
    url: str


class PolledKind(Struct, frozen=True):
    """A kind of source that is polled.

    `check_key(key)` raises ValueError, saying what is allowed, for a bookmaker key that cannot be
    right. `targets(options)` gives what to poll. `decode(payload, options)` and
    `extract(content, key, options)` are pure, raise nothing but PayloadError, and never look at a
    clock.
    """

    name: str
    options: type[PolledOptions]
    check_key: Callable[[str], None]
    targets: Callable[[Any], tuple[Target, ...]]
    decode: Callable[[Payload, Any], Steps[Any]]
    extract: Callable[[Any, str, Any], Steps[Extract]]


class Machine(Protocol):
    """A source that is computed: a state machine stepped by the clock, one for all its bookmakers."""

    scope: Scope
    interval_s: float

    def image(self) -> Mapping[str, Extract]:
        """Give the complete list of every bookmaker key, as of the last `advance`."""
        ...

    def advance(self, now: Instant) -> Mapping[str, Extract]:
        """Move on to `now` and give the changes per bookmaker key: upserts and removals."""
        ...


class TickingKind(Struct, frozen=True):
    """A kind of source that is computed, not received: `start(options, keys, now)` gives its machine."""

    name: str
    options: type[SourceOptions]
    check_key: Callable[[str], None]
    start: Callable[[Any, tuple[str, ...], Instant], Machine]


Kind = PolledKind | TickingKind
