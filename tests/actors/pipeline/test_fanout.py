"""The deliveries that a payload makes for each bookmaker, and the id of a list, made of its bytes alone."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

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
from actors.pipeline.fanout import deliveries, list_id_of, needing_document
from tests.support.systems.scopes import scripted, verbatim

NAMES = [BookmakerId(name) for name in ("alder", "birch", "cedar")]
SOME = st.sets(st.sampled_from(NAMES))


@given(st.binary(max_size=64))
def test_same_bytes_have_the_same_list_id(body: bytes) -> None:
    """Equal bytes have equal ids, and other bytes have another id."""
    assert list_id_of(body) == list_id_of(bytes(body))
    assert list_id_of(body) != list_id_of(body + b"x")


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
    assert lacking == {name for name, document in got.items() if isinstance(document, Document)}
    confirmed = {
        name for name, document in got.items() if isinstance(document, Batch) and document.is_confirmation
    }
    assert after - lacking == confirmed == got.keys() - lacking
    assert {(2.0, "l")} >= {(document.received_mono, document.list_id) for document in got.values()}
