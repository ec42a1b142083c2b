"""The command line: `oddsboard serve | record | replay | inspect | ...`, and the exit codes.

0 stopped, 70 core failure, 71 cannot bind, 78 configuration error; a second signal ends the process
at once with 128 and its number.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from math import inf
from pathlib import Path
from random import Random

import anyio
import structlog

from actors.core.clock import SystemClock
from actors.core.errors import BindError, ConfigError
from actors.monitoring import logs
from actors.monitoring.loop_watch import watched
from actors.monitoring.status import ServiceStatus
from actors.recordings.reader import RecordedSource, open_sources
from actors.service.describe import configuration_lines, kind_lines, recording_lines
from actors.service.recorder import Recorder
from actors.service.registry import kind_named
from actors.service.replay import Replay
from actors.service.settings import ServerSettings, Settings, load, parse_bind
from actors.service.system import System
from web.app import create_app
from web.feeds.subscribers import Audience
from web.server.hypercorn_server import Serve, serve
from web.server.lifecycle import Exit, Life, end_for_certain, record_until_told
from web.server.listener import Listener, address_of, listen
from web.server.uvicorn_server import check_uvicorn, serve_with_uvicorn

log = structlog.get_logger()

SERVERS: Mapping[str, Serve] = {"hypercorn": serve, "uvicorn": serve_with_uvicorn}

DEFAULT_CONFIG = Path(__file__).resolve().parent.parent / "config" / "default.toml"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    given = _parser().parse_args(arguments)
    code = Exit.STOPPED
    try:
        code = _run(given)
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


def _run(given: argparse.Namespace) -> Exit:
    match given.command:
        case "serve":
            code = _serve(load(given.config), given.bind, given.server)
        case "record":
            code = _record(load(given.config), given.out, given.for_s)
        case "replay":
            code = _replay(open_sources(given.path, kind_named, given.price), given.speed, given.bind)
        case "check-config":
            code = _print(configuration_lines(given.config, load(given.config)))
        case "sources":
            code = _print(kind_lines())
        case "inspect":
            code = _print(recording_lines(given.path))
        case _:
            code = _print([f"oddsboard {version('oddsboard')}"])
    return code


def _serve(settings: Settings, bind: str | None, server: str) -> Exit:
    if server == "uvicorn":
        check_uvicorn()
    logs.configure(settings.server.log_level, sys.stdout, settings.secrets())
    sock = listen(*parse_bind(bind or settings.server.bind))
    return anyio.run(_run_service, settings, sock, SERVERS[server])


async def _run_service(settings: Settings, sock: Listener, serve: Serve) -> Exit:
    clock = SystemClock()
    system = System(settings, clock, Random())
    audience = Audience(system.published.history, settings.server.max_streams)
    app = create_app(
        system.published, system.status, system.status.names, clock, audience, keep_fresh=sock.keep_fresh
    )
    announce = partial(_announce, system.status, url=address_of(sock))
    drain_s = settings.server.drain_s
    ends = (end_for_certain, audience.leave)
    life = Life(system.supervisor, app, sock, system.status, drain_s, announce, *ends, serve)
    return await life.run()


def _record(settings: Settings, out: Path, for_s: float) -> Exit:
    logs.configure(settings.server.log_level, sys.stdout, settings.secrets())
    return anyio.run(_run_recording, settings, out, for_s)


async def _run_recording(settings: Settings, out: Path, for_s: float) -> Exit:
    clock = SystemClock()
    with Recorder.open(out, settings, clock) as recorder:
        system = System(settings, clock, Random(), recorder.of)
        _announce(system.status, folder=str(out))
        with watched(system.status.loop):
            code = await record_until_told(system.supervisor, for_s, recorder.watch, end_for_certain)
    log.info(
        "recording.finished", payloads={name: one.payloads for name, one in system.status.sources.items()}
    )
    return code


def _replay(sources: tuple[RecordedSource, ...], speed: float, bind: str) -> Exit:
    logs.configure(ServerSettings().log_level, sys.stdout)
    sock = listen(*parse_bind(bind))
    return anyio.run(_run_replay, sources, speed, sock)


async def _run_replay(sources: tuple[RecordedSource, ...], speed: float, sock: Listener) -> Exit:
    replay = Replay(sources, speed, SystemClock())
    status, playback = replay.status, replay.playback
    audience = Audience(playback.history, ServerSettings().max_streams)
    app = create_app(playback, status, status.names, playback, audience, keep_fresh=sock.keep_fresh)
    announce = partial(_announce, status, is_recorded=True, url=address_of(sock))
    ends = (end_for_certain, audience.leave)
    return await Life(replay, app, sock, status, ServerSettings().drain_s, announce, *ends).run()


def _announce(status: ServiceStatus, *, is_recorded: bool = False, **facts: str) -> None:
    log.info("service.started", **facts, pid=os.getpid(), bookmakers=dict(status.names))
    for name, source in status.sources.items():
        if is_recorded or source.kind == "replay":
            log.warning("source.recorded", source=name, note="recorded prices, not offers of now")
        elif source.is_simulated:
            log.warning("source.simulated", source=name, note="invented prices, not offers")


def _print(lines: Iterable[str]) -> Exit:
    for line in lines:
        print(line)
    return Exit.STOPPED


def _refuse(code: Exit, error: Exception) -> Exit:
    print(f"oddsboard: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oddsboard", description="A consolidated board of football odds")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="run the service")
    record = commands.add_parser("record", help="write down what each source delivers, serving nobody")
    replay = commands.add_parser("replay", help="run the service on recordings and their clock")
    check = commands.add_parser("check-config", help="validate a configuration and say what it would run")
    commands.add_parser("sources", help="list the kinds of source and their options")
    inspect = commands.add_parser("inspect", help="list what a recording holds")
    commands.add_parser("version", help="print the version")
    for command in (serving, record, check):
        command.add_argument("--config", type=Path, default=DEFAULT_CONFIG, metavar="FILE")
    serving.add_argument(
        "--bind", metavar="HOST:PORT", help="where to listen, instead of the configuration's"
    )
    serving.add_argument(
        "--server", choices=SERVERS, default="hypercorn", help="which HTTP server; default hypercorn"
    )
    record.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to, a file a source")
    record.add_argument(
        "--for", type=_seconds, default=inf, dest="for_s", metavar="DURATION", help="like 90s, 15m, 2h, 1d"
    )
    replay.add_argument("path", type=Path, metavar="DIR|FILE")
    replay.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N|max", help="recorded seconds a second; default 1"
    )
    replay.add_argument(
        "--price", choices=("best_back", "last_traded"), help="of a historic .bz2 file; default best_back"
    )
    replay.add_argument(
        "--bind", default=ServerSettings().bind, metavar="HOST:PORT", help="where to listen"
    )
    inspect.add_argument("path", type=Path, metavar="FILE")
    return parser


def _seconds(text: str) -> float:
    found = re.fullmatch("([1-9][0-9]{0,8})([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"was {text!r}, must be like 90s, 15m, 2h or 1d")
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]]


def _speed(text: str) -> float:
    if text == "max":
        return inf
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"was {text!r}, must be a number above 0, or max")
    return float(text)


if __name__ == "__main__":
    main()
