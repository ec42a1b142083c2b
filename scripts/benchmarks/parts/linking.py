"""Linking: a whole board from nothing, then one new event after the other."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from random import Random

import msgspec
import psutil
from msgspec import Struct

from actors.board.board import Board, Noted
from actors.board.snapshot import Differences, Snapshot
from actors.core.cooperative import Sliced, collecting, run_now
from actors.core.messages import BookmakerId, Match, Removal, SourceName
from actors.matches.linking import Linking
from actors.matches.model import Listed, Terms, first_snapshot, fixtures_of, roster_of
from actors.matches.update import Advancing
from actors.matching.event import EventKey
from actors.matching.matcher import Linker
from actors.matching.overrides import Overrides
from scripts.benchmarks.data.boards import NOW, RULES, batch
from scripts.benchmarks.data.fixtures import one_world, worlds
from scripts.benchmarks.figures import cpu_now_s, quantile
from scripts.benchmarks.processes import ROOT, SERVER_CORE, pinned
from scripts.benchmarks.report import Report
from web.server.lifecycle import set_up_collector

SOURCES = 50
MATCHES = 5000
SHORT = 400
OWN = 5
"""Times as few matches a source in worlds of their own: every club is in each of them, which is slow."""
ONE_BY_ONE = 4000
SHAPES: dict[str, Callable[[int, int], list[list[Match]]]] = {
    "same matches": one_world,
    "own worlds": worlds,
}


class Figures(Struct, frozen=True):
    """What one shape of a board costs: processor seconds, bytes, and how many there are of what."""

    entries: int
    linked: int
    links: int
    update_s: float
    publish_s: float
    update_step_s: tuple[float, float]
    publish_step_s: tuple[float, float]
    one_s: list[float]
    published_s: list[float]
    one_step_s: tuple[float, float]
    resident_bytes: int
    alone_bytes: int
    linked_bytes: int


def run(report: Report) -> None:
    """Print processor time from nothing, of one new event, of the longest step, and memory."""
    report.paragraph(
        "A board of 50 sources with one bookmaker each. *Same matches*: they list the same ones, in several"
        " spellings. *Own worlds*: each lists those of a simulated world with another seed. *From nothing*:"
        " all entries linked and published. *Step*: the longest time between two moments at which other"
        " tasks may run, in brackets without the garbage collector. *New*: an entry that was not there,"
        " linked, and in brackets published. *Held*: memory in use beyond the lists; *before links*:"
        " while each entry is a fixture of one; *resident*: what the process grew by in the end."
    )
    header = (
        *("board", "entries", "links", "from nothing", "of it publishing", "step", "step of publishing"),
        *("new: median", "p99", "max", "longest step", "held an entry", "before links", "resident"),
    )
    matches = report.size(MATCHES, SHORT)
    sizes = {"same matches": matches, "own worlds": matches // OWN}
    rows = [_row(shape, _measured(shape, size)) for shape, size in sizes.items()]
    report.table("Linking", header, rows)


def _measured(shape: str, matches: int) -> Figures:
    command = [sys.executable, "-m", "scripts.benchmarks.parts.linking", shape, str(matches)]
    done = subprocess.run(pinned(SERVER_CORE, command), check=True, cwd=ROOT, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Figures)


def _row(shape: str, found: Figures) -> tuple[str, ...]:
    return (
        *(shape, f"{found.entries:,}", f"{found.links:,}"),
        *(f"{found.update_s + found.publish_s:.1f} s", f"{found.publish_s:.1f} s"),
        *(_steps(found.update_step_s), _steps(found.publish_step_s)),
        *(
            f"{quantile(found.one_s, share) * 1e3:.2f} ({quantile(found.published_s, share) * 1e3:.2f}) ms"
            for share in (0.5, 0.99, 1.0)
        ),
        _steps(found.one_step_s),
        f"{found.linked_bytes / found.entries:.0f} B",
        f"{found.alone_bytes / found.entries:.0f} B",
        f"{found.resident_bytes / found.entries:.0f} B",
    )


def _steps(longest: tuple[float, float]) -> str:
    return f"{longest[0] * 1e3:.1f} ({longest[1] * 1e3:.1f}) ms"


class _Mallinfo(ctypes.Structure):
    """The C library's `struct mallinfo2`."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


class _Steps:
    """The processor time of steps; `longest` with what the garbage collector took, and without."""

    def __init__(self) -> None:
        self.longest = 0.0, 0.0
        self.took_s = 0.0
        self._collected_s = 0.0
        self._began_s = 0.0
        gc.callbacks.append(self._note)

    def close(self) -> None:
        """Look at the collector no more."""
        gc.callbacks.remove(self._note)

    def timed(self, steps: Iterator[None]) -> None:
        """Run a computation."""
        began = cpu_now_s()
        self._collected_s = 0.0
        is_done = False
        while not is_done:
            is_done = next(steps, True) is True
            now = cpu_now_s()
            took, own = now - began, now - began - self._collected_s
            self.longest = max(self.longest[0], took), max(self.longest[1], own)
            self.took_s += took
            began, self._collected_s = now, 0.0

    def _note(self, phase: str, _: object) -> None:
        if phase == "start":
            self._began_s = cpu_now_s()
        else:
            self._collected_s += cpu_now_s() - self._began_s


