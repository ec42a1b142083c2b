"""The interface on a real socket: capabilities, paths and the filter (docs/api.md, 2.4, 4 and 9)."""

from __future__ import annotations

import re
from itertools import product

import pytest

from actors.core.messages import BookmakerId
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio

LISTS = ["/api/odds", "/api/v2/odds"]
PAGE = "/"
METRICS = "/metrics"
DOCUMENTED = ["/api/capabilities", "/api/odds", "/api/stats", "/api/v2/odds", "/health", "/monitor"]
PROBES = ["/health/live", "/health/ready", "/monitor/events"]
_LISTS = ("changes", "stream", "fixtures", "surebets", "markets", "lines", "value", "alerts")
LIVE = [f"/api/v2/{name}" for name in _LISTS]
CONTRACT = ["/docs", "/openapi.json"]
NO_JSON = {PAGE, METRICS, "/docs", "/api/v2/stream", "/api/v2/lines"}  # lines need an id
NO_PATHS = (
    *("/api", "/api/", "/api/v1/odds", "/API/ODDS", "/health/x", "/favicon.ico", "/static/x"),
    *("/static", "/static/", "/static/index.html", "/static/../index.html", "/index.html"),
    *("/api/odds/", "/api/v2/odds/", "/api/capabilities/", "/health/", "/api/odds;x", "/api/odds%20"),
    *("//api/odds", "///api/v2/odds", "/api//odds", "/api/./odds", "/api/x/../odds", "/api/odds%00"),
    *("/api%2fodds", "/api%2Fv2/odds", "/health%2flive", "//"),
)
LIST = pytest.mark.parametrize("path", LISTS)


async def test_capabilities_have_the_specified_fields(site: Site) -> None:
    """Capabilities list endpoints, filters, bookmakers, names and a version, each of its type (2.4)."""
    capabilities = await site.json("/api/capabilities")

    followed = ["view", "bookmaker", "league", "market", "weak", "min_ev", "reference", "doubted"]
    specified = ["endpoints", "filters", "supported_bookmakers", "version"]
    assert sorted([*specified, "bookmaker_names"]) == sorted(capabilities)
    assert {
        "/api/odds": ["bookmaker"],
        "/api/v2/alerts": ["since"],
        "/api/v2/changes": ["since", *followed, "wait"],
        "/api/v2/fixtures": ["bookmaker", "market", "league", "from", "to", "min_profit", "fair"],
        "/api/v2/lines": ["id", "market", "from", "to", "points"],
        "/api/v2/markets": ["fixture"],
        "/api/v2/odds": ["bookmaker"],
        "/api/v2/stream": [*followed, "since", "conflate_ms"],
        "/api/v2/surebets": [
            *("bookmaker", "market", "league", "from", "to", "min_profit", "fair"),
            *("doubted", "weak", "total", "step"),
        ],
        "/api/v2/value": ["min_ev", "reference", "bookmaker", "league", "market", "doubted"],
        "/monitor/events": ["subject", "to"],
    } == capabilities["filters"]
    assert ["cedar", "alder", "birch"] == capabilities["supported_bookmakers"]
    assert re.fullmatch(r"[0-9]+\.[0-9]+", capabilities["version"])


async def test_the_endpoints_are_the_paths_without_a_parameter(site: Site) -> None:
    """The endpoints are the specified paths, probes, metrics, stream, page and contract, each once."""
    endpoints = (await site.json("/api/capabilities"))["endpoints"]

    assert sorted([PAGE, METRICS, *DOCUMENTED, *PROBES, *LIVE, *CONTRACT]) == sorted(endpoints)


async def test_every_listed_endpoint_but_pages_stream_and_metrics_answers_json(site: Site) -> None:
    """Every listed endpoint can be read as JSON, except the pages, the stream and the metrics."""
    endpoints = (await site.json("/api/capabilities"))["endpoints"]

    asked = [f"{path}?since=5000" for path in endpoints if path not in NO_JSON]
    answers = [await site.get(path) for path in asked]

    assert {(200, "application/json")} == {
        (answer.status_code, answer.headers["Content-Type"]) for answer in answers
    }
    assert all(isinstance(answer.json(), dict) for answer in answers)


async def test_accept_changes_only_the_monitor(site: Site) -> None:
    """`Accept: application/json` is allowed; all answers are JSON, except for a browser at /monitor (4)."""
    accepts = ["application/json", "*/*", "text/html", "nonsense"]
    for path, accept in product([*DOCUMENTED, *PROBES], accepts):
        is_page = (path, accept) == ("/monitor", "text/html")

        response = await site.get(path, accept=accept)

        expected = "text/html; charset=utf-8" if is_page else "application/json"
        assert (200, expected) == (response.status_code, response.headers["Content-Type"]), path


