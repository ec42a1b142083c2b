"""The actor of a program with real processes, an inbox that shows items immediately, and a board."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec

from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Clock, SystemClock
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Document, Failure, Payload, Scope
from actors.core.validation import Bounds, admit
from actors.pipeline.context import SourceContext
from actors.pipeline.program.source import ProgramSourceActor
from actors.runtime.conflation import merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec, Supervisor
from actors.source_api.program import ProgramOptions
from actors.sources.program.kind import KIND
from tests.support.builders.programs import OPTIONS
from tests.support.systems.committing import Committing
from tests.support.systems.supervision import source_record

KILLED_S = 5.0
MINE = BookmakerId("mine")
PRELUDE = """
import json, os, signal, subprocess, sys, time
def item(match="1", one="2.10"):
    return {"match": match, "home": f"Home {match}", "away": f"Away {match}",
            "odds": {"one": one, "draw": "3.40", "two": "3.60"}}
def say(kind, name="epl", **fields):
    print(json.dumps({"type": kind, "list": name, **fields}), flush=True)
def listed(*items, name="epl"):
    say("list", name, id="1", matches=items)
"""


class Inbox(Mailbox[Scope, Document | Batch]):
    """An inbox that applies each batch to the board immediately."""

    def __init__(self, published: Committing) -> None:
        super().__init__(lambda delivery: delivery.scope, merged_deliveries)
        self._published = published

    def put_nowait(self, item: Document | Batch) -> None:
        """Show the item, if it passes the gate."""
        assert isinstance(item, Batch)
        self._published.apply(run_now(admit(item, Bounds())).batch)


class ProgramStage:
    """The actor of a program, and everything around this actor."""

    def __init__(self, clock: Clock, random: Random, **options: Any) -> None:
        self.clock = clock
        self.failed: list[Scope] = []
        self.recorded: list[Payload] = []
        self.published = Committing(Snapshot.empty(1, (MINE,)), BoardRules(), clock)
        self.context: SourceContext[ProgramOptions] = SourceContext(
            options=msgspec.structs.replace(OPTIONS, **options),
            keys={MINE: "program"},
            inboxes={MINE: Inbox(self.published)},
            status=source_record("own"),
            refresh=asyncio.Event(),
            published=self.published,
            clock=clock,
            random=random,
            record=self.recorded.append,
        )
        self.context.bus.subscribe(self._on_message)

    @property
    def status(self) -> Any:
        """The record of the source."""
        return self.context.status

    def shown(self) -> dict[str, float]:
        """Return the price of home of each match that a reader sees."""
        chunks = self.published.current().books[MINE].chunks
        return {entry.match.source_match_id: entry.match.home_price for entry in entries_of(chunks)}

    def withdraw(self) -> None:
        """Withdraw everything from the board, as the aggregator does with a list that it rejects."""
        board = self.published.board()
        for scope in self.published.current().books[MINE].lists:
            run_now(board.withdraw(MINE, scope))
        self.published.commit(board)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the program brings about."""
        while not condition():  # noqa: ASYNC110 - another process changes it
            await anyio.sleep(0.01)

    def actor(self) -> ProgramSourceActor:
        """Return an instance of the actor."""
        return ProgramSourceActor(KIND, self.context)

    def _on_message(self, message: Batch | Failure) -> None:
        self.failed.append(message.scope)


@asynccontextmanager
async def staged(folder: Path, text: str, **options: Any) -> AsyncIterator[ProgramStage]:
    """Run a program in Python by its actor within the block; then no process is left."""
    script = folder / "program.py"
    script.write_text(PRELUDE + text, "utf-8")
    command = (sys.executable, "-S", str(script))
    stage = ProgramStage(SystemClock(), Random(1), **{"command": command, **options})
    child = ChildSpec(stage.status.actor, stage.actor, stop_within_s=10.0)
    supervisor = Supervisor((child,), stage.clock)
    async with anyio.create_task_group() as tasks:
        await tasks.start(supervisor.run)
        yield stage
        await supervisor.stop()
        tasks.cancel_scope.cancel()
    assert 0 == stage.status.actor.crashes
    with anyio.fail_after(KILLED_S):  # the system may need a moment
        await stage.until(lambda: processes_with(str(folder)) == [])


def processes_with(text: str) -> list[str]:
    """Return the command lines of all processes that contain a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if text in command and int(folder.name) != os.getpid():
            found.append(command)
    return found
