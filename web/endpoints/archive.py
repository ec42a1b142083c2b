"""/api/v2/archive: the versions and times that the archive has, its gaps with reasons, and its lag."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from actors.archive.days.format import Gap
from actors.archive.past import Days, Held, Past
from actors.core.clock import Clock
from web.encoding.schemas import Version
from web.protocol.contract import COUNTED, Answer, Operation
from web.protocol.problems import Problem
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

PATH = "/api/v2/archive"

Seconds = Annotated[float, Meta(description="Unix seconds")]


class Interval(Struct, frozen=True):
    """A range of versions without a gap, and the times in which they were the newest."""

    from_version: Version
    to_version: Version
    from_time: Seconds
    to_time: Seconds


class GapBetween(Struct, frozen=True):
    """A gap: versions between these two known versions, at times between, are not kept, with the reason."""

    after_version: Version
    until_version: Version
    after_time: Seconds
    until_time: Seconds
    reason: str


class Archived(Struct, frozen=True):
    """The content of the archive."""

    days: int
    intervals: tuple[Interval, ...]
    gaps: tuple[GapBetween, ...]
    written_version: Version
    lag_s: float
    error: str | None


OPERATIONS = {
    PATH: Operation(
        "The content of the archive",
        "Its intervals of versions and times, its gaps with reasons, and its lag.",
        (Answer(200, "The intervals.", Archived, headers=("Cache-Control",)),),
        problems=COUNTED,
    )
}


def handlers(past: Past | None, clock: Clock) -> dict[str, Handler]:
    """Return the handler by path; none without an archive."""
    if past is None:
        return {}

    async def archive(_: Asked) -> Prepared:
        if (found := await past.read(_kept)) is None:
            raise Problem(503, "overloaded", "the archive changes; try again later", {"Retry-After": "5"})
        held, gaps = found
        status = past.status
        return prepared_json(
            Archived(
                len(held),
                _intervals(held, gaps),
                tuple(
                    GapBetween(gap.after, gap.until, gap.after_at / 1000, gap.until_at / 1000, gap.reason)
                    for gap in gaps
                ),
                status.written,
                round(status.lag_s(clock.now().wall), 3),
                status.error,
            )
        )

    return {PATH: archive}


def missing(paths: Iterable[str]) -> dict[str, Handler]:
    """Return handlers for the paths of an archive that say that it is missing; no contract has them."""

    async def no_archive(_: Asked) -> Prepared:
        raise Problem(
            404, "no_archive", "this process keeps no archive: its configuration has no [archive]"
        )

    return dict.fromkeys(paths, no_archive)


def _kept(days: Days) -> tuple[list[Held], list[Gap]]:
    held = days.held()
    return held, days.gaps(held)


def _intervals(held: list[Held], gaps: list[Gap]) -> tuple[Interval, ...]:
    if not held:
        return ()
    begins = [(held[0].base, held[0].first_ms), *((gap.until, gap.until_at) for gap in gaps)]
    ends = [*((gap.after, gap.after_at) for gap in gaps), (held[-1].last, held[-1].seen_ms)]
    return tuple(
        Interval(first, last, from_ms / 1000, to_ms / 1000)
        for (first, from_ms), (last, to_ms) in zip(begins, ends, strict=True)
    )
