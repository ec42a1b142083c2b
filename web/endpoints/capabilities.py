"""/api/capabilities: the endpoints, their filters and the bookmakers; made once, cached by clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from actors.core.messages import BookmakerId
from web.encoding.schemas import Capabilities
from web.protocol.contract import CACHED, IF_NONE_MATCH, NOT_MODIFIED, Answer, Operation
from web.protocol.responses import Handler, constant

PATH = "/api/capabilities"
API_VERSION = "2.5"
OPERATIONS = {
    PATH: Operation(
        "The endpoints, their parameters, the bookmakers",
        "Call it first, and do not write lists of endpoints into clients.",
        (Answer(200, "What the service supports.", Capabilities, headers=CACHED), NOT_MODIFIED),
        (IF_NONE_MATCH,),
    )
}


def handlers(operations: Mapping[str, Operation], bookmakers: Iterable[BookmakerId]) -> dict[str, Handler]:
    """Return the handler by path; `operations` by path, `bookmakers` in configured order."""
    paths = sorted(path for path in operations if "{" not in path)
    capabilities = Capabilities(
        endpoints=tuple(paths),
        filters={path: operations[path].filters for path in paths if operations[path].filters},
        supported_bookmakers=tuple(bookmakers),
        version=API_VERSION,
    )
    body = msgspec.json.encode(capabilities)
    return {PATH: constant(body, "application/json", {"Cache-Control": "max-age=300"})}
