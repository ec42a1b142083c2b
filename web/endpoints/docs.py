"""/docs: the contract as a page without scripts, made from the document of /openapi.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from msgspec import Struct

from web.endpoints import pages
from web.protocol.contract import PROBLEM
from web.protocol.responses import Handler

PATH = "/docs"
OPERATIONS = {PATH: pages.operation("This contract, for people", "A page without scripts.")}

MANY_PATHS = 10
"""If more paths than this have an error, the error is described once for all paths."""

_PLACE = "<!-- contract -->"


def handlers(contract: Mapping[str, Any]) -> dict[str, Handler]:
    """Return the handler by path; `contract` is the document of /openapi.json."""
    return {PATH: pages.page("docs.html", filled={_PLACE: _content(contract)})}


def _content(document: Mapping[str, Any]) -> str:
    paths, schemas = document["paths"], document["components"]["schemas"]
    errors = _errors(document)
    of_paths = [
        line for path, methods in paths.items() for line in _path(path, methods["get"], errors, document)
    ]
    of_schemas = [line for name, schema in schemas.items() for line in _schema(name, schema)]
    return "\n".join(
        [
            *_contents(paths, schemas),
            '<div class="text">',
            *('<h2 id="paths">Paths</h2>', *of_paths),
            *('<h2 id="errors">Errors</h2>', *_error_table(errors, paths)),
            *('<h2 id="schemas">Bodies</h2>', *of_schemas),
            '</div><a class="up" href="#contents">Contents</a>',
        ]
    )


class _Error(Struct, frozen=True):
    """A problem: its status, a real service's detail, and the paths that may answer it."""

    status: int
    detail: str
    paths: list[str]

    @property
    def is_common(self) -> bool:
        """Whether so many paths may answer the problem that it is described once for all paths."""
        return len(self.paths) > MANY_PATHS


def _errors(document: Mapping[str, Any]) -> dict[str, _Error]:
    """Return the problems by code, sorted by status."""
    found: dict[str, _Error] = {}
    for path, methods in document["paths"].items():
        for answer in methods["get"]["responses"].values():
            if "$ref" not in answer:
                continue
            problem = _resolved(answer["$ref"], document)["content"][PROBLEM]
            properties = problem["schema"]["allOf"][1]["properties"]
            for code in properties["code"]["enum"]:
                example = _resolved(problem["examples"][code]["$ref"], document)["value"]
                error = _Error(properties["status"]["const"], example["detail"], [])
                found.setdefault(code, error).paths.append(path)
    return dict(sorted(found.items(), key=lambda pair: (pair[1].status, not pair[1].is_common, pair[0])))


def _resolved(ref: str, document: Mapping[str, Any]) -> Any:
    found: Any = document
    for name in ref.removeprefix("#/").split("/"):
        found = found[name]
    return found


def _contents(paths: Mapping[str, Any], schemas: Iterable[str]) -> Iterator[str]:
    yield '<nav id="contents" class="contents" aria-label="Contents"><p><a href="#paths">Paths</a></p><ul>'
    for path, methods in paths.items():
        yield f'<li><a href="#{escape(methods["get"]["operationId"])}">{escape(path)}</a></li>'
    yield '</ul><p><a href="#errors">Errors</a></p><p><a href="#schemas">Bodies</a></p>'
    yield "<details><summary>All bodies</summary><ul>"
    yield from (f'<li><a href="#{escape(name)}">{escape(name)}</a></li>' for name in schemas)
    yield "</ul></details></nav>"


def _path(
    path: str, get: Mapping[str, Any], errors: Mapping[str, _Error], document: Mapping[str, Any]
) -> Iterator[str]:
    yield f'<section id="{escape(get["operationId"])}">'
    yield f"<h3><code>{escape(path)}</code> {escape(get['summary'])}</h3>"
    yield f"<p>{_text(get['description'])}</p>"
    if get["parameters"]:
        parameters = [_resolved(parameter["$ref"], document) for parameter in get["parameters"]]
        yield from _table(("parameter", "in", "what", "form"), map(_parameter, parameters))
    answers = {status: answer for status, answer in get["responses"].items() if "$ref" not in answer}
    yield from _table(("status", "what", "body"), (_answer(*pair) for pair in answers.items()))
    own = [code for code, error in errors.items() if path in error.paths and not error.is_common]
    links = "".join(f'<a href="#error-{code}"><code>{code}</code></a>, ' for code in own)
    of_all = '<a href="#errors">most paths</a>'
    yield f"<p>Errors: {links}and those of {of_all}.</p>" if own else f"<p>Errors: those of {of_all}.</p>"
    for answer in answers.values():
        for media_type, content in answer.get("content", {}).items():
            for example in content.get("examples", {}).values():
                title = f"Example of {escape(media_type)}: {escape(answer['description'])}"
                yield f"<details><summary>{title}</summary>"
                yield f"<pre>{escape(_shown(example['value']))}</pre></details>"
    yield "</section>"


