"""/openapi.json describes the real service: paths, parameters, answers and examples."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from actors.markets.market import Kind, parsed
from tests.support.systems.every_answer import (
    BY_PAST,
    BY_TARGET,
    OF_ARCHIVE,
    answers,
    examples,
    failing_probes,
    problems,
    showing,
    surebets,
)
from tests.support.systems.site import Answered, Site
from web.app import OPERATIONS
from web.endpoints.openapi import EXAMPLES
from web.protocol.problems import CODES

pytestmark = pytest.mark.anyio

NUMBERS = ("/health", "/health/live", "/monitor", "/api/stats")
"""Paths whose numbers differ from run to run."""


async def _contract(site: Site) -> dict[str, Any]:
    contract = await site.json("/openapi.json")
    assert isinstance(contract, dict)
    return contract


def _resolved(contract: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        _, *path = value["$ref"].split("/")
        value = contract
        for name in path:
            value = value[name]
    return value


def _check(contract: dict[str, Any], path: str, answer: Answered) -> None:
    """Check an answer to a GET of `path` against the contract: status, headers, media type and body."""
    responses = contract["paths"][path]["get"]["responses"]
    declared = _resolved(contract, responses[str(answer.status)])
    headers = {name.lower(): _resolved(contract, value) for name, value in declared["headers"].items()}
    required = {name for name, value in headers.items() if value["required"]}
    of_transport = {"content-length", "content-type", "date", "connection"}
    assert required <= answer.headers.keys() <= headers.keys() | of_transport
    for name in headers.keys() & answer.headers.keys():
        is_number = headers[name]["schema"].get("type") == "integer"
        value = int(answer.headers[name]) if is_number else answer.headers[name]
        Draft202012Validator(headers[name]["schema"]).validate(value)
    content = declared["content"][answer.headers["content-type"].partition(";")[0]]
    schema = {**content["schema"], "components": contract["components"]}
    Draft202012Validator(schema).validate(json.loads(answer.body))


async def test_the_contract_is_valid() -> None:
    """The contract follows the schema of OpenAPI 3.1, and every reference leads somewhere."""
    async with showing() as site:
        contract = await _contract(site)

    OpenAPIV31SpecValidator(contract).validate()
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(contract)))
    assert all(_resolved(contract, {"$ref": reference}) for reference in references)


def test_a_success_is_200_or_304() -> None:
    """The only other success is 303, from a former id of a fixture to the new id."""
    successes = {
        path: {answer.status for answer in operation.answers if answer.status < 400}
        for path, operation in OPERATIONS.items()
    }

    others = {path: some for path, some in successes.items() if not {200} <= some <= {200, 304}}
    assert {"/api/v2/fixtures/{id}": {200, 303, 304}} == others


async def test_the_paths_are_the_endpoints() -> None:
    """Parameters are those of the capabilities and `format`; the enum has the supported bookmakers."""
    async with showing() as site:
        contract, capabilities = await _contract(site), await site.json("/api/capabilities")
    parameters = {
        path: [_resolved(contract, parameter) for parameter in methods["get"]["parameters"]]
        for path, methods in contract["paths"].items()
    }
    of_queries = {
        path: [parameter["name"] for parameter in some if parameter["in"] == "query"]
        for path, some in parameters.items()
        if path in capabilities["endpoints"]
    }

    assert capabilities["endpoints"] == sorted(path for path in contract["paths"] if "{" not in path)
    filters = {path: [name for name in names if name != "format"] for path, names in of_queries.items()}
    assert capabilities["filters"] == {path: names for path, names in filters.items() if names}
    assert capabilities["version"] == contract["info"]["version"]
    assert capabilities["supported_bookmakers"] == parameters["/api/odds"][0]["schema"]["enum"]


async def test_one_market_has_the_published_spelling() -> None:
    """The pattern of a parameter for one market allows exactly the accepted spellings."""
    numbers = [quarters / 4 for quarters in range(-90, 91)]
    lines = {f"{sign}{line:{form}}" for line in numbers for form in ("g", "", ".2f") for sign in ("", "+")}
    lines |= {"-0", "1.3", "0.255", "00", "05", "main", "", "1e1"}
    spelled = [*Kind, *(f"{kind}:{line}" for kind in Kind for line in lines), "", "main", "1x2,btts", "1X2"]
    async with showing() as site:
        contract = await _contract(site)
    declared = contract["paths"]["/api/v2/fixtures/{id}/ages"]["get"]["parameters"]
    (schema,) = [
        parameter["schema"]
        for parameter in (_resolved(contract, reference) for reference in declared)
        if parameter["name"] == "market"
    ]

    assert [_is_read(text) for text in spelled] == [
        re.search(schema["pattern"], text) is not None for text in spelled
    ]
    assert 3 + 80 + 81 == sum(map(_is_read, spelled))


def _is_read(text: str) -> bool:
    try:
        return str(parsed(text)) == text
    except ValueError:
        return False


async def test_every_answer_is_as_declared() -> None:
    """Answers of each path, of failing probes and of each problem are as the contract declares."""
    async with showing() as site:
        contract = await _contract(site)
        for path, probe in (await answers(site)).items():
            _check(contract, path, probe)
    for path, probe in (await failing_probes()).items():
        _check(contract, path, probe)
    for code, probe in (await problems()).items():
        path = BY_TARGET.get(code, "/api/v2/odds").partition("?")[0]
        if code == "linking":
            path = "/api/v2/fixtures"
        if code == "unauthorized":
            path = "/monitor"
        if code in {"stopping", "too_many_streams", "too_many_client_streams"}:
            path = "/api/v2/stream"
        if CODES[code] not in {404, 405} and code not in BY_PAST:  # others have no path, or need an archive
            _check(contract, path if path in contract["paths"] else "/api/v2/odds", probe)


async def test_every_answer_of_the_past_is_as_declared(tmp_path: Path) -> None:
    """With an archive: a past list, a redirect from a time, lost versions, and the archive's content."""
    async with showing(archived=tmp_path) as site:
        contract = await _contract(site)
        version = site.published.newest.version
        for target in (f"at={version}", *(path.partition("?")[2] for path in BY_PAST.values())):
            _check(contract, "/api/v2/odds", await site.raw("GET", f"/api/v2/odds?{target}"))
        for target in OF_ARCHIVE:
            _check(contract, target.partition("?")[0], await site.raw("GET", target))
        led = await site.raw("GET", f"/api/v2/odds?at={version - 1}&bookmaker=birch")
        filters = (await site.json("/api/capabilities"))["filters"]["/api/v2/odds"]

    assert {303} == {led.status}
    assert contract["paths"]["/api/v2/odds"]["get"]["responses"]["303"]["headers"].keys() <= {
        *led.headers.keys(),
        *contract["components"]["headers"],
    }
    assert ["bookmaker"] == filters


