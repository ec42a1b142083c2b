"""`slack`: an incoming webhook (docs.slack.dev, "Sending messages using incoming webhooks").

`&`, `<` and `>` are escaped as its page on formatting says, which also defuses `<!channel>` and `<@ID>`.
Slack's other markup, links in names and their previews are off.
"""

from __future__ import annotations

import msgspec

from actors.alerts.message import Message
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Post
from actors.alerts.receivers.text import UNLINKED, lines

MAX_BYTES = 4000
"""The length that Slack's page on limits advises; Slack cuts texts above 40,000."""
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": UNLINKED}
_PLAIN = {
    "mrkdwn": False,
    "parse": "none",
    "link_names": False,
    "unfurl_links": False,
    "unfurl_media": False,
}


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Post:
    """Return the request."""
    text = lines(message, MAX_BYTES, lambda character: _ESCAPED.get(character, character))
    body = msgspec.json.encode({"text": text, **_PLAIN})
    return Post(settings.url or "", body, {"Content-Type": "application/json"})
