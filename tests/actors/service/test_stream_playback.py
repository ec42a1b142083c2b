"""The exchange's stream through real sockets, actors and board: the effect of its messages, and names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders.betfair import (
    AWAY,
    DRAW,
    HOME,
    PRICES,
    change,
    definition,
    delta,
    heartbeat,
    image,
    market,
    runner,
)
from tests.support.peers.http import HttpPeer, respond
from tests.support.peers.stream import StreamPeer
from tests.support.systems.betfair_playback import CATALOGUE, EXCHANGE, TEAMS, catalogue, exchange, peers

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

Peers = tuple[StreamPeer, HttpPeer]
OTHER = (1.5, 4.5, 7.0)
BOTH = {"1.1": PRICES, "1.2": OTHER}


@pytest.fixture
def both() -> Iterator[Peers]:
    """Return a stream that answers a subscription with two markets, and an empty catalogue."""
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(market("1.1"), market("1.2", OTHER))]
        yield stream, rest


async def test_prices_follow_each_message(both: Peers, tmp_path: Path) -> None:
    """A delta changes its own markets, in one commit each, and no others."""
    async with exchange(tmp_path, *both) as one:
        await one.shows(BOTH)
        version = one.board.snapshot.version
        one.stream.push(delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})))
        await one.shows({**BOTH, "1.1": (2.04, 3.5, 4.0)})
        one.stream.push(delta(change("1.2", {"id": DRAW, "batb": [[0, 0, 0]]})))
        await one.shows({"1.1": (2.04, 3.5, 4.0)})
        one.stream.push(delta(change("1.2", {"id": DRAW, "batb": [[0, 4.4, 2]]})))
        await one.shows({"1.1": (2.04, 3.5, 4.0), "1.2": (1.5, 4.4, 7.0)})

        assert version + 3 == one.board.snapshot.version


async def test_suspended_market_comes_back_with_its_newest_prices(both: Peers, tmp_path: Path) -> None:
    """Changes during the suspension count, but are not shown before the market is open again."""
    async with exchange(tmp_path, *both) as one:
        await one.shows(BOTH)
        suspended = {"id": "1.1", "marketDefinition": definition(status="SUSPENDED")}
        await one.says(delta(suspended), delta(change("1.1", {"id": AWAY, "batb": [[0, 3.9, 5]]})))
        await one.shows({"1.2": OTHER})
        one.stream.push(delta({"id": "1.1", "marketDefinition": definition()}))

        await one.shows({"1.1": (2.0, 3.5, 3.9), "1.2": OTHER})


async def test_lost_connection_resumes(both: Peers, tmp_path: Path) -> None:
    """Entries stay; the same subscription is sent with both clocks, and a patch has what was missed."""
    async with exchange(tmp_path, *both) as one:
        await one.shows(BOTH)
        await one.says(delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}), clk="clk-2"))
        await one.says(heartbeat(clk="clk-3"))
        patch = change("1.2", {"id": HOME, "batb": [[0, 1.55, 7]]})
        one.stream.answer = lambda _: [image(patch, ct="RESUB_DELTA", initialClk=None, clk="clk-4")]
        one.stream.cut()
        await one.shows({"1.1": (2.04, 3.5, 4.0), "1.2": (1.55, 4.5, 7.0)})
        first, second = one.stream.subscriptions()

        assert {**first, "id": second["id"], "initialClk": "initial-1", "clk": "clk-3"} == second
        assert (2, 1) == (one.stream.connections, one.board.source.failed_by["closed"])


async def test_entries_stay_until_they_are_stale(both: Peers, tmp_path: Path) -> None:
    """Without a connection the list is shown until its deadline and then withdrawn as a whole."""
    async with exchange(tmp_path, *both, heartbeat_ms=500, stale_after_s=1.0) as one:
        await one.shows(BOTH)
        one.stream.refuse = lambda _: "CONNECTION_FAILED"
        one.stream.cut()
        await one.board.until(lambda: one.stream.connections == 2)
        shown = one.prices()
        await one.shows({})

        assert BOTH == shown
        assert set() == one.board.serving()


async def test_heartbeats_do_not_restore_a_stale_list(both: Peers, tmp_path: Path) -> None:
    """A stale list stays withdrawn until an image arrives, whatever the number of heartbeats (C11)."""
    async with exchange(tmp_path, *both, heartbeat_ms=500, stale_after_s=1.0) as one:
        await one.shows(BOTH)
        one.stream.answer = lambda _: []
        one.stream.cut()
        await one.shows({})
        version = one.board.snapshot.version
        await one.says(*[heartbeat()] * 20)
        after = one.board.snapshot.version, one.prices()
        one.stream.push(image(market("1.1"), market("1.2", OTHER)))
        await one.shows(BOTH)

        assert (version, {}) == after


async def test_invalid_bytes_close_the_connection_only(both: Peers, tmp_path: Path) -> None:
    """The list stays, and the next connection begins with an image."""
    async with exchange(tmp_path, *both) as one:
        await one.shows(BOTH)
        one.stream.push(b"<html>\r\n")
        await one.board.until(lambda: one.stream.connections == 2)
        await one.board.until(lambda: one.board.source.failures == 0)

        assert 1 == one.board.source.failed_by["unreadable"]
        assert BOTH == one.prices()
        assert "clk" not in one.stream.subscriptions()[-1]


async def test_new_name_is_shown(both: Peers, tmp_path: Path) -> None:
    """If definitions have names, the newest ones are shown, with single spaces."""
    async with exchange(tmp_path, *both) as one:
        await one.shows(BOTH)
        for name in ("Alder  Town", "Alder City"):
            named = [
                runner(HOME, 1, name=name),
                runner(AWAY, 2, name="Birch"),
                runner(DRAW, 3, name="The Draw"),
            ]
            one.stream.push(delta({"id": "1.1", "marketDefinition": definition(runners=named)}))
            await one.names("1.1", (" ".join(name.split()), "Birch", None))


async def test_market_without_names_is_not_in_v2(both: Peers, tmp_path: Path) -> None:
    """A market without names is shown with empty ones in v1, and its names are requested once."""
    both[1].answers[CATALOGUE] = respond(catalogue("1.1"))
    async with exchange(tmp_path, *both) as one:
        await one.board.until(lambda: one.board.snapshot.books[EXCHANGE].named == 1)
        await one.says(delta(change("1.2", {"id": AWAY, "batb": [[0, 7.2, 5]]})), heartbeat())
        await one.shows({**BOTH, "1.2": (1.5, 4.5, 7.2)})

        assert {"1.1": TEAMS, "1.2": ("", "", None)} == one.teams()
        assert 1 == len(one.asked(CATALOGUE))
