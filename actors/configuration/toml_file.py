"""Reading TOML files within bounds: how long a file may be, and how deep a key.

The parser's time grows with the square of a key's depth: `a.a.a. ...` of 40 kB takes ten seconds.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from actors.core.errors import ConfigError

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 16  # of tables in tables that a key names; ours need four

_KEY = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = rf"(?<![A-Za-z0-9_-])(?P<deep>(?:{_KEY}\.[ \t]*+){{{MAX_DEPTH}}}{_KEY})"
_OTHER = (  # where a point divides no keys: comments and texts, also those that do not end
    r"#[^\n]*+",
    r'"""(?s:[^\\]|\\.)*?(?:"{3,5}|\Z)',
    r"'''(?s:.)*?(?:'{3,5}|\Z)",
    r'"(?:[^"\\\n]|\\.)*+"?',
    r"'[^'\n]*+'?",
)
_PARTS = re.compile("|".join((_DEEP_KEY, *_OTHER))).finditer


def read_text(path: Path) -> str:
    """Read a file. Raises: ConfigError, naming it, if it is too long or in another encoding."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"{path}: cannot be read: it has more than {MAX_BYTES} bytes")
        return content.decode("utf-8-sig")  # some editors begin with a mark of that
    except (OSError, ValueError) as error:  # bad UTF-8, or a zero byte in the path
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be read: {why}") from error


def tables_of(text: str) -> dict[str, Any]:
    """Parse TOML. Raises: ConfigError that says why it cannot be read."""
    for found in _PARTS(text):
        if found["deep"] is None:
            continue
        line = text.count("\n", 0, found.start()) + 1
        why = f"a key in line {line} names more than {MAX_DEPTH} tables in each other"
        raise ConfigError(f"is not TOML that can be read: {why}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        raise ConfigError(f"is not TOML that can be read: {error}") from error
