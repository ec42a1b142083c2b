"""/api/capabilities: the endpoints, their filters and the bookmakers; made once, cached by clients."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from actors.core.messages import BookmakerId
from web.encoding.schemas import Capabilities
from web.endpoints import changes, odds, stream
from web.protocol.responses import Handler, constant

PATH = "/api/capabilities"
API_VERSION = "2.1"


def handlers(paths: Iterable[str], bookmakers: Iterable[BookmakerId]) -> dict[str, Handler]:
    """Return the handler by path; `paths` are the other endpoints, `bookmakers` in configured order."""
    filters: dict[str, tuple[str, ...]] = dict.fromkeys(odds.PATHS, ("bookmaker",))
    filters |= {changes.PATH: changes.FILTERS, stream.PATH: stream.FILTERS}
    capabilities = Capabilities(
        endpoints=tuple(sorted({PATH, *paths})),
        filters=dict(sorted(filters.items())),
        supported_bookmakers=tuple(bookmakers),
        version=API_VERSION,
    )
    body = msgspec.json.encode(capabilities)
    return {PATH: constant(body, "application/json", {"Cache-Control": "max-age=300"})}
