"""The names of the exchange's markets, through real sockets: from definitions or from the catalogue."""

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


async def test_failed_catalogue_does_not_affect_prices(both: Peers, tmp_path: Path) -> None:
    """The error is counted, and prices go on."""
    both[1].answers[CATALOGUE] = respond(b"<html>", status=500)
    async with exchange(tmp_path, *both) as one:
        await one.board.until(lambda: one.board.source.failed_by["errand_status_500"] == 1)
        one.stream.push(delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})))
        await one.shows({**BOTH, "1.1": (2.04, 3.5, 4.0)})

        assert (0, None) == (one.board.source.failures, one.board.source.last_error)
