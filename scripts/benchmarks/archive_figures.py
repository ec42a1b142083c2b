"""Measures the archive: bytes per change, a minute of many changes, a restart, a past list, an export.

Commits have lists without fixtures, so that making fixtures is not measured.

PYTHONPATH=. .venv/bin/python scripts/benchmarks/archive_figures.py [CHANGES]

With a million changes, the default, it takes some minutes. Most of it is processor time, because that is
much the same on a busy machine.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, perf_counter, process_time, sleep, time

import structlog

from actors.archive.archive import Archive, open_archive
from actors.archive.days.commit import commit_of
from actors.archive.export import Chosen, rows
from actors.archive.folder import ArchiveSettings
from actors.archive.past import Days
from actors.archive.restart import Configured, Machine
from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock, Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, ListId, Match, Scope, SourceMatchId, SourceName
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.monitoring.status import ArchiveStatus
from web.feeds.past_lists import _Form, _made
from web.protocol.moments import At
from web.protocol.negotiation import Coding, Format

WALL = 1_795_000_000.0
DAY_S = 86_400.0
LONG_S = 1e9
BLOCKS = 10


@dataclass
class SetClock:
    """A clock that the figures set."""

    wall: float = WALL
    mono: float = 0.0

    def now(self) -> Instant:
        """Return the moment that was set."""
        return Instant(self.mono, self.wall)

    def pass_(self, seconds: float) -> None:
        """Advance both clocks."""
        self.wall += seconds
        self.mono += seconds


class RealClock:
    """The clock of the machine."""

    def now(self) -> Instant:
        """Return the present moment."""
        return Instant(monotonic(), time())


@dataclass
class Running:
    """An archived board with some bookmakers, each with the same number of matches."""

    archive: Archive
    clock: Clock
    board: Snapshot
    random: Random
    is_archived: bool = True

    def commit(self, *batches: Batch) -> None:
        """Commit batches, and archive the commit if there is an archive."""
        board, now = Board(self.board, BoardRules(expire_after_kickoff_s=1e10)), self.clock.now()
        for batch in batches:
            run_now(board.apply(batch, now))
        after = run_now(board.finish(now))
        if self.is_archived and after.version > self.board.version:
            self.archive.writer.add(commit_of(self.board, after, now.wall, self.archive.names))
            self.archive.last = after
        self.board = after

    def batch(self, bookmaker: BookmakerId, matches: Iterator[int], *, complete: bool) -> Batch:
        """Return a list, or changes of it, at new prices."""
        now = self.clock.now()
        some = tuple(self._match(number, now.wall) for number in matches)
        names = Scope("all"), ListId("list")
        return Batch(bookmaker, *names, complete, some, (), now.wall, now.mono, LONG_S)

    def _match(self, number: int, wall: float) -> Match:
        home, draw, away = (round(price * self.random.uniform(0.98, 1.02), 2) for price in (2.4, 3.3, 2.9))
        name = SourceMatchId(f"match-{number:05}")
        start = int(WALL + 40 * DAY_S)
        return Match(
            name,
            f"Home {number}",
            f"Away {number}",
            "League",
            home,
            draw,
            away,
            start,
            round(wall - 0.8, 3),
        )


@contextmanager
def running(folder: Path, clock: Clock, bookmakers: int) -> Iterator[Running]:
    """Open an archive of `bookmakers` bookmakers while the block runs."""
    names = {BookmakerId(f"b{number:02}"): f"Bookmaker {number}" for number in range(bookmakers)}
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(f"s-{name}")) for name in names}))
    archive = open_archive(
        ArchiveSettings(str(folder), max_bytes=10**14),
        ArchiveStatus(),
        clock,
        terms=terms,
        configured={name: Configured("same", title) for name, title in names.items()},
        names=lambda _: names,
        on_machine=lambda: Machine("boot", clock.now().mono),
    )
    yield Running(archive, clock, archive.beginning.snapshot, Random(1))
    archive.close(is_orderly=True)


def changes(folder: Path, count: int, bookmakers: int, matches: int, a_commit: int) -> None:
    """Print bytes per change and the writer's time, and the time of a restart with that many changes."""
    clock = SetClock()
    with running(folder, clock, bookmakers) as live:
        names = [*live.archive.names]
        for name in names:
            live.commit(live.batch(name, iter(range(matches)), complete=True))
        live.archive.writer.step()
        begun, worked, done = _size(folder) - _size(folder, "*-wal"), 0.0, 0
        while done < count:
            for _ in range(10):
                clock.pass_(0.025)
                name = live.random.choice(names)
                some = live.random.sample(range(matches), min(a_commit, matches))
                live.commit(live.batch(name, iter(some), complete=False))
                done += len(some)
            before_s = process_time()
            live.archive.writer.step()
            worked += process_time() - before_s
        written = _size(folder) - begun - _size(folder, "*-wal")
        print(f"{done:,} changes, {a_commit} a commit, {bookmakers} bookmakers of {matches:,} matches:")
        print(
            f"  {written / done:.1f} bytes a change as written, {done / worked:,.0f} changes a CPU second"
        )
        clock.pass_(DAY_S)
        live.commit(live.batch(names[0], iter(range(1)), complete=False))
        before = perf_counter(), process_time()
        for _ in range(10_000):
            live.archive.writer.step()
            if [*folder.glob("*.sum")]:
                break
        sealed = sum(path.stat().st_size for path in folder.glob("2026-11-18.db"))
        print(f"  sealed in {_took(before)}, {sealed / (done + bookmakers * matches):.1f} bytes a row")
    before = perf_counter(), process_time()
    with running(folder, clock, bookmakers) as live:
        count_restored = sum(book.count for book in live.board.books.values())
        print(f"  begun again in {_took(before)} with {count_restored:,} entries restored")
    (folder / "ending.msgpack").unlink(missing_ok=True)
    before = perf_counter(), process_time()
    with running(folder, clock, bookmakers) as live:
        last = live.archive.beginning.commit
        gone = sum(len(of.before) for of in last.differences.values())
        print(f"  begun again in {_took(before)} after a kill, {gone:,} entries have left")


