"""The expected content of an archive after any lives, compared with the journal of what readers saw."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from actors.archive.days.format import Gap
from actors.archive.folder import Folder
from actors.archive.past import Days, Elsewhere, Found, Listed
from actors.core.messages import BookmakerId
from tests.support.archive.disk_faults import controlled, environment
from tests.support.archive.life import NAMES, Plan, market_shown
from tests.support.systems.process import ROOT
from tests.support.time.virtual import WALL_0
from web.encoding.schemas import match_v2


class Served(Struct, frozen=True):
    """A version of a view as readers could see it, and the life that showed it."""

    life: int
    view: BookmakerId | None
    version: int
    epoch: str
    entries: list[Any]


class Journal:
    """The lines that the lives wrote."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.served: list[Served] = []
        self.markets: list[Markets] = []
        self.lives = 0
        self.unreserved: set[int] = set()

    def add(self, text: str) -> None:
        """Add a line."""
        line = json.loads(text)
        self.lines.append(line)
        self.lives += line["what"] == "began"
        if line["what"] == "began" and not line["is_reserved"]:
            self.unreserved.add(self.lives)
        if line["what"] == "served":
            given = {key: line[key] for key in ("view", "version", "epoch", "entries")}
            self.served.append(msgspec.convert({**given, "life": self.lives}, Served))

        if line["what"] == "markets":
            given = {key: line[key] for key in ("version", "epoch", "entries")}
            self.markets.append(msgspec.convert(given, Markets))

    def of(self, what: str) -> list[Any]:
        """Return the lines of a kind."""
        return [line for line in self.lines if line["what"] == what]

    def before(self, view: BookmakerId | None, version: int) -> Served | None:
        """Return what a view showed at a version of the board."""
        return max(
            (of for of in self.served if of.view == view and of.version <= version),
            key=lambda of: of.version,
            default=None,
        )


class Markets(Struct, frozen=True):
    """All entries of other markets than 1X2 at a version of the board."""

    version: int
    epoch: str
    entries: list[Any]


