"""uvicorn instead of Hypercorn, for installations of `oddsboard[uvicorn]`.

The same listening socket and the same stop in order, without uvicorn's signal handlers and log lines.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from importlib.util import find_spec

import anyio
from hypercorn.typing import ASGIFramework

from actors.core.errors import ConfigError, CoreFailure
from web.server.hypercorn_server import GRACE_S
from web.server.listener import BACKLOG


def check_uvicorn() -> None:
    """Check that uvicorn is installed. Raises: ConfigError that says what to do."""
    if missing := [name for name in ("uvicorn", "httptools") if find_spec(name) is None]:
        raise ConfigError(
            f"--server uvicorn: {missing[0]} is not installed; pip install 'oddsboard[uvicorn]'"
        )


async def serve_with_uvicorn(app: ASGIFramework, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve as `hypercorn_server.serve` does. Raises: CoreFailure if it ends before `stop` is set."""
    import uvicorn  # noqa: PLC0415 - an extra, which is not always there

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # the life cycle handles signals

    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # it would believe X-Forwarded-For from this machine
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(GRACE_S),
    )
    server = Server(config)

    async def stop_server() -> None:
        await stop.wait()
        server.should_exit = True

    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_server)
            try:
                await server.serve([sock])
            except (OSError, RuntimeError, ValueError) as error:
                raise CoreFailure(f"the HTTP server failed: {error!r}") from error
            tasks.cancel_scope.cancel()
    if not stop.is_set():
        raise CoreFailure("the HTTP server ended by itself")
