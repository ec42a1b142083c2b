"""What people look at: the board at `/`, the page of `/monitor`, and the files that they are made of.

Read once at the start. The policy lets a page load and ask nothing but this service, and run nothing
that stands in the page itself.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from msgspec import Struct
from quart import Blueprint, Response

from web.protocol.negotiation import has_already
from web.protocol.responses import header

FOLDER = Path(__file__).resolve().parent.parent / "static"
STATIC = "/static/"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


class Page(Struct, frozen=True):
    """One file as it is sent; `vary` is what else than the path it depends on."""

    body: bytes
    content_type: str
    etag: str
    vary: str | None = None

    def answer(self) -> Response:
        """Answer the present request: 304 to who has the file already."""
        headers = {
            "ETag": self.etag,
            "Cache-Control": "no-cache",  # asked for each time: a new version never meets an old one
            "Content-Security-Policy": _POLICY,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        if self.vary is not None:
            headers["Vary"] = self.vary
        if has_already(header("If-None-Match") or "", self.etag):
            return Response(None, 304, headers)
        return Response(self.body, 200, headers, content_type=self.content_type)


def page(name: str, vary: str | None = None) -> Page:
    """Read one file of ours."""
    body = (FOLDER / name).read_bytes()
    digest = blake2b(body, digest_size=8).hexdigest()
    return Page(body, _TYPES[Path(name).suffix], f'"{digest}"', vary)


def blueprint() -> Blueprint:
    """Return the routes of the board and of every file but the pages themselves."""
    routes = Blueprint("pages", __name__)
    _add(routes, "/", page("index.html"))
    for file in sorted(FOLDER.iterdir()):
        if file.suffix != ".html":
            _add(routes, STATIC + file.name, page(file.name))
    return routes


def _add(routes: Blueprint, path: str, content: Page) -> None:
    async def answer() -> Response:
        return content.answer()

    routes.add_url_rule(path, endpoint=path.replace(".", "-"), view_func=answer)
