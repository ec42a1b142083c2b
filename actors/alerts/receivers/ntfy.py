"""`ntfy`: a topic, published as JSON to the root of its server (docs.ntfy.sh/publish, "Publish as JSON").

An HTTP header can hold neither line ends nor all names. Without `markdown` the text is plain.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from actors.alerts.message import Message
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Post
from actors.alerts.receivers.text import heading, lines

MAX_BYTES = 4000
"""The server turns a text above 4,096 bytes into an attached file."""


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Post:
    """Return the request; `secret` is an access token."""
    parts = urlsplit(settings.url or "")
    document = {
        "topic": parts.path.strip("/"),
        "title": heading(message),
        "message": lines(message, MAX_BYTES),
    }
    headers = {"Content-Type": "application/json"}
    if settings.secret is not None:
        headers["Authorization"] = f"Bearer {settings.secret}"
    return Post(parts._replace(path="/").geturl(), msgspec.json.encode(document), headers)
