"""The reading of a request by the documented receivers, each by its documentation.

Each returns the text that it would show, or raises AssertionError for a request that it would refuse.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from actors.alerts.receivers.outgoing import Post

SECRET = f"whsec_{b64encode(bytes(range(32))).decode()}"
MARKS = re.compile(r"[!-/:-@\[-`{-~]")  # the marks of Markdown, as Discord reads it


def webhook(post: Post) -> Any:
    """Verify a message as a library of Standard Webhooks does; return the content."""
    told = post.headers["webhook-id"], post.headers["webhook-timestamp"], post.body.decode()
    signed = hmac.new(b64decode(SECRET[6:]), ".".join(told).encode(), "sha256").digest()
    assert f"v1,{b64encode(signed).decode()}" in post.headers["webhook-signature"].split(" ")
    return _json(post)


def ntfy(post: Post) -> str:
    """Read a publication as JSON at the root of a server."""
    document = _json(post)
    assert "/" == urlsplit(post.url).path
    assert re.fullmatch("[-_A-Za-z0-9]{1,64}", document["topic"])
    assert len(document["message"].encode()) <= 4096
    assert len(document["title"].encode()) <= 250
    assert {"topic", "title", "message"} == document.keys()
    return str(document["message"])


def slack(post: Post) -> str:
    """Read the text of an incoming webhook; nothing in it is markup."""
    document = _json(post)
    text = document["text"]
    assert len(text) <= 40_000
    assert not re.search("[<>]|&(?!(amp|lt|gt);)", text)
    assert (False, "none", False) == (document["mrkdwn"], document["parse"], document["link_names"])
    return str(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def discord(post: Post) -> str:
    """Read the content of an executed webhook; each mark of its Markdown has its backslash."""
    document = _json(post)
    content = document["content"]
    assert 1 <= len(content.encode("utf-16-le")) // 2 <= 2000
    assert {"parse": []} == document["allowed_mentions"]
    own = re.sub(r" \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)|Resolved: ", "", content)
    assert not MARKS.search(re.sub(r"\\[^0-9A-Za-z\s]", "", own))
    return re.sub(r"\\([^0-9A-Za-z\s])", r"\1", content)


def home_assistant(post: Post) -> str:
    """Read `trigger.json.message`."""
    message = str(_json(post)["message"])
    assert not re.search(r"[<>\[\]`*_&\\#]", message)
    return message


READERS: Mapping[str, Callable[[Post], Any]] = {
    "ntfy": ntfy,
    "slack": slack,
    "discord": discord,
    "home_assistant": home_assistant,
}
"""Receivers that show text."""


def _json(post: Post) -> Any:
    assert "application/json" == post.headers["Content-Type"]
    return json.loads(post.body)
