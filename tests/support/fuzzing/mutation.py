"""Changes of inputs: a random one at a time, which keeps most of the structure of text and JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

MAX_BYTES = 4096
WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.0, 1.01, 2.5, 1001.0, 1e308, 5e-324, 2**53, 2**64, "", "NaN", "1e400", "2,50"),
    *([], {}, [[]], [None], "x" * 1100, "\u202eA", "\0", "0001-01-01T00:00:00+23:59", "Draw"),
    *("h2h", "OPEN"),
)
_WORD = re.compile(rb"[^\s,;:=&/\"\[\]{}()]+")

Change = Callable[[bytes, Random, Sequence[bytes]], bytes]


def mutated(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    """Return `data` with one to four changes, at most 4,096 bytes."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(_CHANGES)(data, random, tokens)
    return data[:MAX_BYTES]


def _flipped(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    if not data:
        return random.choice(tokens)
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _inserted(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(tokens) + data[at:]


def _moved(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    """Cut out a piece, and drop it or put it elsewhere; or write a piece twice."""
    del tokens
    begin = random.randint(0, len(data))
    end = min(len(data), begin + random.choice((1, 2, 8, 64)))
    rest = data if random.random() < 0.3 else data[:begin] + data[end:]
    at = random.randint(0, len(rest))
    piece = data[begin:end] if random.random() < 0.6 else b""
    return rest[:at] + piece + rest[at:]


def _word_replaced(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    words = [found.span() for found in _WORD.finditer(data)]
    if not words:
        return _inserted(data, random, tokens)
    begin, end = random.choice(words)
    other = random.choice(words)
    word = data[slice(*other)] if random.random() < 0.3 else random.choice(tokens)
    return data[:begin] + word + data[end:]


def _lines_changed(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    del tokens
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            lines.insert(at, lines[other])
        case 1:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            del lines[at]
    return b"\n".join(lines)


def _json_changed(data: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    """Put a wrong value, or a value from elsewhere, at a place in one line that is JSON."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    try:
        content = msgspec.json.decode(lines[at])
        lines[at] = msgspec.json.encode(_put(content, random, random.choice(WRONG)))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _word_replaced(data, random, tokens)
    return b"\n".join(lines)


def _put(content: Any, random: Random, value: Any) -> Any:
    if not isinstance(content, list | dict) or not content or random.random() < 0.1:
        return value
    key = random.choice(list(content) if isinstance(content, dict) else range(len(content)))
    if random.random() < 0.1:
        if isinstance(content, list) and random.random() < 0.5:
            content.append(content[key])
        else:
            del content[key]
    else:
        content[key] = _put(content[key], random, value)
    return content


_CHANGES: tuple[Change, ...] = (
    _flipped,
    _inserted,
    _moved,
    *(_word_replaced, _word_replaced),
    _lines_changed,
    *(_json_changed, _json_changed),
)
