"""Test set-up: where the recordings are, and what happens where they are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recordings import FOLDER, are_there

_absent = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--require-recordings`, with which absent recordings are a failure."""
    parser.addoption("--require-recordings", action="store_true", help="fail if the recordings are absent")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run without recordings where they are required."""
    config.stash[_absent] = 0
    if config.getoption("--require-recordings") and not are_there():
        raise pytest.UsageError(f"no recordings in {FOLDER}, set ODDSBOARD_RECORDINGS to their folder")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that need recordings where there are none, and count them."""
    if are_there():
        return
    needing = [item for item in items if item.get_closest_marker("recordings")]
    items[:] = [item for item in items if item not in needing]
    config.hook.pytest_deselected(items=needing)
    config.stash[_absent] = len(needing)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output["absent_recordings"] = len(needing)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the count from a worker process."""
    del error
    count = getattr(node, "workeroutput", {}).get("absent_recordings", 0)
    node.config.stash[_absent] = max(node.config.stash[_absent], count)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say in the last lines what was not run."""
    if count := config.stash[_absent]:
        terminalreporter.write_line(f"{count} tests not run: no recordings in {FOLDER}", yellow=True)


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on asyncio, on its usual loop unless a folder says otherwise."""
    return "asyncio"
