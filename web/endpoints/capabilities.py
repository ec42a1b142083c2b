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
MAX_AGE_S = 300


def handlers(paths: Iterable[str], bookmakers: Iterable[BookmakerId]) -> dict[str, Handler]:
    """Return the handler by path; `paths` are the other endpoints, `bookmakers` in configured order."""
    filters: dict[str, tuple[str, ...]] = {
        **dict.fromkeys(odds.PATHS, ("bookmaker",)),
        changes.PATH: changes.FILTERS,
        stream.PATH: stream.FILTERS,
    }
    capabilities = Capabilities(
        endpoints=tuple(sorted({PATH, *paths})),
        filters=dict(sorted(filters.items())),
        supported_bookmakers=tuple(bookmakers),
        version=API_VERSION,
    )
    headers = {"Cache-Control": f"max-age={MAX_AGE_S}"}
    return {PATH: constant(msgspec.json.encode(capabilities), "application/json", headers)}
