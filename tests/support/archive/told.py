"""Random lives of an archived board: its past by the product, and by a naive reading of the archive.

Kick-offs move, prices are suspended or leave, links change, the service stops or is killed, and commits are
lost. Each life compares the lines, closes, members and moves of one market.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from actors.archive.archive import Archive
from actors.archive.days.reading import Reader
from actors.archive.lines.closings import AskedClosings, Closings, FixtureClose
from actors.archive.lines.moved import Asked, Nowhere, read_lines
from actors.archive.lines.movers import AskedMovers, Mover, Movers, read_movers
from actors.archive.past import Days, Held, Unknown
from actors.lines.closing import Close, NoClose
from actors.lines.line import Moment, Point, extremes_of
from actors.lines.links import of_today
from actors.lines.told import Line, Lines
from actors.markets.market import FORMS, parsed
from actors.matches.fair import Method
from actors.matches.model import fixtures_of
from tests.support.archive.moving import MARKETS, Moving
from tests.support.oracles.naive_lines import Naive, fair_of
from tests.support.oracles.naive_moves import move, states_of, window

MOST_ACTS, SPANS, WINDOWS, VERSIONS = 45, 1, 3, 12
TOLERANCE = 1e-9


class _StillDays(Days):
    """Days that nobody writes during the comparison, so that each day is opened only once, to save time."""

    def __init__(self, archive: Archive, opened: ExitStack) -> None:
        super().__init__(archive.folder, lambda: archive.writer.live_day)
        self._opened = opened
        self._readers: dict[date, Reader] = {}
        self._all: list[Held] = []

    def held(self) -> list[Held]:
        """Return the content of all days, oldest first."""
        self._all = self._all or super().held()
        return self._all

    @contextmanager
    def reader(self, day: date, *, is_verified: bool = True) -> Iterator[Reader]:
        """Return the reader of a day."""
        if day not in self._readers:
            self._readers[day] = self._opened.enter_context(super().reader(day, is_verified=is_verified))
        yield self._readers[day]


class Told:
    """A life, read by the product and naively; `wrong` has the differences, `seen` what was compared."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.wrong: list[str] = []
        self.seen: Counter[str] = Counter(lives=1)
        self._random = Random(seed)
        self._life = Moving(folder, seed)
        self._live()
        life = self._life
        name = self._random.choice(MARKETS)
        self._market, self._naive = parsed(name), Naive(life.archive.folder, name)
        self._now_ms = round(life.clock.wall * 1000)
        with ExitStack() as opened:
            self._days = _StillDays(life.archive, opened)
            self._compare_lines()
            self._compare_closes()
            self._compare_moves()
        life.end(is_orderly=True)

    def _live(self) -> None:
        """Let things happen; in every second life no match begins, so that some moves are seen."""
        life, is_ahead = self._life, self._random.random() < 0.5
        for _ in range(self._random.randrange(5, MOST_ACTS)):
            if is_ahead:
                life.starts = [round(life.clock.wall) + 100_000 for _ in life.starts]
            life.act()
        life.archive.writer.max_waiting = 10**9
        for name in self._random.choices([*life.terms.roster], k=6):
            life.relist(name)
        while life.archive.writer.written < life.board.newest_of_any.version:
            life.archive.writer.step()

    def _same(self, what: str, told: Any, expected: Any) -> None:
        self.seen[what] += 1
        if told != expected:
            self.wrong.append(f"{self._market} {what}: {told} != {expected}")

    def _asked(self, of: str, from_ms: int = 0, until_ms: int | None = None) -> Asked:
        until_ms = self._now_ms + 1 if until_ms is None else until_ms
        about = of_today(self._life.terms.roster), Method.POWER
        return Asked(of, self._market, from_ms, until_ms, self._now_ms, *about)

    def _compare_lines(self) -> None:
        """Compare the lines of all entries, over the whole life and over parts of it."""
        naive, random = self._naive, self._random
        times = sorted({*naive.times.values(), *(gap.after_at for gap in naive.gaps)})
        for entry in sorted({entry for board in naive.boards.values() for entry in board}):
            spans = [sorted(random.choices(times, k=2)) for _ in range(SPANS)]
            for begin, end in [(0, self._now_ms), *spans]:
                from_ms = begin + random.choice((0, 1, 250))
                self._compare_line(entry, from_ms, max(from_ms, end) + 1)

    def _compare_line(self, entry: str, from_ms: int, until_ms: int) -> None:
        naive, told = self._naive, read_lines(self._days, self._asked(entry, from_ms, until_ms))
        first = max((it for it, at in naive.times.items() if at <= from_ms), default=min(naive.times))
        last = max(version for version, at in naive.times.items() if at < until_ms)
        hidden = [gap for gap in naive.gaps if gap.after == first == last and gap.after_at < from_ms]
        about = entry, from_ms, until_ms
        if isinstance(told, Unknown) or hidden:
            reason = told.reason if isinstance(told, Unknown) else None
            self._same("unknown", (*about, reason), (*about, hidden[0].reason if hidden else None))
            return
        line = None if isinstance(told, Nowhere) else told.lines[0]
        points = [] if line is None else [plain(point) for point in line.points]
        expected = naive.line(entry, first, last, until_ms)
        self._same("line", (*about, points), (*about, expected))
        self.seen.update(f"absent: {point[3]} {point[4]}" for point in expected if point[2] is None)
        if line is not None:
            self._same("ends", (*about, ends_of(line)), (*about, naive_ends(expected)))

    def _compare_closes(self) -> None:
        """Compare closes, members, first prices and consensuses of all fixtures."""
        naive, days = self._naive, self._days
        about = of_today(self._life.terms.roster), Method.POWER
        told = Closings(days, AskedClosings(0, 2**50, self._now_ms, self._market, *about)).read().fixtures
        kick_offs = {fixture: naive.kick_off(fixture) for fixture in naive.first_of_fixtures()}
        expected = {fixture: start for fixture, start in kick_offs.items() if start is not None}
        self._same("kick-offs", {of.id: of.listed.kick_off for of in told}, expected)
        for of in told:
            is_started = of.listed.kick_off * 1000 <= self._now_ms
            self._same("started", (of.id, of.is_started), (of.id, is_started))
            if is_started:
                closes = naive.closes(of.id, of.listed.kick_off, days.held()[-1].seen_ms)
                self._compare_close(of, closes)
            self._compare_consensus(of.id)
            if of.into is not None:
                self._compare_into(of)

    def _compare_close(self, of: FixtureClose, expected: dict[str, Any]) -> None:
        found = {it.id: (close_in(it.close), it.first_version, it.first_ms) for it in of.entries}
        members = [[it.source, it.source_match_id, it.rule, str(it.certainty)] for it in of.members]
        self._same("close", (of.id, found), (of.id, expected["closes"]))
        self._same("members", (of.id, members), (of.id, expected["members"]))
        chances = None if of.consensus is None else of.consensus.chances
        self._close_to("close: fair", of.id, chances, expected["fair"])
        self.seen.update(
            f"close: {close[-1] if isinstance(close, tuple) else close}" for close, *_ in found.values()
        )
        lines = read_lines(self._days, self._asked(of.id))
        if isinstance(lines, Lines):
            closes = {line.id: line.close and close_in(line.close) for line in lines.lines}
            shown = {entry: closes.get(entry) for entry in found}
            naive = {entry: close for entry, (close, *_) in expected["closes"].items()}
            self._same("close of a line", (of.id, shown), (of.id, naive))

    def _compare_consensus(self, fixture: str) -> None:
        """Compare the consensus of a fixture at some known versions."""
        naive, told = self._naive, read_lines(self._days, self._asked(fixture))
        if not isinstance(told, Lines):
            return
        kick_off = naive.kick_off(fixture)
        points = told.consensus or ()
        known = [it for it in naive.times if not any(gap.after <= it < gap.until for gap in naive.gaps)]
        for version in self._random.choices(known, k=VERSIONS):
            point = next((it for it in reversed(points) if it.version <= version), None)
            is_in_play = kick_off is not None and naive.times[version] >= kick_off * 1000
            counts = not (is_in_play and FORMS[self._market.kind].count_from_now)
            expected = fair_of(naive.counted(fixture, version)) if counts else None
            chances = None if point is None else point.chances
            self._close_to("consensus", (fixture, version), chances, expected)

    def _compare_into(self, of: FixtureClose) -> None:
        """Compare the members: some of the last ones before kick-off are in the fixture `into` next."""
        naive = self._naive
        held = [it for it, at in sorted(naive.times.items()) if at < of.listed.kick_off * 1000]
        shown = [naive.at(naive.members, version) for version in held]
        last = max(number for number, fixtures in enumerate(shown) if of.id in fixtures)
        keys, others = (
            {tuple(member[:2]) for member in fixtures.get(fixture, [])}
            for fixtures, fixture in ((shown[last], of.id), (shown[last + 1], str(of.into)))
        )
        self._same("merged", (of.id, bool(keys & others)), (of.id, True))

    def _compare_moves(self) -> None:
        """Compare the moves over some windows that end now."""
        board = self._life.board.boards[self._market.kind].newest
        fixtures = [of for of in fixtures_of(board) if of.market == self._market]
        states = states_of(self._naive)
        last = Moment(states[-1].version, states[-1].at_ms)
        for _ in range(WINDOWS):
            from_ms = self._random.choice(states).at_ms + self._random.choice((-1, 0, 1, 200))
            about = self._market, of_today(self._life.terms.roster), Method.POWER
            told = read_movers(self._days, AskedMovers(from_ms, self._now_ms, last, 1e-9, *about, fixtures))
            if not isinstance(told, Movers):
                self._same("written", told, None)
                continue
            since = window(self._naive, states, from_ms)
            found = {of.fixture.id: told_of(of) for of in told.movers}
            for of in fixtures:
                start = of.match.start_time
                counts = FORMS[self._market.kind].count_from_now
                is_begun = counts and start is not None and start * 1000 <= self._now_ms
                self._compare_move(
                    (from_ms, of.id), found.get(of.id), None if is_begun else move(since, of.match_id)
                )
            sizes = [abs(of.move.change) for of in told.movers]
            self._same("order", sizes, sorted(sizes, reverse=True))

    def _compare_move(
        self, about: Any, told: dict[str, Any] | None, expected: dict[str, Any] | None
    ) -> None:
        if told is not None and expected is not None:
            self.seen["moves"] += 1
            for chances in ("before", "after"):
                self._close_to("move", about, told.pop(chances), expected.pop(chances))
        self._same("move", (about, told), (about, expected))

    def _close_to(
        self, what: str, about: Any, told: Sequence[float] | None, expected: Sequence[float] | None
    ) -> None:
        self.seen[what] += 1
        is_same = told is expected
        if told is not None and expected is not None:
            is_same = all(
                abs(ours - theirs) < TOLERANCE for ours, theirs in zip(told, expected, strict=True)
            )
        if not is_same:
            self.wrong.append(f"{self._market} {what} of {about}: {told} != {expected}")


