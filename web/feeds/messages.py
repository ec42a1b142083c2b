"""Makes changes as JSON and as Server-Sent Events (HTML standard, 9.2), once for equal requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from actors.archive.past import Reach
from actors.board.history import Change, History, ListHistory, Recent, Record
from actors.core.cooperative import SLICE, Sliced, run_sliced
from actors.core.messages import BookmakerId
from actors.matches.forms import USUAL, whole
from actors.matches.history import FixtureRecord
from actors.matches.model import FixtureState, FixtureView, ViewKind
from web.encoding.fixture_schemas import removed_fixture
from web.encoding.list_segments import Api
from web.encoding.members import between, deflated
from web.encoding.schemas import Bye, Heartbeat, Removed, Reset, ResetReason, cursor_of, match_v2
from web.encoding.segments import FIXTURES, MATCHES, UNENCODABLE, UnencodableError, gzipped
from web.feeds.fixture_lists import (
    Choice,
    FixturesOf,
    cursor,
    has_main_line,
    league_meant,
    linking,
    of_league,
    of_market,
)
from web.feeds.lists import Answers, Listed, View
from web.feeds.older_changes import UNKNOWN, Older, OlderChanges
from web.feeds.own_bodies import SMALL_BYTES, Content, Making, OwnBody, Room
from web.protocol.negotiation import Coding
from web.protocol.problems import Problem

MIN_GZIP_BYTES = 2_048
"""Smallest delta that is compressed, in bytes: with a smaller one it saves one packet at most."""
_END = b"\n\n"
Pieces = list[bytes]  # one text; a long text is in several pieces, so that a stream need not join it

V = TypeVar("V", bound=Hashable)
R = TypeVar("R", bound=Record[Any])

_encode = msgspec.json.Encoder().encode


class Frames(ABC, Generic[V, R]):
    """Makes the messages of views; `answers` makes the lists and caches messages."""

    name: ClassVar[bytes]

    def __init__(self, history: History[V, R], answers: Answers) -> None:
        self.history = history
        self._answers = answers

    @abstractmethod
    def listed(self, view: V) -> Listed:
        """Return the list of a view."""

    @abstractmethod
    def _shown(self, record: R, view: V) -> bytes:
        """Return the shown entry or fixture as JSON. Raises: UnencodableError."""

    @abstractmethod
    def _gone(self, record: R, view: V) -> bytes:
        """Return the removed entry or fixture as JSON."""

    async def _older(self, view: V, since: int, client: str | None) -> Older | None:
        """Return archived changes from before the history; None if unneeded, or without an archive."""
        del view, since, client
        return None

    async def reach(self, view: V, since: int, client: str | None) -> Reach:
        """Return the version after which changes are known, and whether all those after `since` are.

        Raises: Problem 429 if the client has caused too much work.
        """
        del client
        oldest = self.history.oldest(view)
        return Reach(oldest, since >= oldest)

    def _merged(self, older: Older, recent: Recent[R]) -> Recent[R] | None:
        """Return older and recent changes merged; None if these are too many."""
        del older
        return recent

    def _gone_of(self, recent: Recent[R], view: V) -> list[R]:
        """Return the records of entries or fixtures that left the view."""
        del view
        return recent.gone

    def _more(self, recent: Recent[R], view: V) -> bytes:
        """Return further members of changes."""
        del recent, view
        return b""

    async def delta(
        self, view: V, since: int, coding: Coding = Coding.IDENTITY, client: str | None = None
    ) -> OwnBody | None:
        """Return the changes of a view after `since` as JSON; None if they are not known.

        Raises: Problem 429 or 503 if the client, or all single clients, have caused too much work.
        """
        if (older := await self._older(view, since, client)) is UNKNOWN:
            return None

        def make(room: Room) -> Sliced[Content | None]:
            delta = yield from self._delta(view, since, room, older, is_marked=False)
            if delta is None or coding is Coding.IDENTITY or sum(map(len, delta.parts)) < MIN_GZIP_BYTES:
                return delta
            packed = yield from gzipped(delta.parts)
            return replace(delta, parts=packed, coding=coding)

        return await self._made(("delta", since, coding), view, client, make)

    async def passed(self, view: V, since: int, client: str | None) -> int | None:
        """Return the newest version if the view has not changed after `since`.

        None if it has changed, or if its changes are not known. Raises: Problem, as `delta`.
        """
        del client
        return since if self.history.latest(view) <= since else None

    async def changes(
        self, view: V, since: int, client: str | None = None, last: bytes | None = None
    ) -> OwnBody | None:
        """Return the message from `since` to the view's newest version; None if its changes are not known.

        With `last`, the text of the message before, the parts are blocks of a gzip member. Raises: Problem,
        as `delta`.
        """
        if (older := await self._older(view, since, client)) is UNKNOWN:
            return None

        def make(room: Room) -> Sliced[Content | None]:
            if (delta := (yield from self._delta(view, since, room, older, is_marked=True))) is None:
                return None
            message = event("changes", delta.parts, self._id(delta.version))
            if last is None:
                return replace(delta, parts=message)
            blocks, text = yield from deflated(message, last)
            return replace(delta, parts=blocks, coding=Coding.GZIP, text=text)

        return await self._made(("message", since, last), view, client, make)

    async def snapshot(
        self, view: V, coding: Coding = Coding.IDENTITY, client: str | None = None
    ) -> Content:
        """Return the message with the whole list; with gzip as blocks of a member.

        Raises: Problem, as `delta`, for the list of a league.
        """
        made = await self._list(view, coding, client)
        if made.text is None:
            message = event("snapshot", [*made.parts], self._id(made.version))
            if coding is Coding.IDENTITY:
                return Content(made.version, message)
            blocks, text = await run_sliced(deflated(message, b""))
            return Content(made.version, blocks, coding, text)
        head = _head("snapshot", self._id(made.version))
        blocks, text = between(head, made.parts, made.text, _END)
        return Content(made.version, blocks, coding, text)

    async def _list(self, view: V, coding: Coding, client: str | None) -> Content:
        """Return all items of a view as JSON, plain or as the deflate blocks of a gzip body."""
        del client
        return await self._answers.listed(self.listed(view), coding)

    def _id(self, version: int) -> bytes:
        return cursor_of(version, self.history.epoch).encode()

    async def _made(self, key: Hashable, view: V, client: str | None, make: Making) -> OwnBody | None:
        while True:
            try:
                newest = self.history.latest(view)
                return await self._answers.own.get(((self.name, view), key), newest, client, make)
            except UnencodableError as error:
                await self._answers.reject(error)

    def _delta(
        self, view: V, since: int, room: Room, older: Older | None, *, is_marked: bool
    ) -> Sliced[Content | None]:
        """Return the changes of a view from `since` to its newest version; None if they are not known."""
        recent = yield from self.history.since(view, since if older is None else older.until)
        if recent is not None and older is not None:
            recent = self._merged(older, recent)
        if recent is None:
            return None
        shown = yield from _joined((self._shown(record, view) for record in recent.shown), room)
        left = self._gone_of(recent, view)
        gone = yield from _joined((self._gone(record, view) for record in left), room)
        mark = b'"conflated":true,' if is_marked and recent.is_merged else b""
        head = b'{"version":%d,"since":%d,%b"%b":[' % (recent.version, since, mark, self.name)
        at = b"" if is_marked else cursor(recent.version, self.history.epoch)  # an event's id is the cursor
        tail = b"]%b%b}" % (self._more(recent, view), at)
        parts = [head, *shown, b'],"removed":[', *gone, tail]
        is_empty = not (recent.shown or left)
        return Content(recent.version, parts, is_merged=recent.is_merged, is_empty=is_empty)


class ListFrames(Frames[BookmakerId | None, Change]):
    """The messages of the odds lists; `names` are the display names."""

    name = MATCHES

    def __init__(
        self,
        history: ListHistory,
        names: Mapping[BookmakerId, str],
        answers: Answers,
        older: OlderChanges | None = None,
    ) -> None:
        super().__init__(history, answers)
        self._names = names
        self._past = older

    async def _older(self, view: BookmakerId | None, since: int, client: str | None) -> Older | None:
        oldest = self.history.oldest(view)
        if self._past is None or since >= oldest:
            return None
        return await self._past.read(view, since, oldest, client)

    async def reach(self, view: BookmakerId | None, since: int, client: str | None) -> Reach:
        """Return the reach of the history and the archive together."""
        if self._past is None:
            return await super().reach(view, since, client)
        return await self._past.reach(since, self.history.oldest(view), client)

    def _merged(self, older: Older, recent: Recent[Change]) -> Recent[Change] | None:
        return recent if self._past is None else self._past.merged(older, recent)

    def listed(self, view: BookmakerId | None) -> View:
        """Return the list of a view."""
        return View(Api.V2, view)

    def _shown(self, record: Change, view: BookmakerId | None) -> bytes:
        del view
        if record.json is None and record.entry is not None:
            try:
                record.json = _encode(match_v2(record.entry, self._names[record.bookmaker]))
            except UNENCODABLE as error:
                raise UnencodableError(record.bookmaker, record.entry, error) from error
        return record.json or b""

    def _gone(self, record: Change, view: BookmakerId | None) -> bytes:
        del view
        if record.json is None:
            name = self._names.get(record.bookmaker, record.bookmaker)  # a bookmaker of an earlier run
            record.json = _encode(Removed(record.id, name, record.reason, record.version))
        return record.json


class FixtureFrames(Frames[FixtureView, FixtureRecord]):
    """The messages of views of fixtures."""

    name = FIXTURES

    def listed(self, view: FixtureView) -> FixturesOf:
        """Return the list of a view with all leagues."""
        return FixturesOf(replace(view, league=None))

    def _shown(self, record: FixtureRecord, view: FixtureView) -> bytes:
        if record.fixture is None:
            return b""
        if view.kind is ViewKind.WEAK and record.fixture.weak is not None:
            return self._answers.fixtures.formed(whole(record.fixture, weak=True), USUAL, record.terms)
        return self._answers.fixtures.json(record.fixture, record.terms)

    def _gone_of(self, recent: Recent[FixtureRecord], view: FixtureView) -> list[FixtureRecord]:
        """Return the fixtures that left the view; of main lines, one of each match without any now."""
        if not view.is_of_main_lines:
            return recent.gone
        gone, board = {record.match_id: record for record in recent.gone}, self._answers.board.newest
        return [record for match_id, record in gone.items() if not has_main_line(view, match_id, board)]

    def _more(self, recent: Recent[FixtureRecord], view: FixtureView) -> bytes:
        more = linking(recent.pending) + (b"" if view.league is None else of_league(view.league))
        return more + of_market(view.market)

    async def _list(self, view: FixtureView, coding: Coding, client: str | None) -> Content:
        if view == view.whole:
            return await super()._list(view, coding, client)
        return await self._answers.chosen(self.listed(view), Choice(view.league), client)

    async def passed(self, view: FixtureView, since: int, client: str | None) -> int | None:
        """Return the newest version if the view has not changed after `since`, as `Frames.passed` does.

        A league or a line may be unchanged although the version of its view has risen.
        """
        if view == view.whole or self.history.latest(view) <= since:
            return await super().passed(view, since, client)
        delta = await self.delta(view, since, client=client)
        return delta.version if delta is not None and delta.is_empty else None

    async def league(self, asked: str, state: FixtureState, client: str | None) -> str:
        """Return the id of the requested league.

        Raises: Problem 400 if no or several leagues match, 429 if the client has caused too much work.
        """
        league = await self._answers.own.charged(league_meant(asked, state), client)
        if league is None:
            must = "must be a label of some source, or the `league_id` of a fixture"
            why = f"parameter 'league' was {asked[:64]!r}, which no match has now, {must}"
            raise Problem(400, "invalid_league", why)
        return league

    def _gone(self, record: FixtureRecord, view: FixtureView) -> bytes:
        gone = record.gone_from(view)
        return b"" if gone is None else _encode(removed_fixture(record.id, gone))


def _joined(encoded: Iterator[bytes], room: Room) -> Sliced[Pieces]:
    """Return entries as pieces of a list, encoded in slices."""
    pieces, size = list[bytes](), 0
    while some := [*islice(encoded, SLICE // 2)]:
        pieces.append(b"," * bool(pieces) + b",".join(some))
        room(size := size + len(pieces[-1]))
        yield
    return pieces


def reset(reason: ResetReason, version: int) -> Pieces:
    """Return the message before a snapshot; without an id, because the client lacks that version yet."""
    return event("reset", [_encode(Reset(reason, version))])


def heartbeat(version: int) -> Pieces:
    """Return the message that `version` is still the newest."""
    return event("heartbeat", [_encode(Heartbeat(version))])


def bye(version: int, retry_ms: int) -> Pieces:
    """Return the last message before the service ends, with the milliseconds until a client reconnects."""
    (message,) = event("bye", [_encode(Bye(version, retry_ms))])
    return [b"retry: %d\n%b" % (retry_ms, message)]


def event(name: str, data: Sequence[bytes], message_id: bytes | None = None) -> Pieces:
    """Return an event with these pieces of JSON as its data."""
    pieces = [_head(name, message_id), *data, _END]
    return pieces if sum(map(len, data)) > SMALL_BYTES else [b"".join(pieces)]


def _head(name: str, message_id: bytes | None) -> bytes:
    head = b"" if message_id is None else b"id: %b\n" % message_id
    return b"%bevent: %b\ndata: " % (head, name.encode())
