"""The command line: `oddsboard init | serve | record | replay | ...`; exit codes: `Exit`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import NoReturn

import anyio
import structlog

from actors.core.clock import Clock, SystemClock
from actors.core.errors import (
    ArchiveLockedError,
    BindError,
    ConfigError,
    OddsboardError,
    QueueLockedError,
    ServiceUnreachableError,
)
from actors.core.limits import Limits
from actors.core.nearest import did_you_mean
from actors.matching.leagues import load as load_tables
from actors.monitoring import logs
from actors.monitoring.log_events import LogStatus
from actors.monitoring.loop_watch import watched
from actors.monitoring.status import ServiceStatus
from actors.recordings.reader import open_sources
from actors.runtime.facts import announce
from actors.service.describe import configuration_lines, kind_lines, recording_lines
from actors.service.recorder import Recorder
from actors.service.registry import kind_named
from actors.service.reloading import Reload
from actors.service.replay import Replay
from actors.service.settings import (
    ServerSettings,
    Settings,
    is_colourless,
    load,
    parse_bind,
    service_manager,
)
from actors.service.system import System
from actors.transports.connections import LookUpLoop
from web.app import create_app
from web.cli import (
    alerts_command,
    archive_command,
    clv_command,
    links_command,
    mcp_command,
    surebets_command,
    trace_command,
)
from web.cli.boards import commands as boards
from web.cli.choosing import add_config, chosen
from web.cli.completion import COMPLETES, SHELLS, script
from web.cli.examples import CONFIGS, CONFIGURATIONS, EXAMPLES, default_out
from web.cli.serving.running import Running, audience_of, close, fitting, opened
from web.cli.source_commands import add_source_options, check_program, guessed, probe
from web.cli.terminal import EXAMPLE_CALLS, OF_FULL_DISK, called, directions, seconds, speed_of
from web.endpoints.health import liveness
from web.endpoints.release import release
from web.feeds.subscribers import Audience
from web.protocol.access import Access
from web.protocol.peers import Peers
from web.protocol.throttle import ClientLimits
from web.server.collector import pause_collector, set_up_collector
from web.server.connections import Caps
from web.server.lifecycle import (
    Exit,
    Life,
    record_until_stopped,
    start_exit_deadline,
)
from web.server.listener import Listener, address_of, listen
from web.server.notify import Notifier
from web.server.watch import Watch

log = structlog.get_logger()

GONE = {"--server": "the one server is as fast as uvicorn was: leave the option out"}
"""Removed options, and advice for each."""

EXITS: Mapping[type[OddsboardError], Exit] = {
    ConfigError: Exit.CONFIG,
    BindError: Exit.BIND,
    ServiceUnreachableError: Exit.UNREACHABLE,
    ArchiveLockedError: Exit.LOCKED,
    QueueLockedError: Exit.LOCKED,
}

Run = Callable[[argparse.Namespace], Exit]
_Command = argparse.ArgumentParser
VERSION = ("-V", "--version")
BIND = "HOST:PORT|unix:/PATH"
_DEFAULT = "default: %(default)s"
_OUT = "default: oddsboard.toml, and the example's own name if it is no configuration"
_LOOP = {"loop_factory": LookUpLoop}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    if sys.stdout is None:  # the process was started with a closed stdout
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the process ends
    parser, words = _parser(), [*(sys.argv[1:] if arguments is None else arguments)]
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(Exit.USAGE)
    given = _given(parser, ["version"] if words[0] in VERSION else words)
    code = Exit.STOPPED
    try:
        code = given.run(given)
        sys.stdout.flush()
    except tuple(EXITS) as error:
        for line in str(error).splitlines():
            print(f"oddsboard: {line}", file=sys.stderr)
        code = EXITS[type(error)]
    except BrokenPipeError:  # a reader such as `head` has ended
        _drop_output()
    except OSError as error:
        if error.errno not in OF_FULL_DISK:
            raise
        if error.filename is None:
            _drop_output()
        print(f"oddsboard: {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
        code = Exit.OUTPUT
    sys.exit(code)


def _given(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Return the arguments; unknown arguments are an error with the usage of the command."""
    given, others = parser.parse_known_args(words)
    if others:
        is_file = hasattr(given, "config") and not others[0].startswith("-")
        hint = f"; a configuration is named with --config {others[0]}" if is_file else ""
        given.parser.error(f"unrecognized arguments: {' '.join(others)}{hint}")
    return given


