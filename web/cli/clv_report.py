"""The report of `oddsboard clv`: each bet with its closing line value, and the mean of the values."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TextIO

from msgspec import Struct
from msgspec.structs import asdict, replace

from actors.archive.export import harmless
from actors.lines.clv import Mean, Verdict, mean_of
from actors.matching.rules import Certainty
from web.cli.bets import Bets, Row

UNREADABLE: Final = "unreadable"
NO_BOOKMAKER: Final = "(none)"
_NUMBER: Final = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*", re.ASCII)


class Added(Struct, frozen=True):
    """The columns that are added to a bet; times as in RFC 3339, `clv` is 0.05 for 5 %."""

    clv: float | None = None
    clv_reason: str | None = None
    clv_detail: str | None = None
    clv_fixture: str | None = None
    clv_home: str | None = None
    clv_away: str | None = None
    clv_league: str | None = None
    clv_kick_off: str | None = None
    clv_link: str | None = None
    clv_rule: str | None = None
    clv_fair: float | None = None
    clv_close: float | None = None
    clv_closed_at: str | None = None
    clv_on_offer: str | None = None
    clv_close_link: str | None = None
    clv_close_reason: str | None = None


class Summary(Struct, frozen=True):
    """The number of bets, the mean of the judged bets, and the reasons why other bets are not judged."""

    bets: int
    judged: int
    likely: int
    all: Mean
    by_bookmaker: Mapping[str, Mean]
    by_month: Mapping[str, Mean]
    not_judged: Mapping[str, int]


class ReportRow(Struct, frozen=True):
    """A row of the file with the added columns."""

    row: int
    cells: Sequence[str]
    added: Added


class Report(Struct, frozen=True):
    """The whole report; --json writes it."""

    columns: Sequence[str]
    bets: Sequence[ReportRow]
    summary: Summary


def report_of(bets: Bets, verdicts: Mapping[int, Verdict]) -> Report:
    """Return the report of a file; `verdicts` has a verdict for each readable bet, by its row number."""
    rows = [ReportRow(row.number, row.cells, _added(row, verdicts)) for row in bets.rows]
    return Report(bets.columns, rows, _summary(rows, [*verdicts.values()]))


def write_csv(report: Report, separator: str, out: TextIO) -> None:
    """Write the rows with all columns; texts are escaped, so that no spreadsheet reads a formula."""
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow([*map(_safe, report.columns), *Added.__struct_fields__])
    for row in report.bets:
        added = [harmless(value) for value in asdict(row.added).values()]
        writer.writerow([*map(_safe, row.cells), *added])


def summary_lines(summary: Summary) -> Iterator[str]:
    """Yield the summary as lines of text."""
    likely = f", {summary.likely} of them by a likely link" if summary.likely else ""
    yield f"{summary.bets} bets, {summary.judged} judged{likely}"
    for reason, count in summary.not_judged.items():
        yield f"  {count} not judged: {reason}"
    if not summary.judged:
        return
    yield f"{'clv':<34}{'bets':>6}{'mean':>10}{'error':>9}"
    yield _mean_line("all", summary.all)
    for means in (summary.by_bookmaker, summary.by_month):
        yield from (_mean_line(name, mean) for name, mean in means.items())


def _mean_line(name: str, of: Mean) -> str:
    mean = "" if of.mean is None else f"{of.mean:+.2%}"
    error = "" if of.standard_error is None else f"{of.standard_error:.2%}"
    return f"{name:<34}{of.count:>6}{mean:>10}{error:>9}".rstrip()


def _safe(cell: str) -> object:
    """Return a user's cell, escaped against formulas unless it is a number."""
    return cell if _NUMBER.fullmatch(cell) else harmless(cell)


def _added(row: Row, verdicts: Mapping[int, Verdict]) -> Added:
    if isinstance(row.bet, str):
        return Added(clv_reason=UNREADABLE, clv_detail=row.bet)
    verdict = verdicts[row.number]
    added = Added(
        clv=None if verdict.clv is None else round(verdict.clv, 6),
        clv_reason=verdict.reason,
        clv_detail=verdict.detail or None,
        clv_fair=verdict.fair,
        clv_close_reason=verdict.entry_reason,
    )
    if (fit := verdict.fit) is not None:
        fixture = fit.fixture
        added = replace(
            added,
            clv_fixture=fixture.id,
            clv_home=fixture.home,
            clv_away=fixture.away,
            clv_league=fixture.league or "Unknown",
            clv_kick_off=_time(fixture.kick_off),
            clv_link=fit.certainty,
            clv_rule=fit.rule,
        )
    entry = verdict.entry
    if entry is not None and entry.odds is not None:
        added = replace(
            added,
            clv_close=entry.odds[row.bet.outcome],
            clv_closed_at=_time(entry.closed_at),
            clv_on_offer="yes" if entry.on_offer else "no",
            clv_close_link=entry.link,
        )
    return added


def _time(at: float | None) -> str | None:
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def _summary(rows: Sequence[ReportRow], verdicts: Sequence[Verdict]) -> Summary:
    values = [(verdict, verdict.clv) for verdict in verdicts if verdict.clv is not None]
    by_bookmaker: dict[str, list[float]] = {}
    by_month: dict[str, list[float]] = {}
    for verdict, clv in values:
        month = f"{datetime.fromtimestamp(verdict.bet.at_ms / 1000, UTC):%Y-%m}"
        by_bookmaker.setdefault(verdict.bet.bookmaker or NO_BOOKMAKER, []).append(clv)
        by_month.setdefault(month, []).append(clv)
    likely = sum(of.fit is not None and of.fit.certainty is Certainty.LIKELY for of, _ in values)
    reasons = Counter(row.added.clv_reason for row in rows if row.added.clv_reason is not None)
    return Summary(
        *(len(rows), len(values), likely, mean_of([clv for _, clv in values])),
        {name: mean_of(some) for name, some in sorted(by_bookmaker.items())},
        {month: mean_of(some) for month, some in sorted(by_month.items())},
        dict(sorted(reasons.items())),
    )
