"""The tables [receivers.ID] of a configuration, and the checks of the receivers that alerts go to."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from msgspec.structs import replace

from actors.alerts.receivers.options import HIDDEN, Form, ReceiverSettings, faults
from actors.configuration.environment import is_variable
from actors.core.nearest import did_you_mean
from actors.service.checking import Check
from actors.service.tables import Settings


def with_receivers(
    settings: Settings, raw: Mapping[str, Any], expanded: Mapping[str, Any], check: Check, path: str
) -> Settings:
    """Return the settings with those receivers that have no fault; `check` notes the faults.

    `raw` is the file as written; programs are looked for in `path`.
    """
    tables = expanded.get("receivers", {})
    if not isinstance(tables, dict):  # this fault is noted already
        return settings
    for rule in settings.alert:
        for name in rule.to:
            if name not in tables:
                known = f"one of {', '.join(tables)}" if tables else "the ID of a table [receivers.ID]"
                near = did_you_mean(name, tables)
                check.faults.append(f"alert.{rule.name}.to was {name!r}, must be {known}{near}")
    return replace(settings, receivers=_receivers(raw.get("receivers", {}), tables, check, path))


def _receivers(
    raw: Mapping[str, Any], tables: Mapping[str, Any], check: Check, path: str
) -> dict[str, ReceiverSettings]:
    receivers: dict[str, ReceiverSettings] = {}
    for name, table in tables.items():
        at = f"receivers.{name}"
        if not re.fullmatch("[a-z0-9_-]{1,32}", name) or not isinstance(table, dict):
            check.faults.append(f"{at} must be a table, named with 1 to 32 of a-z, 0-9, '-' and '_'")
            continue
        receiver = check.table(_without_secrets(raw[name]), table, ReceiverSettings, at)
        if receiver is None:
            continue
        told = [*faults(receiver, has_apprise=find_spec("apprise") is not None)]
        if not told and receiver.kind is Form.EXEC and shutil.which(receiver.command[0], path=path) is None:
            told.append(f"command was {receiver.command[0]!r}, which is no program in $PATH")
        check.faults += [f"{at}.{fault}" for fault in told]
        if not told:
            receivers[name] = receiver
    return receivers


def receiver_lines(settings: Settings) -> Iterator[str]:
    """Yield a line for each receiver of alerts, and one for their queue."""
    for name, receiver in settings.receivers.items():
        yield f"receiver {name}: {receiver.kind}, {receiver.timeout_s:g} s"
    if settings.receivers and (path := settings.alerts.path) is not None:
        yield f"alerts wait in {path}"
    elif settings.receivers:
        yield "warning: alerts wait in memory, and a stop loses them; [alerts] path names a file for them"


def _without_secrets(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table as written in the file, in which hidden values are shown as references only."""
    return {
        key: "***" if key in HIDDEN and value and not is_variable(str(value)) else value
        for key, value in raw.items()
    }
