"""The options that kinds of source have in common: what a table `[sources.NAME]` may say.

Pure declarations, lowest of what a kind is made of. Their defaults and bounds stand here once, for
the configuration, the probes and the documentation.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote, quote_plus

from msgspec import Meta, Struct

Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Bytes = Annotated[int, Meta(gt=0, le=2**30)]
BookSum = Annotated[float, Meta(gt=0, le=100)]

_SECRET = {"secret": True}
Secret = Annotated[str, Meta(pattern=r"^[ -~]{1,256}$", extra=_SECRET)]
"""A credential, in printable ASCII: never shown, logged or recorded."""

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
        return self.staleness_at(self.poll_interval_s)

    def staleness_at(self, interval_s: float) -> float:
        """Give the same for a scope that is polled every `interval_s` seconds."""
        return max(3 * interval_s, MIN_STALE_AFTER_S) if self.stale_after_s is None else self.stale_after_s


def secret_names(options: type[SourceOptions]) -> frozenset[str]:
    """Name the options that are secret."""
    hints = get_type_hints(options, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _is_secret(hint))


def secrets_of(options: SourceOptions) -> tuple[str, ...]:
    """Give the secrets as written, in an address and in JSON, to be kept out of sight; longest first."""
    values = [getattr(options, name) for name in secret_names(type(options))]
    forms = [(one, quote(one, safe=""), quote_plus(one), json.dumps(one)[1:-1]) for one in values if one]
    return tuple(sorted({form for each in forms for form in each}, key=len, reverse=True))


def _is_secret(hint: Any) -> bool:
    inner = getattr(hint, "__metadata__", ()) or [
        one for part in getattr(hint, "__args__", ()) for one in getattr(part, "__metadata__", ())
    ]
    return any(isinstance(one, Meta) and one.extra == _SECRET for one in inner)
