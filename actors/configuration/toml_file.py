"""Reads TOML files, with limits on the length of a file and the depth of a key.

The parser's time grows with the square of a key's depth: a key `a.a.a. ...` of 40 kB takes ten seconds.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from actors.core.errors import ConfigError

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 16  # nested tables that a key may name; our options need four

_KEY = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = rf"(?<![A-Za-z0-9_-])(?P<deep>(?:{_KEY}\.[ \t]*+){{{MAX_DEPTH}}}{_KEY})"
_OTHER = (  # comments and strings, also unterminated ones: a dot in them separates no keys
    r"#[^\n]*+",
    r'"""(?s:[^\\]|\\.)*?(?:"{3,5}|\Z)',
    r"'''(?s:.)*?(?:'{3,5}|\Z)",
    r'"(?:[^"\\\n]|\\.)*+"?',
    r"'[^'\n]*+'?",
)
_PARTS = re.compile("|".join((_DEEP_KEY, *_OTHER))).finditer


def read_text(path: Path) -> str:
    """Read a file. Raises: ConfigError, with the path, if it is unreadable, too long or not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"{path}: cannot be read: it has more than {MAX_BYTES} bytes")
        if b"\0" in content[:4]:
            raise ConfigError(
                f"{path}: cannot be read: it is UTF-16, PowerShell's default; save it as UTF-8"
            )
        return content.decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: cannot be read: line {line} is not UTF-8; save it as UTF-8") from error
    except (OSError, ValueError) as error:  # ValueError: the path has a zero byte
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be read: {why}") from error


def tables_of(text: str) -> dict[str, Any]:
    """Parse TOML. Raises: ConfigError with the reason."""
    for found in _PARTS(text):
        if found["deep"] is None:
            continue
        line = text.count("\n", 0, found.start()) + 1
        why = f"a key in line {line} names more than {MAX_DEPTH} tables in each other"
        raise ConfigError(f"is not TOML that can be read: {why}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for a number with too many digits
        raise ConfigError(f"is not TOML that can be read: {error}{_advice(text, str(error))}") from error


def _advice(text: str, error: str) -> str:
    """Return a likely cause for a parser's error, without the line's value, which may be a secret."""
    lines = text.rstrip().split("\n")
    found = re.search(r"at line ([0-9]+)", error)
    number = int(found[1]) if found else len(lines)  # no number: the error is at the end of the document
    key, _, value = (part.strip() for part in "".join(lines[number - 1 : number]).partition("="))
    if "overwrite" in error or "twice" in error:
        return f"; {key} is there already{_first_line(lines[: number - 1], key)}"
    return next((f"; {key} {advice}" for shape, advice in _ADVICE if re.match(shape, value)), "")


_ADVICE = (
    ("[“”„‘’«»]", 'has curly quotes, must have straight ones: "..."'),  # noqa: RUF001 - word processors write them
    ("[+-]?[0-9]+,[0-9]", "has a decimal comma, must have a point, like 0.05"),
    ("(?i:true|false|none|null|yes|no)\\b", "must be true or false in lower case, or left out"),
    (r'"[^"]*\\[^"]*"', "has a backslash, must be in single quotes: '...'"),
    (r"""("[^"]*|'[^']*)$""", "has no quote at its end"),
    ("[^\"'\\[{0-9#+-]", 'is a text without quotes, must have them: "..."'),
)
"""Patterns of values that the parser refuses, each with its advice."""


def _first_line(lines: list[str], key: str) -> str:
    """Return ", in line N" for the last line that defines `key`, or "" if no line does."""
    for number in range(len(lines), 0, -1):
        name, _, _ = lines[number - 1].partition("=")
        if name.strip() == key:
            return f", in line {number}"
    return ""
