"""Lines of other markets than 1X2: the same points, of the day that is written and of a sealed day."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.archive.lines.moved import Asked, Nowhere, read_lines
from actors.lines.links import of_today
from actors.markets.market import parsed
from actors.matches.fair import Method
from tests.support.archive.kept import GOALS, OTHERS, TERMS, Kept, kept
from tests.support.time.virtual import ManualClock


def _points(life: Kept, market: str) -> list[Any]:
    now_ms = round(life.clock.wall * 1000)
    about = parsed(market), 0, now_ms + 1, now_ms, of_today(TERMS.roster), Method.POWER
    found = read_lines(life.days, Asked("alder_m1", *about))
    if isinstance(found, Nowhere):
        return []
    (line,) = found.lines  # type: ignore[union-attr]  # the whole life is kept
    return [of.odds or of.reason for of in line.points]


def test_a_line_of_another_market_is_its_own(tmp_path: Path) -> None:
    """Its prices and absences, whatever 1X2 does; the next day reads the same of the sealed one."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0))
        life.put("m1", goals=(1.95, 2.0))
        life.put("m1")
        life.put("m1", goals=(2.0, 1.9))
        before = _points(life, GOALS), _points(life, "btts")
        life.clock.pass_(86_400)
        life.board.current()
        life.put("m1")
        life.write()
        after = _points(life, GOALS)

    assert ([(1.9, 2.0), (1.95, 2.0), "withdrawn", (2.0, 1.9)], []) == before
    assert [*before[0], "stale"] == after
