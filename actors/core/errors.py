"""The exception tree.

    OddsboardError
    ├── ConfigError, BindError, CoreFailure     end the process
    ├── ArchiveLockedError, QueueLockedError    end the process
    ├── ServiceUnreachableError                 ends a command that asks a running service
    ├── UnusableError                           ends a command whose file contains nothing readable
    ├── CommitLateError                         ends a read: an overdue entry was not withdrawn in time
    ├── StoreLostError, OtherBoardError         about a cluster's server: expected, joined again
    ├── ActorReturned, ActorExited, EndlessError  crash an actor
    └── SourceError                             a source's expected failure: kept as state, tried again
        └── TransportError, StreamError, PayloadError

Messages say what was found and what is allowed, with ids, never with secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)  # what msgspec raises on decoding


OF_ACCOUNT = frozenset(
    {
        *("missing_key", "invalid_key", "deactivated_key", "out_of_usage_credits"),
        *("login", "no_app_key", "invalid_app_key", "not_authorized"),
        *("no_session", "invalid_session_information", "subscription_limit_exceeded"),
    }
)
REFUSED = frozenset({401, 402, 403})  # HTTP statuses that deny an account access
MAX_FAULTS: Final = 100  # faults of a configuration that are reported together


class OddsboardError(Exception):
    """Root of all exceptions that this project raises on purpose."""


class ConfigError(OddsboardError):
    """The configuration is unusable; a line for each fault names file, key and value. Exit code 78."""


def in_lines(faults: Iterable[str], most: int = MAX_FAULTS) -> str:
    """Return a line for each different fault, up to `most`, then a line with the count of the others."""
    lines = [*dict.fromkeys(" ".join(fault.splitlines()) for fault in faults)]
    if len(lines) > most:
        lines[most:] = [f"faults that are not shown: {len(lines) - most}"]
    return "\n".join(lines)


class ServiceUnreachableError(OddsboardError):
    """A running service did not answer a command, or gave an unexpected answer. Exit code 69."""


class ArchiveLockedError(OddsboardError):
    """Another process uses the archive. Exit code 75."""


class QueueLockedError(OddsboardError):
    """Another process uses the queue of alerts. Exit code 75."""


class BindError(OddsboardError):
    """The listening address is taken, forbidden or not ours. Exit code 71."""


class CoreFailure(OddsboardError):
    """The aggregator, the supervisor or the server cannot continue: the process must end. Exit code 70."""


class CommitLateError(OddsboardError):
    """A read would show an overdue entry that the aggregator has not withdrawn in time."""


class StoreLostError(OddsboardError):
    """A cluster's shared server did not answer in time, or refused: kept as state, joined again."""


class StoreDamagedError(OddsboardError):
    """The state on a cluster's shared server is damaged: the board begins anew."""


class OtherBoardError(OddsboardError):
    """The server has a new board with another epoch; this process joins again."""


class ActorReturned(OddsboardError):
    """An actor that runs for ever returned without an exception: a bug, counted as a crash."""


class ActorExited(OddsboardError):
    """An actor raised an exception that would end the process, such as SystemExit: counted as a crash."""


class EndlessError(OddsboardError):
    """A plug-in's generator did not end: a bug, counted as a crash of the actor that ran it."""


class SourceError(OddsboardError):
    """An expected failure of a source: kept as state and tried again; counted by its short `reason`.

    It `needs_operator` if trying again cannot help: a key or a login is refused, or a quota is spent.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def needs_operator(self) -> bool:
        """Whether the failure concerns the whole account, so that it is reported before others."""
        return self.reason in OF_ACCOUNT


class TransportError(SourceError):
    """No complete answer: refused, reset, too slow, too big, or a wrong status (`body` is then cut short).

    `retry_after_s` is the least delay that the peer asked for. Without `is_sent` the peer got no request.
    """

    def __init__(
        self,
        message: str,
        retry_after_s: float | None = None,
        *,
        reason: str = "transport",
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        is_sent: bool = True,
    ) -> None:
        super().__init__(message, reason)
        self.retry_after_s = retry_after_s
        self.status = status
        self.headers = headers or {}
        self.body = body
        self.is_sent = is_sent

    @property
    def needs_operator(self) -> bool:
        """Whether the failure concerns the whole account, so that it is reported before others."""
        return self.status in REFUSED or super().needs_operator


class StreamError(SourceError):
    """The server ended the session.

    The flags name the remedy: `is_login` a new login, `is_too_much` a smaller subscription, `is_passing`
    another attempt.
    """

    def __init__(
        self,
        message: str,
        reason: str,
        *,
        is_login: bool = False,
        is_too_much: bool = False,
        is_passing: bool = False,
    ) -> None:
        super().__init__(message, reason)
        self.is_login = is_login
        self.is_too_much = is_too_much
        self.is_passing = is_passing


class PayloadError(SourceError):
    """A complete payload that cannot be read: HTML, wrong shape, truncated, oversized."""

    def __init__(self, message: str, reason: str = "unreadable") -> None:
        super().__init__(message, reason)
