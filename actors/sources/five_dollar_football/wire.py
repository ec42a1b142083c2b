"""The wire format of 5DollarFootballAPI: pages of matches, the odds of a match, an account, errors. Pure.

A page in the shape of a real one (cut, names and prices invented):

    {"success": 1, "data": [{"id": 7001, "league": {"id": 39, "name": "Premier League"},
     "teams": {"home": {"id": 1, "name": "Home Town"}, "away": {"id": 2, "name": "Away United"}},
     "kickoff_utc": "2026-05-28T21:00:00+00:00", "kickoff_ts": 1780002000, "status": "scheduled",
     "odds": {"1x2": {"opening": null, "closing": {"home": 2.1, "draw": 3.4, "away": 3.6}, "inplay": null},
              "goal_line": {"opening": 2.5, "closing": 2.75, "inplay": null}}}],
     "pagination": {"page": 1, "per_page": 50, "count": 1, "has_more": false}}

Format: the OpenAPI document of the API. An object that has a field twice is refused, because either value
may be meant. An element of another shape is refused by itself.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.json_parts import MAX_PART_BYTES, split, without_half_characters
from actors.source_api.parsing import Unread, Whole

T = TypeVar("T")

MAX_ERROR_CHARS = 200  # characters of each text in an error
ROWS_A_STEP = 20


class Named(Struct, frozen=True):
    """A team or a league."""

    name: str
    id: Whole | None = None


class Teams(Struct, frozen=True):
    """The teams of a match."""

    home: Named
    away: Named


class Fixture(Struct, frozen=True):
    """A match; its `odds` are read market by market, so that only a market of another shape is lost."""

    id: Whole
    league: Named
    teams: Teams
    kickoff_ts: Whole
    status: str
    kickoff_utc: str | None = None
    odds: dict[str, Raw] | None = None
    odds_full: dict[str, Raw] | None = None


class Row(Struct, frozen=True):
    """An element of a list: its bytes, and its content, None if unreadable."""

    raw: bytes
    fixture: Fixture | None


class Pagination(Struct, frozen=True):
    """A page's number and size, and whether more pages follow."""

    page: Whole
    per_page: Whole
    has_more: bool
    count: Whole = 0


class FixturesPage(Struct, frozen=True):
    """A page of matches."""

    rows: tuple[Row, ...]
    pagination: Pagination
    unread: Unread = Unread()


class Offered(Struct, frozen=True):
    """The odds of one bookmaker on a match, by market."""

    slug: str
    odds: dict[str, Raw]
    name: str = ""


class MatchOdds(Struct, frozen=True):
    """The odds of a match by several bookmakers."""

    fixture_id: Whole
    bookmakers: tuple[Offered, ...]
    unread: Unread = Unread()


class Limits(Struct, frozen=True):
    """A number of requests in a window of some seconds."""

    rate_limit: Whole
    rate_window_seconds: Whole = 60


class Account(Struct, frozen=True):
    """The rights of a key."""

    plan: str
    limits: Limits


class League(Struct, frozen=True):
    """A league of the list of leagues."""

    id: Whole
    name: str


class Bookmaker(Struct, frozen=True):
    """A bookmaker of the list of bookmakers."""

    slug: str
    name: str = ""


class Leagues(Struct, frozen=True):
    """A page of the list of leagues."""

    leagues: tuple[League, ...]
    pagination: Pagination
    unread: Unread = Unread()


class Bookmakers(Struct, frozen=True):
    """The list of bookmakers."""

    bookmakers: tuple[Bookmaker, ...]
    unread: Unread = Unread()


class _Error(Struct, frozen=True):
    code: str = ""
    type: str = ""
    message: str = ""
    param: str | None = None
    request_id: str | None = None


class _Envelope(Struct, frozen=True):
    success: Whole | bool = 0
    data: Raw = Raw()
    pagination: Pagination | None = None
    error: Raw = Raw()


class _Odds(Struct, frozen=True):
    fixture_id: Whole
    bookmakers: list[Raw]


_envelope = msgspec.json.Decoder(_Envelope)
_error = msgspec.json.Decoder(_Error)
_raws = msgspec.json.Decoder(list[Raw])
_fixture = msgspec.json.Decoder(Fixture)
_odds = msgspec.json.Decoder(_Odds)
_offered = msgspec.json.Decoder(Offered)
_account = msgspec.json.Decoder(Account)
_league = msgspec.json.Decoder(League)
_bookmaker = msgspec.json.Decoder(Bookmaker)


def read_fixtures(body: bytes) -> Sliced[FixturesPage]:
    """Read a page of matches, in slices. Raises: PayloadError if it is no page, or an error of the API."""
    envelope = _opened(body)
    if envelope.pagination is None:
        raise PayloadError("the list of matches has no pagination: it is not known whether it is whole")
    rows: list[Row] = []
    errors: list[str] = []
    for count, raw in enumerate(_elements(envelope.data, "matches")):
        if count % ROWS_A_STEP == 0:
            yield
        fixture = _read(_fixture, raw)
        rows.append(Row(bytes(raw), None if isinstance(fixture, str) else fixture))
        errors += [fixture] if isinstance(fixture, str) else []
    return FixturesPage(tuple(rows), envelope.pagination, _unread(errors))


