"""Makes the parts of an entry's trace for operators (docs/operations.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import anyio
import msgspec
from msgspec.structs import replace

from actors.archive.days.reading import Row
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.messages import Prices, SourceMatchId
from actors.matches.model import fixtures_of
from actors.matching.event import EventKey
from actors.monitoring.status import BookmakerStatus, SourceStatus
from actors.review.review import Review
from actors.review.trace import Left, Traced, TracedMarket
from actors.runtime.membership import ClusterStatus
from web.encoding import entry_schemas as schemas
from web.endpoints.monitor import source_view, time_view
from web.endpoints.operators.links import shown_event

S = TypeVar("S")


async def fixture_view(
    review: Review, snapshot: Snapshot, record: BookmakerStatus, found: Traced, patience_s: float
) -> schemas.EntryFixture | None:
    """Return the fixture of an entry with its links, and the nearest candidate if the linker is in time."""
    state = fixtures_of(snapshot)
    key = EventKey(record.source.name, SourceMatchId(found.id.partition("_")[2]))
    fixture = None if found.entry is None else state.of_event(key)
    if fixture is None:
        return None
    links, near = [], None
    for member in fixture.members:
        if (event := shown_event(state, member.key)) is not None:
            to = None if member.to is None else str(member.to)
            links.append(schemas.EntryLink(event, member.rule, to))
    with anyio.move_on_after(patience_s):
        for pair in await review.nearest(state, (key,)) if len(links) == 1 else ():
            if (event := shown_event(state, pair.b)) is not None:
                near = schemas.EntryCandidate(event, pair.reason)
    return schemas.EntryFixture(fixture.id, review.matcher is not None, tuple(links), near)


def steps_view(found: Traced, rows: list[Row], step: Callable[..., S]) -> list[S]:
    """Return the steps of an entry, newest first: its last change, and earlier changes from the archive.

    `step` makes each step: `step` or `market_step` of the schemas.
    """
    change, entry, steps = found.change, found.entry, list[S]()
    if change is not None:
        reason = change.reason if change.entry is None else None
        steps.append(step(change.entry, change.version, change.at, reason))
        rows = [row for row in rows if row.past.version < change.version]
    elif entry is not None and not (
        rows and rows[0].past.entry and rows[0].past.entry.updated == entry.updated
    ):
        steps.append(step(entry))
    for row in rows:
        past, at = row.past, row.at_ms / 1000
        version, committed_at = (None, None) if row.is_state else (past.version, at)
        steps.append(step(past.entry, version, committed_at, past.reason))
    if not rows and change is not None and change.before is not None:
        steps.append(step(change.before))
    return steps


def list_view(
    found: Traced, record: BookmakerStatus, snapshot: Snapshot, now: Instant
) -> schemas.EntryList | None:
    """Return the state of the list that has the entry, and the end of its validity; None without a list."""
    state, known = found.state, found.known
    if state is None or known is None:
        return None
    is_vouched = record.source.prices is Prices.LIVE and found.entry is not None
    confirmed = state.vouched_at(known.source_match_id) if is_vouched else state.confirmed_mono
    confirmed, wall_less_mono = confirmed - snapshot.books[record.id].ahead_s, now.wall - now.mono
    stale_at = None if state.withdrawn else time_view(wall_less_mono + state.deadline)
    return schemas.EntryList(
        known.scope,
        time_view(wall_less_mono + confirmed),
        stale_at,
        state.withdrawn,
        state.doubted,
    )


def market_views(
    found: list[TracedMarket],
    record: BookmakerStatus,
    now: Instant,
    rows: Mapping[str, list[Row]],
    most: int,
) -> tuple[schemas.EntryMarket, ...]:
    """Return the other markets of a match, on the board, rejected or gone, each with at most `most` steps.

    `rows` are the last changes of each market in the archive, by the market's id.
    """
    views = list[schemas.EntryMarket]()
    for of in found:
        known = of.known
        if known.entry is not None and of.snapshot is not None:
            listed = list_view(known, record, of.snapshot, now)
            view = schemas.market(known.entry, listed)
        elif known.rejected is not None:
            view = schemas.rejected_market(of.market, known.rejected, known.refused)
        else:
            view = schemas.left_market(of.market)
        steps = steps_view(known, rows.get(known.id, []), schemas.market_step)
        views.append(replace(view, steps=tuple(steps[:most])))
    return tuple(views)


def left_of(rows: list[Row]) -> Left | None:
    """Return an archived entry that has left, from its last changes (newest first)."""
    newest = rows[0]
    entry = next((row.past.entry for row in rows if row.past.entry is not None), None)
    if entry is None or newest.past.reason is None:
        return None if entry is None else Left(entry)
    return Left(entry, newest.at_ms / 1000, newest.past.reason)


def absent_view(found: Traced) -> schemas.AbsentEntry | None:
    """Return why an entry is not shown, and since when."""
    if (absent := found.absent) is None:
        return None
    return schemas.AbsentEntry(absent.reason, absent.why, time_view(absent.since))


def rejected_view(found: Traced) -> schemas.EntryRejected | None:
    """Return why the source's match is rejected now, and its prices."""
    if found.rejected is None:
        return None
    if found.refused is None:
        return schemas.EntryRejected(found.rejected, None, None)
    home, draw, away = found.refused.match.prices
    return schemas.EntryRejected(found.rejected, time_view(found.refused.at), (home, draw, away))


def bookmaker_view(record: BookmakerStatus, snapshot: Snapshot, now: Instant) -> schemas.EntryBookmaker:
    """Return the current state of the entry's bookmaker."""
    book = snapshot.books[record.id]
    state = record.observe(book, now)
    return schemas.EntryBookmaker(
        record.id, record.name, state, time_view(record.since), book.count, record.last_error(book)
    )


def entry_source(record: SourceStatus, cluster: ClusterStatus | None) -> schemas.EntrySource:
    """Return the state of the entry's source, and in a cluster the process that collects it."""
    return msgspec.convert(msgspec.to_builtins(source_view(record, cluster)), schemas.EntrySource)
