"""Chunks as JSON and as deflated JSON, and bodies joined of them."""

from __future__ import annotations

import gc
import gzip
import json
import weakref
import zlib
from collections.abc import Iterable, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.messages import Match, SourceMatchId
from actors.snapshot import Chunk, Entry
from tests.support.builders import SCOPE, match
from tests.support.virtual import WALL_0
from web.schemas import match_v1, match_v2
from web.segments import Api, Segment, Segments, joined, joined_gzip

NAMES = st.sampled_from(["", "Home", "Grêmio", '"\\', "K리그\u2028", "a" * 128])
PRICES = st.floats(1.001, 1000.0)
MATCHES = st.builds(
    Match,
    source_match_id=st.text("abcXYZ019._~-", min_size=1, max_size=6).map(SourceMatchId),
    home=NAMES,
    away=NAMES,
    league=st.none() | NAMES,
    home_price=PRICES,
    draw_price=PRICES,
    away_price=PRICES,
    start_time=st.none() | st.integers(1, 4_102_444_800),
)
BOARDS = st.lists(st.lists(MATCHES, min_size=1, max_size=6), max_size=6)
APIS = st.sampled_from(Api)


def _chunk(matches: Iterable[Match]) -> Chunk:
    return Chunk.of(tuple(Entry(f"alder_{one.source_match_id}", SCOPE, one, WALL_0) for one in matches))


def _shown(api: Api, chunks: Sequence[Chunk]) -> list[msgspec.Struct]:
    """Give what a list must show, written down a second time and without segments."""
    entries = [entry for chunk in chunks for entry in chunk.entries]
    if api is Api.V1:
        return [match_v1(entry, "Älder") for entry in entries]
    return [match_v2(entry, "Älder") for entry in entries if entry.match.home and entry.match.away]


@given(APIS, BOARDS, st.integers(0, 2**53))
def test_joined_segments_are_the_json_of_the_whole(
    api: Api, board: list[list[Match]], version: int
) -> None:
    """Any number of chunks, also none and such as show nothing, give the same bytes as one list."""
    chunks = [_chunk(matches) for matches in board]
    shown = _shown(api, chunks)

    body = joined(version, len(shown), Segments().of(api, chunks, "Älder"))

    whole = {"version": version, "matches": shown, "matches_count": len(shown)}
    assert msgspec.json.encode(whole) == body


@given(APIS, BOARDS)
def test_the_gzip_form_is_one_member_with_the_same_content(api: Api, board: list[list[Match]]) -> None:
    """Clients that stop after the first gzip member get everything, and its checksum is right."""
    chunks = [_chunk(matches) for matches in board]
    segments = Segments().of(api, chunks, "Älder")
    identity = joined(7, 3, segments)

    zipped = joined_gzip(7, 3, segments, identity)

    inflater = zlib.decompressobj(31)
    assert identity == gzip.decompress(zipped)
    assert identity == inflater.decompress(zipped)
    assert (True, b"") == (inflater.eof, inflater.unused_data)


@pytest.mark.parametrize("cut", [1, 4, 8, 9])
def test_a_cut_gzip_form_is_noticed(cut: int) -> None:
    """The member ends with its checksum and length, not before."""
    segments = Segments().of(Api.V2, [_chunk([match()])], "Alder")

    zipped = joined_gzip(1, 1, segments, joined(1, 1, segments))

    with pytest.raises((EOFError, zlib.error)):
        gzip.decompress(zipped[:-cut])


def test_a_large_list_is_compressed() -> None:
    """The segments are deflated, not only wrapped."""
    chunks = [_chunk(match(f"{start + number:05}") for number in range(128)) for start in (0, 128, 256)]
    segments = Segments().of(Api.V2, chunks, "Alder")
    identity = joined(1, 384, segments)

    assert len(joined_gzip(1, 384, segments, identity)) * 8 < len(identity)


@pytest.mark.parametrize("api", Api)
def test_a_segment_is_made_once_in_the_life_of_its_chunk(api: Api) -> None:
    """Whatever list a chunk appears in, its JSON and its deflated bytes are the same objects."""
    segments = Segments()
    kept, other = _chunk([match("a")]), _chunk([match("b")])

    first = segments.of(api, [kept], "Alder")[0]
    again = segments.of(api, [other, kept], "Alder")[1]

    assert first is again
    assert first.json is again.json
    assert first.deflated is again.deflated


def test_the_two_versions_do_not_share_segments() -> None:
    """v1 and v2 show the same chunk differently."""
    segments = Segments()
    chunk = _chunk([match("a")])

    v1, v2 = (segments.of(api, [chunk], "Alder")[0].json for api in Api)

    assert (True, True) == (b'"sport"' not in v1, b'"sport"' in v2)


def test_a_chunk_that_shows_nothing_in_v2_leaves_no_trace() -> None:
    """Between two chunks it leaves no comma, and v1 shows it still."""
    chunks = [_chunk([match("a")]), _chunk([match("b", home="")]), _chunk([match("c")])]
    segments = Segments()

    v2 = json.loads(joined(1, 2, segments.of(Api.V2, chunks, "Alder")))
    v1 = json.loads(joined(1, 3, segments.of(Api.V1, chunks, "Alder")))

    assert ["alder_a", "alder_c"] == [one["id"] for one in v2["matches"]]
    assert ["alder_a", "alder_b", "alder_c"] == [one["id"] for one in v1["matches"]]


def test_what_is_derived_from_a_chunk_goes_with_it() -> None:
    """Once nothing else knows a chunk, the memory of segments keeps neither it nor its bytes."""
    segments = Segments()
    chunk = _chunk([match("a")])
    watched = weakref.ref(chunk)
    segment = segments.of(Api.V1, [chunk], "Alder")[0]
    was_kept = _is_remembered(segment)

    del chunk
    gc.collect()

    assert was_kept
    assert watched() is None
    assert not _is_remembered(segment)


def _is_remembered(segment: Segment) -> bool:
    return any(isinstance(one, dict) for one in gc.get_referrers(segment))
