"""`oddsboard archive`: lists, checks, seals and exports an archive."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import TextIO

from actors.archive.checking import contents, verdicts
from actors.archive.days.file import sync
from actors.archive.days.format import milliseconds
from actors.archive.days.reading import Reader, UnreadableError
from actors.archive.export import CSV, FORMATS, PARQUET, Chosen, rows, writer_of
from actors.archive.folder import LOCK, Folder
from actors.archive.sealing import seal
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from web.cli.terminal import OF_FULL_DISK
from web.server.lifecycle import Exit

FOREVER_MS = 2**60
BAR = 30
"""Characters of the progress bar of an export."""


def add_options(archive: argparse.ArgumentParser) -> None:
    """Add the commands below `archive`; each sets `act` to its function."""
    commands = archive.add_subparsers(dest="archive_command", required=True)
    for name, act, summary in (
        ("info", _info, "list the days, their sizes and times, and the gaps with reasons"),
        ("check", _check, "check each file; exit code 65 if any is damaged"),
        (
            "seal",
            _seal,
            "seal every day but the newest; the service must be stopped",
        ),
        ("export", _export, "write every change as a row, oldest first"),
    ):
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(act=act)
        added.add_argument("path", type=Path, metavar="DIR", help="the folder of the archive")
        if name == "export":
            _add_export_options(added)


def run(given: argparse.Namespace) -> Exit:
    """Run a command. Raises: ConfigError if the folder is no archive, or cannot be read."""
    has_days = given.path.is_dir() and Folder.reading(given.path).days()
    if not has_days and not (given.path / LOCK).exists():
        raise ConfigError(f"{given.path}: is not the folder of an archive")
    try:
        code: Exit = given.act(given)
    except BrokenPipeError:
        raise
    except OSError as error:
        written = getattr(given, "out", None)  # a failed write names no file
        if error.errno in OF_FULL_DISK:
            error.filename = written
            raise
        file = error.filename or written or given.path
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    except (sqlite3.Error, UnreadableError) as error:
        raise ConfigError(f"{given.path}: {error}; oddsboard archive check names the file") from error
    return code


def _add_export_options(export: argparse.ArgumentParser) -> None:
    times = "of the export, like 2026-11-25T18:00:00Z; default: all changes"
    export.add_argument(
        "--from", type=_time, default=0, dest="from_ms", metavar="TIME", help=f"begin {times}"
    )
    export.add_argument(
        "--to", type=_time, default=FOREVER_MS, dest="until_ms", metavar="TIME", help=f"end {times}"
    )
    export.add_argument("--bookmaker", metavar="ID", help="only changes of this bookmaker")
    export.add_argument(
        "--markets",
        action="store_true",
        help="all markets, one row per price; default: 1X2, one row per match",
    )
    export.add_argument("--format", choices=FORMATS, default=CSV, help="default: %(default)s")
    export.add_argument(
        "--out", type=Path, metavar="FILE", help="default: standard output; parquet needs a file"
    )
    export.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def _info(given: argparse.Namespace) -> Exit:
    folder = Folder.reading(given.path)
    held, gaps = contents(folder)
    read = {day.day: day for day in held}
    for name in folder.days():
        found = "cannot be read, check says why"
        if (day := read.get(name)) is not None:
            span = f"{_shown(day.first_ms)} to {_shown(day.seen_ms)}"
            found = f"versions {day.base} to {day.last}  {span}"
        _say(f"{name}  {folder.file(name).stat().st_size:>14,} bytes  {found}")
    for gap in gaps:
        span = f"{_shown(gap.after_at)} to {_shown(gap.until_at)}"
        _say(f"gap: {gap.reason}  versions {gap.after} to {gap.until}  {span}")
    for bad, path in folder.bad():
        _say(f"{bad}  set aside as {path.name}")
    return Exit.STOPPED


def _check(given: argparse.Namespace) -> Exit:
    code = Exit.STOPPED
    for verdict in verdicts(Folder.reading(given.path)):
        _say(f"{verdict.name}: {verdict.fault or 'ok'}")
        if verdict.fault is not None:
            code = Exit.DATA
    return code


def _seal(given: argparse.Namespace) -> Exit:
    folder, code = Folder.hold(given.path), Exit.STOPPED
    try:
        for day in folder.days()[:-1]:
            if not _is_whole(folder, day):
                code = Exit.DATA
            else:
                with Reader.open(folder.file(day), is_written=False) as reader:
                    is_sealed = reader.is_sealed
                if not is_sealed:
                    run_now(seal(folder.file(day), folder.reached))
                    _say(f"{folder.file(day).name}: sealed")
    finally:
        folder.release()
    return code


def _is_whole(folder: Folder, day: date) -> bool:
    """Return whether a day can be sealed; otherwise say why."""
    try:
        return folder.check(day, is_last=False)
    except (sqlite3.Error, OSError) as error:
        _say(f"{folder.file(day).name}: not sealed: {error}")
    return False


def _export(given: argparse.Namespace) -> Exit:
    bookmaker = None if given.bookmaker is None else BookmakerId(given.bookmaker)
    if given.format == PARQUET and given.out is None:
        raise ConfigError("--format parquet: needs --out FILE")
    chosen = Chosen(given.from_ms, given.until_ms, bookmaker, all_markets=given.markets)
    write = writer_of(given.format, chosen.columns)
    with output(given.out, is_forced=given.force) as out, _bar(out) as show:
        some = rows(Folder.reading(given.path), chosen, show)
        first = next(some, None)
        write(iter(()) if first is None else chain([first], some), out)
    if first is None:
        hint = f"oddsboard archive info {given.path} lists the times that there are"
        sys.stderr.write(f"oddsboard: no row; {hint}\n")
    return Exit.STOPPED


@contextmanager
def output(path: Path | None, *, is_forced: bool) -> Iterator[TextIO]:
    """Open the output, standard output without a path; a file has another name until it is complete.

    Raises: ConfigError if the file exists and must not be overwritten.
    """
    if path is None:
        yield sys.stdout
        return
    if path.exists() and not path.is_file():  # a pipe or a device
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    if path.exists() and not is_forced:
        raise ConfigError(f"--out was {path}, which is there already; --force overwrites it")
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        sync(part)
        part.replace(path)
    except OSError as error:
        if error.filename == str(part):
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _bar(out: TextIO) -> Iterator[Callable[[float], None]]:
    """Return a function that shows the progress, on a terminal that does not show the rows themselves."""
    if not sys.stderr.isatty() or out.isatty():
        yield lambda _: None
        return

    def show(part: float) -> None:
        done = round(part * BAR)
        sys.stderr.write(f"\r[{'#' * done}{'.' * (BAR - done)}] {part:4.0%}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\n")


def _time(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
        return milliseconds((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(
            f"was {text[:64]!r}, must be like 2026-11-25 or 2026-11-25T18:00:00Z"
        ) from error


def _shown(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
