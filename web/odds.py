"""The odds lists: /api/v2/odds and /api/odds, of all bookmakers or of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quart import Blueprint, Response, request

from actors.messages import BookmakerId
from actors.snapshot import Snapshot
from web.answers import Answers, View
from web.problems import Problem
from web.requests import header
from web.segments import Api

PATHS = {"/api/v2/odds": Api.V2, "/api/odds": Api.V1}


def blueprint(
    read: Callable[[], Snapshot], answers: Answers, names: Mapping[BookmakerId, str]
) -> Blueprint:
    """Give the routes; `read` gives the newest snapshot, `names` the bookmakers' display names."""
    routes = Blueprint("odds", __name__)

    async def odds(api: Api) -> Response:
        view = View(api, _bookmaker(names))
        answer = answers.answer(view, read(), header("If-None-Match"), header("Accept-Encoding"))
        return Response(answer.body, answer.status, answer.headers)

    for path, api in PATHS.items():
        routes.add_url_rule(path, endpoint=api.value, view_func=odds, defaults={"api": api})
    return routes


def _bookmaker(names: Mapping[BookmakerId, str]) -> BookmakerId | None:
    """Read the filter: absent, or exactly one of the configured ids. Raises: Problem 400."""
    given = request.args.getlist("bookmaker")
    if not given:
        return None
    if len(given) == 1 and given[0] in names:
        return BookmakerId(given[0])
    found = f"was {given[0][:64]!r}" if len(given) == 1 else f"was given {len(given)} times"
    detail = f"parameter 'bookmaker' {found}, must be one of: {', '.join(names)}"
    raise Problem(400, "invalid_bookmaker", detail)
