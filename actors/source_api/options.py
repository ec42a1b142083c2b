"""The options of `[sources.NAME]` that kinds of source have in common. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote, quote_plus

from msgspec import Meta, Struct

from actors.markets.market import FORMS, Kind

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Bytes = Annotated[int, Meta(gt=0, le=2**30)]
UserAgent = Annotated[
    str,
    Meta(pattern=r"^[!-~]([ -~]{0,254}[!-~])?$", title="text of 1 to 256 printable ASCII characters"),
]
BookSum = Annotated[float, Meta(gt=0, le=100)]
Markets = Annotated[
    tuple[Kind, ...],
    Meta(description="The kinds of market that are read; 1x2 is always one of them.", min_length=1),
]
"""The option `markets` of a kind of source that reads markets other than 1X2."""

_SECRET, HIDDEN = {"secret": True}, {"hidden": True}
_PRINTABLE, _PRINTABLE_IN_WORDS = r"^[ -~]{1,256}$", "text of 1 to 256 printable ASCII characters"
# A credential, in printable ASCII: never shown, logged or recorded, and removed from every text.
Secret = Annotated[str, Meta(pattern=_PRINTABLE, extra=_SECRET, title=_PRINTABLE_IN_WORDS)]
# A private value, such as a user name: never shown or recorded, but not removed from other texts.
Hidden = Annotated[str, Meta(pattern=_PRINTABLE, extra=HIDDEN, title=_PRINTABLE_IN_WORDS)]

MIN_STALE_AFTER_S = 30.0
MIN_SECRET_CHARS = 6
"""A shorter credential cannot be removed from texts, because it may occur there by chance."""


class SourceOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that every kind of source has; `oddsboard sources` prints the descriptions."""

    kind: str
    stale_after_s: Annotated[
        Seconds | None,
        Meta(description="Seconds without confirmation after which a list is withdrawn."),
    ] = None
    book_sum_min: Annotated[
        BookSum, Meta(description="The smallest plausible sum of 1/price over the three outcomes.")
    ] = 0.95
    book_sum_max: Annotated[BookSum, Meta(description="The largest plausible such sum.")] = 1.40
    exchange_book_sum_max: Annotated[
        BookSum,
        Meta(description="The largest plausible such sum at an exchange or a prediction market."),
    ] = 1.12  # prices above this sum include leftover offers in an empty market

    two_way_book_sum_min: Annotated[
        BookSum, Meta(description="The smallest plausible such sum in a market with two outcomes.")
    ] = 0.97
    two_way_book_sum_max: Annotated[BookSum, Meta(description="The largest plausible one.")] = 1.20
    double_chance_book_sum_min: Annotated[
        BookSum, Meta(description="The smallest plausible such sum in a double chance.")
    ] = 1.94
    double_chance_book_sum_max: Annotated[BookSum, Meta(description="The largest plausible one.")] = 2.60

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of market to read, 1X2 first: the option `markets`, if this kind of source has it."""
        return every_kind(getattr(self, "markets", ()))

    def book_sums(self, most_of_two: float | None = None) -> Mapping[Kind, tuple[float, float]]:
        """Return plausible book sums by kind, without 1X2; `most_of_two` replaces the two-way maximum."""
        most = self.two_way_book_sum_max if most_of_two is None else most_of_two
        of_one = self.two_way_book_sum_min, most
        of_two = self.double_chance_book_sum_min, self.double_chance_book_sum_max
        others = (kind for kind in Kind if kind is not Kind.ONE_X_TWO)
        return {kind: of_one if FORMS[kind].winners == 1 else of_two for kind in others}

    @property
    def staleness_s(self) -> float:
        """Seconds without confirmation after which a list is withdrawn."""
        return MIN_STALE_AFTER_S if self.stale_after_s is None else self.stale_after_s


def every_kind(asked: Iterable[Kind]) -> tuple[Kind, ...]:
    """Return kinds of market, 1X2 first, other kinds in the order of `Kind`, each once."""
    wanted = {Kind.ONE_X_TWO, *asked}
    return tuple(kind for kind in Kind if kind in wanted)


class PolledOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a source that is polled over HTTP."""

    url: Annotated[str, Meta(description="The address to poll, http:// or https://.")]
    poll_interval_s: Annotated[Seconds, Meta(description="The shortest time between two polls.")]
    timeout_s: Annotated[Seconds, Meta(description="Seconds for a whole answer.")] = 10.0
    max_payload_bytes: Annotated[Bytes, Meta(description="The largest answer, as sent.")] = 4 * 1024 * 1024
    max_inflated_bytes: Annotated[Bytes, Meta(description="The largest answer, unpacked.")] = (
        16 * 1024 * 1024
    )
    user_agent: Annotated[UserAgent, Meta(description="The service's name in requests.")] = "oddsboard"

    @property
    def staleness_s(self) -> float:
        """Seconds without confirmation: as configured, otherwise three polls, but at least 30 s."""
        return self.staleness_at(self.poll_interval_s)

    @property
    def reads_file(self) -> bool:
        """Whether its addresses are paths of files instead of URLs."""
        return False

    @property
    def is_as_old_as_its_file(self) -> bool:
        """Whether its prices are as old as the file, or as the answer's Last-Modified."""
        return False

    def staleness_at(self, interval_s: float) -> float:
        """Return `staleness_s` for a scope that is polled every `interval_s` seconds."""
        return max(3 * interval_s, MIN_STALE_AFTER_S) if self.stale_after_s is None else self.stale_after_s


def secret_names(options: type[SourceOptions]) -> frozenset[str]:
    """Return the names of the options that are never shown."""
    return _names(options, _SECRET) | _names(options, HIDDEN)


def secrets_of(options: SourceOptions) -> tuple[str, ...]:
    """Return all secret values: plain, URL-encoded and as in JSON, longest first."""
    return _forms(options, secret_names(type(options)))


def credentials_of(options: SourceOptions) -> tuple[str, ...]:
    """Return only the credentials among the secrets, which are removed from recorded data as well."""
    return _forms(options, _names(type(options), _SECRET))


def _forms(options: SourceOptions, names: frozenset[str]) -> tuple[str, ...]:
    values = [text for name in names for text in _texts(getattr(options, name))]
    forms = [(raw, quote(raw, safe=""), quote_plus(raw), json.dumps(raw)[1:-1]) for raw in values if raw]
    return tuple(sorted({form for each in forms for form in each}, key=len, reverse=True))


def _texts(value: str | Mapping[str, str] | None) -> Iterable[str | None]:
    return value.values() if isinstance(value, Mapping) else (value,)


def _names(options: type[SourceOptions], extra: dict[str, bool]) -> frozenset[str]:
    return frozenset(name for name, extras in _extras_of(options).items() if extra in extras)


@lru_cache(maxsize=64)  # reading annotations takes a millisecond
def _extras_of(options: type[SourceOptions]) -> dict[str, list[Any]]:
    hints = get_type_hints(options, include_extras=True)
    return {name: _extras(hint) for name, hint in hints.items()}


def _extras(hint: Any) -> list[Any]:
    own = [item.extra for item in getattr(hint, "__metadata__", ()) if isinstance(item, Meta)]
    return own + [extra for part in getattr(hint, "__args__", ()) for extra in _extras(part)]
