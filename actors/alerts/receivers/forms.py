"""The form of each kind of receiver."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actors.alerts.message import Message
from actors.alerts.receivers import by_apprise, command, discord, home_assistant, ntfy, slack, webhook
from actors.alerts.receivers.options import Form, ReceiverSettings
from actors.alerts.receivers.outgoing import Post, Run

FORMS: Mapping[Form, Callable[[ReceiverSettings, Message, float], Post | Run]] = {
    Form.WEBHOOK: webhook.outgoing,
    Form.NTFY: ntfy.outgoing,
    Form.SLACK: slack.outgoing,
    Form.DISCORD: discord.outgoing,
    Form.HOME_ASSISTANT: home_assistant.outgoing,
    Form.EXEC: command.outgoing,
    Form.APPRISE: by_apprise.outgoing,
}
