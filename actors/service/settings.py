"""Reads the configuration from TOML into frozen Structs; only this module reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from actors.configuration.environment import expanded, masked
from actors.configuration.toml_file import read_text, tables_of
from actors.core.errors import ConfigError, in_lines
from actors.service.alerting.receivers import with_receivers
from actors.service.checking import Check
from actors.service.tables import (
    BookmakerSettings,
    LinksSettings,
    ServerSettings,
    Settings,
    SourceSettings,
    parse_bind,
)

__all__ = (
    "BookmakerSettings",
    "LinksSettings",
    "ServerSettings",
    "Settings",
    "SourceSettings",
    "is_colourless",
    "load",
    "named_configuration",
    "operators_token",
    "parse_bind",
    "program_path",
    "service_manager",
)


def service_manager(environment: Mapping[str, str] = os.environ) -> tuple[str, float]:
    """Return the socket of the service manager ("": none) and the seconds of its watchdog (0: none)."""
    watchdog_us = environment.get("WATCHDOG_USEC", "")
    seconds = int(watchdog_us) / 1e6 if watchdog_us.isdecimal() else 0.0
    return environment.get("NOTIFY_SOCKET", ""), seconds


def program_path(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folders in which programs are looked for."""
    return environment.get("PATH") or os.defpath


def named_configuration(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the configuration that $ODDSBOARD_CONFIG names, None if it names no configuration."""
    named = environment.get("ODDSBOARD_CONFIG", "")
    return Path(named) if named else None


def is_colourless(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a terminal has no colours, or must get no colours (no-color.org)."""
    return bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"


def operators_token(file: Path | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the operators' token from `file`, otherwise from $ODDSBOARD_TOKEN; None without either.

    Raises: ConfigError if the file cannot be read or has no token.
    """
    token = environment.get("ODDSBOARD_TOKEN", "") if file is None else read_text(file).strip()
    if file is not None and not token:
        raise ConfigError(f"{file}: is empty, must have the token")
    if not token:
        return None
    if not (token.isascii() and token.isprintable() and " " not in token):
        where = "$ODDSBOARD_TOKEN" if file is None else file
        raise ConfigError(f"{where}: must be one ASCII word, like the token of [operators]")
    return token


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read and check a configuration file. Raises: ConfigError naming file, key and value of each fault."""
    text = read_text(path)
    try:
        raw = tables_of(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    secrets: dict[str, str] = {}
    check = Check()
    try:
        whole = expanded(raw, environment, secrets, check.faults, "")
        settings = check.settings(raw, whole)
        settings = with_receivers(settings, raw, whole, check, program_path(environment))
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number is too long, or tables are too deep, to be shown in an error
        check.faults.append(f"is not TOML that can be read: {error}")
    if check.faults:
        raise ConfigError(in_lines(f"{path}: {masked(fault, secrets)}" for fault in check.faults))
    return settings