def _drop_output() -> None:
    """Discard unwritten output, so that the interpreter does not write it at its end."""
    with contextlib.suppress(OSError):  # a test's output has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _init(given: argparse.Namespace) -> Exit:
    if given.example not in EXAMPLES:
        near = did_you_mean(given.example, EXAMPLES)
        raise ConfigError(f"EXAMPLE was {given.example!r}, must be one of: {', '.join(EXAMPLES)}{near}")
    example, out = EXAMPLES[given.example], given.out or default_out(given.example)
    content, first = example.read_bytes(), ""
    if given.table is not None:
        content, first = guessed(given.example, given.table)
    try:
        with out.open("xb") as file:
            file.write(content)
        # A program stays executable. Nobody else may write the file, because `serve` may run it by default.
        out.chmod((out.stat().st_mode | example.stat().st_mode & 0o111) & ~0o022)
    except FileExistsError:
        raise ConfigError(f"{out}: exists already; name another file with --out") from None
    except OSError as error:
        if error.errno in OF_FULL_DISK:
            out.unlink(missing_ok=True)  # the file is incomplete
            raise OSError(error.errno, error.strerror, str(out)) from error
        raise ConfigError(f"{out}: cannot be written: {error.strerror}") from error
    is_run = given.example in CONFIGURATIONS
    return _print([f"{out}: written" + f"; {first}run it with: {called()} serve --config {out}" * is_run])


def _serve(given: argparse.Namespace) -> Exit:
    path, by = chosen(given.config)
    settings = load(path)
    bind = parse_bind(given.bind or settings.server.bind)
    written = _logged(settings, path, by)
    pause_collector()
    load_tables()
    caps, streams = fitting(settings.server, settings.limits, len(settings.sources))
    limits = ClientLimits(settings.limits)
    sock = _listening(bind, caps, written, limits.peers)
    set_up_collector()
    run = partial(_run_service, settings, path, written, sock, max_streams=streams, limits=limits)
    return anyio.run(run, backend_options=_LOOP)


def _logged(settings: Settings, path: Path, by: str) -> LogStatus:
    """Set up the log, and log which configuration is run."""
    level, secrets = settings.server.log_level, settings.secrets()
    written = logs.configure(level, sys.stdout, secrets, is_colourless=is_colourless())
    announce(log, "service.configured", file=str(path), chosen=by)
    return written


def _listening(bind: tuple[str, int | None], caps: Caps, written: LogStatus, peers: Peers) -> Listener:
    return listen(*bind, caps, written.metrics.counts["oddsboard_http_turned_away_total"], peers)


async def _run_service(
    settings: Settings,
    path: Path,
    written: LogStatus,
    sock: Listener,
    *,
    max_streams: int,
    limits: ClientLimits,
) -> Exit:
    clock = SystemClock()
    system = opened(settings, clock, written)
    published, status = system.shown, system.status
    audience = audience_of(system, max_streams, settings.limits.max_streams_per_client)
    app = create_app(
        published,
        status,
        status.names,
        clock,
        audience,
        keep_fresh=sock.keep_fresh,
        refusals=sock.refusals,
        watched=Watch(sock.find).around,
        limits=limits,
        review=system.review,
        past=None if system.archive is None else system.archive.past(),
        access=Access(settings.operators.token),
        markets=system.shown_markets.published,
        recent=None if system.delivery is None else system.delivery.recent,
    )
    started = partial(_say_started, status, url=address_of(sock), archive=settings.archive.path or "none")
    ends, drain_s = (start_exit_deadline, audience.leave), settings.server.drain_s
    running = Running(system, audience, limits, sock)
    reload = Reload(path, settings, system.read_links_again, running.apply, logs.set_level).again
    parts = (system.supervisor, app, sock, status, drain_s, started, *ends)
    manager = Notifier(*service_manager(), lambda: liveness(status, clock.now()).status == "pass")
    if system.archive is not None:
        system.archive.start(written.journal)
    if system.delivery is not None:
        system.delivery.start()
    return await Life(*parts, reload, manager, partial(close, system)).run()


