"""Start and end of a process that serves or records, with a supervision tree that fails on request."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from math import inf
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from anyio.abc import TaskStatus
from quart import Quart
from structlog.testing import capture_logs

from actors.core.errors import CoreFailure
from actors.monitoring.status import BoardStatus, ServiceStatus
from actors.runtime.actor import ActorStatus
from tests.support.peers.plain_http import NO_TLS
from web.server.lifecycle import Exit, Life, record_until_stopped
from web.server.listener import address_of, listen
from web.server.servers import serve

pytestmark = pytest.mark.anyio


class Tree:
    """A supervision tree that runs until it is stopped, or until `fails` is set."""

    def __init__(self) -> None:
        self.fails = anyio.Event()
        self.stopped = False

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Run, and fail when `fails` is set."""
        task_status.started()
        await self.fails.wait()
        raise CoreFailure("the aggregator crashed too often")

    async def stop(self) -> None:
        """Note that the tree was asked to stop."""
        self.stopped = True


def life(sock: socket.socket, tree: Tree | None = None, **given: Any) -> Life:
    """Return the life of a service that has neither endpoints nor a time limit."""
    app, status = Quart("oddsboard", static_folder=None), given.pop("status", None)
    steps: dict[str, Any] = {"started": lambda: None, "stopping": lambda _: None, **given}
    return Life(tree or Tree(), app, sock, status or status_of(), 0.0, **steps)


def status_of() -> ServiceStatus:
    """Return the status of a service without sources and bookmakers."""
    return ServiceStatus(0.0, BoardStatus(ActorStatus("aggregator")), {}, {}, {})


async def run_service(tree: Tree, during: Callable[[str, ServiceStatus], object]) -> Exit:
    """Run with `tree`, and call `during` with the base address when the server answers."""
    sock: socket.socket = listen("127.0.0.1", 0)
    base = address_of(sock)
    status, codes = status_of(), list[Exit]()

    async def run() -> None:
        codes.append(await life(sock, tree, status=status).run())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        async with httpx2.AsyncClient(verify=NO_TLS) as client:
            assert (await client.get(base + "/nothing")).status_code == 404
        during(base, status)
    return codes[0]


async def test_a_core_failure_ends_with_70() -> None:
    """When the core cannot go on, the server stops and the exit code is 70."""
    tree = Tree()

    with capture_logs() as logs:
        code = await run_service(tree, lambda *_: tree.fails.set())

    failed = [line["errors"] for line in logs if line["event"] == "service.failed"]
    assert (Exit.CORE, [["the aggregator crashed too often"]]) == (code, failed)


class Ending(Tree):
    """A tree that returns by itself instead of failing."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Start, and return when `fails` is set."""
        task_status.started()
        await self.fails.wait()


@pytest.mark.parametrize("part", ["tree", "server"])
async def test_a_part_that_ends_by_itself_ends_with_70(part: str) -> None:
    """Nothing asked the part to end: this is a failure of the core, with one log line (faults.md, D9)."""
    sock, tree = listen("127.0.0.1", 0), Ending()
    if part == "tree":
        tree.fails.set()
    else:
        os.close(sock.fileno())

    with capture_logs() as logs, anyio.fail_after(20):
        code = await life(sock, tree).run()

    events = [line["event"] for line in logs if not line["event"].startswith("loop.")]  # on a busy machine
    assert (Exit.CORE, ["service.failed"]) == (code, events)


async def test_a_signal_stops_in_order() -> None:
    """SIGTERM drains, stops the tree and ends with 0."""
    tree = Tree()
    drained: list[ServiceStatus] = []

    def send(base: str, status: ServiceStatus) -> None:
        del base
        drained.append(status)
        os.kill(os.getpid(), signal.SIGTERM)

    code = await run_service(tree, send)

    assert (Exit.STOPPED, True, True) == (code, tree.stopped, drained[0].is_draining)


async def test_an_answer_in_two_pieces_is_sent_at_once() -> None:
    """No connection waits for an acknowledgement between pieces (Nagle's algorithm is off)."""
    without_delay: list[int] = []
    done = anyio.Event()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sock = writer.get_extra_info("socket")
        without_delay.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()
        done.set()

    sock = listen("127.0.0.1", 0)
    address = sock.getsockname()
    async with await asyncio.start_server(connected, sock=sock), await anyio.connect_tcp(*address):
        await done.wait()

    assert [1] == without_delay


