"""The pages for people and the files that they load, read once at the start.

The policy lets a page load and request nothing but this service, and run no inline script. Its only
trusted type is the address of the worker that tabs share (`static/line.js`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from web.protocol.contract import ACCEPT_ENCODING, CACHED, HTML, IF_NONE_MATCH, Answer, Operation
from web.protocol.responses import Handler, constant

FOLDER = Path(__file__).resolve().parent.parent / "static"
STATIC = "/static/"

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


def page(name: str, filled: Mapping[str, str] = {}, **headers: str) -> Handler:
    """Return the handler of a file of ours; `headers` are sent besides the usual headers.

    `filled` has the HTML that takes the place of each comment.
    """
    body = (FOLDER / name).read_bytes()
    for comment, html in filled.items():
        body = body.replace(comment.encode(), html.encode())
    return constant(body, _TYPES[Path(name).suffix], {**_HEADERS, **headers})


def handlers() -> dict[str, Handler]:
    """Return the handlers by path: the board, and the files that pages load."""
    files = {STATIC + file.name: page(file.name) for file in FOLDER.iterdir() if file.suffix != ".html"}
    return {"/": page("index.html"), **files}
