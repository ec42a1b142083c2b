"""Sends a message to a receiver once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actors.alerts.message import Message
from actors.alerts.receivers.forms import FORMS
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.receivers.outgoing import Post
from actors.core.clock import Clock
from actors.transports.process import run_fed
from actors.transports.sending import Poster, is_public


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends by HTTP, or by a program with this environment."""

    clock: Clock
    environment: Mapping[str, str]

    async def send(self, settings: ReceiverSettings, message: Message) -> str:
        """Return what the receiver answered. Raises: TransportError unless it took the message."""
        made = FORMS[settings.kind](settings, message, self.clock.now().wall)
        if isinstance(made, Post):
            is_allowed = None if settings.allow_private else is_public
            async with Poster(settings.timeout_s, self.clock, is_allowed) as poster:
                return f"status {await poster.post(made.url, made.headers, made.body)}"
        await run_fed(made.command, self.environment, made.stdin, settings.timeout_s)
        return "code 0"
