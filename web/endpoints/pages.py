"""The pages for people and the files that they load, read once at the start.

A script that a page begins with is sent with all that it imports, a style sheet likewise: over HTTP/1.1 a
browser asks for six files at a time, and each six cost a round trip. Every module has its own address, too,
without its folder: folders say which page a file is of, and modules import each other by name alone.

The policy lets a page load and request nothing but this service, and run no inline script. Its only
trusted type is the address of the worker that tabs share (`static/board/line.js`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from web.protocol.contract import ACCEPT_ENCODING, CACHED, HTML, IF_NONE_MATCH, Answer, Operation
from web.protocol.responses import Handler, constant

FILES = {file.name: file for file in (Path(__file__).resolve().parent.parent / "static").glob("*/*")}
"""The files of all pages by name."""
STATIC = "/static/"

BEGINNINGS = ("first.js", "main.js", "monitor.js", "shared.js")
"""The scripts that pages and workers begin with. One that another of them imports stays apart."""
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
    "Cache-Control": "no-cache",  # revalidated each time: a new version never meets an old version
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
    """Return the route that answers at a path are counted by: one for all files of the pages."""
    return f"{STATIC}{{file}}" if path.startswith(STATIC) else path


def page(name: str, filled: Mapping[str, str] = {}, **headers: str) -> Handler:
    """Return the handler of a file of ours; `headers` are sent besides the usual headers.

    `filled` has the HTML that takes the place of each comment.
    """
    text = script(name) if name in BEGINNINGS else sheet(name) if name.endswith(".css") else _text(name)
    for comment, html in filled.items():
        text = text.replace(comment, html)
    return constant(text.encode(), _TYPES[Path(name).suffix], {**_HEADERS, **headers})


@cache
def script(name: str) -> str:
    """Return a script with all modules that it imports, each as a function that returns what it exports."""
    modules = dict.fromkeys(_imported_by(name))
    parts = [f'modules["{module}"] = (() => {{\n{_as_function(module)}}})();\n' for module in modules]
    return "".join(["const modules = {};\n", *parts, _with_constants(_text(name))])


def sheet(name: str) -> str:
    """Return a style sheet with those that it imports."""
    return _SHEET.sub(lambda found: _text(found[1]), _text(name))


def _imported_by(name: str) -> Iterator[str]:
    """Yield all modules below one, each after those that it imports itself."""
    for _, module in _IMPORT.findall(_text(name)):
        if module not in BEGINNINGS:
            yield from _imported_by(module)
            yield module


def _as_function(module: str) -> str:
    text = _with_constants(_text(module))
    return f"{_EXPORT.sub('', text)}return {{ {', '.join(_EXPORT.findall(text))} }};\n"


def _with_constants(text: str) -> str:
    """Replace imports by constants, of the modules before."""

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
