"""Errors on a real socket (docs/api.md, 4 and 7)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import Deadlines
from actors.core.messages import BookmakerId
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio

LIST = pytest.mark.parametrize("path", ["/api/odds", "/api/v2/odds"])
INVALID = (
    *("", "nobody", "CEDAR", "Cedar", "cedar%20", "%20cedar", "cedar,alder", "cedar_10", "cedar%00"),
    *("Alder", "all", "*", "null", "足球", "cedar&bookmaker=alder", "cedar&bookmaker=cedar"),
    *("&bookmaker=cedar", "a" * 1900),
)
MEMBERS = ["type", "title", "status", "detail", "instance", "code", "request_id"]
GETS = "GET, HEAD, OPTIONS"


async def _problem(site: Site, method: str, path: str) -> tuple[dict[str, Any], dict[str, str]]:
    response = await site.client.request(method, path)
    problem = response.json()
    assert MEMBERS == list(problem)
    assert "application/problem+json" == response.headers["Content-Type"]
    assert (response.status_code, response.headers["X-Request-Id"]) == (
        problem["status"],
        problem["request_id"],
    )
    assert "no-store" == response.headers["Cache-Control"]
    return problem, dict(response.headers)


@LIST
async def test_an_invalid_bookmaker_is_400_and_lists_the_supported(site: Site, path: str) -> None:
    """An empty, unknown, upper-case or repeated value gets a problem with the parameter and its choices."""
    for value in INVALID:
        problem, _ = await _problem(site, "GET", f"{path}?bookmaker={value}")

        expected = {"status": 400, "code": "invalid_bookmaker", "title": "Bad Request", "instance": path}
        assert problem.items() >= expected.items(), value
        assert "'bookmaker'" in problem["detail"]
        assert "cedar, alder, birch" in problem["detail"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("Birch %26 Söhne", "birch"), ("ALDER", "alder"), ("%20cedar", "cedar"), ("alder,Birch", None)],
)
async def test_a_display_name_is_answered_with_its_id(site: Site, given: str, meant: str | None) -> None:
    """Entries have names and filters take ids: the problem says which id was probably meant."""
    for path in ("/api/v2/odds", "/api/v2/fixtures"):
        detail = (await _problem(site, "GET", f"{path}?bookmaker={given}"))[0]["detail"]

        assert (meant is not None) == detail.endswith(f"; did you mean {meant!r}?")


@LIST
async def test_400_comes_before_503(empty_site: Site, path: str) -> None:
    """An invalid request is 400 whatever the state of the bookmakers."""
    problem, _ = await _problem(empty_site, "GET", f"{path}?bookmaker=nobody")

    assert 400 == problem["status"]


async def test_an_escaped_spelling_of_a_valid_id_is_valid(site: Site) -> None:
    """Percent-encoding changes how a value is written, not its meaning."""
    assert 200 == (await site.get("/api/odds?bookmaker=%63edar")).status_code


async def test_an_unknown_path_is_404_and_points_to_the_capabilities(site: Site) -> None:
    """The problem for an unknown path refers to `/api/capabilities` (7)."""
    paths = ["/api/nothing", "/api/odds/", "/static/x", "/api/odds/足球"]
    for method, path in product(["GET", "POST", "OPTIONS"], paths):
        problem, _ = await _problem(site, method, path)

        expected = {"status": 404, "code": "not_found", "title": "Not Found", "instance": path}
        assert problem.items() >= expected.items()
        assert "/api/capabilities" in problem["detail"]


async def test_another_method_is_405_and_names_the_allowed(site: Site) -> None:
    """The interface is read-only, so any other method is 405 with the allowed methods."""
    paths = ["/api/odds", "/api/v2/odds", "/health", "/monitor", "/", "/static/main.js"]
    for method, path in product(
        ["POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"], [*paths, "/static/main.js"]
    ):
        problem, headers = await _problem(site, method, path)

        expected = {"status": 405, "code": "method_not_allowed", "title": "Method Not Allowed"}
        assert problem.items() >= expected.items(), (method, path)
        assert GETS == ", ".join(sorted(headers["allow"].split(", "))), (method, path)


class _Broken:
    """A board that fails when it is read."""

    @property
    def newest(self) -> Snapshot:
        """Raise an error."""
        raise RuntimeError("hunter2 in /srv/secret.py")

    async def read(self, deadlines: object = None) -> Snapshot:
        del deadlines
        raise RuntimeError("hunter2 in /srv/secret.py")

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        raise NotImplementedError(bookmaker, entry, why)

    def is_valid(self, deadlines: Deadlines) -> bool:
        raise NotImplementedError(deadlines)

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        raise NotImplementedError(deadlines, within_s)


@pytest.mark.parametrize(
    "path", ["/api/odds", "/health", "/health/ready", "/monitor", "/api/stats", "/api/v2/changes?since=1"]
)
async def test_an_exception_is_500_and_shows_no_internals(path: str) -> None:
    """A 500 shows no message, type or file of the exception, only the id under which it was logged."""
    async with open_site(_Broken()) as site:
        problem, headers = await _problem(site, "GET", path)
        still = await site.get("/api/capabilities")

    assert (500, "internal_error", "Internal Server Error") == (
        problem["status"],
        problem["code"],
        problem["title"],
    )
    sent = f"{problem} {headers}"
    assert not [word for word in ("hunter2", "RuntimeError", ".py", "Traceback", "quart") if word in sent]
    assert 200 == still.status_code


@LIST
async def test_503_with_retry_after_while_nothing_is_serving(empty_site: Site, path: str) -> None:
    """Before the first accepted list both versions of the API answer 503."""
    for query in ("", "?bookmaker=cedar", "?bookmaker=alder", "?bookmaker=birch"):
        problem, headers = await _problem(empty_site, "GET", path + query)

        expected = {"status": 503, "code": "no_bookmaker_serving", "instance": path}
        assert problem.items() >= expected.items()
        assert int(headers["retry-after"]) > 0


@LIST
async def test_503_depends_only_on_the_requested_bookmakers(empty_site: Site, path: str) -> None:
    """A serving bookmaker is enough for the list of all bookmakers, and for its own list."""
    empty_site.publish("alder", match())

    asked = {
        query: await empty_site.get(path + query) for query in ("", "?bookmaker=alder", "?bookmaker=cedar")
    }

    assert {"": 200, "?bookmaker=alder": 200, "?bookmaker=cedar": 503} == {
        query: response.status_code for query, response in asked.items()
    }


@LIST
async def test_an_empty_list_of_a_serving_bookmaker_is_200(empty_site: Site, path: str) -> None:
    """An empty list means that the bookmaker was asked and has no matches."""
    empty_site.publish("alder")

    shown = [await empty_site.json(path + query) for query in ("", "?bookmaker=alder")]

    assert [([], 0), ([], 0)] == [(body["matches"], body["matches_count"]) for body in shown]


@LIST
async def test_a_stale_list_is_503_from_its_deadline_on(empty_site: Site, path: str) -> None:
    """No answer has an entry past its deadline, even if nothing but the request happens."""
    empty_site.publish("alder", match(), stale_after_s=30)
    empty_site.clock.pass_(29.999)
    before = await empty_site.get(path)

    empty_site.clock.pass_(0.001)

    after = await empty_site.get(path, if_none_match=before.headers["ETag"])
    assert (200, 503) == (before.status_code, after.status_code)
    assert "Retry-After" in after.headers
