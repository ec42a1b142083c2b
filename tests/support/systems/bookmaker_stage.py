"""One bookmaker's actor and all state that outlives it, for scripted documents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from actors.core.cooperative import Sliced
from actors.core.messages import Batch, Document, Extract, Failure, ListId, Scope
from actors.core.validation import Bounds
from actors.monitoring.status import BookmakerStatus
from actors.pipeline.bookmaker import BookmakerActor
from actors.runtime.conflation import Inbox, merged_deliveries
from actors.runtime.mailbox import Bus, Mailbox, PoisonGuard
from actors.runtime.supervisor import ChildSpec
from tests.support.builders.messages import SCOPE
from tests.support.systems.supervision import bookmaker_record
from tests.support.time.virtual import VirtualClock


class Endless:
    """The content of a document whose extraction never ends."""


@dataclass
class BookmakerStage:
    """A bookmaker and all state that outlives its actor; `extracted` lists what each instance extracted."""

    name: str = "alder"
    status: BookmakerStatus = field(init=False)
    child: ChildSpec = field(init=False)
    inbox: Inbox = field(
        default_factory=lambda: Mailbox(lambda document: document.scope, merged_deliveries)
    )
    refresh: asyncio.Event = field(default_factory=asyncio.Event)
    poison_guard: PoisonGuard = field(default_factory=PoisonGuard)
    published: list[Batch] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    extracted: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open its record and set how to run it."""
        self.status = bookmaker_record(self.name)
        self.child = ChildSpec(self.status.actor, self._start)

    def offer(self, content: object, list_id: str = "list-1", scope: str = SCOPE) -> None:
        """Put a document received now into the inbox; an exception as content is raised at extraction."""
        now = VirtualClock().now()
        self.inbox.put_nowait(
            Document(Scope(scope), ListId(list_id), content, now.wall, now.mono, stale_after_s=30.0)
        )

    def _start(self) -> BookmakerActor:
        bus = Bus()
        bus.subscribe(self._take)
        return BookmakerActor(
            status=self.status,
            inbox=self.inbox,
            bus=bus,
            extract=self._extract,
            bounds=Bounds(),
            refresh=self.refresh,
            poison_guard=self.poison_guard,
            clock=VirtualClock(),
        )

    def _take(self, message: Batch | Failure) -> None:
        if isinstance(message, Batch):
            self.published.append(message)
        else:
            self.failures.append(message)

    def _extract(self, content: object) -> Sliced[Extract]:
        self.extracted.append(content)
        yield
        while isinstance(content, Endless):
            yield
        if isinstance(content, Exception):
            raise content
        if isinstance(content, Extract):
            return content
        assert isinstance(content, tuple)
        return Extract(content)
