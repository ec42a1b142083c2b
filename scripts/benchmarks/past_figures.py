"""Measures reading how prices moved: lines, closing prices and moves, of a sealed day and the next day.

PYTHONPATH=. .venv/bin/python scripts/benchmarks/past_figures.py [MATCHES] [CHANGES]

50 bookmakers have each match; each day has CHANGES changes, and one entry 10,000 more. All times are of a
processor. With the usual 200 matches and 500,000 changes it takes some minutes.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import process_time

import structlog
from msgspec.structs import replace

from actors.archive.lines.closings import AskedClosings
from actors.archive.lines.moved import Asked
from actors.archive.lines.movers import AskedMovers, Movers, read_movers
from actors.archive.past import Days
from actors.core.messages import Match, SourceName
from actors.lines.line import Moment
from actors.lines.links import bookmakers_of
from actors.markets.market import ONE_X_TWO
from actors.matches.fair import Method, fair
from actors.matches.model import Fixture, Highest, Place
from actors.matching.event import FixtureId
from scripts.benchmarks.archive_figures import DAY_S, Running, SetClock, running
from scripts.benchmarks.figures import markdown, median, short
from web.endpoints.past.bodies import encoded
from web.endpoints.past.closing import _Form as ClosingForm
from web.endpoints.past.closing import _made as closing_made
from web.endpoints.past.line_schemas import Form
from web.endpoints.past.lines import _made as lines_made
from web.endpoints.past.mover_schemas import shown
from web.protocol.negotiation import Coding, Format

FIRST_S = 1_794_960_000.0  # a midnight
BOOKMAKERS, PRICES, CLOSED, WINDOW_S, RUNS = 50, 10_000, 200, 900, 3
KICK_OFF_S = FIRST_S + DAY_S / 4


class Lived(Running):
    """A board whose first matches kick off on the first day, and all others later."""

    def _match(self, number: int, wall: float) -> Match:
        start = KICK_OFF_S + number if number < CLOSED else FIRST_S + 9 * DAY_S
        return replace(super()._match(number, wall), start_time=int(start))


def two_days(live: Running, clock: SetClock, matches: int, changes: int) -> None:
    """Write two days, the first of which is then sealed."""
    names = [*live.archive.names]
    for name in names:
        live.commit(live.batch(name, iter(range(matches)), complete=True))
    for day in range(2):
        clock.pass_(FIRST_S + day * DAY_S + 60 - clock.wall)
        for number in range(PRICES):
            clock.pass_(DAY_S * 0.9 / PRICES)
            some = live.random.sample(range(1, matches), min(changes // PRICES, matches - 1))
            live.commit(live.batch(live.random.choice(names), iter(some), complete=False))
            live.commit(live.batch(names[0], iter([0]), complete=False))
            if number % 10 == 0:
                live.archive.writer.step()
    while not [*live.archive.folder.path.glob("*.sum")]:
        live.archive.writer.step()


def link(folder: Path, names: list[str], matches: int) -> None:
    """Link the entries of each match, as a linker would have done before the first day."""
    for path in folder.glob("*.db"):
        path.with_suffix(".sum").unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            (base,) = connection.execute("SELECT value FROM day WHERE key = 'base'").fetchone()
            for table in ("fixtures", "links", "rosters"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants only
            for number in range(matches):
                members = [(f"s-{name}", f"match-{number:05}", "rule", "sure") for name in names]
                about = base, f"fixture{number:05}", json.dumps(members)
                connection.execute("INSERT INTO fixtures VALUES (?, ?, ?, NULL, NULL)", about)
                connection.execute("INSERT INTO links VALUES (?, ?, ?)", about)
            rows = [(base, place, name, f"s-{name}", "live") for place, name in enumerate(names)]
            connection.executemany("INSERT INTO rosters VALUES (?, ?, ?, ?, ?)", rows)


def figures(live: Running, days: Days) -> Iterator[list[str]]:
    """Yield each figure with its aim."""
    names = [*live.archive.names]
    bookmakers = bookmakers_of([(name, SourceName(f"s-{name}"), None) for name in names])
    titles, held = dict(live.archive.names), days.held()
    now_ms, first_ms, day_ms = held[-1].seen_ms, int(FIRST_S * 1000), int(DAY_S * 1000)
    form = Form(titles, Method.POWER)

    def line(entry: str, day: int, points: int = PRICES) -> Callable[[], object]:
        begin = max(first_ms + day * day_ms, held[day].first_ms)
        span = begin, begin + day_ms, now_ms
        asked = Asked(entry, ONE_X_TWO, *span, bookmakers, Method.POWER, points)
        return lambda: lines_made(days, asked, form, Coding.GZIP)

    def closes() -> object:
        span = int(KICK_OFF_S * 1000), int(KICK_OFF_S + CLOSED) * 1000
        asked = AskedClosings(*span, now_ms, ONE_X_TWO, bookmakers, Method.POWER)
        return closing_made(days, asked, ClosingForm(titles, None, None, Coding.GZIP, Format.JSON, b""))

    fixtures = [*fixtures_on(live)]
    entries = sum(len(fixture.listed) for fixture in fixtures)

    def moves() -> object:
        about = Moment(held[-1].last, now_ms), 1e-4, ONE_X_TWO, bookmakers, Method.POWER, fixtures
        asked = AskedMovers(now_ms - WINDOW_S * 1000, now_ms, *about)
        found = read_movers(days, asked)
        if not isinstance(found, Movers):
            raise TypeError("the archive is behind the board")
        return encoded(shown(found, asked, WINDOW_S, titles), Coding.GZIP)

    entry, of_fixture = f"{names[0]}_match-00000", "fixture00001"
    yield [f"line of an entry with {PRICES:,} prices, an earlier day", took(line(entry, 0)), "10"]
    yield [f"line of an entry with {PRICES:,} prices, today", took(line(entry, 1)), "30"]
    yield [f"lines of a fixture of {BOOKMAKERS} bookmakers, an earlier day", took(line(of_fixture, 0)), ""]
    yield [f"lines of a fixture of {BOOKMAKERS} bookmakers, today", took(line(of_fixture, 1)), ""]
    closed = min(CLOSED, len(fixtures))
    yield [f"closing prices of {closed} x {BOOKMAKERS}", took(closes), "300 for 1,000 x 50"]
    yield [f"moves of {WINDOW_S} s among {entries:,} entries", took(moves), ""]


def fixtures_on(live: Running) -> Iterator[Fixture]:
    """Yield a fixture of each match on the board."""
    by_match: dict[str, list[str]] = {}
    entries = {
        entry.id: (name, entry)
        for name, book in live.board.books.items()
        for chunk in book.chunks
        for entry in chunk.entries
    }
    for entry_id in entries:
        by_match.setdefault(entry_id.partition("_")[2], []).append(entry_id)
    for match_id, ids in by_match.items():
        fixture = FixtureId(f"fixture{match_id.removeprefix('match-')}")
        names, listed = zip(*[entries[entry_id] for entry_id in ids], strict=True)
        yield Fixture(fixture, 1, (), names, listed, names[0], Place(0, fixture), Highest())


def took(work: Callable[[], object]) -> str:
    """Return the median processor time of some runs, in milliseconds."""
    times = list[float]()
    for _ in range(RUNS):
        fair.cache_clear()
        before_s = process_time()
        work()
        times.append((process_time() - before_s) * 1e3)
    return short(median(times))


def main() -> None:
    """Print all figures."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    matches, changes = (int(given) for given in (*sys.argv[1:], *("200", "500000")[len(sys.argv) - 1 :]))
    clock = SetClock(wall=FIRST_S + 30)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), clock, BOOKMAKERS) as begun:
        live = Lived(begun.archive, clock, begun.board, begun.random)
        two_days(live, clock, matches, changes)
        link(Path(folder), [*live.archive.names], matches)
        days = Days(live.archive.folder, lambda: live.archive.writer.live_day)
        print(markdown(["what", "ms of a processor", "aim"], [*figures(live, days)]))


if __name__ == "__main__":
    main()
