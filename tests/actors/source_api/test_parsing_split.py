"""Splitting a JSON list: in blocks it gives what reading it at once gives, elements and errors."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.errors import UNREADABLE
from actors.source_api import parsing
from actors.source_api.parsing import WHOLE_BYTES, split

KEYS = ["id", 'a"b', "]},{", "\\"]
VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.sampled_from(["", '},{"id":', "é,", "]", "\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
ELEMENTS = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from("ab")}, optional={"x": VALUES}), max_size=9
)


def _split(body: bytes) -> list[bytes] | None:
    try:
        return [bytes(one) for one in split(body)]
    except UNREADABLE:
        return None


def _whole(body: bytes) -> list[bytes] | None:
    try:
        body.decode()
        return [bytes(one) for one in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except UNREADABLE:
        return None


@given(ELEMENTS, st.sampled_from([None, 1]), st.integers(1, 60), st.integers(0, 300), st.binary(max_size=2))
@example([{"id": "a"}, {"id": "b"}], None, 12, 300, b"")
def test_blocks_give_what_the_whole_gives(
    elements: list[object], indent: int | None, block_bytes: int, at: int, damage: bytes
) -> None:
    """For any list, written in any way and damaged anywhere: the same elements, or both an error."""
    body = json.dumps(elements, indent=indent, ensure_ascii=False).encode()
    body = body[:at] + damage + body[at + len(damage) :]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "WHOLE_BYTES", block_bytes)
        found = _split(body)

    assert _whole(body) == found


def test_what_cannot_be_cut_is_read_at_once() -> None:
    """Other values, and no JSON at all, give what they always gave."""
    for text in ["", "[", "[]", " [ ] ", "[1,2]", '{"id":1}', '[{"id":1},,{"id":2}]', "[{"]:
        assert _whole(text.encode()) == _split(text.encode()), text


def test_a_long_list_is_read_block_by_block() -> None:
    """The first elements are there before the last ones were looked at."""
    element = b'{"id":"1","teams":[{"id":1},{"id":2}]}'
    count = 3 * WHOLE_BYTES // len(element)
    body = b"[" + b",".join([element] * count) + b",\xff"

    elements = split(body)
    read = [bytes(next(elements)) for _ in range(2 * count // 3)]

    assert {element} == set(read)
    with pytest.raises(UnicodeDecodeError):
        list(elements)