def _record(given: argparse.Namespace) -> Exit:
    path, by = chosen(given.config)
    settings = load(path)
    _logged(settings, path, by)
    load_tables()
    return anyio.run(_run_recording, settings, given.out, given.for_s, backend_options=_LOOP)


async def _run_recording(settings: Settings, out: Path, for_s: float) -> Exit:
    clock = SystemClock()
    with Recorder.open(out, settings, clock) as recorder:
        system = System(settings, clock, Random(), recorder.of)
        _say_started(system.status, folder=str(out))
        with watched(system.status.loop):
            code = await record_until_stopped(system.supervisor, for_s, recorder.watch, start_exit_deadline)
    announce(
        log,
        "recording.finished",
        payloads={name: record.payloads.number for name, record in system.status.sources.items()},
    )
    return code


def _replay(given: argparse.Namespace) -> Exit:
    sources = open_sources(given.path, kind_named, given.price)
    written = logs.configure(ServerSettings().log_level, sys.stdout, is_colourless=is_colourless())
    load_tables()
    caps, streams = fitting(ServerSettings(), Limits(), len(sources))
    sock = _listening(parse_bind(given.bind), caps, written, Peers())
    replay = partial(Replay, sources, given.speed, archive=given.archive, log_status=written)
    set_up_collector()
    return anyio.run(_run_replay, replay, sock, streams)


async def _run_replay(start: Callable[[Clock], Replay], sock: Listener, max_streams: int) -> Exit:
    replay = start(SystemClock())
    status, playback = replay.status, replay.playback
    per_client = Limits().max_streams_per_client
    audience = Audience(
        playback.published.history,
        max_streams,
        per_client,
        playback.fixture_history,
        status.metrics,
        markets=playback.markets.histories,
    )
    app = create_app(
        playback.published,
        status,
        status.names,
        playback,
        audience,
        keep_fresh=sock.keep_fresh,
        refusals=sock.refusals,
        watched=Watch(sock.find).around,
        review=playback.review,
        markets=playback.markets.published,
    )
    started = partial(_say_started, status, is_recorded=True, url=address_of(sock))
    ends = (start_exit_deadline, audience.leave)
    return await Life(replay, app, sock, status, ServerSettings().drain_s, started, *ends).run()


def _check(given: argparse.Namespace) -> Exit:
    path, _ = chosen(given.config)
    return _print(configuration_lines(path, load(path)))


def _sources(given: argparse.Namespace) -> Exit:
    return _print(kind_lines(given.kind))


def _say_started(status: ServiceStatus, *, is_recorded: bool = False, **facts: str) -> None:
    announce(log, "service.started", **facts, pid=os.getpid(), bookmakers=dict(status.names))
    for name, source in status.sources.items():
        if is_recorded or source.kind == "replay":
            announce(log, "source.recorded", source=name, note="recorded prices, not offers of now")
        elif source.is_simulated:
            announce(log, "source.simulated", source=name, note="invented prices, not offers")
    logs.show("", *directions(**facts), "")


