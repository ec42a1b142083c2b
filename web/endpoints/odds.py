"""The odds lists: /api/v2/odds and /api/odds, of all bookmakers or of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from quart import Blueprint, Response

from actors.core.messages import BookmakerId
from web.encoding.segments import Api
from web.feeds.lists import Answers, View
from web.protocol.query import Query
from web.protocol.responses import Asked, Handler, Prepared, asked, response_of

PATHS = {"/api/v2/odds": Api.V2, "/api/odds": Api.V1}


def handlers(answers: Answers, names: Mapping[BookmakerId, str]) -> dict[str, Handler]:
    """Return by path what answers a request whose filter is written plainly."""
    return {path: _plain(answers, api, names) for path, api in PATHS.items()}


def _plain(answers: Answers, api: Api, names: Mapping[BookmakerId, str]) -> Handler:
    views = {f"bookmaker={name}".encode(): View(api, name) for name in names} | {b"": View(api)}

    def answer(asked: Asked) -> Awaitable[Prepared] | None:
        if (view := views.get(asked.query)) is None:
            return None
        return answers.answer(view, asked.if_none_match, asked.accept_encoding)

    return answer


def blueprint(answers: Answers, names: Mapping[BookmakerId, str]) -> Blueprint:
    """Return the routes, which read any query; `names` are the bookmakers that there are."""
    routes = Blueprint("odds", __name__)
    for path, api in PATHS.items():
        routes.add_url_rule(path, endpoint=api.value, view_func=_route(answers, api, names))
    return routes


def _route(
    answers: Answers, api: Api, names: Mapping[BookmakerId, str]
) -> Callable[[], Awaitable[Response]]:
    async def odds() -> Response:
        given = asked()
        view = View(api, Query(given.query).bookmaker(names))
        return response_of(await answers.answer(view, given.if_none_match, given.accept_encoding))

    return odds
