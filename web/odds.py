"""The odds lists: /api/v2/odds and /api/odds, of all bookmakers or of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from quart import Blueprint, Response, request

from actors.messages import BookmakerId
from web.answers import Answers, View
from web.prepared import Asked, Handler, Prepared, asked, response_of
from web.problems import Problem
from web.segments import Api

PATHS = {"/api/v2/odds": Api.V2, "/api/odds": Api.V1}


def handlers(answers: Answers, names: Mapping[BookmakerId, str]) -> dict[str, Handler]:
    """Give by path what answers a request whose filter is written plainly."""
    return {path: _plain(answers, api, names) for path, api in PATHS.items()}


def _plain(answers: Answers, api: Api, names: Mapping[BookmakerId, str]) -> Handler:
    views = {f"bookmaker={name}".encode(): View(api, name) for name in names} | {b"": View(api)}

    async def answer(asked: Asked) -> Prepared | None:
        if (view := views.get(asked.query)) is None:
            return None
        return await answers.answer(view, asked.if_none_match, asked.accept_encoding)

    return answer


def blueprint(answers: Answers, names: Mapping[BookmakerId, str]) -> Blueprint:
    """Give the routes, which read any query; `names` are the bookmakers that there are."""
    routes = Blueprint("odds", __name__)
    for path, api in PATHS.items():
        routes.add_url_rule(path, endpoint=api.value, view_func=_route(answers, api, names))
    return routes


def _route(
    answers: Answers, api: Api, names: Mapping[BookmakerId, str]
) -> Callable[[], Awaitable[Response]]:
    async def odds() -> Response:
        view, given = View(api, _bookmaker(names)), asked()
        return response_of(await answers.answer(view, given.if_none_match, given.accept_encoding))

    return odds


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
