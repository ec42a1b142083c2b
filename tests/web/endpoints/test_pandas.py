"""The example of docs/pandas.md, run against a service: it prints what the document shows."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from anyio import to_thread

from tests.support.builders.messages import match
from tests.support.documents import blocks, document
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio
LEAGUE = "Ostland - First Division"
TEAMS = {"m1": ("Unión Calavares", "Grandrive"), "m2": ("Ardelsbach", "Almemora")}
HOUR_S = 3_600.0
Prices = tuple[float, float, float]
LISTED: list[tuple[float, str, dict[str, Prices]]] = [
    (25, "alder", {"m1": (2.2, 3.4, 3.4), "m2": (1.6, 4.0, 6.0)}),
    (25, "birch", {"m1": (2.15, 3.5, 3.45)}),
    (10, "birch", {"m1": (2.05, 3.5, 3.7), "m2": (1.62, 3.9, 5.8)}),
    (5, "alder", {"m1": (2.1, 3.4, 3.6), "m2": (1.55, 4.1, 6.5)}),
    (5, "cedar", {"m1": (2.12, 3.3, 3.55), "m2": (1.57, 4.0, 6.2)}),
    (0.5, "alder", {"m1": (2.0, 3.45, 3.85), "m2": (1.55, 4.1, 6.5)}),
    (0.2, "birch", {"m1": (1.98, 3.5, 3.9)}),
    (-0.02, "alder", {"m1": (1.2, 6.0, 15.0), "m2": (1.55, 4.1, 6.5)}),
]
"""Hours before the kick-off, and the prices that a bookmaker lists from that time on."""


def _play(site: Site) -> None:
    """Publish each list at its time."""
    start = round(site.clock.wall) + 26 * int(HOUR_S)
    for hours, bookmaker, of_match in LISTED:
        site.clock.pass_(start - hours * HOUR_S - site.clock.wall)
        listed = [
            match(name, home=home, away=away, league=LEAGUE, prices=of_match[name], start_time=start)
            for name, (home, away) in TEAMS.items()
            if name in of_match
        ]
        site.publish(bookmaker, *listed, stale_after_s=1e6)
        for _ in range(5):  # the begin of a new day takes several steps
            assert site.archive is not None
            site.archive.writer.step()


async def test_the_example_prints_what_is_documented(tmp_path: Path) -> None:
    """Prices until the close: none in play, and none while a match is withdrawn or not listed yet."""
    code, shown = (block.lines for block in blocks(document("docs/pandas.md")))
    async with open_site(archived=tmp_path) as site:
        _play(site)
        source = "\n".join(code).replace("http://127.0.0.1:8000", site.base)
        printed = StringIO()
        with redirect_stdout(printed):
            await to_thread.run_sync(exec, source, {})

    assert len(code) <= 40
    assert [*shown] == [line.rstrip() for line in printed.getvalue().splitlines()]
