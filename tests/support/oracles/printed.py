"""Comparison of a command's output with the output in a document: the same shape, other values."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

SSE_FIELD = re.compile(r"(id|event|data): (.*)")
VERSION = re.compile(r"[0-9]{13}-[0-9a-f]{8}")


def looks_like(shown: Sequence[str], printed: str) -> bool:
    """Compare an answer (headers, events, JSON or plain lines) with the lines in a document."""
    first, actual = shown[0], printed.splitlines()
    if first.startswith("HTTP/"):
        return _is_same_head(shown, actual)
    if SSE_FIELD.match(first):
        return _are_same_events(shown, actual)
    if first.startswith("{"):
        return len(actual) == 1 and fits(_parsed(first), _parsed(actual[0]))
    return _without_numbers(shown) == _without_numbers(actual)


def fits(shown: Any, actual: Any) -> bool:
    """Return whether two JSON values have the same shape; null matches every shape.

    Each item of a list in the document fits one item of the real list; other items may have more members.
    """
    if shown is None or actual is None:
        return True
    if isinstance(shown, dict):
        return (
            isinstance(actual, dict)
            and shown.keys() == actual.keys()
            and all(fits(value, actual[key]) for key, value in shown.items())
        )
    if isinstance(shown, list):
        return isinstance(actual, list) and all(
            not actual or any(fits(item, other) for other in actual) for item in shown
        )
    if isinstance(shown, int | float) and not isinstance(shown, bool):
        return isinstance(actual, int | float) and not isinstance(actual, bool)
    return type(shown) is type(actual)


def _parsed(text: str) -> Any:
    """Read JSON in which `[...]` stands for omitted entries. Raises: ValueError if it is not JSON."""
    return json.loads(text.replace("[...]", "[]"))


def _is_same_head(shown: Sequence[str], actual: Sequence[str]) -> bool:
    """Compare the status lines and the headers in the document, which may leave headers out."""
    names = {line.partition(":")[0].lower() for line in actual[1:]}
    return shown[0].split() == "".join(actual[:1]).split() and names >= {
        line.partition(":")[0] for line in shown[1:]
    }


def _are_same_events(shown: Sequence[str], actual: Sequence[str]) -> bool:
    """Compare the events in the document with as many events from the beginning of the stream."""
    expected, got = (
        [found.groups() for line in lines if (found := SSE_FIELD.match(line))] for lines in (shown, actual)
    )
    return len(got) >= len(expected) and all(
        name == other and _is_same_field(name, value, received)
        for (name, value), (other, received) in zip(expected, got[: len(expected)], strict=True)
    )


def _is_same_field(name: str, shown: str, actual: str) -> bool:
    if name == "data":
        return fits(_parsed(shown), _parsed(actual))
    return shown == actual if name == "event" else bool(VERSION.fullmatch(actual))


def _without_numbers(lines: Sequence[str]) -> list[str]:
    return [re.sub(r"[0-9]+(\.[0-9]+)?", "N", line).rstrip() for line in lines if line.strip()]