def _parameter(parameter: Mapping[str, Any]) -> tuple[str, ...]:
    name = f"<code>{escape(parameter['name'])}</code>" + (
        " (required)" if parameter.get("required") else ""
    )
    return name, parameter["in"], _text(parameter["description"]), _form(parameter["schema"])


def _answer(status: str, answer: Mapping[str, Any]) -> tuple[str, ...]:
    forms = [_form(content["schema"]) for content in answer.get("content", {}).values()]
    return status, _text(answer["description"]), " or ".join(forms) or "none"


def _error_table(errors: Mapping[str, _Error], paths: Mapping[str, Any]) -> Iterator[str]:
    yield '<p>The body of each is a <a href="#ProblemDocument">ProblemDocument</a>.</p>'
    yield from _table(
        ("code", "status", "what, for example", "answered by"),
        (
            (
                f'<code id="error-{code}">{code}</code>',
                str(error.status),
                escape(error.detail),
                _who(error, paths),
            )
            for code, error in errors.items()
        ),
    )


def _who(error: _Error, paths: Mapping[str, Any]) -> str:
    others = [path for path in paths if path not in error.paths]
    named = others if error.is_common else error.paths
    links = ", ".join(
        f'<a href="#{escape(paths[path]["get"]["operationId"])}">{escape(path)}</a>' for path in named
    )
    if not error.is_common:
        return links
    return f"all paths but {links}" if links else "all paths"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Return a body's schema, folded. A click unfolds it; in some browsers a link to it unfolds it, too."""
    yield f'<section id="{escape(name)}"><details><summary><h3>{escape(name)}</h3></summary>'
    yield f"<p>{_text(schema.get('description', ''))}</p>"
    if "enum" in schema:
        yield f"<p>{_form({'enum': schema['enum']})}</p>"
    else:
        yield from _table(("field", "type", "what"), _fields(schema))
    yield "</details></section>"


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    required = schema.get("required", ())
    for field, form in schema["properties"].items():
        name = f"<code>{escape(field)}</code>" + ("" if field in required else " (optional)")
        yield name, _form(form), _text(form.get("description", ""))


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Return a table; titles and cells are HTML. On a phone each cell begins with its title."""
    titles = tuple(titles)
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    for row in rows:
        cells = zip(titles, row, strict=True)
        yield "<tr>" + "".join(f'<td data-title="{title}">{cell}</td>' for title, cell in cells) + "</tr>"
    yield "</tbody></table>"


def _form(schema: Mapping[str, Any]) -> str:
    """Return a JSON Schema in a few words."""
    match schema:
        case {"$ref": str(ref)}:
            name = escape(ref.rpartition("/")[2])
            form = f'<a href="#{name}">{name}</a>'
        case {"anyOf": list(some)}:
            form = " or ".join(map(_form, some))
        case {"prefixItems": [item, *_] as several}:
            form = f"{len(several)} times {_form(item)}"
        case {"type": "array", "items": item}:
            form = f"list of {_form(item)}"
        case {"type": "object", "additionalProperties": dict(item)}:
            form = f"map to {_form(item)}"
        case _:
            form = _simple_form(schema)
    return form


def _simple_form(schema: Mapping[str, Any]) -> str:
    kind = escape(str(schema.get("type", "anything")))
    match schema:
        case {"enum": [*values]}:
            return ", ".join(f"<code>{escape(str(value))}</code>" for value in values)
        case {"pattern": str(pattern)}:
            return f"text, <code>{escape(pattern)}</code>"
        case {"minimum": least, "maximum": most}:
            return f"{kind}, {least} to {most}"
        case {"exclusiveMinimum": bound}:
            return f"{kind} above {bound:g}"
    return kind


def _text(text: str) -> str:
    """Return text as HTML, with backquoted parts as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def _shown(example: Any) -> str:
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