def plain(of: Point) -> tuple[Any, ...]:
    """Return a point in the form of the naive reading."""
    return (of.version, of.at_ms, of.odds, of.absent and str(of.absent), of.reason, of.is_state)


def ends_of(line: Line) -> Any:
    """Return the first price, and the highest and lowest of each outcome, with their versions."""
    extremes = extremes_of(line.points) and line.extremes
    if line.first_seen is None or extremes is None:
        return None
    every = extremes.highest, extremes.lowest
    return line.first_seen.version, *([point.version for point in of] for of in every)


def naive_ends(points: Iterable[tuple[Any, ...]]) -> Any:
    """Return first, highest and lowest prices from the points of a naive reading, as `ends_of` does."""
    priced = [(odds, version) for version, _, odds, *_ in points if odds is not None]
    if not priced:
        return None
    every = [[(odds[outcome], version) for odds, version in priced] for outcome in range(len(priced[0][0]))]
    highest = [min(version for price, version in of if price == max(of)[0]) for of in every]
    lowest = [min(version for price, version in of if price == min(of)[0]) for of in every]
    return priced[0][1], highest, lowest


def close_in(of: Close | NoClose) -> Any:
    """Return a close in the form of the naive reading."""
    if isinstance(of, NoClose):
        return str(of)
    return (of.odds, of.closed_ms, "on offer" if of.on_offer else of.left)


def told_of(of: Mover) -> dict[str, Any]:
    """Return the product's move of a fixture in the form of the naive reckoning."""
    entries = {
        it.id: (
            it.before,
            it.now,
            None if it.followed is None else (it.followed.version, it.followed.at_ms),
            it.is_compared,
            it.is_first,
        )
        for it in of.followers
    }
    move = of.move
    return {
        "begin": (move.begin.version, move.begin.at_ms),
        "outcome": move.outcome,
        "before": move.before,
        "after": move.after,
        "entries": entries,
    }


def lived(seed: int, folder: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Return what was compared in a life, and the differences; the default folder is in memory."""
    with tempfile.TemporaryDirectory(dir=folder or memory()) as own:
        told = Told(Path(own) / "archive", seed)
    return told.seen, told.wrong


def memory() -> Path | None:
    """Return a folder in memory, where the system has one."""
    path = Path("/dev/shm")  # noqa: S108 - the folders in it are made by `tempfile`
    return path if path.is_dir() else None
