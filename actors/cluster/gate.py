"""Runs the actor of a source only while this process holds the source's lease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from actors.runtime.actor import Actor


class Gate:
    """Open while the lease is held. Outlives the actor."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._scope: anyio.CancelScope | None = None

    @property
    def is_open(self) -> bool:
        """Whether the actor may run."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let the actor run."""
        self._opened.set()

    def close(self) -> None:
        """End the actor until the gate is opened again."""
        self._opened.clear()
        if self._scope is not None:
            self._scope.cancel()

    async def run(self, actor: Actor) -> bool:
        """Run an actor while the gate is open; return whether it ended by itself, which is a crash."""
        await self._opened.wait()
        with anyio.CancelScope() as self._scope:
            if self.is_open:
                await actor.run()
        return not self._scope.cancel_called


@dataclass(slots=True)
class GatedActor:
    """The actor of a source behind its gate; `start` makes a new instance each time the gate opens."""

    gate: Gate
    start: Callable[[], Actor]

    async def run(self) -> None:
        """Run for ever, unless the actor raises; return if the actor returned."""
        while not await self.gate.run(self.start()):
            pass
