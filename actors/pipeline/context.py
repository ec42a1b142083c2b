"""What a source's actor works with and leaves behind: everything that outlives one instance of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeVar

from actors.board.published import Published
from actors.core.clock import Clock
from actors.core.messages import BookmakerId, Payload
from actors.monitoring.status import SourceStatus
from actors.runtime.conflation import Inbox
from actors.runtime.poison import PoisonGuard
from actors.source_api.options import SourceOptions
from actors.transports.names import Names

Options = TypeVar("Options", bound=SourceOptions)


def unrecorded(payload: Payload) -> None:
    """Keep nothing."""
    del payload


@dataclass(frozen=True, slots=True)
class SourceContext(Generic[Options]):
    """One source's context.

    `keys` and `inboxes` are those of its bookmakers; `refresh`, when set, asks for a fresh list;
    `resumed`, when set, says that time has passed which no timer measured, as while a machine sleeps;
    `published` tells which lists are on the board; `record` is handed every payload as it came;
    `names` looks up the names of its peers.
    """

    options: Options
    keys: Mapping[BookmakerId, str]
    inboxes: Mapping[BookmakerId, Inbox]
    status: SourceStatus
    refresh: asyncio.Event
    published: Published
    clock: Clock
    random: Random
    poison_guard: PoisonGuard = field(default_factory=PoisonGuard)
    resumed: asyncio.Event = field(default_factory=asyncio.Event)
    record: Callable[[Payload], None] = unrecorded
    names: Names = field(default_factory=Names)

    @property
    def is_recorded(self) -> bool:
        """Whether anybody keeps what `record` is handed, for who has to make a payload first."""
        return self.record is not unrecorded