class Lives:
    """A process that runs lives, and their journal."""

    def __init__(self, folder: Path, control: Path | None = None) -> None:
        """Begin; a `control`, if given, controls the calls of all lives on files of the folder."""
        self.folder = folder
        self.journal = Journal()
        self.wall, self.boot_s = WALL_0, 1000.0
        self.control = None if control is None else controlled(control)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.archive.lives"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=None if control is None else environment(control, folder),
        )

    def run(self, seed: int, down_s: float = 5.0, **more: Any) -> int:
        """Run a life some time after the last, and return its end: 0, or minus the number of a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        plan = Plan(str(self.folder), seed, self.wall + down_s, self.boot_s + down_s, **more)
        self._process.stdin.write(f"{msgspec.json.encode(plan).decode()}\n")
        self._process.stdin.flush()
        while (line := self._process.stdout.readline()).startswith("{"):
            self.journal.add(line)
        if self.journal.lines:
            last = self.journal.lines[-1]
            self.wall, self.boot_s = last["wall"], last["boot_s"]
        return int(line)

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=120)


class Checked:
    """Counts what was compared, and what was wrong: `wrong` has a line for each."""

    def __init__(self, folder: Path, journal: Journal, random: Random) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._journal, self._random = journal, random
        self._bodies: dict[tuple[BookmakerId | None, int, str], list[Any]] = {}
        self._folder = Folder.hold(folder, look_again_s=0.0)
        self._days = Days(self._folder, lambda: None)
        self._look()

    def run(self, bodies: int, differences: int) -> None:
        """Compare `bodies` versions of views, chosen at random, and `differences` differences.

        Most are not older than the first day; a tenth are of any time.
        """
        self._check_versions()
        self._check_restored()
        base = self._held[0].base if self._held else 0
        served = self._journal.served
        late = [of for of in served if of.version >= base]
        for some, parts in ((late, 1), (served, 10)):
            for of in self._random.sample(some, min(bodies // parts, len(some))):
                self._check_body(of, self._past(of.view, of.version))
            for of in self._random.sample(some, min(differences // parts, len(some))):
                self._check_difference(of)
        markets = [of for of in self._journal.markets if of.version >= base]
        for shown in self._random.sample(markets, min(bodies, len(markets))):
            self._check_markets(shown)
        self._folder.release()

    def check_nothing_is_lost(self) -> None:
        """No day is set aside, and no gap says that anything was lost or damaged."""
        self.wrong += [f"set aside: {path.name}" for path in self._folder.path.glob("*.bad*")]
        for gap in self._gaps:
            self.counts[f"gap {gap.reason}"] += 1
            if gap.reason in {"lost", "damaged", "missing"}:
                self.wrong.append(f"gap {gap.reason} after {gap.after} until {gap.until}")

    def _past(self, view: BookmakerId | None, version: int) -> Found | None:
        try:
            return self._days.at_version(view, version)
        except FileNotFoundError:
            self._look_again()
            return None

    def _look(self) -> None:
        self._held = self._days.held()
        self._gaps = self._days.gaps(self._held)

    def _look_again(self) -> None:
        """Note that a damaged day has been set aside."""
        self.counts["set aside"] += 1
        self._look()

    def _check_versions(self) -> None:
        """No version falls from line to line of a view, and no version has two contents in an epoch.

        The exception: a life that could not write which versions it shows has an epoch of its own.
        """
        newest: dict[BookmakerId | None, Served] = {}
        bodies, unreserved = self._bodies, self._journal.unreserved
        for of in self._journal.served:
            before = newest.get(of.view, of)
            if of.version < before.version and (before.life not in unreserved or of.epoch == before.epoch):
                self.wrong.append(f"{of.view} fell to {of.version}")
            newest[of.view] = of
            if bodies.setdefault((of.view, of.version, of.epoch), of.entries) != of.entries:
                self.wrong.append(f"{of.view} has two bodies at {of.version}")

    def _check_restored(self) -> None:
        """A life begins above all earlier versions, with the still valid rest of an orderly end, if any."""
        highest, ending = dict[str, int](), None
        for line in self._journal.lines:
            if line["what"] in {"served", "markets"}:
                highest[line["epoch"]] = max(highest.get(line["epoch"], 0), line["version"])
            elif line["what"] == "ending":
                ending = line
            elif line["what"] == "began":
                epoch, *versions = line["versions"]
                if min(versions) <= highest.get(epoch, 0):
                    self.wrong.append(f"a life begins with {versions} after {highest[epoch]}")
                self._compare_restored(line, ending)
                ending = None

    def _compare_restored(self, began: Any, ending: Any) -> None:
        """A life shows only entries that are valid after an orderly end, and all of these or none."""
        is_same_start = ending is not None and ending["boot_id"] == began["boot_id"]
        held = [of for of in ending["held"] if of["is_main"] or began["markets"]] if is_same_start else []
        kept = [of for of in held if of["start"] is None or of["start"] > began["wall"]]
        may, due = (
            {of["id"]: of["is_main"] for of in kept if of["until"] > began["boot_s"] + slack_s}
            for slack_s in (-1e-6, 1e-6)
        )
        shown = set(began["shown"])
        if not shown <= may.keys() or (shown and not due.keys() <= shown):
            self.wrong.append(f"a life begins with {sorted(shown)} where {sorted(due)} hold")
        for entry_id in shown & may.keys():
            self.counts["restored" if may[entry_id] else "restored markets"] += 1

    def _check_body(self, of: Served, found: Found | None) -> None:
        """A version in the archive has the body that was served, under an epoch in which it was served."""
        match found:
            case Listed():
                self.counts["bodies"] += 1
                entries = self._bodies.get((of.view, found.version, found.epoch))
                if found.version != of.version or not _shown(found) == entries == of.entries:
                    self.wrong.append(f"{of.view} at {of.version} is another list")
            case Elsewhere():
                self.wrong.append(f"{of.view} at {of.version} is not known as a version: {found}")
            case _:
                self.counts["unknown"] += 1

    def _check_markets(self, of: Markets) -> None:
        """The other markets at a version are those that were shown then, or the version is in a gap."""
        if any(gap.after < of.version < gap.until for gap in self._gaps):
            self.counts["unknown"] += 1
            return
        day = next((day for day in reversed(self._held) if day.base <= of.version <= day.last), None)
        if day is None:
            return
        try:
            with self._days.reader(day.day) as reader:
                found, epoch = reader.market_entries(of.version), reader.epoch(of.version)
        except FileNotFoundError:
            self._look_again()
            return
        self.counts["markets"] += 1
        known = [other.entries for other in self._journal.markets if other.version == of.version]
        if epoch == of.epoch:
            known = [of.entries]
        if sorted(market_shown(change.entry) for change in found) not in known:
            self.wrong.append(f"the markets at {of.version} are others")

    def _check_difference(self, of: Served) -> None:
        """The archive gives exactly the changes since a version, or refuses them for a reason."""
        if not self._held:
            return
        # A life that was killed in its first moments has written a version that nobody saw.
        until = min(self._held[-1].last, max(served.version for served in self._journal.served))
        if (last := self._journal.before(of.view, until)) is None:
            return
        try:
            changes = self._days.changes(of.view, of.version, until)
        except FileNotFoundError:
            self._look_again()
            return
        if changes is None:
            self.counts["refused"] += 1
            if of.version <= until and not self._may_refuse(of.version) and not self._may_refuse(until):
                self.wrong.append(f"{of.view} since {of.version} is refused without a reason")
            return
        self.counts["differences"] += 1
        after = {entry["id"]: entry for entry in of.entries}
        for change in changes:
            after.pop(change.id, None)
            if change.entry is not None:
                after[change.id] = msgspec.to_builtins(match_v2(change.entry, NAMES[change.bookmaker]))
        if sorted(after.values(), key=_id) != sorted(last.entries, key=_id):
            self.wrong.append(f"{of.view} since {of.version} until {last.version} differs")

    def _may_refuse(self, version: int) -> bool:
        return not self._held[0].base <= version <= self._held[-1].last or any(
            gap.after < version < gap.until or (gap.until > version and not _is_told(gap))
            for gap in self._gaps
        )


def _is_told(gap: Gap) -> bool:
    """Return whether the archive knows the entries that left by the end of a gap."""
    return gap.reason in {"stopped", "killed"}


def _id(entry: Any) -> str:
    return str(entry["id"])


def _shown(found: Listed) -> list[Any]:
    return [
        msgspec.to_builtins(match_v2(of.entry, found.names[of.bookmaker]))
        for of in found.entries
        if of.entry is not None
    ]
