"""`discord`: a webhook of a channel (docs.discord.com, "Execute Webhook").

`allowed_mentions` lets no text notify anybody. A backslash takes its meaning from every mark of its
Markdown, also from the colon of an address.
"""

from __future__ import annotations

from string import punctuation

import msgspec

from actors.alerts.message import Message
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Post
from actors.alerts.receivers.text import UNLINKED, lines

MAX_BYTES = 2000
"""The limit of `content` is 2,000 characters, none of them below a byte."""
SUPPRESS_EMBEDS = 4  # the flag of a message without previews
_ESCAPED = {mark: f"\\{mark}" for mark in punctuation} | {"@": f"\\{UNLINKED}"}


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Post:
    """Return the request."""
    document = {
        "content": lines(message, MAX_BYTES, lambda character: _ESCAPED.get(character, character)),
        "allowed_mentions": {"parse": []},
        "flags": SUPPRESS_EMBEDS,
    }
    return Post(settings.url or "", msgspec.json.encode(document), {"Content-Type": "application/json"})