async def test_no_body_has_more_than_is_declared() -> None:
    """A body that is read into its declared type and written again does not change."""
    async with showing() as site:
        for path, answer in [*(await answers(site)).items(), ("/api/v2/surebets", await surebets())]:
            kind = OPERATIONS[path].answers[0].body
            body = msgspec.json.decode(answer.body)
            assert body == json.loads(msgspec.json.encode(msgspec.convert(body, kind)))


async def test_the_examples_are_real_answers() -> None:
    """A service gives these answers now, except for ids, Python's titles, and measured values.

    `python -m tests.support.systems.every_answer` writes the examples anew.
    """
    assert _steady(await examples()) == _steady(json.loads(EXAMPLES.read_bytes()))


async def test_the_contract_is_served_prepared_and_compressed() -> None:
    """The ETag follows the content; the page for people has the same paths, without inline scripts."""
    async with showing() as site:
        plain, packed = [
            await site.raw("GET", "/openapi.json", f"Accept-Encoding: {name}") for name in ("br", "gzip")
        ]
        again = await site.raw("GET", "/openapi.json", f"If-None-Match: {plain.headers['etag']}")
        page = (await site.raw("GET", "/docs", "Accept-Encoding: gzip")).body
    html = gzip.decompress(page).decode()

    assert ("application/json", plain.body) == (plain.headers["content-type"], gzip.decompress(packed.body))
    assert (304, b"") == (again.status, again.body)
    assert len(packed.body) < 36_000
    assert all(f"<code>{path}</code>" in html for path in json.loads(plain.body)["paths"])
    assert "<summary>Example of application/json: " in html
    assert {"stopping", "invalid_market"} <= {*re.findall('<code id="error-([a-z_]+)">', html)}
    assert ["theme.js"] == re.findall(r'<script[^>]*src="static/([^"]+)"', html)
    assert [] == re.findall(r'(?:src|href)="(?:https?:)?//', html)


def _steady(value: Any, path: str = "") -> Any:
    """Return an example without the values that differ from run to run."""
    if isinstance(value, dict):
        return {
            key: ""
            if key in {"release", "request_id", "title"}
            else _steady(item, key.split(" ")[0] if " " in key else path)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_steady(item, path) for item in value]
    if path == "/api/v2/stream" and isinstance(value, str):
        return re.sub(r'(retry"?: ?)\d+', r"\1", value)
    return None if path in NUMBERS and isinstance(value, int | float | None) else value
