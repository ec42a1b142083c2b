"""A life of an archived board in a process of its own, which may end at any of its boundaries.

A journal on standard output has a line for each version of a view that readers could see, written before
anything else happens.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Iterator
from errno import EIO
from random import Random
from typing import Any

import msgspec

from actors.archive.archive import Archive, open_archive
from actors.archive.days.commit import whole_market_entries
from actors.archive.folder import ArchiveSettings
from actors.archive.restart import Configured, Machine
from actors.board.snapshot import Entry, Snapshot
from actors.core.messages import BookmakerId, Match, SourceName
from actors.markets.market import Kind, Market
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.monitoring.status import ArchiveStatus
from tests.support.archive.boards import archived_boards
from tests.support.archive.disk_faults import Control, own_control
from tests.support.archive.failing import fail
from tests.support.builders.messages import match, withdrawn
from tests.support.time.virtual import ManualClock
from web.encoding.schemas import match_v2

NAMES = {BookmakerId("birch"): "Birch & Söhne", BookmakerId("alder"): "Alder"}
VIEWS = (None, *NAMES)
TERMS = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(f"of-{name}")) for name in NAMES}))
MARKETS = (Market(Kind.OVER_UNDER, 10), Market(Kind.OVER_UNDER, 9), Market(Kind.DOUBLE_CHANCE))
KINDS = (Kind.OVER_UNDER, Kind.DOUBLE_CHANCE)
KEEP_DAYS = 4


class Plan(msgspec.Struct, frozen=True):
    """A life: it is killed at the boundary `kill_at`, at the `nth` time there; otherwise it stops in order.

    The disk is full from the commit `full_from` until `full_until`; at most `max_waiting` changes wait.
    `fail` names failing calls of the disk (`failing.py`): the `nth` call, and `fails` in a row. After
    `killed_after_s` of processor time the life is killed, whatever it does then.

    With the library of `disk_faults.py` it is killed before its change number `kill_call`, which is half
    made if it is `torn`, counted from the begin, or from midnight, which passes before commit `midnight`.
    `fails` calls of `kinds` fail with EIO, from the `nth` call on.

    With `markets` its bookmakers list other markets than 1X2, too.
    """

    folder: str
    seed: int
    wall: float
    boot_s: float
    boot_id: str = "first"
    kill_at: str | None = None
    nth: int = 1
    commits: int = 20
    full_from: int = 10**9
    full_until: int = 10**9
    max_waiting: int = 10**9
    fail: str | None = None
    fails: int = 1
    killed_after_s: float = 0.0
    kill_call: int = 0
    torn: bool = False
    midnight: int | None = None
    kinds: int = 0
    markets: bool = False


class Life:
    """A life that runs by its plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._random = Random(plan.seed)
        self.clock = ManualClock(self._random.uniform(0, 1e5), plan.wall)
        self._boot_less_mono = plan.boot_s - self.clock.mono
        self._left = plan.nth
        signal.setitimer(
            signal.ITIMER_VIRTUAL, plan.killed_after_s
        )  # SIGVTALRM ends a process as SIGKILL does
        if plan.fail is not None:
            fail(plan.fail, plan.nth, plan.fails, lambda: self.note("failed"))
        self._noted: dict[BookmakerId | None, tuple[int, str]] = {}
        self._noted_markets = 0, ""
        self._listed: dict[BookmakerId, list[Match]] = {}
        if (control := own_control()) is not None:
            control.clear()
            if plan.kinds:
                control.fail(plan.kinds, EIO, plan.nth, plan.fails)
            if plan.midnight is None:
                self._kill_in(control)
        self.archive = self._opened()
        self.board = archived_boards(
            self.archive,
            self.clock,
            TERMS,
            KINDS if plan.markets else (),
            self._committed,
        )
        self.archive.writer.max_waiting = plan.max_waiting
        self.archive.writer.marked_after = 7  # a low number, so that a life has some marks

    def run(self) -> None:
        """Live, until the boundary or the end."""
        shown, versions = [entry["id"] for entry in self._held()], self._versions()
        about = {"boot_id": self.plan.boot_id, "markets": self.plan.markets}
        is_reserved = self.archive.writer.reserved_epoch is not None
        self.note("began", is_reserved=is_reserved, shown=shown, versions=versions, **about)
        self._note_views()
        for number in range(self.plan.commits):
            self._fill_disk(is_full=self.plan.full_from <= number < self.plan.full_until)
            if number == self.plan.midnight:
                self._pass_midnight()
            self._act()
            if self._random.random() < 0.6:
                self.archive.writer.step()
                self.note_error()
        for _ in range(40):  # steps of sealing, and work that is due once a minute
            self.archive.writer.step()
        self.note("ending", boot_id=self.plan.boot_id, held=self._held())
        self.archive.close(is_orderly=True)
        self.note("stopped")

    def _held(self) -> list[dict[str, Any]]:
        """Return what all boards show now, and until when it counts (seconds since the machine's start)."""
        return [
            {
                "id": entry.id,
                "event": f"{name}_{entry.match.event_id}",
                "is_main": kind is Kind.ONE_X_TWO,
                "until": book.lists[entry.scope].deadline + self._boot_less_mono,
                "start": entry.match.begun_by,
            }
            for kind, board in self.board.boards.items()
            for name, book in board.newest.books.items()
            for chunk in book.chunks
            for entry in chunk.entries
        ]

    def _versions(self) -> list[Any]:
        """Return the epoch, and the versions of all boards."""
        boards = self.board.boards.values()
        return [self.board.newest.epoch, *(board.newest.version for board in boards)]

    def _pass_midnight(self) -> None:
        self.archive.writer.step()
        self.clock.pass_(86_400.0)
        if (control := own_control()) is not None:
            self._kill_in(control)

    def _kill_in(self, control: Control) -> None:
        control.changes, control.torn, control.kill_at = 0, self.plan.torn, self.plan.kill_call

    def note(self, what: str, **more: object) -> None:
        """Write a line of the journal, to a pipe: a full disk does not concern it."""
        os.write(1, self._line(what, **more))

    def _line(self, what: str, **more: object) -> bytes:
        mono = self.clock.mono
        line = {"what": what, "wall": self.clock.wall, "boot_s": mono + self._boot_less_mono, **more}
        return json.dumps(line).encode() + b"\n"

    def note_error(self) -> None:
        """Note whether the archive can be written now."""
        if self.archive.status.error is not None:
            self.note("stalled", error=self.archive.status.error)

    def _opened(self) -> Archive:
        return open_archive(
            ArchiveSettings(self.plan.folder, keep_days=KEEP_DAYS),
            ArchiveStatus(),
            self.clock,
            terms=TERMS,
            configured={name: Configured("same", title) for name, title in NAMES.items()},
            names=lambda _: NAMES,
            kinds=KINDS if self.plan.markets else (),
            reached=self._reach,
            look_again_s=0.0,
            on_machine=lambda: Machine(self.plan.boot_id, self.clock.mono + self._boot_less_mono),
        )

    def _reach(self, boundary: str) -> None:
        if boundary == self.plan.kill_at:
            self._left -= 1
            if not self._left:
                self.note("killed", at=boundary)
                os.kill(os.getpid(), signal.SIGKILL)

    def _act(self) -> None:
        """Change the board, or let time pass: mostly a little, sometimes a day, sometimes back."""
        draw, bookmaker = self._random.random(), self._random.choice([*NAMES])
        if draw < 0.12:
            self.clock.pass_(self._random.choice((40_000.0, 86_400.0)))
        elif draw < 0.17:
            self.clock.wall -= self._random.choice((5.0, 7_200.0, 90_000.0))
        else:
            self.clock.pass_(self._random.choice((0.0004, 0.25, 3.0, 11.0)))
        if draw > 0.93:
            self.board.apply(
                msgspec.structs.replace(
                    withdrawn(list_id=f"list-{self.board.lists}", received_mono=self.clock.mono),
                    bookmaker=bookmaker,
                )
            )
        else:
            names = self._random.sample(["m1", "m2", "m3", "m4", "m5"], self._random.randrange(6))
            listed = [self._match(name) for name in names]
            if self.plan.markets:
                if draw > 0.6:  # the prices of 1X2 stay the same
                    listed = self._listed.get(bookmaker, listed)
                self._listed[bookmaker] = listed
                listed = [market for match in listed for market in self._markets(match)]
            self.board.put(bookmaker, *listed)

    def _match(self, name: str) -> Any:
        price = self._random.choice((1.9, 2.0, 2.05, 2.1 + 1e-9, 2.2))
        home = self._random.choice(("Home", "Hôme", ""))
        start = round(self.clock.wall) + self._random.choice((20, 100_000))
        return match(name, home=home, prices=(price, 3.5, 4.0), start_time=start)

    def _markets(self, match: Match) -> Iterator[Match]:
        """Yield a match with some of its other markets, seldom without its 1X2."""
        if self._random.random() < 0.9:
            yield match
        for market in MARKETS:
            if self._random.random() < 0.6:
                odds = [self._random.choice((1.9, 2.0, 2.1 + 1e-9)) for _ in market.outcomes]
                yield match.of_market(market, tuple(odds))

    def _committed(self) -> None:
        self.archive.commit()
        self._note_views()

    def _note_views(self) -> None:
        """Note all views that differ, in one step: readers see each version in all views or in no view."""
        snapshot, lines = self.board.newest, list[bytes]()
        for view in VIEWS:
            books = snapshot.books if view is None else {view: snapshot.books[view]}
            version = max(book.v2_version for book in books.values())
            if self._noted.get(view) != (version, snapshot.epoch):
                self._noted[view] = version, snapshot.epoch
                about = {"view": view, "version": version, "epoch": snapshot.epoch}
                lines.append(self._line("served", **about, entries=_shown(snapshot, view)))
        others = [board.newest for board in self.board.boards.values()][1:]
        newest = max(others or [self.archive.beginning.snapshot], key=lambda board: board.version)
        if self._noted_markets != (newest.version, newest.epoch):
            self._noted_markets = newest.version, newest.epoch
            shown = [market_shown(of.entry) for of in whole_market_entries(others)]
            about = {"version": newest.version, "epoch": newest.epoch}
            lines.append(self._line("markets", **about, entries=sorted(shown)))
        if lines:
            os.write(1, b"".join(lines))

    def _fill_disk(self, *, is_full: bool) -> None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 if is_full else hard, hard))


def _shown(snapshot: Snapshot, view: BookmakerId | None) -> list[Any]:
    """Return the entries of a list as it is served."""
    return [
        msgspec.to_builtins(match_v2(entry, NAMES[name]))
        for name, book in snapshot.books.items()
        if view in {None, name}
        for chunk in book.chunks
        for entry in chunk.entries
        if entry.is_named
    ]


def market_shown(entry: Entry | None) -> list[Any]:
    """Return all fields that the archive has of an entry of another market."""
    assert entry is not None
    match = entry.match
    return [entry.id, *match.listing, *match.odds, entry.updated, match.source_time]


def live(plan: Plan) -> None:
    """Live by a plan; does not return if it is killed."""
    Life(plan).run()