def test_another_event_loop_is_refused() -> None:
    """A loop such as uvloop does not use our socket class: the gate and the limits would be off."""
    asyncio._set_running_loop(_OtherLoop())  # type: ignore[abstract]  # its abstract methods are not called
    try:
        with (
            listen("127.0.0.1", 0) as sock,
            pytest.raises(CoreFailure, match="_OtherLoop, must be asyncio's on a selector"),
        ):
            serve(Quart("oddsboard", static_folder=None), sock, anyio.Event()).send(None)
    finally:
        asyncio._set_running_loop(None)


class _OtherLoop(asyncio.AbstractEventLoop):
    """An event loop that is not asyncio's own loop."""


async def test_followers_are_ended_before_the_server_stops() -> None:
    """Streams end while the server still answers, so that they do not delay it (Hypercorn's issue 308)."""
    sock = listen("127.0.0.1", 0)
    base, status = address_of(sock), status_of()
    seen: list[tuple[int, bool]] = []

    async def farewell() -> None:
        async with httpx2.AsyncClient(verify=NO_TLS) as client:
            seen.append(((await client.get(base + "/nothing")).status_code, status.is_draining))

    def started() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    code = await life(sock, status=status, started=started, farewell=farewell).run()

    assert (Exit.STOPPED, {(404, True)}) == (code, set(seen))


async def test_followers_are_ended_after_a_failure_too() -> None:
    """After a failure there is no drain, and streams must still not delay the server."""
    sock, farewells = listen("127.0.0.1", 0), []
    tree = Tree()
    tree.fails.set()

    async def farewell() -> None:
        await anyio.lowlevel.checkpoint()
        farewells.append(True)

    code = await life(sock, tree, farewell=farewell).run()

    assert (Exit.CORE, [True]) == (code, farewells)


async def test_the_server_stops_though_the_step_before_fails() -> None:
    """A server that is not stopped would keep the process alive for ever."""
    sock = listen("127.0.0.1", 0)
    tree = Tree()
    tree.fails.set()

    def fail(code: Exit) -> None:
        raise RuntimeError(f"no timer for {code}")

    with anyio.fail_after(20), pytest.raises(ExceptionGroup, match="TaskGroup"):
        await life(sock, tree, stopping=fail).run()

    assert -1 == sock.fileno()


class Recording(Tree):
    """A tree that calls one function when it runs, and runs until stopped."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.first = first

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Call the function, and wait for the end."""
        task_status.started()
        self.first()
        await self.fails.wait()

    async def stop(self) -> None:
        """End the recording."""
        await super().stop()
        self.fails.set()


def _fail() -> None:
    raise CoreFailure("the aggregator crashed too often")


def _signal() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


async def _full() -> None:
    raise CoreFailure("the disk is full")


async def _recorded(
    tree: Recording, for_s: float, watch: object = anyio.sleep_forever
) -> tuple[Exit, list[str]]:
    codes: list[Exit] = []
    with capture_logs() as logs:
        code = await record_until_stopped(tree, for_s, watch, codes.append)  # type: ignore[arg-type]  # a Watch
    assert [code] == codes
    return code, [f"{line['event']} {line.get('signal', line.get('errors', ''))}" for line in logs]


async def test_a_recording_ends_when_its_time_is_over() -> None:
    """The recording stops in order, with exit code 0."""
    tree = Recording()

    assert (Exit.STOPPED, ["service.stopping None", "service.stopped "]) == await _recorded(tree, 0.01)
    assert tree.stopped


async def test_a_recording_ends_on_a_signal() -> None:
    """The recording stops in order, with exit code 0, even before its time is over."""
    tree = Recording(_signal)

    assert (Exit.STOPPED, ["service.stopping SIGTERM", "service.stopped "]) == await _recorded(tree, inf)
    assert tree.stopped


async def test_a_recording_that_cannot_go_on_ends_with_70() -> None:
    """One log line gives the reason."""
    assert (Exit.CORE, ["service.failed ['the disk is full']"]) == await _recorded(Recording(), inf, _full)


async def test_a_core_failure_ends_a_recording_with_70() -> None:
    """A recording ends as a service does: with one log line and exit code 70."""
    expected = (Exit.CORE, ["service.failed ['the aggregator crashed too often']"])

    assert expected == await _recorded(Recording(_fail), inf)
