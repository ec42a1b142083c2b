"""A season of football-data.co.uk, replayed: each match first at earlier prices, then at closing prices.

The product's source reads the file. A day before the kick-off each bookmaker lists the earlier prices,
five minutes before it the closing prices, and a minute after it prices that no reader may use as a close.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from actors.archive.archive import open_archive
from actors.archive.folder import ArchiveSettings
from actors.archive.restart import Configured
from actors.core.messages import Batch, BookmakerId, Match, SourceMatchId, SourceName
from actors.markets.market import Kind
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.monitoring.status import ArchiveStatus
from tests.support.archive.boards import archived_boards
from tests.support.builders.football_data import ALL_MARKETS, judged
from tests.support.builders.messages import batch
from tests.support.time.virtual import ManualClock

CODES = ("B365", "BFD", "BMGM", "BV", "BW", "CL", "LB", "PS", "BFE")
DAY_S, CLOSING_S = 86_400, 300
_STALE_AFTER_S = 1e9
_ONE_X_TWO, _LINED = "|".join(CODES), "AH|B365|BFE|P"
_EARLIER = re.compile(rf"^(({_ONE_X_TWO})[HDA]|({_LINED})(h|AH[HA]|[<>]2\.5))(\r?)$")
_CLOSING = re.compile(rf"^(?:({_ONE_X_TWO})C([HDA])|({_LINED})C(h|AH[HA]|[<>]2\.5))(\r?)$")


def bodies(path: Path, most: int) -> tuple[bytes, bytes]:
    """Return the first matches of a file as before kick-off: at earlier prices, and at closing prices."""
    header, *rows = path.read_bytes().replace(b",FTHG,", b",Goals,", 1).split(b"\n")[: most + 1]
    names = [_EARLIER.sub(r"-\1\5", name) for name in header.decode().split(",")]
    closing = ",".join([_CLOSING.sub(r"\1\2\3\4\5", name) for name in names]).encode()
    return b"\n".join([header, *rows, b""]), b"\n".join([closing, *rows, b""])


def name_of(code: str) -> BookmakerId:
    """Return the id of a bookmaker by its code in the file."""
    return BookmakerId(code.lower())


def replay(earlier: bytes, closing: bytes, folder: Path) -> None:
    """Archive a season in a folder."""
    of_earlier, of_closing = (
        {code: _by_match(judged(body, code, ALL_MARKETS).batch.matches) for code in CODES}
        for body in (earlier, closing)
    )
    starts = {
        event: min(of.start_time or 0 for of in some)
        for listed in (*of_earlier.values(), *of_closing.values())
        for event, some in listed.items()
    }
    begin = min(starts.values()) - 2 * DAY_S
    clock = ManualClock(0.0, float(begin))
    names = {name_of(code): code for code in CODES}
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SourceName("files")) for name in names}))
    archive = open_archive(
        ArchiveSettings(str(folder), keep_days=365),
        ArchiveStatus(),
        clock,
        terms=terms,
        configured={name: Configured("same", code) for name, code in names.items()},
        names=lambda _: names,
        kinds=ALL_MARKETS.markets[1:],
    )
    boards = archived_boards(archive, clock, terms, ALL_MARKETS.markets[1:])
    shown: dict[str, dict[SourceMatchId, list[Match]]] = {code: {} for code in CODES}
    for number, (at, events) in enumerate(_events(starts)):
        clock.pass_(at - clock.wall)
        batches = []
        for code in CODES:
            for event, late_s in events:
                listed = (of_earlier if late_s == -DAY_S else of_closing)[code].get(event, [])
                shown[code][event] = [_wrong(of) for of in listed] if late_s > 0 else listed
                if late_s > CLOSING_S:
                    del shown[code][event]
            every = [of for some in shown[code].values() for of in some]
            batches.append(_whole(name_of(code), f"list-{number}", every, clock))
        boards.apply(*batches)
        while archive.writer.written < boards.newest_of_any.version:
            archive.writer.step()
    archive.close(is_orderly=True)


def _whole(name: BookmakerId, list_id: str, matches: list[Match], clock: ManualClock) -> Batch:
    return batch(
        matches,
        bookmaker=name,
        list_id=list_id,
        received_mono=clock.mono,
        received_at=clock.wall,
        stale_after_s=_STALE_AFTER_S,
    )


def _by_match(matches: tuple[Match, ...]) -> dict[SourceMatchId, list[Match]]:
    found: dict[SourceMatchId, list[Match]] = {}
    for of in matches:
        found.setdefault(of.event_id, []).append(of)
    return found


def _events(starts: dict[SourceMatchId, int]) -> Iterator[tuple[int, list[tuple[SourceMatchId, int]]]]:
    """Yield each time with its matches, and its seconds after the kick-off."""
    offsets = (-DAY_S, -CLOSING_S, 60, 7_200)
    every = sorted((start + late_s, event, late_s) for event, start in starts.items() for late_s in offsets)
    for at, some in groupby(every, key=lambda of: of[0]):
        yield at, [(event, late_s) for _, event, late_s in some]


def _wrong(of: Match) -> Match:
    """Return a match with prices in play."""
    if of.market.kind is Kind.ONE_X_TWO:
        return replace(of, home_price=1.02, draw_price=15.0, away_price=51.0)
    return replace(of, odds=(1.01, 17.0))
