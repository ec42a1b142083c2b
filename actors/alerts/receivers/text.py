"""A message as lines of text that fit a receiver, made of hostile names. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime

from actors.alerts.alert import Alert, State
from actors.alerts.message import Message

MAX_LINE_BYTES = 500
UNLINKED = "@\N{ZERO WIDTH SPACE}"
"""An at sign that begins no mention."""


def lines(message: Message, limit: int, escape: Callable[[str], str] = str) -> str:
    """Return a line for each alert, `limit` bytes of UTF-8 at most; `escape` replaces single characters.

    Each ends with the time of its commit, because a message may be delivered late.
    """
    share = min(limit // len(message.alerts) - 1, MAX_LINE_BYTES)
    return "\n".join(_line(alert, share, escape) for alert in message.alerts)


def heading(message: Message) -> str:
    """Return the names of the rules, at most 100 bytes."""
    rules = ", ".join(dict.fromkeys(alert.rule for alert in message.alerts))
    return f"oddsboard: {_cut(rules, 80, str)}"


def _line(alert: Alert, limit: int, escape: Callable[[str], str]) -> str:
    begin = "Resolved: " if alert.state is State.RESOLVED else ""
    end = f" ({datetime.fromtimestamp(alert.at, UTC):%Y-%m-%d %H:%M:%S} UTC)"
    return begin + _cut(alert.title, limit - len(begin) - len(end), escape) + end


def _cut(text: str, limit: int, escape: Callable[[str], str]) -> str:
    """Return `text` on one line, escaped, `limit` bytes at most; an ellipsis takes three."""
    kept: list[str] = []
    size = 0
    for character in " ".join("".join(map(_visible, text)).split()):
        piece = escape(character)
        size += len(piece.encode())
        if size > limit - 3:
            return "".join(kept) + "…"
        kept.append(piece)
    return "".join(kept)


def _visible(character: str) -> str:
    """Return a blank for a control character, or one that changes the direction of text."""
    return " " if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character
