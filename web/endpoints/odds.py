"""The odds lists /api/v2/odds and /api/odds, of all bookmakers or of one bookmaker."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from msgspec.structs import replace

from actors.core.messages import BookmakerId
from web.encoding.list_segments import Api
from web.encoding.schemas import ListV1, ListV2
from web.feeds.lists import Answers, View
from web.feeds.past_lists import PastLists
from web.protocol.contract import (
    ACCEPT_ENCODING,
    CACHED,
    COUNTED,
    CSV,
    IF_NONE_MATCH,
    Answer,
    NextRequest,
    Operation,
)
from web.protocol.negotiation import Format
from web.protocol.query import AT, BOOKMAKER, FORMAT, Query
from web.protocol.responses import Asked, Handler, Prepared

PAST = "/api/v2/odds"
PATHS = {PAST: Api.V2, "/api/odds": Api.V1}

_HEADERS = (*CACHED, "Vary", "X-Accel-Expires")
OPERATIONS = {
    path: Operation(
        f"The list, version {version}",
        "Sorted by bookmaker, in the order of the configuration, and by id. Poll with `If-None-Match`.",
        (
            Answer(
                200,
                "The list.",
                body,
                headers=(*headers, "Content-Encoding"),
                also=CSV if FORMAT in choices else "",
                links=links,
            ),
            Answer(304, "The client has this version already.", headers=headers),
        ),
        (*choices, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{choice.name}" for choice in choices),
            "invalid_at",
            "not_acceptable",
            "no_bookmaker_serving",
            "commit_late",
            *COUNTED,
        ),
    )
    for path, version, choices, body, headers, links in (
        (
            "/api/v2/odds",
            2,
            (BOOKMAKER, FORMAT),
            ListV2,
            (*_HEADERS, "Odds-Cursor"),
            (NextRequest("/api/v2/changes", {"since": "$response.header.Odds-Cursor"}),),
        ),
        ("/api/odds", 1, (BOOKMAKER,), ListV1, (*_HEADERS, "Link"), ()),
    )
}


_OF_PAST = Answer(
    303, "The list of that version or time has this address.", headers=("Location", "Cache-Control")
)
WITH_PAST = {
    PAST: replace(
        OPERATIONS[PAST],
        answers=(*OPERATIONS[PAST].answers, _OF_PAST),
        parameters=(BOOKMAKER, FORMAT, AT, IF_NONE_MATCH, ACCEPT_ENCODING),
        problems=(*OPERATIONS[PAST].problems, "version_not_yet", "version_not_archived"),
    )
}
"""Declarations of a service with an archive."""


def handlers(
    answers: Answers, names: Mapping[BookmakerId, str], past: PastLists | None = None
) -> dict[str, Handler]:
    """Return the handlers by path."""
    return {path: _handler(answers, api, names, past) for path, api in PATHS.items()}


def _handler(
    answers: Answers, api: Api, names: Mapping[BookmakerId, str], past: PastLists | None
) -> Handler:
    plain = {f"bookmaker={name}".encode(): View(api, name) for name in names} | {b"": View(api)}

    def answer(request: Asked) -> Awaitable[Prepared]:
        view = plain.get(request.query)
        if view is None:
            query = Query(request.query)
            view = View(api, query.bookmaker(names), Format.JSON if api is Api.V1 else query.format())
            if api is Api.V1:
                query.refuse_at(f"is of {PAST}")
            elif past is None:
                query.refuse_at("needs an archive, which this service does not keep")
            elif (at := query.at()) is not None:
                return past.answer(request, view.bookmaker, at, view.format)
        return answers.answer(view, request.header(b"if-none-match"), request.header(b"accept-encoding"))

    return answer
