"""Compressed messages that many gzip members share: any decoder reads the original messages."""

from __future__ import annotations

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from web.encoding.members import LONG_BYTES, Member, deflated

LONG = b"long " * LONG_BYTES
PIECES = st.binary(max_size=9) | st.sampled_from([b"", b"data: 1,2,3\n\n" * 40, LONG])
MESSAGES = st.lists(st.tuples(st.booleans(), st.lists(PIECES, min_size=1, max_size=3)), max_size=6)


@given(MESSAGES)
def test_a_member_decompresses_to_its_messages(messages: list[tuple[bool, list[bytes]]]) -> None:
    """Each message can be read when its blocks have arrived, whatever messages came before it."""
    member, inflater = Member(), zlib.decompressobj(31)
    sent = inflater.decompress(member.header)
    for is_small, pieces in messages:
        text = b"".join(pieces)
        if is_small and len(text) < LONG_BYTES:
            read = inflater.decompress(member.block(text))
        else:
            blocks, described = run_now(deflated(pieces, member.last))
            member.follow(described)
            read = inflater.decompress(b"".join(blocks))
        assert text == read
        sent += text
    inflater.decompress(member.end)

    assert (True, b"") == (inflater.eof, inflater.unused_data)


def test_a_message_like_the_last_is_much_shorter() -> None:
    """The compressed message refers to the message before it."""
    text = gzip.compress(bytes(range(256)) * 4, mtime=0).hex().encode()

    alone, _ = run_now(deflated([text], b""))
    after, _ = run_now(deflated([text], text))

    assert len(b"".join(after)) * 10 < len(b"".join(alone))