class _Stage:
    """A board whose entries are fixtures of one, to be linked."""

    def __init__(self, lists: list[list[Match]]) -> None:
        self.names = [BookmakerId(f"book-{number}") for number in range(len(lists))]
        roster = roster_of({name: Listed(SourceName(f"source-{name}")) for name in self.names})
        self.advancing = Advancing(Terms(roster))
        self.sources = {name: one.source for name, one in roster.items()}
        self.snapshot = first_snapshot(1, Terms(roster))
        for name, matches in zip(self.names, lists, strict=True):
            board = Board(self.snapshot, RULES)
            run_now(board.apply(batch(name, matches, complete=True), NOW))
            self.snapshot = _plain(run_now(board.finish(NOW)))
        self.linking = Linking(Linker(Overrides()), self.advancing)

    def make_fixtures(self) -> None:
        """Make each entry a fixture of one."""
        for name, book in self.snapshot.books.items():
            after = {one.match.source_match_id: one for chunk in book.chunks for one in chunk.entries}
            self._advance({name: Differences(dict.fromkeys(after), after, {})})
        while fixtures_of(self.snapshot).is_behind:  # a commit begins some only
            self._advance({})

    def _advance(self, noted: Noted) -> None:
        linked = run_now(self.advancing(self.snapshot, self.snapshot.books, noted, NOW))
        if linked is not None:
            self.snapshot = msgspec.structs.replace(self.snapshot, fixtures=linked.fixtures)

    def update(self, keys: dict[EventKey, bool] | None) -> Sliced[None]:
        """Link these events, or all, as the linker's actor does."""
        yield from collecting(self.linking.update(fixtures_of(self.snapshot), keys))

    def publish(self) -> Sliced[None]:
        """Publish what is linked."""
        while self.linking.is_due:
            board = Board(self.snapshot, RULES, self.advancing.linking(self.linking.apply))
            self.snapshot = _plain((yield from board.finish(NOW)))
            yield

    def replace(self, name: BookmakerId, match: Match, *, is_there: bool) -> None:
        """Add or remove an entry, which is not linked yet."""
        change = batch(name, [match] if is_there else [], complete=False)
        if not is_there:
            removal = Removal(match.source_match_id, "withdrawn")
            change = msgspec.structs.replace(change, removals=(removal,))
        board = Board(self.snapshot, RULES, self.advancing)
        run_now(board.apply(change, NOW))
        self.snapshot = _plain(run_now(board.finish(NOW)))


def main(shape: str, matches: int) -> Figures:
    """Measure one shape in this process."""
    lists = SHAPES[shape](SOURCES, matches)
    stage = _Stage(lists)
    set_up_collector()
    sizes, held = [_resident()], [_held()]
    stage.make_fixtures()
    sizes.append(_resident())
    held.append(_held())
    update, publish, one = _Steps(), _Steps(), _Steps()
    update.timed(stage.update(None))
    publish.timed(stage.publish())
    for steps in (update, publish):
        steps.close()
    sizes.append(_resident())
    held.append(_held())
    singles = []
    for number in Random(0).sample(range(len(lists) * matches), ONE_BY_ONE):
        source, at = divmod(number, matches)
        if at < len(lists[source]):
            singles.append(_again(stage, one, stage.names[source], lists[source][at]))
    state = fixtures_of(stage.snapshot)
    groups = [len(fixture.members) for fixture in state if len(fixture.members) > 1]
    return Figures(
        sum(book.count for book in stage.snapshot.books.values()),
        len(groups),
        sum(groups) - len(groups),
        update.took_s,
        publish.took_s,
        update.longest,
        publish.longest,
        [one[0] for one in singles],
        [one[1] for one in singles],
        one.longest,
        sizes[2] - sizes[0],
        held[1] - held[0],
        held[2] - held[0],
    )


def _again(stage: _Stage, steps: _Steps, name: BookmakerId, match: Match) -> tuple[float, float]:
    """Return the processor seconds of linking an entry that was not there, and with publishing."""
    key = EventKey(stage.sources[name], match.source_match_id)
    stage.replace(name, match, is_there=False)
    run_now(stage.update({key: False}))
    for _ in stage.publish():
        pass
    stage.replace(name, match, is_there=True)
    before = steps.took_s
    steps.timed(stage.update({key: False}))
    linked = steps.took_s - before
    steps.timed(stage.publish())
    return linked, steps.took_s - before


def _plain(snapshot: Snapshot) -> Snapshot:
    """Return it without what its commit changed, which the service does not keep either."""
    return msgspec.structs.replace(snapshot, differences={}, fixture_changes=None)


def _resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _held() -> int:
    """Return the bytes in use, without what freed objects left behind: small objects and large blocks."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()  # noqa: SLF001 - nothing public says it
        os.dup2(kept, 2)
        os.close(kept)
        file.seek(0)
        found = re.search(rb"bytes in allocated blocks += +([0-9,]+)", file.read())
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    large = mallinfo()
    return int(found[1].replace(b",", b"")) + large.uordblks + large.hblkhd if found else 0


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main(sys.argv[1], int(sys.argv[2]))))
