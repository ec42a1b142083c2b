"""The tables of alerts in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.rules.rule import Rule

Rules: TypeAlias = tuple[Rule, ...]
Receivers: TypeAlias = Mapping[str, ReceiverSettings]


class AlertsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The file in which alerts wait for their receivers; without a `path` they wait in memory."""

    path: Annotated[str, Meta(min_length=1)] | None = None
