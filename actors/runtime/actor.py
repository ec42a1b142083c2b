"""The interface between an actor and its supervisor: `run`, the states, and their record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Actor(Protocol):
    """An actor that a supervisor can run."""

    async def run(self) -> None:
        """Work until cancelled; returning is a crash."""


class ActorState(StrEnum):
    """The states of an actor under supervision."""

    WAITING = "waiting"  # not started yet
    RUNNING = "running"
    QUARANTINED = "quarantined"  # crashed too often; will be started again later
    STOPPED = "stopped"
    ABANDONED = "abandoned"  # did not stop in time


@dataclass(slots=True)
class ActorStatus:
    """An actor under supervision; written by the supervisor. Times are Unix seconds."""

    name: str
    state: ActorState = ActorState.WAITING
    since: float | None = None
    starts: int = 0
    crashes: int = 0
    quarantined_until: float | None = None
    last_error: str | None = None
    mailbox_depth: Callable[[], int] | None = None

    def become(self, state: ActorState, at: float) -> None:
        """Enter `state` at `at`."""
        self.state, self.since = state, at
