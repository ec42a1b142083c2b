"""The recorded handicaps of the exchange, message by message, compared with an independent reading.

After each message every line with two prices is shown with these, or refused for a named reason; the
results of the matches are those of a subscription without other markets.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from actors.markets.market import Kind
from tests.support.builders.betfair import Json, line, recorded
from tests.support.oracles.betfair_lines import LineOracle
from tests.support.systems.betfair_lists import Gated

pytestmark = pytest.mark.recordings

STREAM = "stream_2025-05-07_soccer.bz2"


def _messages() -> list[Json]:
    return [{**json.loads(raw), "id": 2} for raw in recorded(STREAM)]


def _told(gated: Gated, oracle: LineOracle) -> Counter[str | None]:
    """Compare all lines; return the number of those that are shown, and of others by reason."""
    verdicts = oracle.verdicts()
    shown = {name: verdict.odds for name, verdict in verdicts.items() if verdict.reason is None}

    assert shown == gated.odds(Kind.ASIAN_HANDICAP)
    return Counter(verdict.reason for verdict in verdicts.values())


def test_first_image_is_read_as_its_messages_say() -> None:
    """Each line of 60 markets is shown, or refused for a reason that the gate counts."""
    gated, oracle = Gated(), LineOracle()
    gated.connect()
    raw = line(_messages()[0])
    gated.take(raw)
    oracle.take(raw)
    told = _told(gated, oracle)

    assert told["lines"] == gated.rejected["lines"]
    assert told["crossed"] == gated.rejected["crossed"]
    assert told[None] > 300


@pytest.mark.long
def test_every_message_of_the_recording() -> None:
    """No line lags behind its newest message, and none is left over."""
    gated, oracle, told = Gated(), LineOracle(), Counter[str | None]()
    gated.connect()
    for message in _messages():
        raw = line(message)
        gated.take(raw)
        oracle.take(raw)
        told = _told(gated, oracle)

    assert told[None] > 300


@pytest.mark.long
def test_results_are_those_of_a_subscription_to_results_alone() -> None:
    """Ids, names, times and prices do not change with other markets beside them."""
    alone, both = Gated((Kind.ONE_X_TWO,)), Gated()
    alone.connect()
    both.connect()
    for message in _messages():
        alone.take(line(message))
        both.take(line(message))

        assert alone.matches == {
            name: match for name, match in both.matches.items() if match.market.kind is Kind.ONE_X_TWO
        }
