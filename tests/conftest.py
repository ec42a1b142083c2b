"""Test set-up: options, and which tests are left out without recordings, browser or --long."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from hypothesis import settings

from tests.support import chromium
from tests.support.recordings import FOLDER, are_there

_left_out = pytest.StashKey[dict[str, int]]()
_RECORDINGS = f"no recordings in {FOLDER}"
_BROWSER = f"tests/browser needs {chromium.EXECUTABLE}"
_LONG = "they take long, --long runs them"
_LONG_FOLDERS = ("browser", "docs", "e2e")  # with processes of their own
_LONGEST_S = 600


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that CI uses."""
    parser.addoption("--require-recordings", action="store_true", help="fail if the recordings are absent")
    parser.addoption("--require-browser", action="store_true", help="fail if there is no Chromium")
    parser.addoption("--long", action="store_true", help="run the tests that take long as well")
    parser.addoption("--whole", action="store_true", help="counts and times of docs/faults.md: for hours")
    parser.addoption("--fuzz-inputs", type=int, default=200, help="invented inputs a parser (default 200)")


def pytest_configure(config: pytest.Config) -> None:
    """Stop if something required is missing; set no time limit for Hypothesis examples."""
    settings.register_profile("timeless", deadline=None)
    settings.load_profile("timeless")
    _log_plainly()
    config.stash[_left_out] = {}
    if config.getoption("--require-recordings") and not are_there():
        raise pytest.UsageError(f"no recordings in {FOLDER}, set ODDSBOARD_RECORDINGS to their folder")
    if config.getoption("--require-browser") and not chromium.is_there():
        raise pytest.UsageError(f"no browser: {_BROWSER}; apt-get install chromium brings it")


def _log_plainly() -> None:
    """Write stacks as the service does: richer ones would print local variables, also hostile ones."""
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.dev.set_exc_info, console]
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect and count tests whose recordings or browser are missing, and long ones unless asked for.

    The longest of the others come first, so that at the end no process waits for another.
    """
    if not are_there():
        _leave_out(config, items, "recordings", _RECORDINGS)
    if not chromium.is_there():
        _leave_out(config, items, "browser", _BROWSER)
    for item in items:
        if item.path.parent.name in _LONG_FOLDERS:
            item.add_marker("long")
    if not config.getoption("--long"):
        _leave_out(config, items, "long", _LONG)
    items.sort(key=lambda item: -_limit_s(item))


def _limit_s(item: pytest.Item) -> float:
    """Return the time limit that a test sets for itself, 0 for one that is short."""
    marker = item.get_closest_marker("timeout")
    limit_s: float = 0 if marker is None else marker.args[0]
    return limit_s if limit_s >= _LONGEST_S else 0


def _leave_out(config: pytest.Config, items: list[pytest.Item], marker: str, why: str) -> None:
    marked = [item for item in items if item.get_closest_marker(marker)]
    items[:] = [item for item in items if item not in marked]
    config.hook.pytest_deselected(items=marked)
    config.stash[_left_out][why] = len(marked)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output["left_out"] = config.stash[_left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the counts from a worker process."""
    del error
    node.config.stash[_left_out].update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print in the last lines what was not run."""
    for why, count in config.stash[_left_out].items():
        if count:
            terminalreporter.write_line(f"{count} tests not run: {why}", yellow=True)


@pytest.fixture
def is_long(pytestconfig: pytest.Config) -> bool:
    """Return whether tests may take long: some then try more of the same."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture
def is_whole(pytestconfig: pytest.Config) -> bool:
    """Return whether counts and times are those that docs/faults.md asks for, which takes hours."""
    return bool(pytestconfig.getoption("--whole"))


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on asyncio's usual loop, unless a folder overrides this."""
    return "asyncio"
