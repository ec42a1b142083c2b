"""The servers give the same answers; what they add to each."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, Answered, open_site
from web.server.servers import serve_with_uvicorn

pytestmark = pytest.mark.anyio


QUERIES = ("", "?bookmaker=alder", "?bookmaker=nobody", "?bookmaker=cedar&bookmaker=cedar", "?x=%zz")
PATHS = [
    *("/", "/api/capabilities", "/monitor", "/health/ready", "/nowhere", "/api%2fodds", "/static/main.js"),
    *("/api/odds", "/api/v2/odds", "/api/v2/fixtures", "/api/v2/changes", "/api/v2/fixtures/none"),
]
LINES: list[tuple[str, ...]] = [
    (),
    ("Accept-Encoding: br", "Accept-Encoding: gzip;q=0.5, identity;q=0.1"),
    ("Accept-Encoding: identity;q=0",),
    ('If-None-Match: "1"', f'If-None-Match: W/"5003-{EPOCH}"'),
    ("If-None-Match: *", "Accept-Encoding: gzip"),
    ("Origin: https://example.org", "Access-Control-Request-Method: GET"),
]
OF_THE_MOMENT = {"date", "x-request-id"}


def _comparable(answer: Answered) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name not in OF_THE_MOMENT}
    return answer.status, headers, answer.body.replace(answer.headers["x-request-id"].encode(), b"id")


@pytest.mark.parametrize("path", PATHS)
async def test_uvicorn_answers_as_hypercorn_does(path: str) -> None:
    """Status, headers and body are equal for every method, and every kind of query and header."""
    async with open_site() as opened, open_site(serve=serve_with_uvicorn) as other:
        for site in (opened, other):
            site.clock.pass_(1.5)
            site.publish(
                "alder", match("b-2", home="São Paulo"), match("B-1", league=None, start_time=None)
            )
            site.publish("birch", match("x.1", away=""))
            site.publish("cedar")
        requests = [*(("GET", query) for query in QUERIES), ("HEAD", ""), ("OPTIONS", ""), ("POST", "")]
        for (method, query), lines in product(requests, LINES):
            asked = method, path + query, *lines
            by_one, by_other = await opened.raw(*asked), await other.raw(*asked)
            assert _comparable(by_one) == _comparable(by_other), asked