async def test_supported_bookmakers_follow_the_configuration() -> None:
    """Any number of bookmakers may be configured, and they keep the order of the configuration."""
    async with open_site(names={BookmakerId("z"): "Z", BookmakerId("a-1"): "A"}) as site:
        capabilities = await site.json("/api/capabilities")

    assert ["z", "a-1"] == capabilities["supported_bookmakers"]


async def test_capabilities_have_the_name_of_each_id() -> None:
    """Entries have the bookmaker's name, filters take its id; a source may give a name later."""
    names = {BookmakerId("z"): "z", BookmakerId("a-1"): "A"}
    async with open_site(names=names) as site:
        first = await site.json("/api/capabilities")
        names[BookmakerId("z")] = "Zürich"
        later = await site.json("/api/capabilities")

    assert {"z": "z", "a-1": "A"} == first["bookmaker_names"]
    assert {"z": "Zürich", "a-1": "A"} == later["bookmaker_names"]


@LIST
async def test_without_a_filter_all_bookmakers_are_shown(site: Site, path: str) -> None:
    """A list without a filter shows all bookmakers (4, rule 1)."""
    matches = (await site.json(path))["matches"]

    assert {"Cédar 足球", "Alder"} <= {entry["bookmaker"] for entry in matches}


@LIST
@pytest.mark.parametrize(
    ("bookmaker", "name", "count"),
    [("cedar", "Cédar 足球", (2, 2)), ("alder", "Alder", (3, 2)), ("birch", "Birch & Söhne", (1, 0))],
)
async def test_with_a_filter_only_that_bookmaker_is_shown(
    site: Site, path: str, bookmaker: str, name: str, count: tuple[int, int]
) -> None:
    """A filtered list has all entries of that bookmaker, no other, and their count (4, rule 2)."""
    shown = await site.json(f"{path}?bookmaker={bookmaker}")

    assert count[LISTS.index(path)] == len(shown["matches"]) == shown["matches_count"]
    assert {name} >= {entry["bookmaker"] for entry in shown["matches"]}
    assert all(entry["id"].startswith(f"{bookmaker}_") for entry in shown["matches"])


@LIST
async def test_the_filtered_lists_add_up_to_the_whole(site: Site, path: str) -> None:
    """The filtered lists, joined in order, equal the whole list."""
    whole = await site.json(path)

    parts = [await site.json(f"{path}?bookmaker={name}") for name in ("cedar", "alder", "birch")]

    assert whole["matches"] == [entry for part in parts for entry in part["matches"]]
    assert whole["version"] == max(part["version"] for part in parts)


@LIST
async def test_entries_are_in_order_of_configuration_and_id(site: Site, path: str) -> None:
    """Bookmakers are in the configured order, ids in the order of code points: 10 before 9, A before a."""
    site.publish("alder", match("b-2"), match("B-1"))
    site.publish("birch", match("z"), match("~"), match("-"))

    ids = [entry["id"] for entry in (await site.json(path))["matches"]]

    cedar, alder, birch = (
        ["cedar_10", "cedar_9"],
        ["alder_B-1", "alder_b-2"],
        ["birch_-", "birch_z", "birch_~"],
    )
    assert cedar + alder + birch == ids


@LIST
async def test_unknown_parameters_are_ignored(site: Site, path: str) -> None:
    """Only the parameter `bookmaker`, in exactly this spelling, has a meaning."""
    plain = await site.get(path)
    for query in ("x=1", "", "&&", "Bookmaker=nobody", "limit=1&offset=3", "=bookmaker", "x=bookmaker=z"):
        asked = await site.get(f"{path}?{query}")

        assert (200, plain.content, plain.headers["ETag"]) == (
            asked.status_code,
            asked.content,
            asked.headers["ETag"],
        )


async def test_a_path_without_a_filter_ignores_bookmaker(site: Site) -> None:
    """A path without a filter ignores any value of `bookmaker` (4)."""
    for path in ("/api/capabilities", "/health", "/health/live", "/monitor", "/api/stats"):
        assert 200 == (await site.get(f"{path}?bookmaker=nobody")).status_code, path


async def test_any_other_path_is_not_found(site: Site) -> None:
    """Paths are exact, and a similar path is not redirected (4, rule 4)."""
    for path in NO_PATHS:
        answered = await site.raw("GET", path)

        expected = (404, "application/problem+json")
        assert expected == (answered.status, answered.headers["content-type"]), path
        assert "location" not in answered.headers, path
