"""The data of the benchmarks: invented fixtures as CSV, as batches and as snapshots."""

from __future__ import annotations

import time
from collections.abc import Sequence

from actors.board import Board, BoardRules
from actors.clock import Instant
from actors.messages import Batch, BookmakerId, ListId, Match, Scope, SourceMatchId
from actors.slices import finish
from actors.snapshot import Snapshot

SCOPE = Scope("fixtures.csv")
RULES = BoardRules()
NOW = Instant(0.0, time.time())
COLUMNS = 114
KEYS = ("B365", "BW", "BFE")


def csv_body(rows: int, shift: int = 0) -> bytes:
    """Give a file of that many fixtures with 114 columns, three bookmakers priced; `shift` moves prices."""
    named = ["Div", "Date", "Time", "HomeTeam", "AwayTeam", *(key + side for key in KEYS for side in "HDA")]
    header = ",".join([*named, *(f"X{at}" for at in range(COLUMNS - len(named)))])
    filler = ",".join(["1.95"] * (COLUMNS - len(named)))
    date = time.strftime("%d/%m/%Y", time.gmtime(NOW.wall + 3 * 86400))
    lines = [header]
    for row in range(rows):
        home = 1.8 + (row * 7 + shift) % 90 / 100
        prices = ",".join(f"{home:.2f},3.40,4.10" for _ in KEYS)
        home_team, away_team = f"Home {row // 150}", f"Away {row % 150}"
        lines.append(f"E0,{date},15:00,{home_team},{away_team},{prices},{filler}")
    return "\r\n".join(lines).encode()


def match(at: int, home_price: float = 2.0) -> Match:
    """Give the fixture of that number."""
    start = int(NOW.wall) + 86_400 + at % 1000 * 60
    return Match(
        SourceMatchId(f"m{at:06d}"), f"Home {at}", f"Away {at}", "League", home_price, 3.4, 4.1, start
    )


def batch(bookmaker: BookmakerId, matches: Sequence[Match], *, complete: bool) -> Batch:
    """Give a batch of those matches, received now."""
    return Batch(
        bookmaker=bookmaker,
        scope=SCOPE,
        list_id=ListId("list"),
        complete=complete,
        matches=tuple(matches),
        removals=(),
        received_at=NOW.wall,
        received_mono=NOW.mono,
        stale_after_s=3600.0,
    )


def snapshot(matches: int, bookmakers: Sequence[BookmakerId]) -> Snapshot:
    """Give a board of that many matches in all, spread over the bookmakers."""
    board = Board(Snapshot.empty(1, tuple(bookmakers)), RULES)
    for bookmaker in bookmakers:
        each = [match(at) for at in range(matches // len(bookmakers))]
        finish(board.apply(batch(bookmaker, each, complete=True), NOW))
    return board.commit()
