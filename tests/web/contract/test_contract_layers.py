"""Every layer answers errors in one form: gate, limit, fast path, Quart and stream, on both servers."""

from __future__ import annotations

import msgspec
import pytest

from tests.support.systems.every_answer import problems
from web.protocol.problems import CODES, ProblemDocument
from web.protocol.responses import COMMON
from web.server.servers import Serve, serve, serve_with_uvicorn

pytestmark = pytest.mark.anyio

OF_GATE = {"bad_request", "http2_not_supported", "too_many_parameters", "target_too_long", "overloaded"}
OF_GATE |= {"headers_too_large"}


@pytest.mark.parametrize("server", [serve, serve_with_uvicorn])
async def test_every_error_is_a_problem_document_for_any_origin(server: Serve) -> None:
    """Each code there is comes with its status, the common headers, and no content but its document."""
    found = await problems(server)

    assert CODES == {code: one.status for code, one in found.items()}
    for code, one in found.items():
        document = msgspec.json.decode(one.body, type=ProblemDocument)
        assert one.body == msgspec.json.encode(document)
        assert (code, one.status) == (document.code, document.status)
        assert (one.headers["x-request-id"], str(len(one.body))) == (
            document.request_id,
            one.headers["content-length"],
        )
        assert "application/problem+json" == one.headers["content-type"]
        assert "no-store" == one.headers["cache-control"]
        assert {name: one.headers.get(name.lower()) for name in COMMON} == COMMON
        assert ("retry-after" in one.headers) == (one.status in {429, 503})
        assert (code in OF_GATE) == (document.instance == "")
        assert "hunter2" not in f"{one.headers} {document}"