def _print(lines: Iterable[str]) -> Exit:
    for line in lines:
        print(line)
    return Exit.STOPPED


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End with the message, and with advice if it is about a removed option."""
        super().error("; ".join([message, *(why for option, why in GONE.items() if option in message)]))


def _parser() -> argparse.ArgumentParser:
    about, form = "A consolidated board of football odds", argparse.RawDescriptionHelpFormatter
    parser = _Parser("oddsboard", description=about, epilog=EXAMPLE_CALLS, formatter_class=form)
    parser.add_argument(*VERSION, action="store_true", help="print the version and the commit")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, run: Run, summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run, parser=added)
        return added

    init = command("init", _init, "write a commented configuration to begin with")
    serving = command("serve", _serve, "run the service")
    record = command("record", _record, "record the payloads of each source to files, without serving")
    replay = command("replay", _replay, "run the service on recordings, by the time recorded in them")
    check = command("check-config", _check, "validate a configuration and say what it would run")
    program = command("check-program", check_program, "run a program, print what the board would show")
    probing = command("probe", probe, "ask a venue once, and say whether it answers as expected")
    sources = command("sources", _sources, "explain the kinds of source and their options")
    inspect = command("inspect", lambda given: _print(recording_lines(given.path)), "list a recording")
    archive_command.add_options(command("archive", archive_command.run, "check, seal or export an archive"))
    alerts_command.add_options(command("alerts", alerts_command.run, "try rules and receivers of alerts"))
    links = command("links", lambda given: _print(given.lines(given)), "ask why events are linked or not")
    trace = command("trace", lambda given: _print(trace_command.trace_lines(given)), "ask about one price")
    surebets_command.add_options(command("surebets", surebets_command.run, "ask for surebets, with stakes"))
    mcp_command.add_options(command("mcp", mcp_command.run, "give agents tools that ask a running service"))
    clv_command.add_options(command("clv", clv_command.run, "print closing line values of your own bets"))
    boards.add(command)
    completion = command("completion", lambda given: _print([script(given.shell, parser)]), COMPLETES)
    command("version", lambda _: _print([f"oddsboard {release()}"]), "print the version and the commit")
    _add_file_options(init, serving, record, check)
    sources.add_argument("kind", nargs="?", metavar="KIND", help="a kind of source; default: all kinds")
    completion.add_argument("shell", choices=SHELLS, help="the script's first line says how to use it")
    links_command.add_options(links)
    trace_command.add_options(trace)
    add_source_options(program, probing, CONFIGS / "live-keyless.toml")
    _add_recording_options(record, replay, inspect)
    return parser


def _add_file_options(init: _Command, serving: _Command, record: _Command, check: _Command) -> None:
    for configured in (serving, record, check):
        add_config(configured)
    examples, out = f"one of: {', '.join(EXAMPLES)}; {_DEFAULT}", f"the file; {_OUT}"
    init.add_argument("example", nargs="?", default="default", metavar="EXAMPLE", help=examples)
    table = "for the example table: a CSV file or JSON lines; its columns are guessed"
    init.add_argument("table", nargs="?", type=Path, metavar="FILE", help=table)
    init.add_argument("--out", type=Path, metavar="FILE", help=out)
    serving.add_argument("--bind", metavar=BIND, help="where to listen; default: as configured")


def _add_recording_options(record: _Command, replay: _Command, inspect: _Command) -> None:
    out, path = "the folder; each source has a file in it", "a recording, or a folder of recordings"
    until = "when to stop, like 90s, 15m, 2h or 1d; default: at a signal"
    speed, bind = "recorded seconds per second; default: 1", f"where to listen; {_DEFAULT}"
    prices, price = ("best_back", "last_traded"), "the price in a historic .bz2 file; default: best_back"
    record.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)
    record.add_argument("--for", type=seconds, default=inf, dest="for_s", metavar="DURATION", help=until)
    replay.add_argument("path", type=Path, metavar="DIR|FILE", help=path)
    inspect.add_argument("path", type=Path, metavar="FILE", help="the recording")
    replay.add_argument("--speed", type=speed_of, default=1.0, metavar="N|max", help=speed)
    replay.add_argument("--price", choices=prices, help=price)
    replay.add_argument(
        "--archive", type=Path, metavar="DIR", help="keep an archive of the replay in this empty folder"
    )
    replay.add_argument("--bind", default=ServerSettings().bind, metavar=BIND, help=bind)
