"""`apprise`: Telegram, mail and the like, by the library of that name in a process of its own.

The library blocks, and connects by itself; a process can be ended. The address is on its standard input,
because every user of the machine can read the arguments of a process.
"""

from __future__ import annotations

import sys

import msgspec

from actors.alerts.message import Message
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Run
from actors.alerts.receivers.text import UNLINKED, heading, lines

MAX_BYTES = 1800
"""Fits a text of any service but SMS; Apprise splits or cuts what a service has no room for."""
_PROGRAM = """
import json, sys
import apprise
told = json.load(sys.stdin)
sender = apprise.Apprise(asset=apprise.AppriseAsset(interpret_escapes=False, interpret_emojis=False))
if not sender.add(told["url"]):
    sys.exit("E! Apprise does not know this kind of address")
if not sender.notify(title=told["title"], body=told["body"], body_format=apprise.NotifyFormat.TEXT):
    sys.exit("E! Apprise could not deliver it")
"""


def outgoing(settings: ReceiverSettings, message: Message, _: float) -> Run:
    """Return the program and its input."""
    body = lines(message, MAX_BYTES, lambda character: UNLINKED if character == "@" else character)
    told = {"url": settings.url, "title": heading(message), "body": body}
    return Run((sys.executable, "-I", "-c", _PROGRAM), msgspec.json.encode(told))
