"""/api/v2/changes: what changed in the v2 list since a version, for clients that poll."""

from __future__ import annotations

import anyio
from quart import Blueprint, Response, request

from actors.board.history import MAX_ANSWER, History
from actors.core.messages import BookmakerId
from web.feeds.subscribers import Live
from web.protocol.problems import Problem
from web.protocol.query import Query, Since

PATH = "/api/v2/changes"
FILTERS = ("since", "bookmaker", "wait")


def blueprint(live: Live) -> Blueprint:
    """Return the route."""
    routes = Blueprint("changes", __name__)
    audience, history = live.audience, live.history

    @routes.get(PATH)
    async def changes() -> Response:
        query = Query(request.query_string)
        view, asked, wait_s = query.bookmaker(live.names), query.since(), query.wait_s()
        since, newest = asked.version, (await live.board.read()).version
        if not asked.is_of(history.epoch):
            raise _not_available(asked, history, view, newest)
        if wait_s and history.latest(view) <= since <= newest:
            with audience.admitted(), anyio.move_on_after(wait_s):
                while history.latest(view) <= since and not audience.is_leaving:
                    await audience.wait(view)
                    await live.board.read()  # withdraws what is overdue
        is_valid = False
        while not is_valid:  # or something fell due while it was made
            snapshot = await live.board.read()
            delta = await live.frames.delta(view, since) if since <= snapshot.version else None
            is_valid = live.board.is_valid(snapshot)
        if delta is None:
            newest = (await live.board.read()).version
            raise _not_available(asked, history, view, newest)
        body = b"".join(delta)
        return Response(body, 200, {"Cache-Control": "no-store"}, content_type="application/json")

    return routes


def _not_available(asked: Since, history: History, view: BookmakerId | None, current: int) -> Problem:
    oldest = history.oldest(view)
    given = str(asked.version) if asked.epoch is None else f"{asked.version} of epoch {asked.epoch}"
    why = (
        f"version {given} is not among those that changes are known since: {oldest} to {current}"
        f" of epoch {history.epoch}; get the whole list from /api/v2/odds"
    )
    if asked.is_of(history.epoch) and oldest <= asked.version <= current:
        why = (
            f"more than {MAX_ANSWER} matches changed since version {given};"
            " get the whole list from /api/v2/odds, which is smaller"
        )
    return Problem(
        410,
        "version_not_available",
        why,
        extra={"oldest_version": oldest, "current_version": current, "epoch": history.epoch},
    )
