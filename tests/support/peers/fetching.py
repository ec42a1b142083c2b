"""Functions that request a scripted peer through the real polling transport."""

from __future__ import annotations

import anyio
import pytest

from actors.core.clock import Clock
from actors.core.errors import SourceError, TransportError
from actors.transports.polling import Fetched, FetchLimits, NotModified, PollingTransport, Validators
from tests.support.time.virtual import ManualClock

NONE = Validators()
LIMITS = FetchLimits(timeout_s=5.0, max_payload_bytes=65_536, max_inflated_bytes=262_144)
HASTY = FetchLimits(timeout_s=0.3, max_payload_bytes=65_536, max_inflated_bytes=262_144)


async def fetch(
    url: str, validators: Validators = NONE, *, limits: FetchLimits = LIMITS, clock: Clock | None = None
) -> Fetched | NotModified:
    """Fetch once, with a new connection pool and a deadline well before the test's own time limit."""
    async with PollingTransport(limits, clock or ManualClock()) as transport:
        with anyio.fail_after(limits.timeout_s + 5):
            return await transport.fetch(url, validators)


async def fetched(url: str, validators: Validators = NONE, *, limits: FetchLimits = LIMITS) -> Fetched:
    """Fetch once and return the answer, which must be complete."""
    answer = await fetch(url, validators, limits=limits)
    assert isinstance(answer, Fetched)
    return answer


async def trouble(
    url: str, validators: Validators = NONE, *, limits: FetchLimits = LIMITS, clock: Clock | None = None
) -> SourceError:
    """Fetch once and return the expected error that the fetch must raise."""
    with pytest.raises(SourceError) as caught:
        await fetch(url, validators, limits=limits, clock=clock)
    return caught.value


async def refusal(url: str, validators: Validators = NONE, *, clock: Clock | None = None) -> TransportError:
    """Fetch once and return the error, which must be the error for a wrong status."""
    error = await trouble(url, validators, clock=clock)
    assert isinstance(error, TransportError)
    return error
