"""The oracle of the simulation: the lists that readers may see, by the bookmakers' answers alone.

After a crash it is unknown for a while which answers were lost; then a list must be one of the lists that
were given, in time, until the newest one is seen again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from actors.board.validity import ListState
from actors.core.clock import Instant
from tests.support.simulation.offers import Row, Rows

EXPIRE_S = 10_800.0
IN_PLAY_MAX_AGE_S = 60.0
MIN_LOST = 20
BELIEVED_AT = 3
REMEMBERED = 40


@dataclass
class Belief:
    """One list of one bookmaker; `rows` are its shown rows, None if nothing may be shown."""

    name: str
    stale_after_s: float
    rows: Rows | None = None
    serial: int = -1
    until_mono: float = -inf
    vouched_mono: float = -inf
    doubts: int = 0
    latest_wall: float = -inf
    is_sure: bool = True
    given: deque[tuple[int, Rows]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def accept(
        self, rows: Rows, named: frozenset[str], serial: int, asked_mono: float, now: Instant
    ) -> None:
        """Take a readable list that was requested at `asked_mono` and came at `now`."""
        self.lapse(now)
        self.given.append((serial, rows))
        self.vouched_mono = asked_mono
        if self._may_lack_ahead(now):
            self.is_sure = False
        if self.doubts + 1 < BELIEVED_AT and self._is_doubtful(named, now):
            self.doubts += 1
            return
        self.take(rows, serial, asked_mono, now)

    def take(self, rows: Rows, serial: int, asked_mono: float, now: Instant) -> None:
        """Take a list that is believed without a check, such as the sum of all changes."""
        self.rows, self.serial, self.doubts = rows, serial, 0
        self.vouched_mono, self.until_mono = asked_mono, asked_mono + self.stale_after_s
        self.latest_wall = now.wall

    def holds(self, serial: int, now: Instant) -> bool:
        """Return whether a list is shown and not in doubt."""
        self.lapse(now)
        return self.rows is not None and self.serial == serial and not self.doubts

    def vouch(self, asked_mono: float, *, counts: bool) -> None:
        """Note a confirmation; it `counts` if all bookmakers of the source show the confirmed list."""
        self.vouched_mono = asked_mono
        if counts:
            self.until_mono = asked_mono + self.stale_after_s

    def lapse(self, now: Instant) -> None:
        """Withdraw the list if its time is over."""
        self.latest_wall = max(self.latest_wall, now.wall)
        if now.mono >= self.until_mono:
            self.rows, self.doubts = None, 0

    def check(self, shown: Rows, state: ListState | None, now: Instant, *, is_sound: bool) -> None:
        """Compare with the shown list at `now`, when nothing is under way. Raises: AssertionError.

        `is_sound`: the bookmaker's actor runs, and the board has room for every match of it.
        """
        self.lapse(now)
        if shown:
            age_s = now.mono - self.vouched_mono
            assert age_s < self.stale_after_s, f"{self.name}: shown {age_s:.1f} s after it was vouched for"
        if not self.is_sure:
            self.check_in_time(shown, now)
            if is_sound and state is not None:
                self._find_sure(shown, state, now)
            return
        self.check_in_time(shown, now)
        wrong = self._difference(self.rows or {}, shown, now)
        assert not wrong, f"{self.name}: {wrong}"

    def check_in_time(self, shown: Rows, now: Instant) -> None:
        """Check that these rows may be shown at `now`, whatever is under way. Raises: AssertionError."""
        if shown:
            assert now.mono < self.vouched_mono + self.stale_after_s, f"{self.name}: past its deadline"
            begun = [name for name, row in shown.items() if row[4] is not None and row[4] <= now.wall]
            is_young = now.mono < self.vouched_mono + IN_PLAY_MAX_AGE_S
            assert is_young or not begun, f"{self.name}: in play, and too old: {begun}"
            assert any(_is_part(shown, rows) for _, rows in reversed(self.given)), (
                f"{self.name}: never offered like that"
            )

    def _find_sure(self, shown: Rows, state: ListState, now: Instant) -> None:
        """End the doubt if the newest list is the list that is shown."""
        if state.withdrawn or state.doubted or not self.given:
            return
        serial, rows = self.given[-1]
        if state.confirmed_mono == self.vouched_mono and not self._difference(rows, shown, now):
            latest = self.latest_wall  # finished matches come back only with the next list
            self.take(rows, serial, self.vouched_mono, now)
            self.latest_wall, self.is_sure = latest, True

    def _difference(self, rows: Rows, shown: Rows, now: Instant) -> str:
        """Return how `shown` differs from `rows` without finished matches; "" if they are equal.

        Matches that have begun may be missing: their prices may have been too old since they came.
        """
        last = now.wall - EXPIRE_S
        for name, row in shown.items():
            if rows.get(name) != row:
                return f"{name} is shown as {row}, must be {rows.get(name)}"
            if row[4] is not None and row[4] <= last:
                return f"{name} is shown {now.wall - row[4]:.0f} s after its kick-off"
        for name, row in rows.items():
            if name not in shown and (row[4] is None or row[4] > self.latest_wall):
                return f"{name} is missing, must be {row}"
        return ""

    def _may_lack_ahead(self, now: Instant) -> bool:
        """Return whether coming matches may have left, in play and too old by a clock that was set back."""
        starts = [row[4] for row in (self.rows or {}).values() if row[4] is not None]
        return any(now.wall < start <= self.latest_wall for start in starts)

    def _is_doubtful(self, named: frozenset[str], now: Instant) -> bool:
        ahead = [name for name, row in (self.rows or {}).items() if row[4] is None or row[4] > now.wall]
        lost = [name for name in ahead if name not in named]
        return len(lost) > MIN_LOST and 2 * len(lost) > len(ahead)


def _is_part(shown: Mapping[str, Row], whole: Mapping[str, Row]) -> bool:
    return all(whole.get(name) == row for name, row in shown.items())
