"""Reading a line of the Betfair Exchange stream: a long one in blocks, each in a fraction of a millisecond.

Pure. The list of markets is cut where one seems to end and the next one to begin: the exchange writes the
id first. If it does not, the end is found by counting braces outside of texts, which takes four times as
long. A cut is right if what stands on either side of it is a list of markets itself, for JSON can be read
in one way only. A block that is none shows that a cut was wrong, or that the line is broken; then, or if a
market is longer than some blocks, or the line has two lists, the JSON reader splits the rest in one piece,
which takes 1.3 ms a MiB.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import structs

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.sources.betfair.wire import Frame, MarketChange, Message

BLOCK_BYTES = 32 * 1024
LONGEST = 4
"""Blocks' lengths within which a market must end, or no more ends are looked for."""
FEW = 32
"""Markets that are worked on between two yields: they may have ladders of ten levels."""


class _Unread(Frame, frozen=True):
    mc: list[msgspec.Raw] | None = None


_LIST = b'"mc"'
_begin = re.compile(rb'"mc"[ \t]*:[ \t]*\[').search
_cut = re.compile(rb'\}[ \t]*,[ \t]*(?=\{[ \t]*"id"[ \t]*:[ \t]*"[0-9]+\.)').search
_braces = re.compile(rb'[{}]|"(?:[^"\\]|\\.)*+"?').finditer  # a text that is cut off is taken whole
_comma = re.compile(rb"\}[ \t]*,[ \t]*(?=\{)").match
_message = msgspec.json.Decoder(Message)
_unread = msgspec.json.Decoder(_Unread)
_change = msgspec.json.Decoder(MarketChange)
_changes = msgspec.json.Decoder(list[MarketChange])


def read_message(line: bytes) -> Sliced[Message]:
    """Read one line. Raises: PayloadError if it is no message of the stream."""
    try:
        line.decode()  # bad UTF-8 is an error in what nobody reads as well
        if len(line) <= BLOCK_BYTES:
            return _message.decode(line)
        begin, changes = _list_in(line), list[MarketChange]()
        end = yield from _read_blocks(line, begin, changes)
        if _LIST in line[end:]:  # of two lists the last would count
            changes, end = [], begin
        rest = line[:begin] + line[end:]
        last = _message.decode(rest) if len(rest) <= LONGEST * BLOCK_BYTES else (yield from _split(rest))
    except UNREADABLE as error:
        raise PayloadError(f"the line is no message of the stream: {error}") from error
    return structs.replace(last, mc=changes + (last.mc or [])) if changes else last


def _list_in(line: bytes) -> int:
    """Return the place where the list of markets begins, 0 if that is not certain."""
    found = _begin(line)
    if found is None:
        return 0
    try:
        return found.end() if _unread.decode(line[: found.end()] + b"]}").mc == [] else 0
    except UNREADABLE:
        return 0


def _read_blocks(line: bytes, begin: int, changes: list[MarketChange]) -> Sliced[int]:
    """Read markets into `changes`, as far as there are blocks of them; give the place behind them."""
    while begin and (cut := _next_cut(line, begin)):
        block = line[begin : cut.start() + 1]
        if _LIST in block:
            break
        try:
            changes += _changes.decode(b"[%b]" % block)
        except UNREADABLE:
            break
        yield
        begin = cut.end()
    return begin


def _next_cut(line: bytes, begin: int) -> re.Match[bytes] | None:
    """Find the end of a market and the comma behind it; at best where the next one begins with its id."""
    guessed = _cut(line, begin + BLOCK_BYTES, begin + LONGEST * BLOCK_BYTES)
    return guessed or _comma(line, _last_brace(line, begin))


def _last_brace(line: bytes, begin: int) -> int:
    """Return the place of the brace that ends a market, a block's length behind `begin`; 0 if none does."""
    depth = 0
    for found in _braces(line, begin, begin + LONGEST * BLOCK_BYTES):
        match line[found.start()]:
            case 0x7B:
                depth += 1
            case 0x7D:
                depth -= 1
                if depth == 0 and found.end() - begin >= BLOCK_BYTES:
                    return found.start()
    return 0


def _split(line: bytes) -> Sliced[Message]:
    unread = _unread.decode(line)
    changes: list[MarketChange] = []
    for count, part in enumerate(unread.mc or ()):
        if count % FEW == 0:
            yield
        changes.append(_change.decode(part))
    return Message(**{**structs.asdict(unread), "mc": None if unread.mc is None else changes})
