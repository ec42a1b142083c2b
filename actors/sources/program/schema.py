"""The JSON Schema of a program's lines, made from the Structs that read them. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.sources.program import markets
from actors.sources.program.wire import AnyLine, Item


def schema() -> dict[str, Any]:
    """Return the schema of a line (JSON Schema 2020-12); lines about a match have the match's fields."""
    (line, item), parts = msgspec.json.schema_components([AnyLine, Item], ref_template="#/$defs/{name}")
    parts["CompleteList"]["properties"]["matches"]["items"] = item
    parts["Item"]["properties"]["markets"] = markets.schema()
    parts["Item"]["anyOf"] = [{"required": ["odds"]}, {"required": ["markets"]}]
    for name in ("ListedMatch", "Upsert"):
        parts[name]["allOf"] = [item]
    title = "A line that a program prints, protocol 1"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **line,
        "$defs": dict(sorted(parts.items())),
    }
