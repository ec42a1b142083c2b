"""Lists of the past, for `at`: read from the archive, byte for byte as they were served."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from actors.archive.days.format import FORMAT
from actors.archive.days.reading import Row
from actors.archive.past import Days, Elsewhere, Found, Listed, NotYet, Past, Unknown
from actors.board.snapshot import Readable
from actors.core.clock import Clock, thread_worked_s
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from web.encoding.csv_tables import OF_ODDS, odds_row
from web.encoding.csv_text import rows
from web.encoding.schemas import cursor_of, match_v2
from web.encoding.segments import ends
from web.feeds.csv_lists import coded
from web.feeds.fixture_lists import mark_of
from web.feeds.own_bodies import OwnBodies
from web.protocol.moments import At
from web.protocol.negotiation import Coding, Format, acceptable, has_already
from web.protocol.problems import Problem
from web.protocol.responses import Asked, Prepared, prepared

T = TypeVar("T")
MarketRows: TypeAlias = dict[str, list[Row]]
"""The last changes of a match's other markets, by the market's id."""

MAX_WAITING = 32
"""The most reads of the past that may wait."""
UNIX_SECONDS = range(10**9, 10**10)
"""Numbers that a client may mean as seconds; versions, in milliseconds, are a thousand times as large."""
FRESH_MS = 5_000
"""A request for a time within these last seconds waits until the archive has all that is published now."""
ENCODED = 500
"""Entries encoded in a step: some tenths of a millisecond, during which no other thread runs."""

OVERLOADED = "overloaded"
_LATER = {"Retry-After": "5"}
_encode = msgspec.json.Encoder().encode


class _Form(Struct, frozen=True):
    """The requested part of a list, and how it is written."""

    bookmaker: BookmakerId | None
    format: Format
    coding: Coding


class Body(Struct, frozen=True):
    """An encoded list of the past."""

    listed: Listed
    parts: tuple[bytes, ...]


async def read_for(client: str | None, past: Past, own: OwnBodies, what: Callable[[Days], T]) -> T:
    """Read the past for a client, and charge it for the work.

    Raises: Problem 429 if the client has caused too much work, 503 if the archive cannot be read now.
    """
    own.check_work(client)

    def measured(days: Days) -> tuple[T, float]:
        began_s = thread_worked_s()
        found = what(days)
        return found, thread_worked_s() - began_s

    if (done := await past.read(measured)) is None:
        raise not_now("the archive cannot be read now; try again later")
    own.charge(client, done[1])
    return done[0]


async def last_of(
    client: str | None, past: Past | None, own: OwnBodies, entry_id: str, most: int
) -> list[Row] | None:
    """Return the last changes of an entry; None if there is no archive, or it cannot be read now.

    Raises: Problem 429 if the client has caused too much work.
    """
    return await _read_or_none(client, past, own, partial(Days.last_of, entry_id=entry_id, most=most))


async def last_of_markets(
    client: str | None, past: Past | None, own: OwnBodies, match_id: str, most: int
) -> MarketRows | None:
    """Return the last changes of a match's other markets by id; None in the same cases as `last_of`.

    Raises: Problem 429.
    """
    what = partial(Days.last_of_markets, match_id=match_id, most=most)
    return await _read_or_none(client, past, own, what)


async def named_then(
    client: str | None, past: Past | None, own: OwnBodies, is_wanted: Callable[[str, str], bool], most: int
) -> list[list[Row]]:
    """Return the last changes of each entry with wanted teams; none if the archive cannot be read.

    Raises: Problem 429.
    """
    what = partial(Days.named, is_wanted=is_wanted, most=most)
    return await _read_or_none(client, past, own, what) or []


async def _read_or_none(
    client: str | None, past: Past | None, own: OwnBodies, what: Callable[[Days], T]
) -> T | None:
    try:
        return None if past is None else await read_for(client, past, own, what)
    except Problem as problem:
        if problem.code != OVERLOADED:
            raise
        return None


class PastLists:
    """Answers requests with `at` from an archive; two reads at a time, in threads."""

    def __init__(self, past: Past, board: Readable, clock: Clock, own: OwnBodies) -> None:
        self._past = past
        self._board = board
        self._clock = clock
        self._own = own
        self._waiting = 0

    async def answer(
        self, request: Asked, bookmaker: BookmakerId | None, at: At, format_: Format = Format.JSON
    ) -> Prepared:
        """Answer with the list of a version; redirect a time, or a version between two lists, to its list.

        Raises: Problem 404 for the future, 410 for versions that are not kept, 406, 429, 503.
        """
        coding = acceptable(request.header(b"accept-encoding"))
        await self._until_written(at)
        form = _Form(bookmaker, format_, coding)
        found = await self._read(at, form, request.client)
        match found:
            case Body():
                return self._shown(found, form, request)
            case Elsewhere(version):
                query: dict[str, int | str] = {"at": version}
                query |= {} if bookmaker is None else {"bookmaker": bookmaker}
                query |= {} if format_ is Format.JSON else {"format": format_}
                return prepared(
                    303, {"Location": f"{request.path}?{urlencode(query)}", "Cache-Control": "no-store"}, ()
                )
            case NotYet(newest):  # the version was published, but is not in the archive yet
                raise not_now(f"the newest version in the archive is {newest}; try again later")
            case Unknown():
                raise not_archived(found, at)
            case Listed():
                raise TypeError("a list is encoded in its thread")

    async def _until_written(self, at: At) -> None:
        newest, now_ms = self._board.newest.version, round(self._clock.now().wall * 1000)
        if at.version is not None:
            if at.version > newest:
                raise not_yet(f"the newest version is {newest}")
            newest = at.version
        elif at.ms > now_ms:
            raise not_yet("that time has not come")
        elif at.ms < now_ms - FRESH_MS:
            return
        if not await self._past.written(newest):
            raise not_now("it is not written yet; try again later")

    async def _read(self, at: At, form: _Form, client: str | None) -> Body | Found:
        if self._waiting >= MAX_WAITING:
            raise not_now("too many read the past; try again later")
        self._waiting += 1
        try:
            make = partial(_made, at=at, form=form)
            return await read_for(client, self._past, self._own, make)
        finally:
            self._waiting -= 1

    def _shown(self, body: Body, form: _Form, request: Asked) -> Prepared:
        cursor = cursor_of(body.listed.version, body.listed.epoch)
        suffix = mark_of(form.format) + ("" if form.coding is Coding.IDENTITY else f"-{form.coding}")
        headers = {
            "ETag": f'"{cursor}-a{FORMAT}{suffix}"',
            "Vary": "Accept-Encoding",
            "Cache-Control": "public, max-age=31536000, immutable",
            "Odds-Cursor": cursor,
        }
        if has_already(request.header(b"if-none-match") or "", headers["ETag"]):
            return prepared(304, headers, None)
        headers["Content-Type"] = form.format.media_type
        if form.coding is not Coding.IDENTITY:
            headers["Content-Encoding"] = form.coding
        held = self._own.hold(body.parts)
        return prepared(200, headers, held.parts, held)


def _made(days: Days, at: At, form: _Form) -> Body | Found:
    """Look up a list and encode it; runs in a thread."""
    if at.version is None:
        return days.at_time(form.bookmaker, at.ms)
    found = days.at_version(form.bookmaker, at.version)
    if not isinstance(found, Listed):
        return found
    shown = [match_v2(of.entry, found.names[of.bookmaker]) for of in found.entries if of.entry is not None]
    some = [shown[begin : begin + ENCODED] for begin in range(0, len(shown), ENCODED)]
    if form.format is Format.CSV:
        pieces = [OF_ODDS, *[rows(map(odds_row, few)) for few in some]]
    else:
        head, tail = ends(found.version, len(shown))
        pieces = [head, b",".join([_encode(few)[1:-1] for few in some]), tail]
    return Body(found, tuple(run_now(coded(pieces, form.coding))))


def not_now(why: str) -> Problem:
    """Return the problem that the archive cannot be read now."""
    return Problem(503, OVERLOADED, why, {**_LATER})


def not_yet(why: str) -> Problem:
    """Return the problem that a version, or a time, has not come."""
    return Problem(404, "version_not_yet", f"there is no such version yet: {why}")


def not_archived(unknown: Unknown, at: At | None = None) -> Problem:
    """Return the problem with the unknown interval, and the versions around it."""
    given: dict[str, int | str | None] = {
        "reason": unknown.reason,
        "before_version": unknown.before,
        "after_version": unknown.after,
        "after_time": _time(unknown.after_at),
        "until_time": _time(unknown.until_at),
    }
    extra = {name: value for name, value in given.items() if value is not None}
    why = f"what was shown then is not kept ({unknown.reason}); the versions around it are named here"
    if at is not None and at.version is not None and at.version in UNIX_SECONDS:
        meant = f"{datetime.fromtimestamp(at.version, UTC):%Y-%m-%dT%H:%M:%SZ}"
        why += f"; a whole number is a version: as Unix seconds {at.version} is at={meant}"
    return Problem(410, "version_not_archived", why, extra=extra)


def _time(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
