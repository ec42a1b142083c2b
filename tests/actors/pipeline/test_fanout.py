"""The name of a list: made of its bytes alone, in slices."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.pipeline.fanout import HASHED_BYTES, list_id_of


@given(st.binary(max_size=64))
def test_the_same_bytes_have_the_same_name(body: bytes) -> None:
    """And others another one."""
    assert run_now(list_id_of(body)) == run_now(list_id_of(bytes(body)))
    assert run_now(list_id_of(body)) != run_now(list_id_of(body + b"x"))


@pytest.mark.parametrize("size", [0, 1, HASHED_BYTES, HASHED_BYTES + 1, 3 * HASHED_BYTES - 1])
def test_a_long_body_is_hashed_in_slices(size: int) -> None:
    """However long it is, every byte counts, once and in order."""
    body = (bytes(range(251)) * (size // 251 + 1))[:size]

    assert blake2b(body, digest_size=16).hexdigest() == run_now(list_id_of(body))
    assert sum(1 for _ in list_id_of(body)) == -(-size // HASHED_BYTES)
