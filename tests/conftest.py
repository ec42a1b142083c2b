"""Test set-up: options, and which tests are left out without recordings, browser, --long or --draw."""

from __future__ import annotations

import signal
from typing import Any

import pytest
import structlog
from hypothesis import settings

from tests.support import chromium
from tests.support.changes import changes
from tests.support.draw import PARTS, Draw
from tests.support.recordings import FOLDER, are_there
from tests.support.source_code import ROOT

_left_out = pytest.StashKey[dict[str, int]]()
_draw = pytest.StashKey[Draw | None]()
_drawn = pytest.StashKey[dict[str, int]]()
_against = pytest.StashKey[str]()
_RECORDINGS = f"no recordings in {FOLDER}"
_BROWSER = f"tests/browser needs {chromium.EXECUTABLE}"
_LONG = "they take long, --long runs them"
_NOT_DRAWN = "they take long and are not of this draw, --long runs them"
_LONG_FOLDERS = ("browser", "docs", "e2e")  # these tests start processes
_LONGEST_S = 600


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that CI uses."""
    parser.addoption("--require-recordings", action="store_true", help="fail if the recordings are absent")
    parser.addoption("--require-browser", action="store_true", help="fail if there is no Chromium")
    parser.addoption("--long", action="store_true", help="run the tests that take long as well")
    parser.addoption(
        "--draw",
        metavar="DATE",
        help=f"of these only one part of {PARTS}, that of a date or of today (UTC)",
    )
    parser.addoption(
        "--changed",
        metavar="FOLDERS",
        help="and all of these folders, a comma between; without it, of those that changed, says Git",
    )
    parser.addoption("--whole", action="store_true", help="counts and times of docs/faults.md: for hours")
    parser.addoption("--fuzz-inputs", type=int, default=200, help="invented inputs a parser (default 200)")


def pytest_configure(config: pytest.Config) -> None:
    """Stop if something required is missing; set no time limit for Hypothesis examples."""
    settings.register_profile("timeless", deadline=None)
    settings.load_profile("timeless")
    _log_plainly()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job, and its children
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_left_out] = {}
    config.stash[_drawn] = {}
    config.stash[_draw] = _asked_draw(config)
    if config.getoption("--require-recordings") and not are_there():
        raise pytest.UsageError(f"no recordings in {FOLDER}, set ODDSBOARD_RECORDINGS to their folder")
    if config.getoption("--require-browser") and not chromium.is_there():
        raise pytest.UsageError(f"no browser: {_BROWSER}; apt-get install chromium brings it")


def _asked_draw(config: pytest.Config) -> Draw | None:
    """Return the draw that the options ask for, or None. All processes of xdist get the same draw."""
    day, folders = config.getoption("--draw"), config.getoption("--changed")
    if day is None or config.getoption("--long"):
        if folders is not None:
            raise pytest.UsageError("--changed needs --draw, and not --long")
        return None
    config.stash[_against] = "--changed"
    if folders is None:
        found = changes(ROOT)
        config.stash[_against], folders = found.against, ",".join(found.folders)
    try:
        draw = Draw.of(day, folders)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    config.option.draw, config.option.changed = draw.day.isoformat(), ",".join(draw.folders)
    return draw


def _log_plainly() -> None:
    """Write stacks as the service does: richer stacks would print local variables, also hostile ones."""
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.dev.set_exc_info, console]
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect and count tests whose recordings or browser are missing, and long ones unless asked for.

    The longest of the other tests come first, so that at the end no process waits for another process.
    """
    if not are_there():
        _leave_out(config, items, "recordings", _RECORDINGS)
    if not chromium.is_there():
        _leave_out(config, items, "browser", _BROWSER)
    for item in items:
        if item.path.parent.name in _LONG_FOLDERS:
            item.add_marker("long")
    draw = config.stash[_draw]
    if draw is not None:
        _leave_out(config, items, "long", _NOT_DRAWN, but=draw)
    elif not config.getoption("--long"):
        _leave_out(config, items, "long", _LONG)
    items.sort(key=lambda item: -_limit_s(item))


def _limit_s(item: pytest.Item) -> float:
    """Return the time limit that a test sets for itself, 0 for a short test."""
    marker = item.get_closest_marker("timeout")
    limit_s: float = 0 if marker is None else marker.args[0]
    return limit_s if limit_s >= _LONGEST_S else 0


def _leave_out(
    config: pytest.Config, items: list[pytest.Item], marker: str, why: str, but: Draw | None = None
) -> None:
    """Deselect and count tests with the marker; tests of a draw stay, and have a count of their own."""
    kept, left, drawn = [], [], config.stash[_drawn]
    for item in items:
        if item.get_closest_marker(marker) is None:
            kept.append(item)
        elif but is not None and (reason := but.reason(item.nodeid)):
            kept.append(item)
            drawn[reason] = drawn.get(reason, 0) + 1
        else:
            left.append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)
    config.stash[_left_out][why] = len(left)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output["left_out"], output["drawn"] = config.stash[_left_out], drawn


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the counts from a worker process."""
    del error
    output = getattr(node, "workeroutput", {})
    node.config.stash[_left_out].update(output.get("left_out", {}))
    node.config.stash[_drawn].update(output.get("drawn", {}))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return the line about the draw, if there is a draw."""
    draw = config.stash[_draw]
    return [] if draw is None else [draw.told(config.stash[_against])]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print in the last lines which tests were not run, and how to make the same draw again."""
    if (draw := config.stash[_draw]) is not None:
        terminalreporter.write_line(draw.told(config.stash[_against]))
        for reason, count in config.stash[_drawn].items():
            terminalreporter.write_line(f"{count} tests that take long are run: {reason}")
        terminalreporter.write_line(f"exactly this draw again: .ci/run {draw.options()}")
    for why, count in config.stash[_left_out].items():
        if count:
            terminalreporter.write_line(f"{count} tests not run: {why}", yellow=True)


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    """Return whether a test may take long: with --long, or if drawn. Some tests then try more cases."""
    draw = request.config.stash[_draw]
    if request.config.getoption("--long"):
        return True
    return draw is not None and draw.reason(request.node.nodeid) != ""


@pytest.fixture
def is_whole(pytestconfig: pytest.Config) -> bool:
    """Return whether counts and times are as high as docs/faults.md asks, which takes hours."""
    return bool(pytestconfig.getoption("--whole"))


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on asyncio's usual loop, unless a folder overrides this."""
    return "asyncio"