def beside(folder: Path, count: int) -> None:
    """Print the time of a change on a board with an archive and on a board without one, in turn."""
    clock = SetClock()
    with running(folder, clock, 50) as kept:
        plain = Running(kept.archive, clock, kept.board, Random(1), is_archived=False)
        names = [*kept.archive.names]
        for live in (plain, kept):
            for name in names:
                live.commit(live.batch(name, iter(range(1_000)), complete=True))
        kept.archive.writer.step()
        took: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(BLOCKS):
            for live in (plain, kept):
                before_s = process_time()
                for number in range(count // BLOCKS // 25):
                    clock.pass_(0.025)
                    some = live.random.sample(range(1_000), 25)
                    live.commit(live.batch(live.random.choice(names), iter(some), complete=False))
                    if live.is_archived and number % 10 == 0:
                        live.archive.writer.step()
                took[live.is_archived].append((process_time() - before_s) / (count // BLOCKS) * 1e6)
    without_us, with_us = median(took[False]), median(took[True])
    print(f"{count:,} changes with an archive, and as many without, in turn, {BLOCKS} blocks:")
    print(f"  a change {without_us:.1f} us without, {with_us:.1f} us with, of a processor;")
    print(f"  so 1,000 changes a second take {(with_us - without_us) / 10:.1f} % of a core more")


def steady(folder: Path, a_second: int, seconds: float) -> list[tuple[str, str, str]]:
    """Return the loss at `a_second` changes a second, and the time of writing, with aims."""
    with running(folder, RealClock(), 50) as live:
        names = [*live.archive.names]
        for name in names:
            live.commit(live.batch(name, iter(range(1_000)), complete=True))
        live.archive.writer.step()
        live.archive.start()
        writer = next(thread for thread in threading.enumerate() if thread.name == "archive")
        began, before_s, done, lag_s = perf_counter(), _thread_s(writer), 0, 0.0
        while (now := perf_counter()) < began + seconds:
            if done >= (now - began) * a_second:
                sleep(0.001)
                continue
            some = live.random.sample(range(1_000), 100)
            live.commit(live.batch(live.random.choice(names), iter(some), complete=False))
            done += len(some)
            lag_s = max(lag_s, live.archive.writer.lag_s(live.clock.now().wall))
        took_s, worked_s = perf_counter() - began, _thread_s(writer) - before_s
        written = live.archive.writer.stop(60)
        gaps = f"{live.archive.status.gaps}; {'yes' if written else 'no'}"
    return [
        ("100 changes a commit, a second", f"{done / took_s:,.0f} for {took_s:.0f} s", f"{a_second:,}"),
        ("then gaps; all is written", gaps, "0; yes"),
        ("then the longest that a change was not written, s", f"{lag_s:.2f}", ""),
        ("then the share of a core of the thread that writes", f"{worked_s / took_s:.1%}", ""),
    ]


def past(folder: Path, days: int, a_day: int, matches: int) -> None:
    """Print the time to read a list of the first day after `days` days."""
    clock = SetClock()
    with running(folder, clock, 1) as live:
        (name,) = live.archive.names
        live.commit(live.batch(name, iter(range(matches)), complete=True))
        versions = []
        for _ in range(days):
            for _ in range(a_day // 100):
                clock.pass_(DAY_S / (a_day // 100) * 0.99)
                live.commit(live.batch(name, iter(live.random.sample(range(matches), 100)), complete=False))
                versions.append(live.board.version)
                live.archive.writer.step()
            clock.pass_(DAY_S * 0.01)
        for _ in range(20 * days):
            live.archive.writer.step()
        read = Days(live.archive.folder, lambda: live.archive.writer.live_day)
        took = []
        for version in live.random.sample(
            versions[: len(versions) // days], min(200, len(versions) // days)
        ):
            before = process_time()
            made = partial(_made, form=_Form(None, Format.JSON, Coding.IDENTITY))
            made(read, at=At(version))
            took.append(process_time() - before)
        took.sort()
        print(f"{matches:,} matches of {days} days before, {a_day:,} changes a day:")
        p50_ms, p99_ms = (took[int(len(took) * part)] * 1e3 for part in (0.5, 0.99))
        print(f"  p50 {p50_ms:.1f} ms, p99 {p99_ms:.1f} ms of a processor")
        before = perf_counter()
        count = sum(1 for _ in rows(live.archive.folder, Chosen(0, 2**60), lambda _: None))
        print(f"  export: {count / (perf_counter() - before):,.0f} rows a second")


def _took(before: tuple[float, float]) -> str:
    """Return the seconds since `before`, by the clock and by the processor."""
    return f"{perf_counter() - before[0]:.2f} s ({process_time() - before[1]:.2f} s of a processor)"


def _thread_s(thread: threading.Thread) -> float:
    """Return the seconds of a processor that a thread has taken."""
    found = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text("ascii")
    return int(found.split()[0]) / 1e9


def _size(folder: Path, names: str = "*") -> int:
    return sum(path.stat().st_size for path in folder.glob(names))


def main() -> None:
    """Print all figures."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        changes(Path(folder) / "many", count, 50, 1_000, 25)
        changes(Path(folder) / "few", count // 10, 3, 240, 1)
        beside(Path(folder) / "beside", count // 5)
        for what, figure, _ in steady(Path(folder) / "steady", 10_000, 60 * count / 1_000_000):
            print(f"{what}: {figure}")
        past(Path(folder) / "past", 30, 20_000, 1_200)


if __name__ == "__main__":
    main()
