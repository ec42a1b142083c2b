"""/openapi.json: the contract for programs (OpenAPI 3.1), made from the endpoints' declarations.

Schemas come from the types of the bodies, parameters from the parser of queries, problems from the table of
codes. The examples are answers of a real service (`examples.json`; a test compares them with new answers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from actors.core.messages import BookmakerId
from web.encoding.fixture_schemas import EVENTS as OF_FIXTURES
from web.encoding.schemas import EVENTS
from web.endpoints.capabilities import API_VERSION
from web.protocol.contract import (
    COUNTED,
    EVENT_STREAM,
    JSON,
    OF_ALL,
    OF_GATE,
    PROBLEM,
    Answer,
    Operation,
)
from web.protocol.problems import CODES, ProblemDocument
from web.protocol.query import OF_BOOKMAKERS, Parameter
from web.protocol.responses import COMMON, Handler, constant
from web.protocol.value_query import JUDGED, REFERENCE

PATH = "/openapi.json"
OPERATIONS = {
    PATH: Operation(
        "This contract, for programs",
        "OpenAPI 3.1, made from the declarations by which the service answers.",
        (
            Answer(200, "The contract.", dict[str, Any], headers=("ETag", "Cache-Control", "Vary")),
            Answer(304, "The client has it already.", headers=("ETag", "Cache-Control", "Vary")),
        ),
    )
}
EXAMPLES = Path(__file__).with_name("examples.json")
"""Answers of a real service: bodies of 200 and 503 by path, problem documents by code."""

_TEXT = {"type": "string"}
_HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Allow": ("The methods of the path.", _TEXT),
    "Cache-Control": ("Whether and how long the answer may be cached.", _TEXT),
    "Content-Encoding": ("Absent for `identity`.", {"const": "gzip"}),
    "Content-Security-Policy": ("What a page may load: nothing but this service.", _TEXT),
    "ETag": (
        "Names this body in this coding; send it back as `If-None-Match`.",
        {"type": "string", "pattern": '^"[^"]+"$'},
    ),
    "Link": ("The list that replaces this list.", _TEXT),
    "Location": (
        "The new address, relative to this one.",
        {"type": "string", "format": "uri-reference"},
    ),
    "Odds-Cursor": (
        "VERSION-EPOCH of this list: `since` of its changes.",
        {"type": "string", "pattern": "^[0-9]+-[0-9a-z]+$"},
    ),
    "RateLimit": ("How many more requests the client may make, and in what time.", _TEXT),
    "RateLimit-Policy": ("How many requests each client may make, and in what time.", _TEXT),
    "Referrer-Policy": ("Links of a page send no referrer.", {"const": "no-referrer"}),
    "Retry-After": ("Seconds to wait before the next attempt.", {"type": "integer", "minimum": 0}),
    "Vary": ("The request headers that the answer depends on.", _TEXT),
    "WWW-Authenticate": ("How to send the token of operators: `Bearer` or `Basic`.", _TEXT),
    "X-Accel-Expires": (
        "No proxy may cache this answer, because an entry may leave it within 2 s.",
        {"type": "integer", "const": 0},
    ),
    "X-Request-Id": (
        "Names this answer in the log.",
        {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    ),
    **{name: ("The same in every answer.", {"const": value}) for name, value in COMMON.items()},
}
_ALWAYS = ("X-Request-Id", *COMMON)
_REQUIRED = {*_ALWAYS, "ETag", "Cache-Control", "Link", "Location", "Allow", "Odds-Cursor"}
_REQUIRED |= {"WWW-Authenticate"}
_OF_PROBLEMS: Mapping[int, tuple[str, ...]] = {
    401: ("WWW-Authenticate",),
    406: ("Vary",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_LIMITED = ("RateLimit", "RateLimit-Policy")


def handlers(contract: Mapping[str, Any]) -> dict[str, Handler]:
    """Return the handler by path."""
    return {PATH: constant(msgspec.json.encode(contract), JSON, {"Cache-Control": "no-cache"})}


def document(operations: Mapping[str, Operation], bookmakers: Iterable[BookmakerId]) -> dict[str, Any]:
    """Return the contract of these paths as plain values."""
    return _Document(tuple(bookmakers)).of(operations)


class _Document:
    """Collects the schemas and problems that operations refer to."""

    def __init__(self, bookmakers: tuple[str, ...]) -> None:
        self._bookmakers = bookmakers
        self._examples = msgspec.json.decode(EXAMPLES.read_bytes())
        self._responses: dict[str, Any] = {"options": _OF_OPTIONS}
        self._parameters: dict[str, Any] = {}

    def of(self, operations: Mapping[str, Operation]) -> dict[str, Any]:
        bodies = [
            body
            for operation in operations.values()
            for answer in operation.answers
            for body in (answer.body, *answer.bodies)
            if body
        ]
        types = [*dict.fromkeys([*bodies, *EVENTS.values(), *OF_FIXTURES.values(), ProblemDocument])]
        schemas, named = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
        self._schemas = dict(zip(types, schemas, strict=True))
        for schema in named.values():
            del schema["title"]  # equal to the name of the schema
            if "description" in schema:
                schema["description"] = cleandoc(schema["description"])
        return {
            "openapi": "3.1.1",
            "info": {
                "title": "oddsboard",
                "version": API_VERSION,
                "summary": "Football odds of several bookmakers, read-only",
                "description": "GET, HEAD and OPTIONS, without credentials, from any origin.",
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "paths": {path: self._path(path, operation) for path, operation in operations.items()},
            "components": {  # this order compresses best: paths refer most often to the first of these
                "responses": self._responses,
                "headers": {name: _header(name) for name in _HEADERS},
                "parameters": self._parameters,
                "examples": {code: {"value": value} for code, value in self._examples["problems"].items()},
                "schemas": named,
            },
        }

    def _path(self, path: str, operation: Operation) -> dict[str, Any]:
        name = _name(path)
        of_get = {
            "summary": operation.summary,
            "description": operation.description,
            "parameters": [self._parameter(parameter) for parameter in operation.parameters],
        }
        answers = {str(answer.status): answer for answer in operation.answers}
        problems = self._problems((*OF_ALL, *operation.problems), answers)
        found: dict[str, Any] = {
            method: {
                "operationId": f"{method}_{name}",
                **of_get,
                "responses": {
                    **{key: self._answer(path, answer, method) for key, answer in answers.items()},
                    **problems,
                },
            }
            for method in ("get", "head")
        }
        if operation.answers[0].media_type == EVENT_STREAM:
            found["get"]["x-events"] = {event: self._event(event) for event in EVENTS}
        of_path = [
            self._parameter(parameter) for parameter in operation.parameters if parameter.place == "path"
        ]
        found["options"] = {
            "operationId": f"options_{name}",
            **({"parameters": of_path} if of_path else {}),
            "summary": "The methods of this path; also the preflight of a browser",
            "responses": {
                "200": {"$ref": "#/components/responses/options"},
                **self._problems((*OF_ALL, *COUNTED), {}),
            },
        }
        return found

    def _event(self, event: str) -> Any:
        schemas = [self._schemas[table[event]] for table in (EVENTS, OF_FIXTURES) if event in table]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _parameter(self, parameter: Parameter) -> dict[str, str]:
        """Return a reference to a parameter; further parameters with the same name get a number."""
        made = self._made(parameter)
        alike = [key for key, known in self._parameters.items() if known["name"] == parameter.name]
        found = [key for key in alike if self._parameters[key] == made]
        number = f"-{len(alike) + 1}" if alike else ""
        key = found[0] if found else f"{parameter.name}{number}"
        self._parameters[key] = made
        return {"$ref": f"#/components/parameters/{key}"}

    def _made(self, parameter: Parameter) -> dict[str, Any]:
        schema, style = dict(parameter.schema), {}
        if parameter in (*OF_BOOKMAKERS, REFERENCE, JUDGED):
            name = {"type": "string", "enum": self._bookmakers}
            schema |= {"items": name} if schema["type"] == "array" else name
        if schema.get("type") == "array":
            style = {"style": "form", "explode": False}
        required = {"required": True} if parameter.is_required else {}
        return {
            "name": parameter.name,
            "in": parameter.place,
            **required,
            **style,
            "description": parameter.description,
            "schema": schema,
        }

    def _answer(self, path: str, answer: Answer, method: str) -> dict[str, Any]:
        made: dict[str, Any] = {
            "description": answer.description,
            "headers": _headers((*answer.headers, *_ALWAYS, *_LIMITED)),
        }
        if answer.body is not None and method == "get":
            schemas = [self._schemas[body] for body in (answer.body, *answer.bodies)]
            content: dict[str, Any] = {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}
            example = self._examples["answers"].get(f"{path} {answer.status}")
            if example is not None:
                content["examples"] = {"real": {"value": example}}
            made["content"] = {answer.media_type: content}
            if answer.also:
                made["content"][answer.also] = {"schema": _TEXT}
            for link in answer.links:
                target = f"get_{_name(link.path)}"
                made["links"] = {target: {"operationId": target, "parameters": link.parameters}}
        return made

    def _problems(self, codes: Iterable[str], answers: Mapping[str, Answer]) -> dict[str, Any]:
        by_status: dict[str, list[str]] = {}
        for code in codes:
            by_status.setdefault(str(CODES[code]), []).append(code)
        found: dict[str, Any] = {}
        for status, some in sorted(by_status.items()):
            if status in answers:
                continue
            key = "-".join([status, *(code for code in some if code not in OF_GATE)])
            self._responses.setdefault(key, self._problem(int(status), some))
            found[status] = {"$ref": f"#/components/responses/{key}"}
        return found

    def _problem(self, status: int, codes: list[str]) -> dict[str, Any]:
        own = _OF_PROBLEMS.get(status, ())
        is_one = {"properties": {"code": {"enum": codes}, "status": {"const": status}}}
        content = {
            "schema": {"allOf": [self._schemas[ProblemDocument], is_one]},
            "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
        }
        return {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(codes)}.",
            "headers": _headers((*own, "Cache-Control", *_ALWAYS, *_LIMITED)),
            "content": {PROBLEM: content},
        }


def _name(path: str) -> str:
    return re.sub("[{}]", "", path.strip("/")).replace("/", "_").replace(".", "_") or "board"


def _headers(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted({*names})}


def _header(name: str) -> dict[str, Any]:
    description, schema = _HEADERS[name]
    return {"description": description, "required": name in _REQUIRED, "schema": schema}


_OF_OPTIONS = {"description": "No body.", "headers": _headers(("Allow", *_ALWAYS, *_LIMITED))}
