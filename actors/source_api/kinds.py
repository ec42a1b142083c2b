"""The parts of a kind of source: its options, and pure functions that the actors of `pipeline` call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import Extract, Offer, Payload, Prices, Scope, Venue
from actors.core.validation import Bounds
from actors.source_api.options import MIN_SECRET_CHARS, PolledOptions, SourceOptions, credentials_of
from actors.source_api.parsing import Parts
from actors.source_api.plan import PlanMaker
from actors.source_api.program import ProgramKind, ProgramOptions
from actors.source_api.stream import StreamKind


class PolledKind(Struct, frozen=True):
    """A kind of source that is polled.

    `check_key(key)` raises ValueError with the allowed keys. `decode(payload, options)` and
    `extract(content, key, options)` raise only PayloadError. `headers`, in lower case, are the answer's
    headers that the plan needs. With `repeats_confirm`, a 304 or the same bytes again confirm the list;
    otherwise every answer is read anew. With `has_titles` the source names its bookmakers.
    `explain(error)` may add the text of a refusal's body. With `has_fees` matches contain the fees, so that
    a bookmaker's commission would be wrong. `prices` says what a confirmation means; if it depends on the
    options, `prices_of(options)` says so.

    `keys_in(content)` returns the keys of the bookmakers in a document, if it has any; a configured key
    outside `known_keys`, if these are given, causes a warning. `parts(content)` returns the elements of a
    document, which a probe describes. `offer_of(key, options)` returns the kind of a bookmaker's offer.
    With `is_free_to_ask` answers cost nothing, so that a probe may use a key; it asks again after
    `watched_s`, and reports how many prices have moved.
    """

    name: str
    options: type[PolledOptions]
    check_key: Callable[[str], None]
    plan: PlanMaker
    decode: Callable[[Payload, Any], Sliced[Any]]
    extract: Callable[[Any, str, Any], Sliced[Extract]]
    headers: tuple[str, ...] = ()
    sent_headers: Callable[[Any], Mapping[str, str]] | None = None
    repeats_confirm: bool = True
    has_titles: bool = False
    explain: Callable[[TransportError], None] | None = None
    prices: Prices = Prices.LIVE
    prices_of: Callable[[Any], Prices] | None = None
    has_fees: bool = False
    keys_in: Callable[[Any], Iterable[str]] | None = None
    known_keys: frozenset[str] = frozenset()
    parts: Callable[[Any], Parts] | None = None
    offer_of: Callable[[str, Any], Offer] = lambda _key, _options: Offer()
    is_free_to_ask: bool = False
    watched_s: float = 0.0


class Machine(Protocol):
    """A computed source: a state machine for all its bookmakers, stepped by the clock.

    A bookmaker key that a result lacks has no list at present. A machine that ends, like a recording, also
    has `is_over`: no further change will come.
    """

    scope: Scope
    interval_s: float

    def image(self) -> Mapping[str, Extract]:
        """Return the complete list of every bookmaker key, as of the last `advance`."""

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Advance to `now` and return the changes of every bookmaker key, in slices.

        Raises: SourceError while there is no list; `advance` is called again after `interval_s`.
        """


class TickingKind(Struct, frozen=True):
    """A kind of source that computes prices; `check(options, keys)` raises ValueError for a bad option."""

    name: str
    options: type[SourceOptions]
    check_key: Callable[[str], None]
    start: Callable[[Any, tuple[str, ...], Instant], Machine]  # (options, keys, now)
    check: Callable[[Any, tuple[str, ...]], None] | None = None
    prices_of: Callable[[Any], Prices] = lambda _: Prices.LIVE
    offer_of: Callable[[str, Any], Offer] = lambda _key, _options: Offer()


Kind = PolledKind | TickingKind | StreamKind | ProgramKind


def prices_of(kind: Kind, options: SourceOptions) -> Prices:
    """Return what a confirmation means for a source of this kind with these options."""
    match kind:
        case PolledKind():
            return kind.prices if kind.prices_of is None else kind.prices_of(options)
        case TickingKind():
            return kind.prices_of(options)
        case StreamKind():
            return Prices.LIVE
        case ProgramKind():
            return options.prices if isinstance(options, ProgramOptions) else Prices.LIVE


def bounds_of(kind: Kind, key: str, options: SourceOptions) -> Bounds:
    """Return the plausible book sums of a bookmaker, and the credentials that no text may repeat.

    Where users trade with each other, leftover orders in an empty market are no real offer: their book sum
    is larger than in any market in use.
    """
    secrets = tuple(text for text in credentials_of(options) if len(text) >= MIN_SECRET_CHARS)
    most, most_of_two = options.book_sum_max, options.two_way_book_sum_max
    if kind.offer_of(key, options).venue is not Venue.BOOKMAKER:
        most, most_of_two = (min(sum_, options.exchange_book_sum_max) for sum_ in (most, most_of_two))
    sums = options.book_sums(most_of_two)
    return Bounds(options.book_sum_min, most, secrets, sums, options.kinds)
