"""For operators: the transitions of sources, bookmakers and the service, newest first.

With an archive these are the transitions of two weeks, also of earlier runs of the service; otherwise the
transitions in memory.
"""

from __future__ import annotations

from functools import partial
from typing import Final, Literal

from msgspec import Struct

from actors.archive.journal import About, Kept
from actors.archive.past import Days, Past
from actors.core.messages import BookmakerId
from actors.monitoring.journal import EventReport
from actors.monitoring.status import ServiceStatus
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import read_for
from web.protocol.contract import CLOSED, Answer, Operation
from web.protocol.query import BEFORE, SUBJECT, Query
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

PATH = "/monitor/events"
MOST: Final = 500


class EventList(Struct, frozen=True):
    """The newest events before `to`, at most 500, newest first; `since` is the oldest kept event's time.

    `kept` says where the events come from. `subjects` are the subjects of all events there.
    """

    kept: Literal["archive", "memory"]
    since: float | None
    subjects: list[str]
    events: list[EventReport]


OPERATIONS = {
    PATH: Operation(
        "What happened to sources and bookmakers",
        "The transitions of the last two weeks; without an archive, those in memory since the start.",
        (Answer(200, "The events.", EventList, headers=("Cache-Control",)),),
        (SUBJECT, BEFORE),
        ("invalid_subject", "invalid_to", *CLOSED),
    )
}


def handlers(status: ServiceStatus, past: Past | None, own: OwnBodies) -> dict[str, Handler]:
    """Return the handler by path; readings of the archive count as work in `own`."""

    async def events(request: Asked) -> Prepared:
        query = Query(request.query)
        subject, before_s = query.subject(), query.before_s()
        record = status.bookmakers.get(BookmakerId(subject or ""))
        about = About(subject, None if record is None else record.source.name)
        archived = None
        if past is not None:
            what = partial(Days.events, about=about, before_s=before_s, most=MOST)
            archived = await read_for(request.client, past, own, what)
        return prepared_json(_list_of(status.log.journal.events, archived, about, before_s))

    return {PATH: events}


def _list_of(
    noted: tuple[EventReport, ...], archived: Kept | None, about: About, before_s: float
) -> EventList:
    """Return the events in memory, some perhaps not written yet, and events that only the archive has."""
    kept = Kept([], None, []) if archived is None else archived
    known = {(event.at, event.event, event.subject) for event in noted}
    older = [event for event in kept.events if (event.at, event.event, event.subject) not in known]
    wanted = [event for event in reversed(noted) if event.at < before_s and about.has(event)]
    since = [event.at for event in noted] + ([] if kept.since is None else [kept.since])
    return EventList(
        "memory" if archived is None else "archive",
        min(since, default=None),
        sorted({event.subject for event in noted}.union(kept.subjects)),
        sorted(wanted + older, key=lambda event: event.at, reverse=True)[:MOST],
    )
