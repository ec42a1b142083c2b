"""Chunks of a list as JSON and as deflated JSON, and the bodies joined from these segments."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.board.snapshot import Book, Chunk, Entry, Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, SourceMatchId
from tests.support.builders.messages import SCOPE, match
from tests.support.time.virtual import WALL_0
from web.encoding.list_segments import Api, ListSegments
from web.encoding.schemas import match_v1, match_v2
from web.encoding.segments import RUN, Run, Segment, gzip_body, plain_body

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
ALDER = BookmakerId("alder")


def _chunk(matches: Iterable[Match]) -> Chunk:
    entries = {
        listed: Entry(f"alder_{listed.source_match_id}", SCOPE, listed, WALL_0) for listed in matches
    }
    return Chunk.of([entry.source_match_id for entry in entries], entries.values())


def _segments() -> ListSegments:
    return ListSegments({ALDER: "Älder"})


def _board(chunks: Sequence[Chunk]) -> Snapshot:
    return Snapshot(1, {ALDER: Book(1, 1, tuple(chunks))})


def _runs(segments: ListSegments, api: Api, chunks: Sequence[Chunk]) -> list[Run]:
    return run_now(segments.runs([(api, ALDER)], _board(chunks)))


def _of(segments: ListSegments, api: Api, chunks: Sequence[Chunk]) -> list[Segment]:
    return [segment for run in _runs(segments, api, chunks) for segment in run.segments]


def _plain(version: int, runs: Sequence[Run]) -> bytes:
    return b"".join(run_now(plain_body(version, runs)))


def _zipped(version: int, runs: Sequence[Run]) -> bytes:
    return b"".join(run_now(gzip_body(version, runs)))


def _shown(api: Api, chunks: Sequence[Chunk]) -> list[msgspec.Struct]:
    """Return the expected list, built independently and without segments."""
    entries = [entry for chunk in chunks for entry in chunk.entries]
    if api is Api.V1:
        return [match_v1(entry, "Älder") for entry in entries]
    return [match_v2(entry, "Älder") for entry in entries if entry.match.home and entry.match.away]


@pytest.mark.long
@given(APIS, BOARDS, st.integers(0, 2**53))
def test_joined_segments_are_the_json_of_the_whole(
    api: Api, board: list[list[Match]], version: int
) -> None:
    """Any number of chunks, also none or empty ones, gives the bytes of a list that is encoded whole."""
    chunks = [_chunk(matches) for matches in board]
    shown = _shown(api, chunks)

    body = _plain(version, _runs(_segments(), api, chunks))

    whole = {"version": version, "matches": shown, "matches_count": len(shown)}
    assert msgspec.json.encode(whole) == body


@pytest.mark.long
@given(APIS, BOARDS)
def test_the_gzip_form_is_one_member_with_the_same_content(api: Api, board: list[list[Match]]) -> None:
    """The gzip body is one member with a valid checksum, because some clients stop after the first."""
    chunks = [_chunk(matches) for matches in board]
    runs = _runs(_segments(), api, chunks)
    identity = _plain(7, runs)

    zipped = _zipped(7, runs)

    inflater = zlib.decompressobj(31)
    assert identity == gzip.decompress(zipped)
    assert identity == inflater.decompress(zipped)
    assert (True, b"") == (inflater.eof, inflater.unused_data)


def test_a_large_list_is_compressed() -> None:
    """The segments are deflated, not stored."""
    chunks = [_chunk(match(f"{start + number:05}") for number in range(128)) for start in (0, 128, 256)]
    runs = _runs(_segments(), Api.V2, chunks)

    assert len(_zipped(1, runs)) * 8 < len(_plain(1, runs))


@pytest.mark.parametrize("api", Api)
def test_a_segment_is_made_once_per_chunk(api: Api) -> None:
    """Every list with a chunk uses the same objects for its JSON and its deflated bytes."""
    segments = _segments()
    kept, other = _chunk([match("a")]), _chunk([match("b")])

    first = _of(segments, api, [kept])[0]
    again = _of(segments, api, [other, kept])[1]

    assert first is again
    assert first.json is again.json
    assert first.packed is again.packed


def test_a_chunk_that_is_empty_in_v2_adds_no_bytes() -> None:
    """Such a chunk adds no comma between its neighbours, and v1 still shows it."""
    chunks = [_chunk([match("a")]), _chunk([match("b", home="")]), _chunk([match("c")])]
    segments = _segments()

    v2 = json.loads(_plain(1, _runs(segments, Api.V2, chunks)))
    v1 = json.loads(_plain(1, _runs(segments, Api.V1, chunks)))

    assert ["alder_a", "alder_c"] == [entry["id"] for entry in v2["matches"]]
    assert ["alder_a", "alder_b", "alder_c"] == [entry["id"] for entry in v1["matches"]]


def test_dropping_old_runs_keeps_the_current_ones() -> None:
    """Only the changed runs of chunks are made again."""
    segments = _segments()
    chunks = tuple(_chunk([match(f"{at:04}")]) for at in range(2 * RUN))
    before = _runs(segments, Api.V1, chunks)

    segments.forget(_board(chunks[:-1]))

    after = _runs(segments, Api.V1, chunks)
    assert [True, False] == [old is new for old, new in zip(before, after, strict=True)]


def test_a_large_body_comes_in_parts_and_in_steps() -> None:
    """Making a body yields once for each new segment, and its parts, mostly runs, join to the body."""
    segments = _segments()
    chunks = tuple(_chunk(match(f"{at:03}-{number:03}") for number in range(200)) for at in range(100))

    made = list(segments.runs([(Api.V2, ALDER)], _board(chunks)))
    runs = _runs(segments, Api.V2, chunks)
    parts = run_now(plain_body(1, runs))
    steps = sum(1 for _ in gzip_body(1, runs))

    assert (100, ceil(100 / RUN)) == (len(made), len(runs))
    assert [run.json for run in runs[1:]] == list(parts[1:-1])
    assert steps >= 96
    assert 20_000 == len(json.loads(b"".join(parts))["matches"])


def test_unchanged_parts_are_reused_in_the_next_version() -> None:
    """Unchanged parts of a body are not even copied, plain or compressed."""
    segments = _segments()
    chunks = [_chunk(match(f"{at:03}-{number:03}") for number in range(200)) for at in range(100)]
    before = _runs(segments, Api.V2, chunks)
    old = run_now(plain_body(1, before))

    chunks[50] = _chunk(match(f"050-{number:03}", prices=(3, 3, 3)) for number in range(200))
    after = _runs(segments, Api.V2, chunks)
    new = run_now(plain_body(2, after))

    others = [at for at, (body, other) in enumerate(zip(old, new, strict=True)) if body is not other]
    assert [0, 50 // RUN] == others[:2], "the head with the first run, and the run of the change"
    assert others[2:] in ([], [len(old) - 1]), "what stands after the list"
    assert run_now(before[2].packed()) is run_now(after[2].packed())
    assert b"".join(new) == gzip.decompress(_zipped(2, after))
