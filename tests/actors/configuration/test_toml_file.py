"""Reading TOML within bounds: deep keys are refused before the parser gets them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.configuration.toml_file import MAX_BYTES, MAX_DEPTH, read_text, tables_of
from actors.core.errors import ConfigError

DEEP = {
    "bare": "a." * 20_000 + "a = 1",
    "quoted": '"a" . ' * 20_000 + "a = 1",
    "literal": "'a.b'\t.\t" * 20_000 + "a = 1",
    "mixed": "x = 1\n" + "a.\"b\".'c'." * 10_000 + "a = 1",
    "header": "[" + "a." * 20_000 + "a]",
    "array of tables": "[[" + "a." * 20_000 + "a]]",
    "inline": "x = {" + "a." * 20_000 + "a = 1}",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_key_that_is_too_deep_is_refused(text: str) -> None:
    """The parser would take ten seconds for such a key, and nothing else would run meanwhile."""
    line = text.count("\n") + 1

    with pytest.raises(ConfigError, match=rf"a key in line {line} names more than {MAX_DEPTH} tables"):
        tables_of(text)


@given(st.lists(st.sampled_from(["a", "1", '"b.c"', "'d'", "-", "_"]), min_size=1, max_size=MAX_DEPTH))
def test_other_keys_are_read_as_the_parser_does(keys: list[str]) -> None:
    """Keys up to the depth limit are read, whatever way they are written."""
    text = f"# x{'.x' * 100}\n{'.'.join(keys)} = 'x{'.x' * 100}'"

    assert tomllib.loads(text) == tables_of(text)


@pytest.mark.parametrize(
    "text", ["a" * 900_000, '"' * 900_000, "'a" * 450_000, "a " * 450_000, '"\\' * 450_000]
)
def test_a_text_without_a_deep_key_is_searched_once(text: str) -> None:
    """The search for deep keys takes time in proportion to the text; these texts are still not TOML."""
    with pytest.raises(ConfigError, match="is not TOML that can be read: "):
        tables_of(text)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("a = 1".encode("utf-16"), "it is UTF-16, PowerShell's default; save it as UTF-8"),
        ("a = 1".encode("utf-16-le"), "it is UTF-16, PowerShell's default; save it as UTF-8"),
        ("a = 1\nb = 'é'".encode("latin-1"), "line 2 is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_file_in_another_encoding_says_what_to_do(tmp_path: Path, content: bytes, why: str) -> None:
    """Windows editors and PowerShell write files in other encodings than UTF-8."""
    path = tmp_path / "other.toml"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=rf"other\.toml: cannot be read: {why}"):
        read_text(path)


def test_a_fault_of_the_parser_shows_no_value() -> None:
    """A value that the parser cannot read may be a password without quotes."""
    with pytest.raises(ConfigError) as caught:
        tables_of("password = s3cret")

    assert "s3cret" not in str(caught.value)


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """A file with too many bytes is refused before it is read to its end."""
    path = tmp_path / "long.toml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))

    with pytest.raises(
        ConfigError, match=rf"long\.toml: cannot be read: it has more than {MAX_BYTES} bytes"
    ):
        read_text(path)
