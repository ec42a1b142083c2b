"""`home_assistant`: a trigger of kind webhook (home-assistant.io, "Automation Trigger", "Webhook trigger").

`message` is for automations that pass it on to notifications, which are Markdown in the browser and HTML on
Android: so it has no markup of these two.
"""

from __future__ import annotations

import msgspec

from actors.alerts.message import Message, content
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Post
from actors.alerts.receivers.text import heading, lines

MAX_BYTES = 4000
_ESCAPED = {
    "<": "(",
    ">": ")",
    "[": "(",
    "]": ")",
    "`": "'",
    "*": "·",
    "_": " ",
    "&": "+",
    "\\": "/",
    "#": "№",
}


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Post:
    """Return the request; the automation reads it as `trigger.json`."""
    text = lines(message, MAX_BYTES, lambda character: _ESCAPED.get(character, character))
    document = {"title": heading(message), "message": text, **content(message)}
    return Post(settings.url or "", msgspec.json.encode(document), {"Content-Type": "application/json"})
