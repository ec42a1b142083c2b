"""/api/capabilities: the endpoints, their filters and the bookmakers; made once, cached by clients."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from quart import Blueprint, Response

from actors.core.messages import BookmakerId
from web.encoding.schemas import Capabilities
from web.endpoints import changes, odds, stream
from web.protocol.negotiation import has_already
from web.protocol.responses import header

API_VERSION = "2.1"
MAX_AGE_S = 300


def blueprint(endpoints: Iterable[str], bookmakers: Iterable[BookmakerId]) -> Blueprint:
    """Return the route; `endpoints` are all documented paths, `bookmakers` the ids in configured order."""
    routes = Blueprint("capabilities", __name__)
    filters: dict[str, tuple[str, ...]] = {
        **dict.fromkeys(odds.PATHS, ("bookmaker",)),
        changes.PATH: changes.FILTERS,
        stream.PATH: stream.FILTERS,
    }
    body = msgspec.json.encode(
        Capabilities(
            endpoints=tuple(endpoints),
            filters={path: filters[path] for path in sorted(filters)},
            supported_bookmakers=tuple(bookmakers),
            version=API_VERSION,
        )
    )
    etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": f"max-age={MAX_AGE_S}"}

    @routes.get("/api/capabilities")
    async def capabilities() -> Response:
        if has_already(header("If-None-Match") or "", etag):
            return Response(None, 304, headers)
        return Response(body, 200, headers, content_type="application/json")

    return routes
