"""The command line: `oddsboard serve | check-config | sources | version`, and the exit codes.

0 stopped, 70 core failure, 71 cannot bind, 78 configuration error; a second signal ends the process
at once with 128 and its number.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import get_type_hints

import anyio
import structlog
from msgspec.structs import fields

from actors import logs
from actors.clock import SystemClock
from actors.errors import BindError, ConfigError
from actors.kinds import PolledKind
from actors.plugins import installed
from actors.settings import Settings, load, parse_bind
from actors.system import System
from web.app import create_app
from web.lifecycle import Exit, Life, end_for_certain
from web.server import address_of, listen

log = structlog.get_logger()

DEFAULT_CONFIG = Path(__file__).resolve().parent.parent / "config" / "default.toml"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    given = _parser().parse_args(arguments)
    code = Exit.STOPPED
    try:
        match given.command:
            case "serve":
                code = _serve(load(given.config), given.bind)
            case "check-config":
                code = _check(given.config, load(given.config))
            case "sources":
                code = _sources()
            case _:
                code = _version()
        sys.stdout.flush()
    except ConfigError as error:
        code = _refuse(Exit.CONFIG, error)
    except BindError as error:
        code = _refuse(Exit.BIND, error)
    except BrokenPipeError:  # whoever read, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:  # before or after the time when signals stop the service in order
        sys.exit(128 + signal.SIGINT)
    sys.exit(code)


def _serve(settings: Settings, bind: str | None) -> Exit:
    logs.configure(settings.server.log_level, sys.stdout, settings.secrets())
    sock = listen(*parse_bind(bind or settings.server.bind))
    return anyio.run(_run, settings, sock)


async def _run(settings: Settings, sock: socket.socket) -> Exit:
    clock = SystemClock()
    system = System(settings, clock, Random())
    names = system.status.names
    app = create_app(system.published.read, system.status, names, clock)
    address = address_of(sock)

    def announce() -> None:
        log.info("service.started", url=address, pid=os.getpid(), bookmakers=dict(names))
        for name, source in system.status.sources.items():
            if source.is_simulated:
                log.warning("source.simulated", source=name, note="invented prices, not offers")

    drain_s = settings.server.drain_s
    life = Life(system.supervisor, app, sock, system.status, drain_s, announce, end_for_certain)
    return await life.run()


def _check(path: Path, settings: Settings) -> Exit:
    print(f"{path}: valid")
    for name, source in settings.sources.items():
        options = source.options
        bookmakers = settings.bookmakers_of(name)
        print(f"source {name}: {source.kind.name} {source.address}".rstrip())
        if isinstance(source.kind, PolledKind):
            plan = source.kind.plan(options, tuple(one.key for one in bookmakers.values()))
            lines = plan.describe()
        else:
            lines = [f"stale after {options.staleness_s:g} s"]
        for line in lines:
            print(f"  {line}")
        for bookmaker, one in bookmakers.items():
            print(f"  bookmaker {bookmaker}: {one.name or 'named by the source'} (key {one.key})")
    return Exit.STOPPED


def _sources() -> Exit:
    for kind, origin in installed():
        print(f"{kind.name} ({origin})")
        types = get_type_hints(kind.options)
        for option in fields(kind.options):
            if option.name != "kind":
                shown = "required" if option.required else f"default {option.default!r}"
                print(f"  {option.name}: {_type_name(types[option.name])}, {shown}")
    return Exit.STOPPED


def _type_name(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def _version() -> Exit:
    print(f"oddsboard {version('oddsboard')}")
    return Exit.STOPPED


def _refuse(code: Exit, error: Exception) -> Exit:
    print(f"oddsboard: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oddsboard", description="A consolidated board of football odds")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="run the service")
    check = commands.add_parser("check-config", help="validate a configuration and say what it would run")
    commands.add_parser("sources", help="list the kinds of source and their options")
    commands.add_parser("version", help="print the version")
    for command in (serve, check):
        command.add_argument("--config", type=Path, default=DEFAULT_CONFIG, metavar="FILE")
    serve.add_argument(
        "--bind", metavar="HOST:PORT", help="where to listen, instead of the configuration's"
    )
    return parser


if __name__ == "__main__":
    main()
