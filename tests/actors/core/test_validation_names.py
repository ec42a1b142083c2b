"""Cleaning of names: which characters are removed, and the form of the result."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.core.validation import clean_name

MAX_NAME_CHARS = 128
JOINERS = "\u200c\u200d"
HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn")),
        st.sampled_from("aeo \t\n\u0301\u0308\u0323" + JOINERS),
    ),
    max_size=300,
)


def test_name_is_cleaned() -> None:
    """Control, bidirectional and invisible characters are removed, blanks become one, the result is NFC."""
    for name, expected in [
        ("Arsenal", "Arsenal"),
        ("São Paulo", "São Paulo"),
        ("Спартак Москва", "Спартак Москва"),
        ("", ""),
        ("  Real   Madrid \t", "Real Madrid"),
        ("Real\nMadrid\r\n", "Real Madrid"),
        ("Real\u00a0\u2003\u2028\u3000Madrid", "Real Madrid"),
        ("Ars\x00enal\x07", "Arsenal"),
        ("\x1b[31mArsenal\x1b[0m", "[31mArsenal[0m"),
        ("\x9b31mArsenal", "31mArsenal"),
        ("\u202elanesrA\u202c", "lanesrA"),
        ("\u2066Arsenal\u2069\u200f", "Arsenal"),
        ("Ar\u200bse\ufeffna\u00adl", "Arsenal"),
        ("Ars\ud800enal\udfff", "Arsenal"),
        ("Sa\u0303o Paulo", "São Paulo"),
        ("Mu\u200b\u0308nchen", "München"),
        ("\x00\u202e \u200b", ""),
        ("\u0646\u06cc\u200c\u0647\u0627", "\u0646\u06cc\u200c\u0647\u0627"),
    ]:
        assert expected == clean_name(name), (name, expected)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x" * 128, "x" * 128),
        ("x" * 10_240, "x" * 128),
        ("x" * 127 + " United", "x" * 127),
        ("\u200b \t" + "\u200bx" * 128 + "   ", "x" * 128),
    ],
    ids=["longest", "10 kB", "no blank at the end", "counted after cleaning"],
)
def test_long_name_is_cut(name: str, shown: str) -> None:
    """A name is cut after 128 characters, counted after cleaning."""
    assert shown == clean_name(name)


@given(name=HOSTILE)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_cleaned_name_can_be_displayed(name: str) -> None:
    """A clean name is short, NFC, single-spaced; joiners are its only control or format characters."""
    shown = clean_name(name)

    bad = [
        text for text in shown if unicodedata.category(text) in {"Cc", "Cf", "Cs"} and text not in JOINERS
    ]
    assert not bad
    assert len(shown) <= MAX_NAME_CHARS
    assert unicodedata.is_normalized("NFC", shown)
    assert " ".join(shown.split()) == shown
    assert shown == shown.encode("utf-8").decode("utf-8")


@given(words=st.lists(st.text(st.characters(categories=("Lu", "Ll", "Nd")), min_size=1), max_size=6))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_letters_and_digits_are_kept(words: list[str]) -> None:
    """Letters and digits of any script stay, in NFC."""
    expected = unicodedata.normalize("NFC", " ".join(words))[:MAX_NAME_CHARS].rstrip()

    assert expected == clean_name("  ".join(words))
