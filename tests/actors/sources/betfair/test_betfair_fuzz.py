"""The exchange's stream with hostile lines: an expected error, or no more than the library reads too."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.errors import PayloadError, StreamError
from tests.support.builders.betfair import HOME, Json, change, delta, image, line, live, market
from tests.support.oracles.betfair_duel import WRONG, Duel, hostile_line

LINES = 1250
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WRONG),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["op", "id", "ct", "clk", "initialClk", "pt", "segmentType", "status", "mc"])
OF_MARKETS = st.sampled_from(["id", "img", "marketDefinition", "rc", "con"])
OF_RUNNERS = st.sampled_from(["id", "hc", "ltp", "batb", "atb"])
OF_DEFINITIONS = st.sampled_from(["status", "marketType", "marketTime", "runners", "eventId", "inPlay"])


def _told(raw: bytes) -> None:
    """Pass a line to a live subscription; any exception but an expected error is a failure."""
    duel = Duel()
    duel.take(raw)


@given(st.binary(max_size=200))
@example(b"\xff\xfe{")
@example(b'{"op":"mcm","id":2,"clk":"\xed\xa0\x80"}')
@example(b'{"op":"mcm","id":2,"clk":"\\ud800"}')
@example(b"[" * 100_000)
@example(b'{"op":"mcm","id":2,"x":' + b"[" * 100_000)
@example(b'{"op":"mcm","id":2,"mc":' + b'[{"rc":' * 50_000)
@example(b'{"op":"mcm","id":2,"pt":' + b"9" * 5000 + b"}")
@example(b'{"op":"mcm","id":' + b"9" * 400 + b"}")
def test_any_bytes_are_an_error_or_a_message(raw: bytes) -> None:
    """Bytes that are no message never crash the protocol."""
    _told(raw)


@given(FIELDS, JSON)
def test_any_value_in_a_message(name: str, value: Any) -> None:
    """Any value in any field of a message is an expected error or is read."""
    _told(line({**delta(market()), name: value}))
    _told(line({**image(market()), name: value}))


@given(OF_MARKETS, JSON)
@example("id", "../../etc")
def test_any_value_in_a_market(name: str, value: Any) -> None:
    """Any value in the change of a market is an expected error or is read."""
    _told(line(delta({**market(), name: value})))


@given(OF_DEFINITIONS, JSON)
@example("marketTime", "0001-01-01T00:00:00+23:59")
@example("marketTime", "9999-12-31T23:59:59-23:59")
def test_any_value_in_a_definition(name: str, value: Any) -> None:
    """Any value in a market definition is an expected error or is read."""
    _told(line(delta(market(**{name: value}))))


@given(OF_RUNNERS, JSON)
@example("id", 10**30)
@example("hc", 1e308)
@example("batb", [[10**30, 2.0, 3.0]])
def test_any_value_in_a_runner(name: str, value: Any) -> None:
    """Any value in the change of a runner is an expected error or is read."""
    _told(line(delta(change("1.1", {"id": HOME, name: value}))))


@pytest.mark.parametrize(
    "published", [10**27, 10**400, -(10**400), 1 << 64], ids=["27", "400", "-400", "64"]
)
def test_impossible_publish_time_causes_no_crash(published: int) -> None:
    """A publish time of any size causes no crash."""
    _told(line(delta(market(), pt=published)))


@pytest.mark.long
@pytest.mark.parametrize(
    "raw",
    [
        line({**delta(market()), "padding": "x" * 2**20}),
        line(delta(*(change("1.1", {"id": HOME, "batb": [[0, 2.0, 3.0]]}) for _ in range(20_000)))),
        line(delta(change("1.1", {"id": HOME, "atb": [[1 + at / 100, 3.0] for at in range(80_000)]}))),
    ],
    ids=["padding", "changes", "ladder"],
)
def test_line_of_a_megabyte(raw: bytes) -> None:
    """A line of a megabyte is read like any other."""
    assert len(raw) > 2**20 - 2**17

    _told(raw)


@given(st.lists(st.sampled_from([None, {"ct": "SUB_IMAGE"}, {"img": True}, {"id": 1}, {}]), max_size=9))
def test_null_among_markets_is_no_market(parts: list[Json | None]) -> None:
    """A null in the list of markets is ignored or an expected error."""
    stage = live(market())
    try:
        stage.receive(line(delta() | {"mc": parts}))
    except (PayloadError, StreamError) as error:
        assert "unreadable" == error.reason  # noqa: PT017 - what is no trouble is right as well


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        *((seed, LINES) for seed in range(4)),
        *(pytest.param(seed, 25_000, marks=pytest.mark.long) for seed in range(4, 8)),
    ],
)
def test_no_price_that_the_library_does_not_have(seed: int, count: int) -> None:
    """Cut, repeated, reordered or wrong lines show no price that the library does not have."""
    random, duel = Random(seed), Duel()
    kept: list[bytes] = []
    for _ in range(count):
        raw = hostile_line(random, duel.ours.sent[-1]["id"])
        if kept and random.random() < 0.1:
            raw = random.choice(kept)
        kept = [*kept[-20:], raw]
        duel.take(raw)

    assert count == duel.taken + duel.refused
    assert min(duel.taken, duel.refused) > count / 10
