"""/docs: the contract for people, a page without scripts, made of the same document as /openapi.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from web.endpoints import pages
from web.protocol.responses import Handler

PATH = "/docs"
OPERATIONS = {PATH: pages.operation("This contract, for people", "A page without scripts.")}

_PLACE = "<!-- contract -->"


def handlers(contract: Mapping[str, Any]) -> dict[str, Handler]:
    """Return the handler by path; `contract` is what /openapi.json says."""
    return {PATH: pages.page("docs.html", filled={_PLACE: _content(contract)})}


def _content(document: Mapping[str, Any]) -> str:
    of_paths = [
        line for path, methods in document["paths"].items() for line in _path(path, methods, document)
    ]
    of_schemas = [
        line for name, schema in document["components"]["schemas"].items() for line in _schema(name, schema)
    ]
    return "\n".join(['<h2 id="paths">Paths</h2>', *of_paths, '<h2 id="schemas">Bodies</h2>', *of_schemas])


def _path(path: str, methods: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    get = methods["get"]
    yield f'<section id="{escape(get["operationId"])}">'
    yield f"<h3><code>{escape(path)}</code> {escape(get['summary'])}</h3>"
    yield f"<p>{_text(get['description'])}</p>"
    if get["parameters"]:
        yield from _table(
            ("parameter", "in", "what", "form"),
            (
                (
                    f"<code>{escape(parameter['name'])}</code>"
                    + (" (required)" if parameter.get("required") else ""),
                    parameter["in"],
                    _text(parameter["description"]),
                    _form(parameter["schema"]),
                )
                for parameter in get["parameters"]
            ),
        )
    yield from _table(
        ("status", "what", "body"),
        (_answer(status, answer, document) for status, answer in get["responses"].items()),
    )
    for answer in get["responses"].values():
        for media_type, content in answer.get("content", {}).items():
            for example in content.get("examples", {}).values():
                title = f"Example of {escape(media_type)}: {escape(answer['description'])}"
                yield f"<details><summary>{title}</summary>"
                yield f"<pre>{escape(_shown(example['value']))}</pre></details>"
    yield "</section>"


def _answer(status: str, answer: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[str, ...]:
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        return status, _text(answer["description"]), _form({"$ref": "/ProblemDocument"})
    forms = [_form(content["schema"]) for content in answer.get("content", {}).values()]
    return status, _text(answer["description"]), " or ".join(forms) or "none"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{escape(name)}">'
    yield f"<h3>{escape(name)}</h3>"
    yield f"<p>{_text(schema.get('description', ''))}</p>"
    if "enum" in schema:
        yield f"<p>{_form({'enum': schema['enum']})}</p>"
    else:
        required = schema.get("required", ())
        yield from _table(
            ("field", "type", "what"),
            (
                (
                    f"<code>{escape(field)}</code>" + ("" if field in required else " (optional)"),
                    _form(form),
                    _text(form.get("description", "")),
                )
                for field, form in schema["properties"].items()
            ),
        )
    yield "</section>"


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Return a table; titles and cells are HTML."""
    yield '<div class="scroll" tabindex="0"><table>'
    yield (
        "<thead><tr>"
        + "".join(f'<th scope="col">{title}</th>' for title in titles)
        + "</tr></thead><tbody>"
    )
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


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
