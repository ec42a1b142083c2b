"""The exchange's stream with hostile or long lines: an expected error, or the library's result."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.betfair.wire import Message, read_message
from tests.support.builders.betfair import HOME, change, delta, image, line, live, market
from tests.support.oracles.betfair_duel import Duel

LINES = 1250


def _told(raw: bytes) -> None:
    """Pass a line to a live subscription; any exception but an expected error is a failure."""
    duel = Duel()
    duel.take(raw)


def test_extreme_lines_are_an_error_or_a_message() -> None:
    """No nesting, length, number, time or encoding crashes the protocol, whatever its field."""
    for raw in (
        b"\xff\xfe{",
        *(b'{"op":"mcm","id":2,"clk":"\xed\xa0\x80"}', b'{"op":"mcm","id":2,"clk":"\\ud800"}'),
        *(b"[" * 100_000, b'{"op":"mcm","id":2,"x":' + b"[" * 100_000),
        b'{"op":"mcm","id":2,"mc":' + b'[{"rc":' * 50_000,
        *(b'{"op":"mcm","id":2,"pt":' + b"9" * 5000 + b"}", b'{"op":"mcm","id":' + b"9" * 400 + b"}"),
        *(line(delta(market(), pt=number)) for number in (10**27, 10**400, -(10**400), 1 << 64)),
        *(
            line(delta(market(marketTime=f"{time}:59")))
            for time in ("0001-01-01T00:00:00+23", "9999-12-31T23:59:59-23")
        ),
        *(
            line(delta(change("1.1", {"id": HOME} | entry)))
            for entry in ({"id": 10**30}, {"hc": 1e308}, {"batb": [[10**30, 2.0, 3.0]]})
        ),
        line(delta({**market(), "id": "../../etc"})),
        line(delta() | {"mc": [None, {"img": True}, {"id": 1}, {}]}),
    ):
        _told(raw)


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        *((seed, LINES) for seed in range(6)),
        *(pytest.param(seed, 12_500, marks=pytest.mark.long) for seed in range(6, 10)),
    ],
)
def test_no_price_that_the_library_does_not_have(seed: int, count: int, *, is_whole: bool) -> None:
    """Cut, repeated, reordered or wrong lines show no price or handicap that the library does not have."""
    count *= 2 if is_whole else 1
    random, made, kept = Random(seed), Duel(), list[bytes]()
    for _ in range(count):
        raw = made.hostile(random)
        if kept and random.random() < 0.1:
            raw = random.choice(kept)
        kept = [*kept[-20:], raw]
        made.take(raw)

    assert count == made.taken + made.refused
    assert min(made.taken, made.refused) > count / 10
    assert made.compared > count / 2


COUNT = 1500
MANY = [market(f"1.{number}") for number in range(COUNT)]


@pytest.mark.parametrize(
    "written",
    [
        lambda raw: raw.replace(b'"id"', b'"other": [{"id": "1.5"}, {"id": "1.6"}], "id"'),
        lambda raw: raw.replace(b'"mc"', b'"mc": [], "mc"', 1),
        lambda raw: raw.replace(b'"op"', b'"x\\"mc":[{"id": "1.0"}], "op"', 1),
        lambda raw: raw.replace(
            b'"mc": [', b'"mc": [{"id": "1.9", "other": "}, {\\"id\\": \\"1.0\\""}, ', 1
        ),
        lambda raw: raw.replace(b'{"id": "1.7', b'{"con": false, "id": "1.7'),
        lambda raw: raw.replace(b'{"id": "1.', b'{"x": "}, {\\"", "y": "\\\\", "id": "1.'),
        lambda raw: raw.replace(b'{"id": "1.7"', b'{"x": "%b", "id": "1.7"' % (b'\\"' * 2**16)),
        lambda raw: raw.replace(b", ", b",").replace(b": ", b":"),
        lambda raw: raw[:-1] + b', "pt": 5}',
    ],
    ids=[
        "lists in lists",
        "twice",
        "a key like it",
        "one more",
        "another order",
        "braces in texts",
        "a long text",
        "closely",
        "later words",
    ],
)
def test_long_line_is_read_like_its_json(written: Any) -> None:
    """For any layout and any false ends in its texts, the result equals that of the JSON decoder."""
    raw = written(json.dumps(image(*MANY)).encode())

    assert msgspec.json.decode(raw, type=Message) == run_now(read_message(raw))


@pytest.mark.parametrize(
    "broken",
    [
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b'"1.700"', b'"\xff"', 1),
        lambda raw: raw.replace(b'"mc"', b'"mc": 1, "mc"', 1) + b"]",
        lambda raw: raw.replace(b'"pt"', b'"deep": ' + b"[" * 100_000 + b"]" * 100_000 + b', "pt"', 1),
    ],
    ids=["cut", "no UTF-8", "a bracket too many", "too deep"],
)
def test_invalid_long_line_is_refused_entirely(broken: Any) -> None:
    """Wherever the line is invalid, none of its markets is applied."""
    stage = live(market("1.x"))

    with pytest.raises(PayloadError):
        stage.receive(broken(line(delta(*MANY))))
    assert ["1.x"] == list(stage.session.markets)
