"""The logic of calls, polls and boards, as steps that yield effects (`wire.py`). Without I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from email.message import Message as Headers
from functools import partial
from random import Random
from typing import Any, NamedTuple, Never, NoReturn, TypeVar

import msgspec

from .calls import Call, capabilities
from .errors import AnsweredError, UnavailableError, UnsupportedError
from .state import Newest, Order
from .values import Capabilities
from .wire import CutError, Open, Pause, Policy, Read, Sleep, Steps, cursor_of

A = TypeVar("A")

KEPT_S = 300.0  # seconds, as long as the service allows caches to keep its capabilities
JSON = {"accept": "application/json"}
NOT_MODIFIED, SEE_OTHER, NOT_AVAILABLE, UNAVAILABLE = 304, 303, 410, 503
PASSING = {408, 429, 500, 502, 503, 504}
"""Statuses that may differ at the next attempt."""


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Problem(msgspec.Struct, frozen=True):
    """The body of an error (RFC 9457); `code` is empty if the error is not the service's own."""

    code: str = ""
    detail: str = ""
    epoch: str = ""
    current_version: int | None = None


class Core:
    """The state that all steps of a client share: policy, clock, randomness, and the capabilities."""

    def __init__(self, policy: Policy, now: Callable[[], float], random: Random) -> None:
        self.policy, self.now, self.random = policy, now, random
        self._capabilities: Capabilities | None = None
        self._kept_until = 0.0

    def call(self, call: Call[A]) -> Steps[A]:
        """Make a call, after the capabilities; repeat it while that may help.

        Raises: UnsupportedError, AnsweredError, UnavailableError.
        """
        yield from self.insist(lambda: self.check(call))
        answer = yield from self.insist(lambda: self.asked(call))
        return answer

    def poll(self, call: Call[A], every_s: float) -> Steps[Never]:
        """Yield each new answer of a call; an older answer is ignored. Errors are those of `call`."""
        yield from self.insist(lambda: self.check(call))
        tag, newest = "", Newest()
        while True:
            answer = yield from self.insist(partial(self._if_new, call, tag))
            if answer.status != NOT_MODIFIED:
                value = decoded(answer.body, call)
                found = cursor_of(answer.headers.get("etag", ""))
                if found is None or newest.order(*found) is not Order.OLDER:
                    tag = answer.headers.get("etag", "")
                    if found is not None:
                        newest.note(*found)
                    yield value
            yield Sleep(every_s)

    def insist(self, attempt: Callable[[], Steps[A]]) -> Steps[A]:
        """Repeat an attempt while it is cut. Raises: UnavailableError after the last one."""
        pause = Pause(self.policy, self.random)
        for number in range(1, self.policy.attempts + 1):
            try:
                return (yield from attempt())
            except CutError as cut:
                if number == self.policy.attempts or cut.after_s > self.policy.answer_s:
                    raise UnavailableError(f"{cut}, in {number} attempts") from cut
                yield Sleep(max(cut.after_s, pause.next_s()))
        raise AssertionError  # there is at least one attempt

    def asked(self, call: Call[A]) -> Steps[A]:
        """Make a call in one attempt. Raises: AnsweredError, CutError."""
        answer = yield from self.fetch(call.target, JSON)
        if answer.status == SEE_OTHER and (to := answer.headers.get("location", "")).startswith("/api/"):
            answer = yield from self.fetch(to, JSON)
        is_failure = call.may_fail and answer.status == UNAVAILABLE and not problem_of(answer).code
        if answer.status != 200 and not is_failure:  # noqa: PLR2004
            refuse(call.path, answer)
        return decoded(answer.body, call)

    def check(self, call: Call[Any]) -> Steps[None]:
        """Look a call up in the capabilities, which are asked for once in a while.

        A service ignores a parameter that it does not know, so that its answer would be to another
        question. Raises: UnsupportedError, AnsweredError, CutError.
        """
        if self._capabilities is None or self.now() >= self._kept_until:
            self._capabilities = yield from self.asked(capabilities())
            self._kept_until = self.now() + KEPT_S
        known = self._capabilities
        if not call.listed_as:
            return
        if call.listed_as not in known.endpoints:
            raise UnsupportedError(f"the service has no {call.listed_as}")
        takes: Collection[str] = known.filters.get(call.listed_as, ())
        if unknown := sorted(call.parameters.keys() - {*takes}):
            raise UnsupportedError(f"{call.listed_as} of the service takes no {', '.join(unknown)}")

    def forget(self) -> None:
        """Ask for the capabilities again at the next check."""
        self._capabilities = None

    @property
    def bookmakers(self) -> tuple[str, ...]:
        """The ids of the bookmakers in order, as they were last known."""
        return () if self._capabilities is None else self._capabilities.supported_bookmakers

    def fetch(self, target: str, headers: Mapping[str, str], wait_s: float = 0.0) -> Steps[Answer]:
        """Return a whole answer; the service may wait that long before it answers. Raises: CutError."""
        policy, parts, size = self.policy, list[bytes](), 0
        began = self.now()
        head = yield Open(target, headers, policy.silence_s + wait_s)
        while data := (yield Read()).data:
            parts.append(data)
            size += len(data)
            if size > policy.max_bytes:
                raise CutError(f"the answer had more than {policy.max_bytes} bytes")
            if self.now() - began > policy.answer_s + wait_s:
                raise CutError(f"the answer took more than {policy.answer_s:g} s")
        return Answer(head.status, head.headers, b"".join(parts))

    def _if_new(self, call: Call[A], tag: str) -> Steps[Answer]:
        condition = {"if-none-match": tag} if tag else {}
        answer = yield from self.fetch(call.target, {**JSON, **condition})
        if answer.status not in {200, NOT_MODIFIED}:
            refuse(call.path, answer)
        return answer


def problem_of(answer: Answer) -> Problem:
    """Return the problem in an answer; an empty problem if the answer is not the service's own."""
    kind = Headers()
    kind["content-type"] = answer.headers.get("content-type", "")
    if kind.get_content_type() != "application/problem+json":
        return Problem()
    try:
        return msgspec.json.decode(answer.body, type=Problem)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Problem()


def refuse(path: str, answer: Answer) -> NoReturn:
    """Raise AnsweredError for the service's own refusal, CutError for a fault that may pass."""
    problem, status = problem_of(answer), answer.status
    if problem.code and status not in PASSING:
        raise AnsweredError(path, status, problem.code, problem.detail)
    given = answer.headers.get("retry-after", "0")
    after_s = float(given) if given.isascii() and given.isdecimal() and len(given) < 7 else 0.0  # noqa: PLR2004
    raise CutError(f"{path}: {status} {problem.code}".rstrip(), after_s, problem.code)


def decoded(body: bytes, call: Call[A]) -> A:
    """Return the value of a body. Raises: CutError if the body is not such a value."""
    try:
        return msgspec.json.decode(body, type=call.answer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise CutError(f"{call.path}: the answer was not as documented: {error}") from error
