"""The odds lists: /api/v2/odds and /api/odds, of all bookmakers or of one."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from actors.core.messages import BookmakerId
from web.encoding.segments import Api
from web.feeds.lists import Answers, View
from web.protocol.query import Query
from web.protocol.responses import Asked, Handler, Prepared

PATHS = {"/api/v2/odds": Api.V2, "/api/odds": Api.V1}


def handlers(answers: Answers, names: Mapping[BookmakerId, str]) -> dict[str, Handler]:
    """Return the handlers by path."""
    return {path: _handler(answers, api, names) for path, api in PATHS.items()}


def _handler(answers: Answers, api: Api, names: Mapping[BookmakerId, str]) -> Handler:
    plain = {f"bookmaker={name}".encode(): View(api, name) for name in names} | {b"": View(api)}

    def answer(request: Asked) -> Awaitable[Prepared]:
        view = plain.get(request.query) or View(api, Query(request.query).bookmaker(names))
        return answers.answer(view, request.header(b"if-none-match"), request.header(b"accept-encoding"))

    return answer
