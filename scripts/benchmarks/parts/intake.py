"""Intake: rows a second from a payload's bytes to the commit, compared with a library that only decodes.

A row is one bookmaker's prices of one match in the payload; a source without a payload, the simulated
one, is measured from its own step to the commit. The exchange's stream has a benchmark of its own.
"""

from __future__ import annotations

import csv
import gc
import io
import re
from collections.abc import Callable, Mapping, Sequence
from operator import ne

import msgspec
from msgspec import Struct

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Extract, Match, Scope
from actors.sources.football_data import kind as football_data
from actors.sources.football_data.kind import FootballDataOptions
from actors.sources.simulated.kind import SimulatedMachine, SimulatedOptions
from actors.sources.the_odds_api import kind as the_odds_api
from actors.sources.the_odds_api.options import TheOddsApiOptions
from actors.sources.the_odds_api.wire import OddsEvent
from scripts.benchmarks.data.boards import COLUMNS, KEYS, NOW, batch, csv_body
from scripts.benchmarks.data.odds_api import BOOKMAKERS, odds_body
from scripts.benchmarks.data.odds_api import KEYS as API_KEYS
from scripts.benchmarks.data.odds_api import SCOPE as API_SCOPE
from scripts.benchmarks.figures import cpu_now_s, in_turn, median, milliseconds, spread
from scripts.benchmarks.payload_to_commit import Source, applied, committed, decoded, recognised
from scripts.benchmarks.report import Report

ROWS = 20_000
FILE = Scope("fixtures.csv")
FILE_OPTIONS = FootballDataOptions(kind="football_data", url="http://127.0.0.1/fixtures.csv")
API_OPTIONS = TheOddsApiOptions(kind="the_odds_api", api_key="key", sports="football")


class Bodies(Struct, frozen=True):
    """A payload, a copy with every price changed, and a copy with the same content in other bytes."""

    first: bytes
    changed: bytes
    rewritten: bytes


def run(report: Report) -> None:
    """Print rows a second for each kind of source."""
    report.paragraph(
        "From a payload to the commit, its bookmakers all in one commit. *From the document*: without"
        " decoding. *New bytes, equal content*: white space at the end differs. *Identical bytes* are known"
        " by their hash. Rows are those of the configured bookmakers; the library decodes the whole"
        " payload in any case."
    )
    _football_data(report)
    _the_odds_api(report)
    _simulated(report)


def _football_data(report: Report) -> None:
    first = csv_body(ROWS)
    bodies = Bodies(first, csv_body(ROWS, shift=1), first + b"\r\n")
    alone: dict[str, Callable[[], object]] = {
        "csv.reader": lambda: list(csv.reader(io.StringIO(first.decode(), newline="")))
    }
    sources = [
        Source(football_data.KIND, FILE_OPTIONS, FILE, KEYS[:1]),
        Source(football_data.KIND, FILE_OPTIONS, FILE, KEYS),
    ]
    title = f"football_data: CSV of {ROWS:,} rows and {COLUMNS} columns"
    _polled(report, title, bodies, matches=ROWS, alone=alone, sources=sources)


def _the_odds_api(report: Report) -> None:
    matches = ROWS // BOOKMAKERS
    first = odds_body(matches)
    bodies = Bodies(first, odds_body(matches, shift=1), first + b"\n")
    structs = msgspec.json.Decoder(list[OddsEvent])
    alone: dict[str, Callable[[], object]] = {
        "msgspec to dicts": lambda: msgspec.json.decode(first),
        "msgspec to Structs": lambda: structs.decode(first),
    }
    sources = [
        Source(the_odds_api.KIND, API_OPTIONS, API_SCOPE, API_KEYS[:count]) for count in (1, 3, BOOKMAKERS)
    ]
    title = f"the_odds_api: JSON of {matches:,} matches by {BOOKMAKERS} bookmakers"
    _polled(report, title, bodies, matches=matches, alone=alone, sources=sources)


