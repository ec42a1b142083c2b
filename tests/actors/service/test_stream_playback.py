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
    TEAMS,
    Json,
    catalogue,
    change,
    config,
    definition,
    delta,
    heartbeat,
    image,
    market,
    prices_of,
    runner,
)
from tests.support.peers.exchange import Exchange, granted, granted_with, refused
from tests.support.systems.virtual_service import VirtualService, configured, until
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

CATALOGUE = "/v1"
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

    def teams(self) -> dict[str, tuple[str, str, str | None]]:
        """Return home, away and league by match."""
        matches = [entry.match for entry in self.service.entries(BOOKMAKER)]
        return {match.source_match_id: (match.home, match.away, match.league) for match in matches}

    async def says(self, *messages: Json) -> None:
        """Push messages and let them take effect; no time passes."""
        self.exchange.say(*messages)
        await settle()


@contextlib.asynccontextmanager
async def _connected(folder: Path, web: bytes = b'{"result":[]}') -> AsyncIterator[Connected]:
    exchange = Exchange()
    exchange.answer = lambda request: granted(request, market("1.1"), market("1.2", OTHER))
    exchange.web = lambda _: web
    async with configured(folder, config(stale_after_s=STALE_AFTER_S), exchange=exchange) as service:
        await settle()
        connected = Connected(service)
        assert BOTH == connected.prices()
        yield connected


async def test_prices_follow_each_message(tmp_path: Path) -> None:
    """A delta changes its own markets, in one commit each, and no others."""
    async with _connected(tmp_path) as live:
        version, shown = live.version, []
        for market_id, runner_change in (
            ("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}),
            ("1.2", {"id": DRAW, "batb": [[0, 0, 0]]}),
            ("1.2", {"id": DRAW, "batb": [[0, 4.4, 2]]}),
        ):
            await live.says(delta(change(market_id, runner_change)))
            shown.append((live.version - version, live.prices()))

    assert [
        (1, {**BOTH, "1.1": (2.04, 3.5, 4.0)}),
        (2, {"1.1": (2.04, 3.5, 4.0)}),
        (3, {"1.1": (2.04, 3.5, 4.0), "1.2": (1.5, 4.4, 7.0)}),
    ] == shown


async def test_suspended_market_comes_back_with_its_newest_prices(tmp_path: Path) -> None:
    """Changes during the suspension count, but are not shown before the market is open again."""
    async with _connected(tmp_path) as live:
        suspended = {"id": "1.1", "marketDefinition": definition(status="SUSPENDED")}
        await live.says(delta(suspended), delta(change("1.1", {"id": AWAY, "batb": [[0, 3.9, 5]]})))
        during = live.prices()
        await live.says(delta({"id": "1.1", "marketDefinition": definition()}))

        assert {"1.2": OTHER} == during
        assert {"1.1": (2.0, 3.5, 3.9), "1.2": OTHER} == live.prices()


async def test_lost_connection_resumes(tmp_path: Path) -> None:
    """Entries stay; the same subscription is sent with both clocks, and a patch has what was missed."""
    async with _connected(tmp_path) as live:
        await live.says(delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}), clk="clk-2"))
        await live.says(heartbeat(clk="clk-3"))
        patch = change("1.2", {"id": HOME, "batb": [[0, 1.55, 7]]})
        missed = image(patch, ct="RESUB_DELTA", initialClk=None, clk="clk-4")
        live.exchange.answer = lambda request: granted_with(request, missed)
        live.exchange.wire.close()
        await settle()
        during = live.prices()
        await until(lambda: len(live.exchange.opened) == 2)
        first, second = live.exchange.subscriptions()

        assert {"1.1": (2.04, 3.5, 4.0), "1.2": OTHER} == during
        assert {"1.1": (2.04, 3.5, 4.0), "1.2": (1.55, 4.5, 7.0)} == live.prices()
        assert {**first, "id": second["id"], "initialClk": "initial-1", "clk": "clk-3"} == second
        assert 1 == live.source.failed_by["closed"]


async def test_entries_stay_until_they_are_stale(tmp_path: Path) -> None:
    """Without a connection the list is shown until its deadline and then withdrawn as a whole."""
    async with _connected(tmp_path) as live:
        live.exchange.answer = lambda request: refused(request, "CONNECTION_FAILED")
        live.exchange.wire.close()
        await until(lambda: len(live.exchange.opened) == 2)
        shown = live.prices()
        at = await until(lambda: not live.prices())

        assert BOTH == shown
        assert STALE_AFTER_S == pytest.approx(at, abs=1.1)
        assert set() == live.service.serving()


async def test_heartbeats_do_not_restore_a_stale_list(tmp_path: Path) -> None:
    """A stale list stays withdrawn until an image arrives, whatever the number of heartbeats (C11)."""
    async with _connected(tmp_path) as live:
        live.exchange.answer = granted_with
        live.exchange.wire.close()
        await until(lambda: not live.prices())
        version = live.version
        await live.says(*[heartbeat()] * 20)
        after = live.version, live.prices()
        await live.says(image(market("1.1"), market("1.2", OTHER)))

        assert (version, {}) == after
        assert BOTH == live.prices()


async def test_invalid_bytes_close_the_connection_only(tmp_path: Path) -> None:
    """The list stays, and the next connection begins with an image."""
    async with _connected(tmp_path) as live:
        live.exchange.wire.say(b"<html>\r\n")
        await until(lambda: len(live.exchange.opened) == 2)

        assert (1, 0) == (live.source.failed_by["unreadable"], live.source.failures)
        assert BOTH == live.prices()
        assert "clk" not in live.exchange.subscriptions()[-1]


async def test_new_name_is_shown(tmp_path: Path) -> None:
    """If definitions have names, the newest ones are shown, with single spaces."""
    async with _connected(tmp_path) as live:
        for name in ("Alder  Town", "Alder City"):
            named = [
                runner(HOME, 1, name=name),
                runner(AWAY, 2, name="Birch"),
                runner(DRAW, 3, name="The Draw"),
            ]
            await live.says(delta({"id": "1.1", "marketDefinition": definition(runners=named)}))

            assert (" ".join(name.split()), "Birch", None) == live.teams()["1.1"]


async def test_market_without_names_is_not_in_v2(tmp_path: Path) -> None:
    """A market without names is shown with empty ones in v1, and its names are requested once."""
    async with _connected(tmp_path, catalogue("1.1")) as live:
        await live.says(delta(change("1.2", {"id": AWAY, "batb": [[0, 7.2, 5]]})), heartbeat())

        assert 1 == live.service.snapshot.books[BOOKMAKER].named
        assert {**BOTH, "1.2": (1.5, 4.5, 7.2)} == live.prices()
        assert {"1.1": TEAMS, "1.2": ("", "", None)} == live.teams()
        assert 1 == len(live.exchange.requested(CATALOGUE))
