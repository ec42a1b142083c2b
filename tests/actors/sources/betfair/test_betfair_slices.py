"""The exchange's stream: a long message is read in slices, with the same result as a short one."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.betfair.wire import WHOLE_BYTES, Message, read_message
from tests.support.builders.betfair import Stage, delta, image, line, live, market, prices_of

COUNT = 1500
MANY = [market(f"1.{number}") for number in range(COUNT)]


def _segments(parts: list[Any], size: int) -> list[dict[str, Any]]:
    """Return an image in segments of that many markets."""
    cut = [parts[at : at + size] for at in range(0, len(parts), size)]
    kinds = ["SEG_START", *["SEG"] * (len(cut) - 2), "SEG_END"]
    return [{**image(*one), "segmentType": kind} for one, kind in zip(cut, kinds, strict=True)]


def test_long_line_is_read_like_a_short_one() -> None:
    """A long line's markets are decoded one by one, its other fields at once, with the same result."""
    message = image(*MANY)
    whole = json.dumps(message).encode()
    parts = [run_now(read_message(json.dumps({**message, "mc": [one]}).encode())) for one in MANY]
    read = run_now(read_message(whole))

    assert len(whole) > WHOLE_BYTES
    assert [one for part in parts for one in part.mc or ()] == read.mc
    assert isinstance(read, Message)
    assert {parts[0].ct, parts[0].clk, parts[0].initialClk, parts[0].pt} == {
        *(read.ct, read.clk, read.initialClk, read.pt)
    }


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
        lambda raw: raw.replace(b'{"id": "1.7"', b'{"x": "%b", "id": "1.7"' % (b'\\"' * 2**17)),
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
        lambda raw: raw.replace(b'"1.700"', b"1.7", 1),
        lambda raw: raw.replace(b'"1.700"', b'"\xff"', 1),
        lambda raw: raw.replace(b'"mc"', b'"mc": 1, "mc"', 1) + b"]",
        lambda raw: raw.replace(b'"pt"', b'"deep": ' + b"[" * 100_000 + b"]" * 100_000 + b', "pt"', 1),
    ],
    ids=["cut", "an id that is none", "no UTF-8", "a bracket too many", "too deep"],
)
def test_invalid_long_line_is_refused_entirely(broken: Any) -> None:
    """Wherever it is invalid, none of its markets is applied."""
    stage = live(market("1.x"))

    with pytest.raises(PayloadError):
        stage.receive(broken(line(delta(*MANY))))
    assert ["1.x"] == list(stage.session.markets)


def test_long_image_is_applied() -> None:
    """Each market of a long image is returned."""
    stage = Stage()
    stage.connect()
    run_now(stage.session.receive(line(image(*MANY))))

    assert len(prices_of(stage.session.image().matches)) == COUNT


def test_segmented_image_is_applied() -> None:
    """After the last segment, each market of a long image is returned as well."""
    stage = Stage()
    stage.connect()
    for part in _segments(MANY, 128):
        run_now(stage.session.receive(line(part)))

    assert len(prices_of(stage.session.image().matches)) == COUNT
