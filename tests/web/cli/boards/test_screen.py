"""The screen of `oddsboard watch`: rows, marked moves, and the line that says if prices are current."""

from __future__ import annotations

import io
import re
from typing import Any

import msgspec
import pytest
from rich.console import Console

from tests.support.builders.client_lists import fixture
from web.cli.boards.screen import Screen
from web.client.board import BoardView
from web.client.state import Ledger
from web.client.values import Change, Fixture, Linking

HOSTILE = "[bold]\x1b[31mX\u202eY[/bold]"


class Watched:
    """A board that the test fills, and its screen."""

    def __init__(self, *, is_best: bool = False, bookmaker: str | None = None) -> None:
        self.now = 100.0
        self.ledger = Ledger[Fixture](20.0, lambda: self.now, is_whole=True)
        board = BoardView(self.ledger)
        self.screen = Screen(board, "http://board", "1x2", is_best=is_best, bookmaker=bookmaker)

    def put(self, version: int, *fixtures: Fixture) -> list[str]:
        """Replace the list; return the lines that the screen prints about the change."""
        change = Change(version=version, fixtures=fixtures, linking=Linking(pending=0))
        _, events = self.ledger.apply(change, "e")
        events += self.ledger.prove(self.now)
        return [line for event in events for line in self.screen.take(event, self.now)]

    def lines(self, height: int = 30) -> list[str]:
        """Return the screen as plain text."""
        out = Console(file=io.StringIO(), width=140, no_color=True, highlight=False, markup=False)
        out.print(self.screen.render(self.now, height))
        written: Any = out.file
        return [line.rstrip() for line in written.getvalue().splitlines()]

    def styles(self) -> list[str]:
        """Return the style of each row."""
        shown: Any = self.screen.render(self.now, 30)
        return [row.style for row in shown.renderables[1].rows]


def test_a_price_that_moved_is_marked_without_colours() -> None:
    """An arrow marks the price for some seconds."""
    watched = Watched()
    watched.put(1, fixture(prices=(2.0, 3.0, 4.0)))
    told = watched.put(2, fixture(prices=(2.1, 3.0, 3.9)))
    marked = watched.lines()[2]
    watched.now += 11.0

    assert ["Home v Away  Alder  1: 2 -> 2.1", "Home v Away  Alder  2: 4 -> 3.9"] == told
    assert ["▲ 2.1", "3", "▼ 3.9"] == re.split(r"\s{2,}", marked.split("Alder")[1].strip())[:3]
    assert "▲" not in watched.lines()[2]


@pytest.mark.parametrize("is_lost", [False, True])
def test_old_prices_say_so_first(*, is_lost: bool) -> None:
    """The first line says why the prices are old: a cut, or 20 s of silence. Rows of old prices are dim."""
    watched = Watched()
    watched.put(1, fixture())
    current, bright = watched.lines()[0], watched.styles()
    if is_lost:
        [*watched.ledger.lose("the service ends")]
    watched.now += 5.0 if is_lost else 20.5
    told = watched.lines()[0]

    assert current.startswith("http://board  version 1, current 0 s ago")
    why = "5 s old: the service ends" if is_lost else "20 s old: nothing was read for 20 s"
    assert told.startswith(f"NOT CURRENT, these prices are {why}")
    assert ([""], ["dim"]) == (bright, watched.styles())


def test_names_are_plain_text() -> None:
    """Markup and control characters in a name have no effect."""
    watched = Watched()
    watched.put(1, fixture(home=HOSTILE))

    assert "[bold]?[31mX?Y[/bold] v Away" in watched.lines()[2]


def test_as_many_rows_are_shown_as_there_is_room_for() -> None:
    """A line says how many rows are not shown."""
    watched = Watched(is_best=True)
    watched.put(1, *(fixture(f"fx{number:02}") for number in range(30)))
    lines = watched.lines(height=16)

    assert (16, "20 more rows: --league, --bookmaker or --best show fewer") == (1 + len(lines), lines[-3])


def test_best_prices_stand_with_their_bookmakers() -> None:
    """An outcome without a price is shown without a bookmaker."""
    watched = Watched(is_best=True)
    shown = fixture()
    best = {outcome: of for outcome, of in shown.best.items() if outcome != "X"}
    watched.put(1, msgspec.structs.replace(shown, best=best))

    shown_best = watched.lines()[2].split("League")[1].strip()
    assert ["2 Alder", "-", "4 Alder"] == re.split(r"\s{2,}", shown_best)[:3]


def test_prices_that_are_no_offers_are_marked() -> None:
    """Collected prices and prices in doubt have a mark."""
    watched = Watched()
    shown = fixture()
    (entry,) = shown.entries
    entries = (
        msgspec.structs.replace(entry, id="b_1", prices="collected"),
        msgspec.structs.replace(entry, id="c_1", doubts=("price",)),
    )
    watched.put(1, msgspec.structs.replace(shown, entries=entries))

    assert ["2 c", "2 ?"] == [
        mark for mark in ("2 c", "2 ?") if any(mark in line for line in watched.lines())
    ]


def test_one_bookmakers_prices_alone_are_shown() -> None:
    """The prices of the other bookmakers are on the board, but the screen does not show them."""
    watched = Watched(bookmaker="b")
    shown = fixture()
    (entry,) = shown.entries
    entries = tuple(msgspec.structs.replace(entry, id=f"{name}_1", bookmaker=name) for name in ("a", "b"))
    watched.put(1, msgspec.structs.replace(shown, entries=entries))

    assert [True, False] == [line.startswith("29 May") for line in watched.lines()[2:4]]
    assert " b " in watched.lines()[2]
