"""Reads TOML as its specification has it, so that whatever a file holds can be named in an error."""

from __future__ import annotations

import tomllib
from typing import Any

from actors.core.errors import ConfigError

_LARGEST = 1 << 63  # integers have 64 bits; Python reads longer ones, and cannot print them
_DEEPEST = 100  # tables and arrays in each other: a key of thousands of parts cannot be printed either


def parse(text: str) -> dict[str, Any]:
    """Return the tables of a text. Raises: ConfigError if it is not TOML."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a plain ValueError for a number of too many digits
        raise ConfigError(f"is not TOML that can be read: {error}") from error
    values: list[tuple[object, int]] = [(tables, 0)]
    while values:
        value, depth = values.pop()
        if depth > _DEEPEST:
            raise ConfigError(f"is not TOML that can be read: more than {_DEEPEST} tables in each other")
        if isinstance(value, dict):
            values += [(one, depth + 1) for one in value.values()]
        elif isinstance(value, list):
            values += [(one, depth + 1) for one in value]
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            found = f"an integer has {value.bit_length()} bits, must have 63 and its sign at most"
            raise ConfigError(f"is not TOML that can be read: {found}")
    return tables