def _polled(
    report: Report,
    title: str,
    bodies: Bodies,
    *,
    matches: int,
    alone: dict[str, Callable[[], object]],
    sources: Sequence[Source],
) -> None:
    _check(bodies, sources, matches)
    works = {f"{name} alone": work for name, work in alone.items()}
    for source in sources:
        works |= _works(source, bodies)
    times = in_turn(works | {"identical bytes": lambda: recognised(bodies.first)}, report.size(7, 2))
    peer = next(iter(alone))
    base = median(times[f"{peer} alone"])
    rows = [
        [what, spread(milliseconds(each)), f"{base / median(each):.2f}"] for what, each in times.items()
    ]
    for row in rows:
        configured = re.match("[0-9]+(?= bookmaker)", row[0])
        taken = matches * int(configured[0]) if configured else 0
        row.insert(2, f"{taken / median(times[row[0]]):,.0f}" if taken else "")
    header = ["path", "ms", "rows/s", f"speed against {peer}"]
    report.table(f"{title}, {len(bodies.first) / 2**20:.1f} MiB", header, rows)


def _check(bodies: Bodies, sources: Sequence[Source], matches: int) -> None:
    """Raise RuntimeError unless all matches are accepted and only the changed body changes them."""
    for source in sources:
        base = committed(source, source.empty, decoded(source, bodies.first))
        changed = committed(source, base, decoded(source, bodies.changed))
        same = committed(source, base, decoded(source, bodies.rewritten))
        held = [book.count for book in base.books.values()]
        moved = [
            sum(map(ne, _matches(base.books[name]), _matches(changed.books[name]))) for name in base.books
        ]
        if not held == moved == [matches] * len(source.keys) or same.version != base.version:
            raise RuntimeError(f"of {matches} matches {held} were accepted and {moved} changed")


def _matches(book: Book) -> list[Match]:
    return [entry.match for entry in entries_of(book.chunks)]


def _works(source: Source, bodies: Bodies) -> dict[str, Callable[[], object]]:
    base = committed(source, source.empty, decoded(source, bodies.first))
    changed = decoded(source, bodies.changed)
    configured = f"{len(source.keys)} bookmaker{'s' if len(source.keys) > 1 else ''}"
    return {
        f"{configured}: all prices changed": lambda: committed(
            source, base, decoded(source, bodies.changed)
        ),
        f"{configured}: the same, from the document": lambda: committed(source, base, changed),
        f"{configured}: new bytes, equal content": lambda: committed(
            source, base, decoded(source, bodies.rewritten)
        ),
    }


def _simulated(report: Report) -> None:
    """Measure from a step of the simulation to the commit."""
    options = SimulatedOptions(kind="simulated", matches=ROWS, updates_per_s=ROWS)
    keys = ("sharp", "standard", "wide")
    machine = SimulatedMachine(options, keys, NOW)
    run_now(machine.advance(NOW))
    board = _with(Snapshot.empty(1, tuple(map(BookmakerId, keys))), machine.image(), complete=True)
    steps, commits, rows = [], [], 0
    for second in range(1, report.size(7, 2) + 2):
        gc.collect()
        began = cpu_now_s()
        changes = run_now(machine.advance(Instant(NOW.mono + second, NOW.wall + second)))
        stepped = cpu_now_s()
        board = _with(board, changes, complete=False)
        steps.append(stepped - began)
        commits.append(cpu_now_s() - stepped)
        rows = sum(len(extract.matches) for extract in changes.values())
    both = [step + commit for step, commit in zip(steps, commits, strict=True)]
    named = {"a step of the machine": steps, "its changes, to the commit": commits, "both": both}
    table = [
        [what, spread(milliseconds(each)), f"{rows / median(each):,.0f}"] for what, each in named.items()
    ]
    title = (
        f"simulated: {ROWS:,} matches by {len(keys)} bookmakers, {rows:,} of their prices change in a step"
    )
    report.table(title, ["path", "ms", "rows/s"], table)


def _with(base: Snapshot, extracts: Mapping[str, Extract], *, complete: bool) -> Snapshot:
    batches = [
        msgspec.structs.replace(
            batch(BookmakerId(key), extract.matches, complete=complete), removals=extract.removals
        )
        for key, extract in extracts.items()
    ]
    return applied(base, batches)
