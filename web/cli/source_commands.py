"""`oddsboard check-program` and `oddsboard probe`: run one source, and print what the board would show."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from msgspec import ValidationError, convert

from actors.core.errors import ConfigError, PayloadError
from actors.service.settings import load
from actors.service.trials.check_program import ProgramCheck
from actors.service.trials.probe import Probe, source_to_probe
from actors.source_api.program import ProgramOptions
from actors.sources.program.schema import schema
from actors.sources.table.guessing import configuration_of
from actors.transports.connections import LookUpLoop
from web.cli.terminal import run_until_interrupted, seconds
from web.server.lifecycle import Exit

_STALE = "the stale_after_s of its table, like 90s or 15m; default: %(default)s"


def add_source_options(
    program: argparse.ArgumentParser, probing: argparse.ArgumentParser, example: Path
) -> None:
    """Add the options of `check-program` and `probe`; `probe` reads `example` by default."""
    until = "for how long, like 30s or 5m; default: %(default)s"
    words = "the program and its arguments, after --"
    program.add_argument("--for", type=seconds, default="30s", dest="for_s", metavar="DURATION", help=until)
    variable = "a variable of its environment, which is otherwise empty; may be repeated"
    program.add_argument(
        "--env", type=_variable, action="append", default=[], metavar="NAME=VALUE", help=variable
    )
    program.add_argument(
        "--stale-after", type=seconds, default="30s", dest="stale_s", metavar="DURATION", help=_STALE
    )
    program.add_argument(
        "--collected", action="store_true", help='check it as a source with prices = "collected"'
    )
    kinds = "the markets of its table, like over_under,btts; default: only 1x2"
    program.add_argument("--markets", default="1x2", metavar="KIND,...", help=kinds)
    program.add_argument("--schema", action="store_true", help="print the JSON Schema of a line instead")
    program.add_argument("words", nargs="*", metavar="COMMAND", help=words)
    config = "the configuration that has the source; default: the example live-keyless"
    probing.add_argument(
        "kind",
        metavar="KIND",
        help="football_data, polymarket, azuro, five_dollar_football, table, or a plug-in's kind",
    )
    probing.add_argument("--config", type=Path, default=example, metavar="FILE", help=config)
    probing.add_argument("--url", metavar="URL", help="ask here instead of at the venue's addresses")


def check_program(given: argparse.Namespace) -> Exit:
    """Run a source program, and print what the board would show of its prices."""
    if given.schema:
        print(json.dumps(schema(), indent=2))
        return Exit.STOPPED
    table = {
        "kind": "program",
        "command": given.words,
        "environment": dict(given.env),
        "stale_after_s": given.stale_s,
        "prices": "collected" if given.collected else "live",
        "markets": given.markets.split(","),
    }
    try:
        options = convert(table, ProgramOptions)
    except ValidationError as error:
        raise ConfigError(f"the command cannot be run: {error}") from error
    checked = ProgramCheck(options, given.for_s, partial(print, flush=True))
    run_until_interrupted(checked.run)
    return Exit.STOPPED if checked.is_good else Exit.DATA


def probe(given: argparse.Namespace) -> Exit:
    """Ask a venue once, and print whether its answers have the expected shape."""
    asked = Probe(source_to_probe(load(given.config), given.kind, given.url), partial(print, flush=True))
    run_until_interrupted(asked.run, loop_factory=LookUpLoop)
    return Exit.STOPPED if asked.is_good else Exit.UNEXPECTED


def guessed(example: str, table: Path) -> tuple[bytes, str]:
    """Return a configuration for a table, and the steps to take before it is run. Raises: ConfigError."""
    if example != "table":
        raise ConfigError(f"FILE was {str(table)!r}, which only the example table takes")
    try:
        if not table.is_file():
            raise ConfigError(f"{table}: must be a file")
        text, asked = configuration_of(str(table), table.read_bytes())
    except (OSError, PayloadError) as error:
        raise ConfigError(f"{table}: cannot be read: {error}") from error
    first = f"set {', '.join(asked)} in it, " if asked else ""
    return text.encode(), f"{first}check its guesses, and "


def _variable(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"was {text!r}, must be NAME=VALUE")
    return name, value
