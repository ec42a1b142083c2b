"""`oddsboard clv`: the closing line value of a user's own bets, from an archive or a running service."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from actors.core.clock import wall_s
from actors.core.errors import ConfigError
from actors.lines.clv import DAY_MS, Bet, Finder, Verdict, judged, span_of
from actors.markets.market import Market
from actors.matches.fair import Method
from actors.matching.comparison import Comparator
from actors.matching.overrides import Overrides
from web.cli.archive_command import output
from web.cli.asking import add_url
from web.cli.bets import MAX_BYTES, UnusableError, read_bets
from web.cli.closes import Spans, of_archive, of_service
from web.cli.clv_report import Report, report_of, summary_lines, write_csv
from web.server.lifecycle import Exit

ERRORS: Final = 20
"""Errors of unreadable rows that are printed; further errors are only counted."""


def add_options(clv: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    clv.add_argument("bets", type=Path, metavar="BETS.csv", help="the bets, one row per bet")
    clv.add_argument("--archive", type=Path, metavar="DIR", help="read this archive instead of a service")
    add_url(clv)
    ahead = "without a kick_off, look for one up to N days after the bet; default: %(default)s"
    clv.add_argument("--days", type=_days, default=14, metavar="N", help=ahead)
    fair = "the method of fair odds, with --archive; default: %(default)s"
    clv.add_argument("--method", choices=[*Method], default=Method.POWER, help=fair)
    clv.add_argument("--json", action="store_true", help="write JSON instead of CSV")
    clv.add_argument(
        "--out", "--output", type=Path, metavar="FILE", dest="out", help="default: standard output"
    )
    clv.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(given: argparse.Namespace) -> Exit:
    """Print the bets with their closing line values.

    Raises: ConfigError if the archive or the output cannot be used; ServiceUnreachableError.
    """
    try:
        bets = read_bets(_content(given.bets))
    except UnusableError as error:
        _say(f"{given.bets}: {error}")
        return Exit.DATA
    if given.out is not None and given.out.exists() and given.out.samefile(given.bets):
        raise ConfigError(f"--out was {given.out}, the file of the bets itself; name another")
    readable = [row.bet for row in bets.rows if isinstance(row.bet, Bet)]
    report = report_of(bets, {verdict.bet.row: verdict for verdict in _verdicts(given, readable)})
    with output(given.out, is_forced=given.force) as out:
        if given.json:
            out.write(f"{msgspec.json.encode(report).decode()}\n")
        else:
            write_csv(report, bets.separator, out)
    errors = [f"{given.bets}: row {row.number}: {row.bet}" for row in bets.rows if isinstance(row.bet, str)]
    return _report(report, errors)


def _days(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"was {text[:64]!r}, must be 1 to 999")
    return int(text)


def _content(path: Path) -> bytes:
    """Return a file's content, at most one byte more than is allowed. Raises: UnusableError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnusableError(f"cannot be read: {error.strerror}") from error


def _verdicts(given: argparse.Namespace, bets: Iterable[Bet]) -> list[Verdict]:
    """Return the verdict on each bet, market by market."""
    found, comparator, now_ms = list[Verdict](), Comparator(Overrides()), round(wall_s() * 1000)
    by_market: dict[Market, list[Bet]] = {}
    for bet in bets:
        by_market.setdefault(bet.market, []).append(bet)
    for market, some in by_market.items():
        finder = Finder(some, comparator, given.days * DAY_MS)
        spans = _spans(some, given.days * DAY_MS)
        if given.archive is None:
            fixtures = of_service(given, market, spans)
        else:
            method = Method(given.method)
            about = given.archive, market, spans, finder
            fixtures = of_archive(*about, method=method, now_ms=now_ms)
        found += judged(some, fixtures, finder)
    return found


def _spans(bets: Iterable[Bet], ahead_ms: int) -> Spans:
    """Return the spans in which the bets' fixtures may kick off; spans that touch are merged."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(span_of(bet, ahead_ms) for bet in bets):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found


def _report(report: Report, errors: list[str]) -> Exit:
    """Print errors and the summary to standard error: the output has only the rows."""
    for line in errors[:ERRORS]:
        _say(line)
    if len(errors) > ERRORS:
        _say(
            f"{len(errors) - ERRORS} more rows cannot be read; the column clv_detail of the output says why"
        )
    for line in summary_lines(report.summary):
        sys.stderr.write(f"{line}\n")
    return Exit.DATA if errors else Exit.STOPPED


def _say(line: str) -> None:
    sys.stderr.write(f"oddsboard: {line}\n")
