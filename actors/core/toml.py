"""Reads TOML as its specification has it, so that whatever a file holds can be named in an error."""

from __future__ import annotations

import tomllib
from typing import Any

from actors.core.errors import ConfigError

_LARGEST = 1 << 63  # integers have 64 bits; Python reads longer ones, and cannot print them


def parse(text: str) -> dict[str, Any]:
    """Return the tables of a text. Raises: ConfigError if it is not TOML."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a plain ValueError for a number of too many digits
        raise ConfigError(f"is not TOML that can be read: {error}") from error
    values: list[object] = [tables]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            bits = value.bit_length()
            raise ConfigError(
                f"is not TOML that can be read: an integer has {bits} bits, must have 63 and its sign"
            )
    return tables
