"""`exec`: a program without a shell, which reads the message as a line of JSON."""

from __future__ import annotations

import msgspec

from actors.alerts.message import Message, content
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Run


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Run:
    """Return the program and its input."""
    return Run(settings.command, msgspec.json.encode(content(message)) + b"\n")
