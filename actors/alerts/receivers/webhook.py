"""`webhook`: JSON, signed as Standard Webhooks 1.0.0 says (standardwebhooks.com)."""

from __future__ import annotations

import hmac
from base64 import b64encode

import msgspec

from actors.alerts.message import Message, content
from actors.alerts.receivers.options import ReceiverSettings, signing_key
from actors.alerts.receivers.outgoing import Post


def outgoing(settings: ReceiverSettings, message: Message, at: float) -> Post:
    """Return the request, which is sent at `at` (Unix seconds)."""
    body, second = msgspec.json.encode(content(message)), int(at)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": str(second),
        "webhook-signature": signature(settings.secret or "", message.id, second, body),
    }
    return Post(settings.url or "", body, headers)


def signature(secret: str, message_id: str, second: int, body: bytes) -> str:
    """Return "v1," and the HMAC-SHA256 of "ID.SECOND.BODY" in Base64."""
    signed = b"%s.%d.%s" % (message_id.encode(), second, body)
    return f"v1,{b64encode(hmac.digest(signing_key(secret) or b'', signed, 'sha256')).decode()}"
