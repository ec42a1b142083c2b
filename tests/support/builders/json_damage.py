"""JSON whose objects can have a field twice, for damage that a parser of JSON would not make."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class Table(list[tuple[str, Any]]):
    """A JSON object as its fields in order, so that a field can occur twice."""


def table_of(value: Any) -> Any:
    """Return a value with its objects as tables."""
    if isinstance(value, dict):
        return Table((name, table_of(inner)) for name, inner in value.items())
    return [table_of(inner) for inner in value] if isinstance(value, list) else value


def text_of(value: Any, comma: str = ", ", colon: str = ": ") -> str:
    """Return the JSON of a value with tables."""
    if isinstance(value, Table):
        fields = (f"{json.dumps(name)}{colon}{text_of(inner, comma, colon)}" for name, inner in value)
        return f"{{{comma.join(fields)}}}"
    if isinstance(value, list):
        return f"[{comma.join(text_of(item, comma, colon) for item in value)}]"
    return json.dumps(value)


def parts_of(value: Any) -> Iterator[Any]:
    """Yield every table and every list within a value, including the value itself."""
    if isinstance(value, list):
        yield value
        for inner in value:
            yield from parts_of(inner[1] if isinstance(value, Table) else inner)
