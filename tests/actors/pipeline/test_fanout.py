"""The deliveries that a payload makes for each bookmaker, and the id of a list, made of its bytes alone."""

from __future__ import annotations

from hashlib import blake2b

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.messages import (
    NOT_MODIFIED,
    Batch,
    BookmakerId,
    Document,
    ListId,
    Payload,
    Scope,
    SourceName,
)
from actors.pipeline.fanout import HASHED_BYTES, deliveries, list_id_of, needing_document
from tests.support.systems.scopes import scripted, verbatim

NAMES = [BookmakerId(name) for name in ("alder", "birch", "cedar")]
SOME = st.sets(st.sampled_from(NAMES))


@given(st.binary(max_size=64))
def test_same_bytes_have_the_same_list_id(body: bytes) -> None:
    """Equal bytes have equal ids, and other bytes have another id."""
    assert run_now(list_id_of(body)) == run_now(list_id_of(bytes(body)))
    assert run_now(list_id_of(body)) != run_now(list_id_of(body + b"x"))


@pytest.mark.parametrize("size", [0, 1, HASHED_BYTES, HASHED_BYTES + 1, 3 * HASHED_BYTES - 1])
def test_each_byte_of_a_body_is_hashed_once(size: int) -> None:
    """Every byte of a short or a long body is hashed once, in order."""
    body = (bytes(range(251)) * (size // 251 + 1))[:size]

    assert blake2b(body, digest_size=16).hexdigest() == run_now(list_id_of(body))


@given(SOME, SOME, st.booleans(), st.booleans())
def test_each_bookmaker_gets_the_list_or_its_confirmation(
    before: set[BookmakerId],
    after: set[BookmakerId],
    is_repeat: bool,  # noqa: FBT001
    confirms: bool,  # noqa: FBT001
) -> None:
    """Bookmakers without the list (all, if repeats never confirm) get a document, others a confirmation."""
    kind = msgspec.structs.replace(scripted("s", verbatim), repeats_confirm=confirms)
    status = NOT_MODIFIED if is_repeat else 200
    payload = Payload(SourceName("x"), Scope("s"), ListId("l"), b"", 1.0, 2.0, status=status)
    needing = needing_document(payload, kind, NAMES, lambda name, *_: name in before)
    got = dict(deliveries(payload, "content", needing, NAMES, lambda name, *_: name in after))

    lacking = set() if is_repeat else set(NAMES) - before if confirms else set(NAMES)
    assert lacking == {name for name, one in got.items() if isinstance(one, Document)}
    confirmed = {name for name, one in got.items() if isinstance(one, Batch) and one.is_confirmation}
    assert after - lacking == confirmed == got.keys() - lacking
    assert {(2.0, "l")} >= {(one.received_mono, one.list_id) for one in got.values()}
