"""Chooses the configuration of a command: a named file, the file in this folder, or the default example."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from stat import S_IWGRP, S_IWOTH

from actors.core.errors import ConfigError
from actors.service.settings import named_configuration
from web.cli.examples import CONFIGS

LOCAL = Path("oddsboard.toml")
CHOSEN = "the configuration; default: $ODDSBOARD_CONFIG, then ./oddsboard.toml, then simulated odds"


def add_config(command: argparse.ArgumentParser) -> None:
    """Add the option that names a configuration."""
    command.add_argument("--config", type=Path, metavar="FILE", help=CHOSEN)


def chosen(given: Path | None) -> tuple[Path, str]:
    """Return the configuration to read, and the reason for the choice.

    Raises: ConfigError if this folder's configuration could have been written by another user.
    """
    if given is not None:
        return given, "--config"
    if (named := named_configuration()) is not None:
        return named, "$ODDSBOARD_CONFIG"
    if LOCAL.exists():
        _check_writers(LOCAL)
        return LOCAL, f"./{LOCAL}"
    return CONFIGS / "default.toml", "default: simulated odds"


def _check_writers(path: Path) -> None:
    """Raise ConfigError if a file can be written by users other than this user and root.

    The service runs programs that a configuration names.
    """
    owners = {path.lstat().st_uid, path.stat().st_uid}  # of a link and of its target
    if not owners <= {0, os.geteuid()}:
        found, remedy = "belongs to another user", "copy it"
    elif path.stat().st_mode & (S_IWGRP | S_IWOTH):
        found, remedy = "can be written by others", f"chmod go-w {path}"
    else:
        return
    raise ConfigError(
        f"./{path}: {found}, and a program in it would be run; {remedy}, or name it: --config {path}"
    )
