"""The screen of `oddsboard watch`: a board as rows, with moves, and how current it is. Without I/O.

Names are plain text whatever is in them. Nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from web import client
from web.cli.boards.get import clean
from web.client.board import BoardView
from web.client.values import Entry, Fixture

MOVED_S = 10.0
"""Seconds for which a move is marked."""
UP, DOWN = ("▲", "green"), ("▼", "red")
OUTCOMES = {"over_under": ("over", "under"), "asian_handicap": ("home", "away"), "btts": ("yes", "no")}
HEAD_LINES = 6  # lines that are no rows
MAX_NAME = 40


class Move(NamedTuple):
    """A price of an entry that moved, up or down from its former value."""

    is_up: bool
    at: float


class Screen:
    """Rows of a board of fixtures by one market, of one bookmaker or all; `now` is by the board's clock."""

    def __init__(
        self,
        board: BoardView[Fixture],
        url: str,
        market: str,
        *,
        is_best: bool,
        bookmaker: str | None = None,
    ) -> None:
        self._bookmaker = bookmaker
        self._board, self._url, self._is_best = board, url, is_best
        kind = market.partition(":")[0]
        self._outcomes = (
            ("1X", "12", "X2") if kind == "double_chance" else OUTCOMES.get(kind, ("1", "X", "2"))
        )
        self._moves: dict[tuple[str, str], Move] = {}
        self.notes: list[str] = []
        """Texts that must be shown with the prices: which prices are no offers."""

    def take(self, event: Any, now: float) -> Iterator[str]:
        """Note an event; yield it as lines of plain text, for an output that is no screen."""
        match event:
            case client.Changes():
                yield from self._moved(event, now)
            case client.Connected():
                yield f"current, version {event.version}"
            case client.Disconnected():
                yield f"NOT CURRENT: {clean(event.why)}"
            case client.Reset():
                yield f"begun anew: {clean(event.reason)}"
            case client.Cleared():
                yield f"{clean(event.bookmaker)}: all {event.count} prices left"
            case _:
                return

    def render(self, now: float, height: int) -> RenderableType:
        """Return the screen; as many rows as the height of the terminal has room for."""
        moved = {key: move for key, move in self._moves.items() if now - move.at < MOVED_S}
        self._moves = moved
        fixtures, room = self._board.listed(), max(height - HEAD_LINES, 1)
        rows = [*islice((row for fixture in fixtures for row in self._rows(fixture)), room)]
        left = sum(1 if self._is_best else len(self._own(fixture)) for fixture in fixtures) - len(rows)
        shown = Table(box=None, pad_edge=False, header_style="bold", expand=True)
        for name in ("kick-off", "match", "league"):
            shown.add_column(name, no_wrap=True, ratio=None if name == "kick-off" else 2)
        if not self._is_best:
            shown.add_column("bookmaker", no_wrap=True, ratio=1)
        for outcome in self._outcomes:
            shown.add_column(outcome, no_wrap=True, ratio=1, justify="left" if self._is_best else "right")
        shown.add_column("changed", no_wrap=True)
        for row in rows:
            shown.add_row(*row, style="" if self._board.is_current else "dim")
        more = f"{left} more rows: --league, --bookmaker or --best show fewer"
        legend = (
            "c: collected earlier, no offer; ?: does not count. Times are UTC. To end it, press Ctrl+C."
        )
        notes = Text("; ".join(self.notes), "yellow", no_wrap=True, overflow="ellipsis")
        below = (Text(more if left else "", "dim"), notes, Text(legend, "dim", no_wrap=True))
        return Group(self._state(), shown, *below)

    def _state(self) -> Text:
        board = self._board
        if board.is_current:
            pending = f", {board.pending} events not compared yet" if board.pending else ""
            head = Text(
                f"{self._url}  version {board.version}, current {board.age_s:.0f} s ago{pending}", "green"
            )
        elif board.version is None:
            head = Text(f"NOT CONNECTED to {self._url}: {clean(board.why)}", "bold red")
        else:
            age = f"these prices are {board.age_s:.0f} s old"
            head = Text(f"NOT CURRENT, {age}: {clean(board.why)}  ({self._url})", "bold red reverse")
        head.no_wrap, head.overflow = True, "ellipsis"
        return head

    def _moved(self, changes: client.Changes[Fixture], now: float) -> Iterator[str]:
        for move in changes.moves():
            self._moves[move.entry, move.outcome] = Move(move.now > move.before, now)
            names = f"{clean(move.of.home)} v {clean(move.of.away)}"
            yield f"{names}  {clean(move.bookmaker)}  {move.outcome}: {move.before:g} -> {move.now:g}"

    def _rows(self, fixture: Fixture) -> Iterator[list[Text]]:
        names = f"{_short(fixture.home)} v {_short(fixture.away)}"
        start = "unknown" if fixture.start_time is None else _time(fixture.start_time, "%d %b %H:%M")
        line = fixture.market.partition(":")[2]
        match = [Text(start), Text(f"{names} {line}".rstrip()), Text(_short(fixture.league))]
        if self._is_best:
            yield [*match, *(self._best(fixture, of) for of in self._outcomes), _changed(fixture.updated)]
            return
        for number, entry in enumerate(self._own(fixture)):
            named = match if not number else [Text(""), Text(""), Text("")]
            prices = [self._price(entry, of) for of in self._outcomes]
            yield [*named, Text(_short(entry.bookmaker)), *prices, _changed(entry.updated)]

    def _own(self, fixture: Fixture) -> list[Entry]:
        """Return the entries of the bookmaker, or of all bookmakers."""
        wanted = self._bookmaker
        return [of for of in fixture.entries if wanted is None or of.id.partition("_")[0] == wanted]

    def _best(self, fixture: Fixture, outcome: str) -> Text:
        if (best := fixture.best.get(outcome)) is None:
            return Text("-")
        mark = " c" if best.prices else ""
        text = f"{best.odds:g}{mark} {', '.join(map(_short, best.bookmakers))}"
        return self._marked(text, best.ids, outcome)

    def _price(self, entry: Entry, outcome: str) -> Text:
        mark = " c" if entry.prices == "collected" else "" if entry.counts else " ?"
        return self._marked(f"{entry.odds[outcome]:g}{mark}", [entry.id], outcome)

    def _marked(self, text: str, ids: Sequence[str], outcome: str) -> Text:
        """Mark a price that moved."""
        found = [move for entry in ids if (move := self._moves.get((entry, outcome))) is not None]
        if not found:
            return Text(f"  {text}")
        arrow, style = UP if max(found, key=lambda move: move.at).is_up else DOWN
        return Text(f"{arrow} {text}", style)


def _short(name: str) -> str:
    """Return a name without control characters, and not too long."""
    return clean(name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…")


def _changed(at: float) -> Text:
    return Text(_time(at, "%H:%M:%S"))


def _time(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)
