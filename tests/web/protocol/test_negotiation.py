"""Accept-Encoding, If-None-Match and Accept, read as RFC 9110 says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles.negotiation import coding_by_rfc, matches_by_rfc
from web.protocol.negotiation import Coding, coding_for, has_already, prefers_html, prefers_openmetrics

ETAG = '"1001"'
TAGS = (ETAG, f"W/{ETAG}", '"1001-gzip"', '"100"', '""', '"a,b"', '"\\"', '"é"', f"w/{ETAG}")
SEPARATORS = (",", ", ", " ", "\t", "*")
GARBAGE = ("1001", '"', "W/", "'1001'", '"a b"', "\x00")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, Coding.IDENTITY),
        ("", Coding.IDENTITY),
        ("gzip", Coding.GZIP),
        ("GZip", Coding.GZIP),
        ("x-gzip", Coding.GZIP),
        ("gzip, deflate, br, zstd", Coding.GZIP),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", Coding.GZIP),
        ("gzip;q=0", Coding.IDENTITY),
        ("gzip;q=0.000", Coding.IDENTITY),
        ("gzip;q=0.001", Coding.GZIP),
        ("gzip; q=0.5", Coding.GZIP),
        ("gzip ;Q=0.5", Coding.GZIP),
        ("gzip;q=0.", Coding.IDENTITY),
        ("identity", Coding.IDENTITY),
        ("identity;q=0", None),
        ("gzip;q=0.5, identity", Coding.IDENTITY),
        ("gzip, identity;q=0.5", Coding.GZIP),
        ("identity;q=0.5, gzip;q=0.5", Coding.GZIP),
        ("gzip;q=0.1, identity;q=0", Coding.GZIP),
        ("*", Coding.GZIP),
        ("*;q=0", None),
        ("*;q=0, gzip", Coding.GZIP),
        ("*;q=0.5, identity", Coding.IDENTITY),
        ("gzip;q=0, *", Coding.IDENTITY),
        ("gzip;q=0, *;q=0", None),
        ("gzip;q=0, identity;q=0, *", None),
        ("br, identity;q=0", None),
        ("br, *;q=0", None),
        ("*;q=0, identity", Coding.IDENTITY),
        ("*;q=0, identity;q=0.1", Coding.IDENTITY),
        ("identity;q=0, *", Coding.GZIP),
        ("gzip;q=0.5, *;q=0", Coding.GZIP),
        ("br", Coding.IDENTITY),
        (" , gzip ,,", Coding.GZIP),
        ("gzip\t,\tbr", Coding.GZIP),
        ("gzip;q=0.5, *", Coding.IDENTITY),  # an asterisk includes identity (RFC 9110, 12.5.3)
        *(
            (f"gzip;{bad}", Coding.IDENTITY)
            for bad in ("q=2", "q=1.1", "q=-1", "q=0.1234", "q=nan", "level=9")
        ),
        *(
            (bad, Coding.IDENTITY)
            for bad in ("gz ip", ";q=1", "gzip=1", "\x00gzip", "=,;", "gzip" * 2000, "🗜")
        ),
    ],
)
def test_the_coding_with_the_highest_weight_is_chosen(header: str | None, expected: Coding | None) -> None:
    """Weights decide; names are case-insensitive; parts that break the grammar are ignored."""
    assert expected == coding_for(header)


@given(
    st.dictionaries(
        st.sampled_from(["gzip", "identity", "*", "br", "deflate"]),
        st.sampled_from([None, "0", "0.000", "0.001", "0.5", "0.7", "1", "1.000"]),
    ),
)
def test_the_choice_equals_the_oracle(weights: dict[str, str | None]) -> None:
    """Gzip is chosen where it is acceptable and wanted at least as much as identity; otherwise identity."""
    header = ", ".join(name if weight is None else f"{name};q={weight}" for name, weight in weights.items())

    chosen = coding_for(header)

    assert coding_by_rfc({name: float(weight or 1) for name, weight in weights.items()}) == chosen


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('"1001"', True),
        ('W/"1001"', True),
        ('"1", "1001"', True),
        ('"1",W/"1001",', True),
        (' \t"1001"\t ', True),
        (', ,"1001"', True),
        pytest.param(",".join(['"0000000"'] * 815) + ',"1001"', True, id="8 kB"),
        ("*", True),
        (" * ", True),
        ('"1001-gzip"', False),
        ('"1000"', False),
        ('""', False),
        ("", False),
        ("1001", False),
        ("'1001'", False),
        ('w/"1001"', False),
        ('W / "1001"', False),
        ('"1001', False),
        ('1001"', False),
        ('"1001" "2"', False),
        ('"1001";x', False),
        ('*, "1001"', False),
        ('"1001", *', False),
        ('"a", 1001, "1001"', False),
        ('"x,"1001",y"', False),
        ('"\x00"', False),
    ],
)
def test_an_etag_matches_when_the_list_names_it(header: str, *, expected: bool) -> None:
    """A tag of a well-formed list, compared weakly, or a single asterisk matches (RFC 9110, 13.1.2)."""
    assert expected == has_already(header, ETAG)


@given(st.lists(st.sampled_from(TAGS + SEPARATORS + GARBAGE), max_size=10).map("".join))
def test_matching_equals_the_oracle(header: str) -> None:
    """Any mixture of tags, separators and garbage has the same result as with a hand-written parser."""
    assert matches_by_rfc(header, ETAG) == has_already(header, ETAG)


@given(st.text(max_size=300))
def test_no_header_raises(header: str) -> None:
    """Any text can be read as If-None-Match, Accept-Encoding and Accept."""
    assert has_already(header, ETAG) in {True, False}
    assert coding_for(header) in {None, *Coding}
    assert prefers_html(header) in {True, False}


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "header",
    [", " * 4000 + "x", ",\t " * 2700 + '"', " " * 8000 + "x", '"a" ' * 2000, '"' * 8191, "W/" * 4000],
    ids=["commas and blanks", "commas and tabs", "blanks", "no commas", "quotes", "weak marks"],
)
def test_8_kb_of_garbage_take_linear_time(header: str) -> None:
    """Reading time is proportional to the length, so that a header cannot block the service."""
    assert not has_already(header, ETAG)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        ("", False),
        ("text/html", True),
        ("TEXT/Html ;Q=0.5", True),
        ("text/*", True),
        ("text/html, */*", False),
        ("text/html, */*;q=0.999", True),
        ("*/*;q=0.1, text/html;q=0.2", True),
        ("text/html;q=0.2, application/*;q=0.3", False),
        ("text/*, text/html;q=0", False),
        ("application/json;q=0, */*", True),
        ("text/html;level=1;q=0.4, application/json;q=0.5", False),
        ("text/html;q=2", False),
        ("text/html;q=", False),
        ("text /html", False),
        ("html", False),
        ("text/html" + " " * 9000, False),
        (" , text/html ,,", True),
    ],
)
def test_html_is_chosen_when_its_weight_is_higher(header: str | None, *, expected: bool) -> None:
    """The most specific range gives the weight of each type, and invalid ranges are ignored."""
    assert expected == prefers_html(header)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        ("*/*", False),
        ("application/*", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", True),
        ("application/openmetrics-text;q=0.2, text/plain;q=0.3", False),
        ("application/openmetrics-text;q=0.2, */*", False),
        ("application/openmetrics-text;q=0", False),
    ],
)
def test_openmetrics_is_chosen_when_it_is_named(header: str | None, *, expected: bool) -> None:
    """OpenMetrics is chosen by name, if plain text, the older form, has no higher weight."""
    assert expected == prefers_openmetrics(header)
