"""uvicorn in the place of Hypercorn, for who has installed `oddsboard[uvicorn]`.

The same listening socket, the same stop in order; its own signal handlers and log lines are kept out.
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
    """Raise ConfigError, saying what to do, unless uvicorn is installed."""
    if missing := [name for name in ("uvicorn", "httptools") if find_spec(name) is None]:
        raise ConfigError(
            f"--server uvicorn: {missing[0]} is not installed; pip install 'oddsboard[uvicorn]'"
        )


async def serve_with_uvicorn(app: ASGIFramework, sock: socket.socket, stop: anyio.Event) -> None:
    """Serve as `web.server.serve` does. Raises: CoreFailure if it ends without having been told to."""
    import uvicorn  # noqa: PLC0415 - an extra, which is not always there

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # signals are the process's own

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

    async def tell() -> None:
        await stop.wait()
        server.should_exit = True

    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tell)
            try:
                await server.serve([sock])
            except (OSError, RuntimeError, ValueError) as error:
                raise CoreFailure(f"the HTTP server failed: {error!r}") from error
            tasks.cancel_scope.cancel()
    if not stop.is_set():
        raise CoreFailure("the HTTP server ended by itself")