def read_odds(body: bytes) -> MatchOdds:
    """Read the odds of a match. Raises: PayloadError if they cannot be read."""
    data = _opened(body).data
    try:
        read = _odds.decode(data)
        _check_once(bytes(data))
    except UNREADABLE as error:
        raise PayloadError(f"the body has no odds of a match: {error}") from error
    bookmakers, unread = _each(_offered, read.bookmakers)
    return MatchOdds(read.fixture_id, bookmakers, unread)


def read_account(body: bytes) -> Account:
    """Read the state of an account. Raises: PayloadError if it is not such a state."""
    read = _read(_account, _opened(body).data)
    if isinstance(read, str):
        raise PayloadError(f"the body has no account: {read}")
    if read.limits.rate_limit < 1 or read.limits.rate_window_seconds < 1:
        raise PayloadError(f"the limits of the account were {read.limits}, must be at least 1")
    return read


def read_leagues(body: bytes) -> Leagues:
    """Read a page of leagues. Raises: PayloadError if it is not such a page."""
    envelope = _opened(body)
    if envelope.pagination is None:
        raise PayloadError("the list of leagues has no pagination")
    leagues, unread = _each(_league, _elements(envelope.data, "leagues"))
    return Leagues(leagues, envelope.pagination, unread)


def read_bookmakers(body: bytes) -> Bookmakers:
    """Read the list of bookmakers. Raises: PayloadError if it is not such a list."""
    return Bookmakers(*_each(_bookmaker, _elements(_opened(body).data, "bookmakers")))


def error_in(body: bytes) -> PayloadError | None:
    """Return the API's own error in a body; None if the body has no error."""
    try:
        error = _error.decode(split(_envelope, body).error)
    except UNREADABLE:
        return None
    parts = (error.code or error.type, error.message, error.param and f"parameter {error.param}")
    said = ": ".join(_plain(part) for part in parts if part)
    asked = f" (request {_plain(error.request_id)})" if error.request_id else ""
    return PayloadError(f"{said}{asked}", "error_answer")


def market_of_raw(decoder: msgspec.json.Decoder[T], raw: Raw) -> T | None:
    """Decode a market; None if it is of another shape, or has a field twice."""
    read = _read(decoder, raw)
    return None if isinstance(read, str) else read


def body_of(raws: tuple[bytes, ...]) -> bytes:
    """Return a body with these matches as a complete list."""
    count = len(raws)
    end = b'],"pagination":{"page":1,"per_page":%d,"count":%d,"has_more":false}}' % (max(count, 1), count)
    return b'{"success":1,"data":[' + b",".join(raws) + end


def _opened(body: bytes) -> _Envelope:
    """Read the common part of all answers. Raises: PayloadError, also for an error with status 200."""
    try:
        envelope = split(_envelope, body)
        _check_once(_without(without_half_characters(body), bytes(envelope.data)))
    except UNREADABLE as error:
        raise PayloadError(f"the body is no answer of the API: {error}") from error
    if envelope.success != 1 or bytes(envelope.error) not in {b"", b"null"}:
        said = error_in(body)
        raise PayloadError(f"the answer was an error: {said or 'success was 0'}", "error_answer")
    return envelope


def _without(body: bytes, data: bytes) -> bytes:
    """Return a body without its large data."""
    at = body.rfind(data) if data else -1
    return body if at < 0 else body[:at] + b"null" + body[at + len(data) :]


def _elements(data: Raw, what: str) -> list[Raw]:
    try:
        return _raws.decode(data)
    except UNREADABLE as error:
        raise PayloadError(f"the data are no list of {what}: {error}") from error


def _each(decoder: msgspec.json.Decoder[T], raws: list[Raw]) -> tuple[tuple[T, ...], Unread]:
    found: list[T] = []
    errors: list[str] = []
    for raw in raws:
        read = _read(decoder, raw)
        if isinstance(read, str):
            errors.append(read)
        else:
            found.append(read)
    return tuple(found), _unread(errors)


def _unread(errors: list[str]) -> Unread:
    return Unread(len(errors), errors[0]) if errors else Unread()


def _read(decoder: msgspec.json.Decoder[T], raw: Raw) -> T | str:
    """Return a decoded element, or why it cannot be read."""
    if len(raw) > MAX_PART_BYTES:
        return f"it has {len(raw)} bytes, at most {MAX_PART_BYTES} are read"
    try:
        read = decoder.decode(raw)
        json.loads(bytes(raw), object_pairs_hook=_refused_if_doubled)
    except UNREADABLE as error:
        return str(error)
    return read


def _check_once(text: bytes) -> None:
    """Raise ValueError if the object has a top-level field twice."""
    _refused_if_doubled(json.loads(text, object_pairs_hook=lambda pairs: pairs))


def _refused_if_doubled(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a field twice")


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)[:MAX_ERROR_CHARS]
