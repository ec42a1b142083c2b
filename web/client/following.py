"""The steps by which a board follows the service, without I/O.

At first and after each cut a board asks for the changes since its version, because only that answer says
whether fixtures are shown already. Then it follows the stream. A list that is filtered by league or market
goes on asking for changes: its version rises without a message, so that no heartbeat proves the board.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Never, TypeVar

import msgspec

from .calls import Call, ListCall
from .core import JSON, NOT_AVAILABLE, Answer, Core, Problem, decoded, problem_of, refuse
from .events import Connected, Reset
from .state import GapError, Ledger, Order
from .values import Change, Fixture, Match
from .wire import Chunk, Close, CutError, Message, Messages, Open, Pause, Read, Sleep, Steps, cursor_of

E = TypeVar("E", bound=Match | Fixture)

CHANGES, STREAM = "/api/v2/changes", "/api/v2/stream"
LEAST_S = 0.5  # seconds between two requests for changes


class _Heartbeat(msgspec.Struct):
    version: int


class _Reset(msgspec.Struct):
    reason: str


class Following(Generic[E]):
    """The steps that keep a board; they yield its events."""

    def __init__(self, core: Core, call: ListCall[Any, E], state: Ledger[E], *, by_stream: bool) -> None:
        self._core, self._call, self._state = core, call, state
        self._by_stream = by_stream and call.is_whole
        self._proved_at: float | None = None
        """When this connection first proved the board."""

    def steps(self) -> Steps[Never]:
        """Follow the service until closed.

        Raises: UnsupportedError; AnsweredError if the service refuses the request.
        """
        core, state = self._core, self._state
        pause = Pause(core.policy, core.random)
        while True:
            self._proved_at = None
            cut = yield from self._until_cut()
            yield Close()
            core.forget()
            yield from state.lose(str(cut))
            if cut.code == "linking":
                yield from state.link(None)
            yield Sleep(max(cut.after_s, pause.next_s(self._lasted_s())))

    def _until_cut(self) -> Steps[CutError]:
        try:
            yield from self._connected()
        except CutError as cut:
            return cut
        except GapError as gap:
            return CutError(str(gap))
        raise AssertionError  # not reached: the loop ends by an error

    def _lasted_s(self) -> float:
        """Return how long the last connection kept the board current."""
        return 0.0 if self._proved_at is None else self._core.now() - self._proved_at

    @property
    def _whole(self) -> Call[Change]:
        return Call(self._call.path, Change, self._call.parameters, self._call.listed_as)

    def _connected(self) -> Steps[Never]:
        """Follow until cut. Raises: CutError, GapError, and the errors of `steps`."""
        core, call = self._core, self._call
        for each in (self._whole, call.following(CHANGES, since=""), call.following(STREAM, since="")):
            yield from core.check(each)
        self._state.places = {name: place for place, name in enumerate(core.bookmakers)}
        yield from self._catch_up(0.0)
        if self._by_stream:
            yield from self._stream()
        while True:
            yield from self._catch_up(core.policy.wait_s)
            yield Sleep(LEAST_S)

    def _catch_up(self, wait_s: float) -> Steps[None]:
        """Ask for the changes since the board's version, or for the whole list, and apply them."""
        core, state = self._core, self._state
        call, sent_at, epoch = self._whole, core.now(), ""
        if state.cursor:
            wait = {"wait": f"{wait_s:g}"} if wait_s else {}
            call = self._call.following(CHANGES, since=state.cursor, **wait)
        answer = yield from core.fetch(call.target, JSON, wait_s)
        if answer.status == NOT_AVAILABLE and state.cursor:
            problem = problem_of(answer)
            epoch = problem.epoch
            yield from state.lose("the changes since its version are not known")
            yield Reset(self._reset_reason(problem))
            call, sent_at = self._whole, core.now()
            answer = yield from core.fetch(call.target, JSON)
        if answer.status != 200:  # noqa: PLR2004
            refuse(call.path, answer)
        change = decoded(answer.body, call)
        if change.since not in {None, state.version}:
            raise CutError(f"the answer was about changes since {change.since}, must be {state.cursor}")
        cursor = cursor_of(change.cursor or answer.headers.get("odds-cursor", ""))
        if epoch and cursor and epoch != cursor[1]:
            raise CutError(f"the list is of {cursor[1]}, the changes were of {epoch}")
        # When the answer was made is unknown, but it was after the request.
        yield from self._take(change, cursor, sent_at)
        if change.league_id is not None:  # a label may mean no league, or another league, after a restart
            self._call = self._call.given(league=change.league_id)

    def _reset_reason(self, problem: Problem) -> str:
        version = self._state.version
        if problem.epoch != self._state.epoch:
            return "other_epoch"
        is_ahead = version is not None and (problem.current_version or 0) < version
        return "future" if is_ahead else "too_old"

    def _take(self, change: Change, cursor: tuple[int, str] | None, made_at: float) -> Steps[None]:
        """Apply a change. Raises: CutError if it has no cursor, or is older than the board; GapError."""
        if cursor is None or cursor[0] != change.version:
            raise CutError(f"version {change.version} came without its epoch")
        if (change.fixtures if self._call.view else change.matches) is None:
            raise CutError(f"version {change.version} came without its list")
        order, events = self._state.apply(change, cursor[1])
        if order is Order.OLDER:
            here = f"{change.version}-{cursor[1]}"
            raise CutError(f"the service is at {here}, the board at {self._state.cursor}")
        yield from [*events, *self._prove(made_at)]  # the caller then sees the board of this answer

    def _prove(self, at: float) -> Iterator[Connected]:
        if self._proved_at is None:
            self._proved_at = self._core.now()
        yield from self._state.prove(at)

    def _stream(self) -> Steps[Never]:
        """Follow the stream. Raises: CutError, GapError."""
        core, state, silence_s = self._core, self._state, self._core.policy.silence_s
        call = self._call.following(STREAM, since=state.cursor)
        heard_at = whole_at = core.now()  # when bytes arrived last, and a whole message
        head = yield Open(call.target, {"accept": "text/event-stream"}, silence_s)
        if head.status != 200:  # noqa: PLR2004
            yield from self._refused(call, head.status, head.headers)
        messages, begun_at = Messages(core.policy.max_bytes), heard_at
        while True:
            chunk: Chunk = yield Read()
            if core.now() - heard_at > silence_s:
                # It may have arrived before the machine slept, or before the caller went away.
                raise CutError(f"nothing was read for {core.now() - heard_at:.0f} s")
            if not chunk.data:
                raise CutError("the stream ended")
            if not chunk.was_ready:
                heard_at = core.now()
            begun_at = begun_at if messages.has_part else heard_at
            for message in messages.feed(chunk.data):
                yield from self._message(message, begun_at)
                whole_at, begun_at = core.now(), heard_at
            if core.now() - whole_at > core.policy.answer_s:
                raise CutError(f"no whole message came for {core.policy.answer_s:g} s")

    def _refused(self, call: Call[Any], status: int, headers: Any) -> Steps[Never]:
        body = b""
        while (data := (yield Read()).data) and len(body) < 65_536:  # noqa: PLR2004
            body += data
        refuse(call.path, Answer(status, headers, body))

    def _message(self, message: Message, heard_at: float) -> Steps[None]:
        """Take a message of the stream. Raises: CutError, GapError."""
        match message.name:
            case "snapshot" | "changes":
                cursor = cursor_of(message.id)
                yield from self._take(self._read(message, Change), cursor, heard_at)
            case "heartbeat":
                version, own = self._read(message, _Heartbeat).version, self._state.version
                if version == own:
                    yield from self._prove(heard_at)
                elif own is not None and version > own:
                    raise GapError(f"the service is at {version}, the board at {own}")
            case "reset":
                reason = self._read(message, _Reset).reason
                yield from self._state.lose("the changes since its version are not known")
                yield Reset(reason)
            case "bye":
                after_s = self._read(message, _Bye).retry / 1000
                raise CutError("the service ends", min(after_s, self._core.policy.limit_s))
            case _:
                pass  # an event that a newer service has added

    def _read(self, message: Message, kind: type[Any]) -> Any:
        return decoded(message.data, Call(f"{STREAM} {message.name}", kind, {}))


class _Bye(msgspec.Struct):
    retry: int
