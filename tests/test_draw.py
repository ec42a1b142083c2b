"""The draw of long tests: each test within six days, and the tests of folders that changed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.draw import ELSEWHERE, OF_FOLDERS, PARTS, Draw, covering, part_of
from tests.support.source_code import ROOT

TEST = "tests/actors/board/test_diff.py::test_a[x]"
DAY = date(2026, 11, 29)
LISTED = ("actors", "web", "tests", "scripts", "config", "docs")


@given(node_id=st.text(), day=st.dates(max_value=date(9999, 12, 1)))
def test_six_days_in_a_row_draw_a_test_once(node_id: str, day: date) -> None:
    """The test may have any name, and the six days may begin with any day."""
    draws = [Draw(day + timedelta(days=days), ()) for days in range(PARTS)]

    assert 1 == sum(bool(draw.reason(node_id)) for draw in draws)


def test_part_of_a_test_is_always_the_same() -> None:
    """If other processes, machines or releases drew another part, a test might never be drawn."""
    assert [5, 4, 4] == [part_of(TEST), part_of("a"), part_of("")]


def test_parts_are_of_about_one_size() -> None:
    """No part of many tests with similar names is a fifth larger or smaller than the others."""
    sizes = Counter(part_of(f"tests/e2e/test_x.py::test_y[{at}]") for at in range(6000))

    assert all(800 < sizes[part] < 1200 for part in range(PARTS)), sizes


@pytest.mark.parametrize(
    ("changed", "is_drawn"),
    [
        ("actors/board", True),
        ("tests/actors/board", True),
        ("actors", True),  # a folder without tests of its own
        ("actors/core", False),
        ("web,actors/board", True),
        ("", False),
    ],
)
def test_covering_a_folder_that_changed_are_drawn(changed: str, *, is_drawn: bool) -> None:
    """The tests in the folder of the same name are drawn on any day."""
    reasons = {Draw.of(str(DAY + timedelta(days=days)), changed).reason(TEST) for days in range(PARTS)} - {
        f"of part {part_of(TEST) + 1} of {PARTS}"
    }

    assert {OF_FOLDERS if is_drawn else ""} == reasons


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("web/static/board", ["tests/browser"]),
        ("docs", ["tests/docs"]),
        ("actors/naming/data", ["tests/actors/naming"]),
        ("tests/support/time", []),
        ("tests/e2e", ["tests/e2e"]),
    ],
)
def test_folders_without_a_namesake_have_tests_elsewhere(folder: str, expected: list[str]) -> None:
    """A table says where; without an entry the parent folder counts."""
    assert expected == sorted(covering(folder))


def test_every_folder_has_tests_or_is_listed() -> None:
    """A folder whose tests are elsewhere is in the table, and all folders of the table exist."""
    folders = {
        str(file.parent.relative_to(ROOT))
        for name in LISTED
        for file in (ROOT / name).rglob("*.*")
        if file.is_file() and not {"__pycache__", ".hypothesis"} & set(file.parts)
    }
    without = {name for name, tests in ELSEWHERE.items() if not tests}

    assert [] == [
        folder
        for folder in sorted(folders)
        if not covering(folder)
        and not any(folder == name or folder.startswith(f"{name}/") for name in without)
    ]
    assert [] == [name for name in {*ELSEWHERE}.union(*ELSEWHERE.values()) if not (ROOT / name).is_dir()]


@pytest.mark.parametrize(
    ("day", "folders", "message"),
    [
        ("yesterday", "", "--draw was 'yesterday', must be today or a date as 2026-11-29"),
        ("2026-02-30", "", "--draw was '2026-02-30', must be today or a date as 2026-11-29"),
        ("today", "web,wep", "--changed has 'wep', must be folders, a comma between"),
    ],
)
def test_options_of_no_draw_are_refused(day: str, folders: str, message: str) -> None:
    """The error has the found value and what is allowed."""
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is compared whole
        Draw.of(day, folders)

    assert message == str(raised.value)


def test_printed_options_make_the_same_draw() -> None:
    """Folders in another order, or named twice, make the same draw."""
    draw = Draw.of("2026-11-29", "web/feeds,actors/board,web/feeds")
    options = dict(option.removeprefix("--").split("=") for option in draw.options().split())

    assert draw == Draw.of(options["draw"], options["changed"])
    assert "--draw=2026-11-29 --changed=actors/board,web/feeds" == draw.options()


def test_pytest_runs_what_is_drawn_and_all_usual_tests() -> None:
    """A file with usual and long tests is collected by the project's own set-up, as in CI."""
    drawn = Draw.of("2026-11-29", "")
    usual, every = _tests(_collected()), _tests(_collected("--long"))
    printed = _collected(*drawn.options().split())

    assert usual < every
    assert usual | set(filter(drawn.reason, every)) == _tests(printed)
    assert f"exactly this draw again: .ci/run {drawn.options()}" in printed
    assert every == _tests(_collected("--draw=today", "--changed=actors/matches"))


def _collected(*options: str) -> list[str]:
    """Return the lines of a run that only collects the tests of a file."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += [*options, "tests/actors/matches/test_fair.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def _tests(lines: list[str]) -> set[str]:
    return {line for line in lines if "::" in line}
