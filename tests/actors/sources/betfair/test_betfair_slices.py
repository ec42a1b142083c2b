"""The exchange's stream: a long message is read in slices, with the same result as a short one."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.betfair.wire import Message, read_message
from tests.support.builders.betfair import delta, image, line, live, market

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
    """For any layout and any apparent ends, the result equals that of the JSON decoder."""
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
    """Wherever it is invalid, none of its markets is applied."""
    stage = live(market("1.x"))

    with pytest.raises(PayloadError):
        stage.receive(broken(line(delta(*MANY))))
    assert ["1.x"] == list(stage.session.markets)
