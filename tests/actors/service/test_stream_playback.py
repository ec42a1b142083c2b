"""The exchange's stream in the whole service: the effect of its messages, and names."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.builders.betfair import (
    AWAY,
    BOOKMAKER,
    DRAW,
    HOME,
    PRICES,
    Json,
    change,
    config,
    definition,
    delta,
    market,
    prices_of,
)
from tests.support.peers.exchange import Exchange, granted
from tests.support.systems.virtual_service import VirtualService, configured, until
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

OTHER = (1.5, 4.5, 7.0)
BOTH = {"1.1": PRICES, "1.2": OTHER}
STALE_AFTER_S = 30.0


class Connected:
    """The service, on the stream of an exchange that answers a subscription with two markets."""

    def __init__(self, service: VirtualService) -> None:
        self.service = service
        self.exchange = service.exchange
        self.source = service.source("stream")

    @property
    def version(self) -> int:
        """The version that a reader gets."""
        return self.service.snapshot.version

    def prices(self) -> dict[str, tuple[float, float, float]]:
        """Return the prices on the board, by match."""
        return prices_of(entry.match for entry in self.service.entries(BOOKMAKER))

    async def says(self, *messages: Json) -> None:
        """Push messages and let them take effect; no time passes."""
        self.exchange.say(*messages)
        await settle()


@contextlib.asynccontextmanager
async def _connected(folder: Path) -> AsyncIterator[Connected]:
    exchange = Exchange()
    exchange.answer = lambda request: granted(request, market("1.1"), market("1.2", OTHER))
    exchange.web = lambda _: b'{"result":[]}'
    async with configured(folder, config(stale_after_s=STALE_AFTER_S), exchange=exchange) as service:
        await settle()
        connected = Connected(service)
        assert BOTH == connected.prices()
        yield connected


async def test_prices_follow_each_message(tmp_path: Path) -> None:
    """Each message changes its own market in one commit; a suspended market's change is shown later."""
    async with _connected(tmp_path) as live:
        version, shown = live.version, []
        suspended = {"id": "1.1", "marketDefinition": definition(status="SUSPENDED")}
        for changed in (
            change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}),
            change("1.2", {"id": DRAW, "batb": [[0, 0, 0]]}),
            change("1.2", {"id": DRAW, "batb": [[0, 4.4, 2]]}),
            suspended,
            change("1.1", {"id": AWAY, "batb": [[0, 3.9, 5]]}),
            {"id": "1.1", "marketDefinition": definition()},
        ):
            await live.says(delta(changed))
            shown.append((live.version - version, live.prices()))

    other = {"1.2": (1.5, 4.4, 7.0)}
    assert [
        (1, {**BOTH, "1.1": (2.04, 3.5, 4.0)}),
        (2, {"1.1": (2.04, 3.5, 4.0)}),
        (3, {"1.1": (2.04, 3.5, 4.0), **other}),
        (4, other),
        (4, other),
        (5, {"1.1": (2.04, 3.5, 3.9), **other}),
    ] == shown


async def test_invalid_bytes_close_the_connection_only(tmp_path: Path) -> None:
    """The list stays on the board, and the next connection begins with an image."""
    async with _connected(tmp_path) as live:
        live.exchange.wire.say(b"<html>\r\n")
        await until(lambda: len(live.exchange.opened) == 2)

        assert (1, 0) == (live.source.failed_by["unreadable"], live.source.failures)
        assert BOTH == live.prices()
        assert "clk" not in live.exchange.subscriptions()[-1]
