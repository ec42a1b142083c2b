"""HTTP/1.1 for requests that passed the gate, faster than Hypercorn's; see docs/architecture.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import Any

from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import ASGIReceiveEvent, ASGISendEvent

from actors.core.clock import wall_s
from web.protocol.wire import END_OF_HEAD, Answer, read

_FAILED = ((b"content-length", b"0"), (b"connection", b"close"))


class GatedProtocol(H11Protocol):
    """Answers requests that `read` can read, one by one; h11 takes over at the first other request."""

    _pending = b""
    _answer: Answer | None = None
    _tell: Callable[[ASGIReceiveEvent], Awaitable[None]]
    """Sends an event to the application that answers the current request."""
    _is_of_h11 = _is_ended = _is_unsent = False

    async def handle(self, event: Event) -> None:
        """Process bytes that the gate has passed, or the end of the connection."""
        if self._is_of_h11:
            await super().handle(event)
        elif isinstance(event, RawData):
            self._pending += event.data
            await self._read_heads()
        elif isinstance(event, Closed) and not self._is_ended:  # one such event for each unsent piece
            self._is_ended = True
            await self.can_read.set()
            if self._answer is not None:
                await self._tell({"type": "http.disconnect"})

    async def _read_heads(self) -> None:
        while self._pending and not self._is_ended:
            if self._answer is not None:
                await self.can_read.clear()
                await self.can_read.wait()  # until the request before is answered
                continue
            head, end, rest = self._pending.partition(END_OF_HEAD)
            if (found := read(head + end)) is None:
                self._is_of_h11, pending, self._pending = True, self._pending, b""
                await super().handle(RawData(pending))
                return
            self._pending = rest
            scope: Any = {
                **found.scope,
                "scheme": "http",
                "root_path": self.config.root_path,
                "client": self.client,
                "server": self.server,
                "state": self.connection_state.copy(),
            }
            self._answer = Answer(scope["method"], is_last=found.is_last)
            await self.send(Updated(idle=False))
            sender = partial(self._send, self._answer)
            self._tell = await self.task_group.spawn_app(self.app, self.config, scope, sender)
            await self._tell({"type": "http.request", "body": b"", "more_body": False})

    async def _send(self, answer: Answer, event: ASGISendEvent | None) -> None:
        if event is None:  # the application has ended
            await self._end(answer)
        elif event["type"] == "http.response.start":
            headers = (*event["headers"], *_common(self.config, int(wall_s())))
            await self._write(answer.begin(event["status"], headers))
        elif event["type"] == "http.response.body":
            await self._write(answer.piece(event["body"], has_more=event.get("more_body", False)))

    async def _write(self, pieces: tuple[bytes, ...]) -> None:
        self._is_unsent = True
        for data in pieces:
            await self.send(RawData(data))
        self._is_unsent = False

    async def _end(self, answer: Answer) -> None:
        if not answer.is_sent and not self._is_ended:
            failed = Answer("GET", is_last=answer.is_last)
            failed.begin(500, (*_FAILED, *_common(self.config, int(wall_s()))))
            await self._write(failed.piece(b"", has_more=False))
        self._answer = None
        is_cut = self._is_unsent or not answer.is_whole
        is_last = answer.is_last or is_cut or self.context.terminated.is_set()
        self._is_ended = self._is_ended or is_last
        await self.can_read.set()
        await self.send(Closed() if self._is_ended else Updated(idle=True))


@lru_cache(maxsize=1)
def _common(config: Config, second: int) -> list[tuple[bytes, bytes]]:
    """Return the server's own headers, made once a `second`: they include the date."""
    del second
    return config.response_headers("h11")
