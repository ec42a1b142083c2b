"""The options of `[receivers.ID]`. Pure."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

from msgspec import Meta, Struct

from actors.source_api.options import MIN_SECRET_CHARS


class Form(StrEnum):
    """The forms of receivers."""

    WEBHOOK = "webhook"
    NTFY = "ntfy"
    SLACK = "slack"
    DISCORD = "discord"
    HOME_ASSISTANT = "home_assistant"
    EXEC = "exec"
    APPRISE = "apprise"


SIGNED_BY = "whsec_ and 24 to 64 bytes in Base64; `echo whsec_$(openssl rand -base64 32)` makes one"

_Hidden = Annotated[
    str,
    Meta(pattern=r"\A[!-~]{1,2048}\Z", title="text of 1 to 2048 ASCII characters, no spaces"),
]

_Word = Annotated[str, Meta(pattern=r"\A[^\x00]*\Z", title="text without NUL")]


class ReceiverSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A receiver of alerts; `timeout_s` limits an attempt. `url` and `secret` are never shown."""

    kind: Form
    url: _Hidden | None = None
    secret: _Hidden | None = None
    command: Annotated[tuple[_Word, ...], Meta(max_length=100)] = ()
    timeout_s: Annotated[float, Meta(gt=0, le=60)] = 10.0
    allow_private: bool = False

    @property
    def secrets(self) -> frozenset[str]:
        """All values that must never be shown: the address, its private parts, the secret."""
        found = {self.url, self.secret}
        if self.url is not None:
            parts = urlsplit(self.url)
            of_place = (parts.path, *parts.path.split("/"), parts.query)
            found |= {parts.password, *(text for text in of_place if len(text) > _MAX_WORD)}
        known = {text for text in found if text is not None and len(text) >= MIN_SECRET_CHARS}
        return frozenset(form for raw in known for form in (raw, unquote(raw), quote(raw), _in_json(raw)))


HIDDEN = ("url", "secret")
"""The options that are never shown."""
_MAX_WORD = 15  # a shorter part of an address may be a word that occurs elsewhere


def faults(settings: ReceiverSettings, *, has_apprise: bool) -> Iterator[str]:
    """Yield what is wrong with a receiver, a sentence each, beginning with the key; never a secret."""
    kind, is_run = settings.kind, settings.kind is Form.EXEC
    if is_run and not settings.command:
        yield 'command is missing, must be a list: the program and its arguments, like ["/bin/notify"]'
    if is_run and settings.url is not None:
        yield f'url must be left out with kind = "{kind}", which has a command'
    if not is_run and settings.command:
        yield f'command must be left out with kind = "{kind}", which has a url'
    if not is_run and settings.url is None:
        yield f"url is missing, must be {_ADDRESSES[kind]}"
    elif settings.url is not None and not is_run and not _is_address(kind, settings.url):
        yield f"url was {_shown(settings.url)!r}, must be {_ADDRESSES[kind]}"
    yield from _faults_of_secret(settings)
    if kind is Form.APPRISE and not has_apprise:
        yield "kind needs apprise; pip install 'oddsboard[apprise]'"
    if settings.allow_private and kind in {Form.EXEC, Form.APPRISE}:
        yield f'allow_private must be left out with kind = "{kind}", whose connections are not checked'


def _faults_of_secret(settings: ReceiverSettings) -> Iterator[str]:
    if settings.kind is Form.WEBHOOK:
        if settings.secret is None:
            yield f"secret is missing, must be {SIGNED_BY}"
        elif signing_key(settings.secret) is None:
            yield f"secret was '***', must be {SIGNED_BY}"
    elif settings.secret is not None and settings.kind is not Form.NTFY:
        yield f'secret must be left out with kind = "{settings.kind}"; its url or command has the secret'


def signing_key(secret: str) -> bytes | None:
    """Return the key in a secret of Standard Webhooks, None for any other secret."""
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except Error:
        return None
    return key if secret.startswith("whsec_") and 24 <= len(key) <= 64 else None  # noqa: PLR2004 - its specification


_HTTP = "http://HOST... or https://HOST..."
_ADDRESSES: Mapping[Form, str] = {
    **dict.fromkeys(Form, _HTTP),
    Form.NTFY: "the address of a topic, like https://ntfy.sh/TOPIC",
    Form.APPRISE: "an address of Apprise, like tgram://TOKEN/CHAT or mailtos://USER:PASSWORD@HOST",
}


def _is_address(kind: Form, url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    if kind is Form.APPRISE:
        return re.fullmatch("[a-z][a-z0-9+.-]*", parts.scheme) is not None and "://" in url
    is_topic = re.fullmatch(r"/[-_A-Za-z0-9]{1,64}", parts.path) is not None and not parts.query
    return parts.scheme in {"http", "https"} and has_host and (is_topic or kind is not Form.NTFY)


def _shown(url: str) -> str:
    """Return the begin of an address, without its private parts."""
    scheme, found, _ = url.partition("://")
    return f"{scheme}://***" if found and scheme.isalpha() else "***"


def _in_json(text: str) -> Any:
    return json.dumps(text)[1:-1]
