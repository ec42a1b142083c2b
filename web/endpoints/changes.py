"""/api/v2/changes: the changes of the v2 list since a version, for clients that poll."""

from __future__ import annotations

import anyio

from actors.archive.past import Reach
from actors.board.history import MAX_ANSWER
from actors.matches.model import FixtureView, ViewKind
from web.encoding.fixture_schemas import FixtureChangesV2
from web.encoding.schemas import Changes
from web.encoding.value_schemas import ValueChanges
from web.endpoints.value_stream import changes_of_values
from web.feeds.subscribers import Live, Watched
from web.feeds.value.changes import FollowedValues
from web.protocol.contract import ACCEPT_ENCODING, COUNTED, Answer, Operation
from web.protocol.moments import Since
from web.protocol.negotiation import Coding, coding_for
from web.protocol.problems import Problem
from web.protocol.query import (
    BOOKMAKER,
    LEAGUE,
    MARKET,
    NOT_IN_CHANGES,
    SINCE,
    VIEW,
    WAIT,
    WEAK,
)
from web.protocol.responses import Asked, Handler, Prepared, prepared
from web.protocol.value_query import DOUBTED, OF_VALUES, ValueQuery

PATH = "/api/v2/changes"
_VARY = {"Vary": "Accept-Encoding"}
OPERATIONS = {
    PATH: Operation(
        "The changes of the v2 list since a version",
        "Replace your entries by those in `matches` with the same id, drop the ids in `removed`, and sort.",
        (
            Answer(
                200,
                "The changes; with `view` their entries are fixtures, or values.",
                Changes,
                headers=("Cache-Control", "Vary", "Content-Encoding"),
                bodies=(FixtureChangesV2, ValueChanges),
            ),
        ),
        (SINCE, VIEW, BOOKMAKER, LEAGUE, MARKET, WEAK, *OF_VALUES, DOUBTED, WAIT, ACCEPT_ENCODING),
        (
            *("invalid_since", "invalid_view", "invalid_bookmaker", "invalid_wait"),
            *("invalid_min_ev", "invalid_reference"),
            *(
                "invalid_league",
                "invalid_market",
                "invalid_weak",
                *NOT_IN_CHANGES,
                "version_not_available",
                "commit_late",
                "linking",
            ),
            *("too_many_client_streams", "too_many_streams", "stopping", *COUNTED),
        ),
    )
}


def handlers(every: Live, values: FollowedValues) -> dict[str, Handler]:
    """Return the handler by path. It may wait; the caller must cancel it when its client leaves."""
    audience = every.audience

    async def changes(request: Asked) -> Prepared:
        query = ValueQuery(request.query)
        if query.watches_values():
            return await changes_of_values(values, every, query, request)
        view, asked, wait_s = query.watched(every.names), query.since(), query.wait_s()
        view = await every.resolved(view, request.client)
        live = every.of(view)
        since, newest = asked.version, (await live.read(view)).version
        history = (frames := live.frames(view)).history
        if since > newest and live.is_one_of_several and asked.is_of(history.epoch):
            with audience.admitted(request.client):
                await live.reached(view, since)
            newest = (await live.read(view)).version
        if not asked.is_of(history.epoch):
            reach = await frames.reach(view, since, request.client)
            raise _not_available(asked, history.epoch, view, reach, newest)
        may_wait = wait_s and every.is_known(since)
        if may_wait and await frames.passed(view, since, request.client) is not None:
            with audience.admitted(request.client), anyio.move_on_after(wait_s):
                await _changed(live, view, since, request.client)
        coding = coding_for(request.header(b"accept-encoding")) or Coding.IDENTITY
        while True:  # repeated if a deadline passed while the answer was made
            snapshot = await live.read(view)
            known = every.is_known(since)
            delta = await frames.delta(view, since, coding, request.client) if known else None
            if live.is_valid(view, snapshot):
                break
        if delta is None:
            reach = await frames.reach(view, since, request.client)
            raise _not_available(asked, history.epoch, view, reach, snapshot.version)
        headers = {"Cache-Control": "no-store", "Content-Type": "application/json", **_VARY}
        if delta.coding is not Coding.IDENTITY:
            headers["Content-Encoding"] = delta.coding
        return prepared(200, headers, delta.parts, holds=delta)

    return {PATH: changes}


async def _changed(live: Live, view: Watched, since: int, client: str | None) -> None:
    """Wait until the view changes after version `since`, or the service is about to end."""
    frames, passed = live.frames(view), since
    while (found := await frames.passed(view, passed, client)) is not None:
        if live.audience.is_leaving:
            return
        passed = found
        if frames.history.latest(view) <= passed:
            await live.audience.wait(view)
            await live.read(view)  # withdraws overdue entries


def _not_available(asked: Since, epoch: str, view: Watched, reach: Reach, current: int) -> Problem:
    oldest, what, path = reach.oldest, "matches", "/api/v2/odds"
    if isinstance(view, FixtureView):
        path = f"/api/v2/{view.kind}" if view.kind is not ViewKind.WEAK else "/api/v2/surebets?weak=1"
        what = "fixtures"
    given = str(asked.version) if asked.epoch is None else f"{asked.version} of epoch {asked.epoch}"
    why = (
        f"version {given} is not among those that changes are known since: {oldest} to {current}"
        f" of epoch {epoch}; get the whole list from {path}"
    )
    if asked.is_of(epoch) and oldest <= asked.version <= current:
        why = (
            f"version {given} is in a gap of the archive (/api/v2/archive names all);"
            f" get the whole list from {path}"
        )
    if asked.is_of(epoch) and reach.has and asked.version <= current:
        why = (
            f"more than {MAX_ANSWER} {what} changed since version {given};"
            f" get the whole list from {path}, which is smaller"
        )
    extra: dict[str, int | str] = {"oldest_version": oldest, "current_version": current, "epoch": epoch}
    return Problem(410, "version_not_available", why, extra=extra)
