"""The reports to the service manager: ready, alive while the core works, stopping."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from actors.service.settings import service_manager
from tests.support.systems.process import service, simulated
from web.server.notify import Notifier


@contextmanager
def _manager(name: str) -> Iterator[socket.socket]:
    """Return a socket with that name, from which a service manager would read."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(name)
        sock.settimeout(20)
        yield sock


@pytest.mark.long
def test_the_manager_is_told_when_the_service_is_ready_alive_and_stopping(tmp_path: Path) -> None:
    """READY comes when the server answers; the watchdog gets several signs of life in each interval."""
    path = tmp_path / "manager"
    with _manager(str(path)) as manager:
        environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "300000"}
        with service(simulated(tmp_path), environment) as running:
            first = [manager.recv(100).decode() for _ in range(4)]
            status = running.get("/health/live").status_code
            code, told = running.stop(), ""
            while told != "STOPPING=1":
                told = manager.recv(100).decode()

    assert ["READY=1", *["WATCHDOG=1"] * 3] == first
    assert (200, 0) == (status, code)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["@oddsboard-of-a-test", "manager"])
async def test_only_a_core_that_works_is_alive(name: str, tmp_path: Path) -> None:
    """While the core does not work, nothing is sent; an abstract name begins with @."""
    address = name if name.startswith("@") else str(tmp_path / name)
    answers = [True, False, False, True]

    with _manager(address.replace("@", "\0")) as manager:
        with anyio.fail_after(5), anyio.CancelScope() as scope:

            def is_alive() -> bool:
                if len(answers) == 1:
                    scope.cancel()
                return answers.pop(0)

            await Notifier(address, 0.003, is_alive).watch()
        Notifier(address).tell("STOPPING=1")
        told = [manager.recv(100) for _ in range(3)]

    assert [b"WATCHDOG=1", b"WATCHDOG=1", b"STOPPING=1"] == told


def test_a_manager_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    """A service without a manager, or with one that does not listen, sends nothing and does not fail."""
    Notifier(str(tmp_path / "nobody")).tell("READY=1")
    Notifier().tell("READY=1")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ("", 0.0)),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000"}, ("/run/n", 30.0)),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "soon"}, ("@n", 0.0)),
    ],
)
def test_the_manager_is_read_from_the_environment(
    environment: dict[str, str], expected: tuple[str, float]
) -> None:
    """A watchdog interval that cannot be read means that there is no watchdog."""
    assert expected == service_manager(environment)
