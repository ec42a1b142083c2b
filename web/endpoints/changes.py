"""/api/v2/changes: what changed in the v2 list since a version, for clients that poll."""

from __future__ import annotations

import anyio

from actors.board.history import MAX_ANSWER
from actors.core.messages import BookmakerId
from web.feeds.subscribers import Live
from web.protocol.problems import Problem
from web.protocol.query import Query, Since
from web.protocol.responses import Asked, Handler, Prepared, prepared

PATH = "/api/v2/changes"
FILTERS = ("since", "bookmaker", "wait")


def handlers(live: Live) -> dict[str, Handler]:
    """Return the handler by path. It may wait: the caller must cancel it when the client has gone."""
    audience, board = live.audience, live.board

    async def changes(request: Asked) -> Prepared:
        query = Query(request.query)
        view, asked, wait_s = query.bookmaker(live.names), query.since(), query.wait_s()
        since, newest = asked.version, (await board.read()).version
        if not asked.is_of(live.history.epoch):
            raise _not_available(asked, live, view, newest)
        if wait_s and live.history.latest(view) <= since <= newest:
            with audience.admitted(request.client), anyio.move_on_after(wait_s):
                while live.history.latest(view) <= since and not audience.is_leaving:
                    await audience.wait(view)
                    await board.read()  # withdraws what is overdue
        while True:  # until nothing fell due while the answer was made
            snapshot = await board.read()
            delta = await live.frames.delta(view, since) if since <= snapshot.version else None
            if board.is_valid(snapshot):
                break
        if delta is None:
            raise _not_available(asked, live, view, snapshot.version)
        headers = {"Cache-Control": "no-store", "Content-Type": "application/json"}
        return prepared(200, headers, tuple(delta))

    return {PATH: changes}


def _not_available(asked: Since, live: Live, view: BookmakerId | None, current: int) -> Problem:
    oldest, epoch = live.history.oldest(view), live.history.epoch
    given = str(asked.version) if asked.epoch is None else f"{asked.version} of epoch {asked.epoch}"
    why = (
        f"version {given} is not among those that changes are known since: {oldest} to {current}"
        f" of epoch {epoch}; get the whole list from /api/v2/odds"
    )
    if asked.is_of(epoch) and oldest <= asked.version <= current:
        why = (
            f"more than {MAX_ANSWER} matches changed since version {given};"
            " get the whole list from /api/v2/odds, which is smaller"
        )
    extra: dict[str, int | str] = {"oldest_version": oldest, "current_version": current, "epoch": epoch}
    return Problem(410, "version_not_available", why, extra=extra)
