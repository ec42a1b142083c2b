"""Invented fixtures, as CSV, as batches and as snapshots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from random import Random

import msgspec

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, ListId, Match, Scope
from actors.sources.simulated.kind import SimulatedMachine, SimulatedOptions

SCOPE = Scope("fixtures.csv")
RULES = BoardRules(max_matches=1_000_000)  # boards of any size are measured
NOW = Instant(0.0, time.time())
COLUMNS = 114
KEYS = ("B365", "BW", "BFE")


def csv_body(rows: int, shift: int = 0, keys: Sequence[str] = KEYS) -> bytes:
    """Return a file of `rows` fixtures with 114 columns, priced for `keys`; `shift` moves prices."""
    named = ["Div", "Date", "Time", "HomeTeam", "AwayTeam", *(key + side for key in keys for side in "HDA")]
    header = ",".join([*named, *(f"X{at}" for at in range(COLUMNS - len(named)))])
    filler = ",".join(["1.95"] * (COLUMNS - len(named)))
    date = time.strftime("%d/%m/%Y", time.gmtime(NOW.wall + 3 * 86400))
    lines = [header]
    for row in range(rows):
        home = 1.8 + (row * 7 + shift) % 60 / 100  # the book sum stays within what validation accepts
        prices = ",".join(f"{home:.2f},3.40,4.10" for _ in keys)
        home_team, away_team = f"Home {row // 150}", f"Away {row % 150}"
        lines.append(f"E0,{date},15:00,{home_team},{away_team},{prices},{filler}")
    return "\r\n".join(lines).encode()


@lru_cache(maxsize=8)  # drawing a large board takes seconds
def matches(count: int, seed: int = 1) -> tuple[Match, ...]:
    """Return about `count` matches of one bookmaker, with the simulated source's teams and prices.

    Prices have different times, as on a board that has run for a while.
    """
    machine = SimulatedMachine(
        SimulatedOptions(kind="simulated", seed=seed, matches=count), ("standard",), NOW
    )
    run_now(machine.advance(NOW))
    random = Random(seed)
    return tuple(
        msgspec.structs.replace(match, source_time=NOW.wall - round(random.uniform(0, 3600), 3))
        for match in machine.image()["standard"].matches
    )


def batch(bookmaker: BookmakerId, matches: Sequence[Match], *, complete: bool) -> Batch:
    """Return a batch of the matches, received now."""
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


def snapshot(count: int, bookmakers: Sequence[BookmakerId]) -> Snapshot:
    """Return a board with about `count` matches in all, spread over the bookmakers."""
    board = Board(Snapshot.empty(1, tuple(bookmakers)), RULES)
    for seed, bookmaker in enumerate(bookmakers, 1):
        each = matches(count // len(bookmakers), seed)
        run_now(board.apply(batch(bookmaker, each, complete=True), NOW))
    return run_now(board.finish(NOW))
