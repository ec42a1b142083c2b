"""/api/capabilities: the endpoints, their filters and the bookmakers; made again when a name changes."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from functools import lru_cache

import msgspec

from actors.core.messages import BookmakerId
from web.encoding.schemas import Capabilities
from web.protocol.contract import CACHED, IF_NONE_MATCH, Answer, Operation
from web.protocol.responses import Asked, Handler, Prepared, constant

PATH = "/api/capabilities"
API_VERSION = "2.9"
_HEADERS = (*CACHED, "Vary", "Content-Encoding")
OPERATIONS = {
    PATH: Operation(
        "The endpoints, their parameters, the bookmakers",
        "Call it first, and do not write lists of endpoints into clients.",
        (
            Answer(200, "What the service supports.", Capabilities, headers=_HEADERS),
            Answer(304, "The client has it already.", headers=(*CACHED, "Vary")),
        ),
        (IF_NONE_MATCH,),
    )
}


def handlers(operations: Mapping[str, Operation], names: Mapping[BookmakerId, str]) -> dict[str, Handler]:
    """Return the handler by path; `names` are in configured order, and may change."""
    paths = sorted(path for path in operations if "{" not in path)
    filters = {path: operations[path].filters for path in paths if operations[path].filters}

    @lru_cache(maxsize=1)
    def made(named: tuple[tuple[BookmakerId, str], ...]) -> Handler:
        ids = tuple(name for name, _ in named)
        body = Capabilities(tuple(paths), filters, ids, dict[str, str](named), API_VERSION)
        headers = {"Cache-Control": "max-age=300"}
        return constant(msgspec.json.encode(body), "application/json", headers)

    def answer(request: Asked) -> Awaitable[Prepared]:
        return made(tuple(names.items()))(request)

    return {PATH: answer}
