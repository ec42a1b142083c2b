"""`oddsboard alerts`: tries the rules of a configuration on a recording, and their receivers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from actors.core.errors import ConfigError
from actors.recordings.alerts import replay_lines
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.settings import load
from web.cli.choosing import add_config, chosen
from web.cli.serving import alerts_test
from web.server.lifecycle import Exit


def add_options(alerts: argparse.ArgumentParser) -> None:
    """Add the commands below `alerts`; each sets `act` to its function."""
    commands = alerts.add_subparsers(dest="alerts_command", required=True)
    summary = "print what the configured rules would have told while a recording was made"
    replay = commands.add_parser("replay", help=summary, description=summary)
    replay.set_defaults(act=_replay)
    summary = "send an alert with invented content to the receivers of a rule, and say what they answer"
    alerts_test.add_options(commands.add_parser("test", help=summary, description=summary))
    replay.add_argument(
        "path", type=Path, metavar="DIR|FILE", help="a recording, or a folder of recordings"
    )
    add_config(replay)


def run(given: argparse.Namespace) -> Exit:
    """Run a command. Raises: ConfigError."""
    code: Exit = given.act(given)
    return code


def _replay(given: argparse.Namespace) -> Exit:
    path, _ = chosen(given.config)
    rules = load(path).alert
    if not rules:
        raise ConfigError(f"{path}: has no [[alert]], must have one to replay")
    for line in replay_lines(open_sources(given.path, kind_named), rules):
        sys.stdout.write(f"{line}\n")
    return Exit.STOPPED
