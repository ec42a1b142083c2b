"""football-data.co.uk with hostile bytes: a PayloadError or a valid list, nothing else."""

from __future__ import annotations

import re
import unicodedata
from math import isfinite

from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.errors import PayloadError
from actors.core.messages import Match
from tests.support.builders.football_data import ROW, changed, csv_bytes, judged

KEYS = ("B365", "BFD", "A")
VALID = csv_bytes(ROW, changed(HomeTeam="Çedar City"), ("",) * 8, changed(AwayTeam="Dogwood", Time=""))
TOKENS = st.sampled_from(
    [
        *(b",", b",,", b'"', b"\r", b"\n", b"\0", b"\x81", b"\xff\xfe", b"\xef\xbb\xbf", b"1e400", b"NaN"),
        *(
            b"2026",
            b"99999",
            b"0000",
            b"00/00/0000",
            b"31/12/9999",
            b"1" * 400,
            b"-",
            b"24:00",
            b"\xe2\x80\xae",
        ),
        *(b"Div", b"B365H", b"BFDH,BFDD,BFDA", b"AH,AD,AA", b"FTHG", b"Time", b"\x1b[31m", b"\xed\xa0\x80"),
    ]
)
PLACES = st.integers(0, len(VALID))
CELLS = (
    st.text(max_size=20)
    | st.sampled_from(["", "2.1", "3.4", "3.6", "1e400", "NaN", "14/02/2026", "31/12/9999", "01/01/0001"])
    | st.sampled_from(
        ["23:59", "00:00", "24:00", "Alder Town", "\u202eAlder", "A\u0300" * 200, "x" * 10_000]
    )
)


ROWS = st.tuples(*[st.just(cell) | CELLS for cell in ROW])
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]").search


def _breaks_a_rule(match: Match) -> bool:
    prices = (match.home_price, match.draw_price, match.away_price)
    names = (match.home, match.away, match.league or "")
    return not (
        all(isfinite(price) and price > 1.0 for price in prices)
        and 0.95 <= sum(1 / price for price in prices) <= 1.40
        and re.fullmatch(r"[A-Za-z0-9._~-]{1,128}", match.source_match_id)
        and all(name == unicodedata.normalize("NFC", " ".join(name.split())) for name in names)
        and all(len(name) <= 128 and not UNFIT(name) for name in names)
        and (match.start_time is None or 0 < match.start_time <= 4_102_444_800)
    )


def _check(body: bytes) -> None:
    for key in KEYS:
        try:
            matches = judged(body, key).batch.matches
        except PayloadError:
            continue
        assert [match for match in matches if _breaks_a_rule(match)] == []
        assert len({match.source_match_id for match in matches}) == len(matches)


@given(st.binary(max_size=400))
@example(b"\xff\xfeD\0i\0v\0")
def test_any_bytes_are_an_error_or_a_list(body: bytes) -> None:
    """Bytes that are no CSV never crash the parser."""
    _check(body)


@given(st.binary(max_size=400))
def test_any_bytes_after_a_header_are_an_error_or_a_list(body: bytes) -> None:
    """Bytes after a valid header never crash the parser."""
    _check(csv_bytes() + body)


@given(PLACES)
def test_file_cut_anywhere_is_an_error_or_a_list(length: int) -> None:
    """A truncated file may be a short list, but every shown match is valid."""
    _check(VALID[:length])


@given(st.lists(st.tuples(PLACES, st.integers(0, 7)), max_size=12))
def test_flipped_bits_are_an_error_or_a_list(flips: list[tuple[int, int]]) -> None:
    """Flipped bits change cells, columns and rows, but every shown match is valid."""
    body = bytearray(VALID)
    for place, bit in flips:
        body[place % len(body)] ^= 1 << bit

    _check(bytes(body))


@given(PLACES, PLACES, PLACES, PLACES)
def test_rearranged_parts_are_an_error_or_a_list(a: int, b: int, c: int, d: int) -> None:
    """With parts of a file in the wrong place, or twice, every shown match is valid."""
    _check(VALID[: max(a, b)] + VALID[min(c, d) : max(c, d)] + VALID[min(a, b) :])


@given(st.lists(st.tuples(PLACES, TOKENS), min_size=1, max_size=6))
def test_inserted_hostile_parts_are_an_error_or_a_list(pieces: list[tuple[int, bytes]]) -> None:
    """With quotes, line ends, NULs, huge numbers and escape codes anywhere, every shown match is valid."""
    body = VALID
    for place, token in pieces:
        body = body[:place] + token + body[place:]

    _check(body)


@given(st.lists(ROWS, max_size=4))
@example([changed(Date="01/01/0001", Time="00:00")])
@example([changed(Date="31/12/9999", Time="23:59")])
@example([changed(HomeTeam="\u202e\0\x1b[31mAlder\u2066", AwayTeam="A\u0300" * 5000)])
def test_any_cells_are_an_error_or_a_list(rows: list[tuple[str, ...]]) -> None:
    """For any cells of a well-formed file, every shown match is valid."""
    quoted = (tuple(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in rows)

    _check(csv_bytes(*quoted))
