"""The pages and the files that they load, read once at the start.

A page's first script is sent with all modules that it imports, its style sheet likewise: over HTTP/1.1 a
browser requests six files at a time, and each six take a round trip. Each module also has its own address,
without its folder: modules import each other by name alone, and folders only sort files by page.

The security policy lets a page load from this service alone, and run no inline script. Its only trusted
type is the address of the worker that tabs share (`static/board/line.js`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from web.protocol.contract import ACCEPT_ENCODING, CACHED, HTML, IF_NONE_MATCH, Answer, Operation
from web.protocol.responses import Handler, constant

FILES = {file.name: file for file in (Path(__file__).resolve().parent.parent / "static").glob("*/*")}
"""All pages' files by name."""
STATIC = "/static/"

BEGINNINGS = ("first.js", "main.js", "monitor.js", "shared.js")
"""The first scripts of pages and workers. A module that one of them imports from another stays separate."""
_IMPORT = re.compile(r'^import (?:(\{.*\}) from )?"\./(.+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
_SHEET = re.compile(r'^@import "(.+)";$', re.MULTILINE)

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Cache-Control": "no-cache",  # revalidated each time, so that files of two releases never mix
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types shared-stream"
    ),
    "Referrer-Policy": "no-referrer",
}


PAGE_HEADERS = (*CACHED, "Vary", *_HEADERS)


def operation(summary: str, description: str) -> Operation:
    """Return the declaration of a page."""
    whole = Answer(200, "The page.", str, HTML, (*dict.fromkeys(PAGE_HEADERS), "Content-Encoding"))
    known = Answer(304, "The client has it already.", headers=(*dict.fromkeys(PAGE_HEADERS),))
    return Operation(summary, description, (whole, known), (IF_NONE_MATCH, ACCEPT_ENCODING))


OPERATIONS = {"/": operation("The board as a page", "Live, filtered by its address.")}


def route_of(path: str) -> str:
    """Return the route of a path's counter; all files of the pages have one route."""
    return f"{STATIC}{{file}}" if path.startswith(STATIC) else path


def page(name: str, filled: Mapping[str, str] = {}, **headers: str) -> Handler:
    """Return the handler of a file; `headers` are added to the usual headers.

    `filled` has the HTML for each comment that it replaces.
    """
    text = script(name) if name in BEGINNINGS else sheet(name) if name.endswith(".css") else _text(name)
    for comment, html in filled.items():
        text = text.replace(comment, html)
    return constant(text.encode(), _TYPES[Path(name).suffix], {**_HEADERS, **headers})


@cache
def script(name: str) -> str:
    """Return a script with all modules that it imports; each is a function that returns its exports."""
    modules = dict.fromkeys(_imported_by(name))
    parts = [f'modules["{module}"] = (() => {{\n{_as_function(module)}}})();\n' for module in modules]
    return "".join(["const modules = {};\n", *parts, _with_constants(_text(name))])


def sheet(name: str) -> str:
    """Return a style sheet with the sheets that it imports."""
    return _SHEET.sub(lambda found: _text(found[1]), _text(name))


def _imported_by(name: str) -> Iterator[str]:
    """Yield all modules that a module needs, each after its own imports."""
    for _, module in _IMPORT.findall(_text(name)):
        if module not in BEGINNINGS:
            yield from _imported_by(module)
            yield module


def _as_function(module: str) -> str:
    text = _with_constants(_text(module))
    return f"{_EXPORT.sub('', text)}return {{ {', '.join(_EXPORT.findall(text))} }};\n"


def _with_constants(text: str) -> str:
    """Replace imports by constants that read the exports of earlier modules."""

    def constant_of(found: re.Match[str]) -> str:
        names, module = found.groups()
        if module in BEGINNINGS:
            return found[0]
        return f'const {names} = modules["{module}"];\n' if names else ""

    return _IMPORT.sub(constant_of, text)


def _text(name: str) -> str:
    return FILES[name].read_text("utf-8")


def handlers() -> dict[str, Handler]:
    """Return the handlers by path: the board, and the files that pages load."""
    files = {STATIC + name: page(name) for name in FILES if not name.endswith(".html")}
    return {"/": page("index.html"), **files}
