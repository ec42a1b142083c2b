"""What the odds endpoints answer: (view, snapshot, request headers) to status, headers and body.

Pure but for its memory of bodies. A body is made on first demand and kept for the newest version of
each view; between reading the snapshot and the answer nothing waits. Whatever serves a request, a
Quart route or a layer in front of it, asks here, so that the contract stands once.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors.messages import BookmakerId
from actors.snapshot import Book, Snapshot
from web.negotiation import has_already, wants_gzip
from web.problems import Problem
from web.segments import Api, Segment, Segments, joined, joined_gzip

RETRY_AFTER_S = 5
SUCCESSOR = '</api/v2/odds>; rel="successor-version"'
"""The Link header of version 1 (RFC 5829): what to move to."""


class View(Struct, frozen=True):
    """What one URL shows: an API version, of one bookmaker or (None) of all."""

    api: Api
    bookmaker: BookmakerId | None = None


class Answer(Struct, frozen=True):
    """A prepared answer; `body` is None where there must be none (304)."""

    status: int
    headers: dict[str, str]
    body: bytes | None


class Answers:
    """Gives answers; `names` are the display names of the bookmakers."""

    def __init__(self, names: Mapping[BookmakerId, str]) -> None:
        self._names = names
        self._segments = Segments()
        self._bodies: dict[View, _Body] = {}

    def answer(
        self, view: View, snapshot: Snapshot, if_none_match: str | None, accept_encoding: str | None
    ) -> Answer:
        """Answer a GET of `view`.

        Raises: Problem 503 if no bookmaker of the view is serving, whatever the request's headers say.
        """
        books = _books(view, snapshot)
        if not any(book.is_serving for book in books.values()):
            raise _unavailable(view)
        version = max(_version(view.api, book) for book in books.values())
        is_gzip = wants_gzip(accept_encoding)
        etag = f'"{version}-gzip"' if is_gzip else f'"{version}"'
        headers = {"ETag": etag, "Vary": "Accept-Encoding", "Cache-Control": "no-cache"}
        if view.api is Api.V1:
            headers["Link"] = SUCCESSOR
        if if_none_match is not None and has_already(if_none_match, etag):
            return Answer(304, headers, None)
        headers["Content-Type"] = "application/json"
        body = self._body(view, version, books)
        if not is_gzip:
            return Answer(200, headers, body.identity)
        headers["Content-Encoding"] = "gzip"
        return Answer(200, headers, body.gzip)

    def listed(self, view: View, snapshot: Snapshot) -> bytes:
        """Give the list of `view` as JSON, whether or not anybody is serving."""
        books = _books(view, snapshot)
        return self._body(view, max(_version(view.api, book) for book in books.values()), books).identity

    def _body(self, view: View, version: int, books: Mapping[BookmakerId, Book]) -> _Body:
        body = self._bodies.get(view)
        if body is None or body.version != version:
            segments = [
                segment
                for bookmaker, book in books.items()
                for segment in self._segments.of(view.api, book.chunks, self._names[bookmaker])
            ]
            count = sum(book.count if view.api is Api.V1 else book.named for book in books.values())
            body = self._bodies[view] = _Body(version, count, segments)
        return body


class _Body:
    def __init__(self, version: int, count: int, segments: list[Segment]) -> None:
        self.version = version
        self.identity = joined(version, count, segments)
        self._count = count
        self._segments = segments
        self._gzip: bytes | None = None

    @property
    def gzip(self) -> bytes:
        if self._gzip is None:
            self._gzip = joined_gzip(self.version, self._count, self._segments, self.identity)
        return self._gzip


def _books(view: View, snapshot: Snapshot) -> Mapping[BookmakerId, Book]:
    if view.bookmaker is None:
        return snapshot.books
    return {view.bookmaker: snapshot.books[view.bookmaker]}


def _version(api: Api, book: Book) -> int:
    return book.v1_version if api is Api.V1 else book.v2_version


def _unavailable(view: View) -> Problem:
    who = "no bookmaker is" if view.bookmaker is None else f"{view.bookmaker} is not"
    return Problem(
        503,
        "no_bookmaker_serving",
        f"{who} serving prices that are known to be live; try again later",
        {"Retry-After": str(RETRY_AFTER_S)},
    )
