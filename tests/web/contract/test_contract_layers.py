"""Every layer answers errors in one form: gate, limit, fast path, Quart and stream."""

from __future__ import annotations

import msgspec
import pytest

from tests.support.systems.every_answer import problems
from web.protocol.problems import CODES, ProblemDocument
from web.protocol.responses import COMMON

pytestmark = pytest.mark.anyio

OF_GATE = {"bad_request", "http2_not_supported", "too_many_parameters", "target_too_long", "overloaded"}
OF_GATE |= {"headers_too_large"}


async def test_every_error_is_a_problem_document_for_any_origin() -> None:
    """Each code comes with its status, the common headers, and no content besides its document."""
    found = await problems()

    assert CODES == {code: answer.status for code, answer in found.items()}
    for code, answer in found.items():
        document = msgspec.json.decode(answer.body, type=ProblemDocument)
        assert answer.body == msgspec.json.encode(document)
        assert (code, answer.status) == (document.code, document.status)
        assert (answer.headers["x-request-id"], str(len(answer.body))) == (
            document.request_id,
            answer.headers["content-length"],
        )
        assert "application/problem+json" == answer.headers["content-type"]
        assert "no-store" == answer.headers["cache-control"]
        assert {name: answer.headers.get(name.lower()) for name in COMMON} == COMMON
        assert ("retry-after" in answer.headers) == (answer.status in {429, 503})
        assert (code in OF_GATE) == (document.instance == "")
        assert "hunter2" not in f"{answer.headers} {document}"
