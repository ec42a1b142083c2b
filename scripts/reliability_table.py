"""Runs the tests that tests/faults/rows.toml names, and prints a table of the results.

A case is one test with one set of values. The rows of sections A to D also occur at random in the
simulation (`scripts/soak`), which checks the whole service.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from tests.support.documents import document, rows

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/faults.md"
_PYTEST = ("-m", "pytest", "-q", "-n", "2", "-o", "junit_family=xunit1")
_ROW = re.compile(r"^(\| ([A-L]\d+b?) \|.*? \|.*? \|).*\|$", re.MULTILINE)
HEAD = """| id | fault | cases passed | figure, or why it is not shown |
|---|---|---|---|"""


class Case(NamedTuple):
    """A case that ran; `figure` is a figure that the case printed, "" without one."""

    test: str
    has_passed: bool
    figure: str


def main() -> int:
    """Run the tests and print the table; return 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="scripts/reliability", description=__doc__)
    parser.add_argument("row", nargs="*", help="an id of docs/faults.md; without any, all")
    parser.add_argument("--short", action="store_true", help="without the tests that take long")
    parser.add_argument(
        "--whole", action="store_true", help="with the counts and times that the rows ask for"
    )
    parser.add_argument(
        "--document", action="store_true", help="write the last column of docs/faults.md, and run nothing"
    )
    options = parser.parse_args()
    wanted = options.row
    listed = tomllib.loads((ROOT / "tests/faults/rows.toml").read_text("utf-8"))
    if options.document:
        DOCUMENT.write_text(documented(DOCUMENT.read_text("utf-8"), listed), "utf-8")
        return 0
    tests = {row: named for row, named in listed["tests"].items() if not wanted or row in wanted}
    extent = [] if options.short else ["--long", "--whole"] if options.whole else ["--long"]
    cases = run(sorted({*tests.values()}), extent)
    print(HEAD, *table(tests, {} if wanted else listed["reasons"], cases), sep="\n")
    failed = [case.test for case in cases if not case.has_passed]
    print(f"{len(cases)} cases, {len(failed)} failed: {', '.join(failed)}")
    return 1 if failed else 0


def table(tests: dict[str, str], reasons: dict[str, str], cases: Sequence[Case]) -> Iterator[str]:
    """Return a line for each row of docs/faults.md that has a test or a reason, in its order."""
    for row, fault, *_ in rows(document("docs/faults.md")):
        if row in reasons:
            yield f"| {row} | {fault} | | {reasons[row]} |"
        elif row in tests:
            own = [case for case in cases if _is_of(case.test, tests[row])]
            figures = dict.fromkeys(case.figure for case in own if case.figure)
            passed = sum(case.has_passed for case in own)
            found = "; ".join(sorted(figures)) if own else "left out of this run"
            yield f"| {row} | {fault} | {passed} of {len(own)} | {found} |"


def documented(text: str, listed: dict[str, Any]) -> str:
    """Return docs/faults.md with each last cell made anew: the file of the test, or the reason."""
    shown = {row: f"`{test.partition('::')[0]}`" for row, test in listed["tests"].items()}
    shown |= {row: f"not yet: {reason}" for row, reason in listed["reasons"].items()}
    return _ROW.sub(lambda row: f"{row[1]} {shown[row[2]]} |" if row[2] in shown else row[0], text)


def run(tests: Sequence[str], extent: Sequence[str]) -> list[Case]:
    """Run these tests with the options `extent`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, *_PYTEST, f"--junitxml={report}", *extent, *tests]
        subprocess.run(command, cwd=ROOT, check=False)
        return [_case(element) for element in ET.parse(report).iter("testcase")]  # noqa: S314 - our own file


def _case(found: ET.Element) -> Case:
    failed = any(found.find(tag) is not None for tag in ("failure", "error"))
    figures = [
        element.get("value", "") for element in found.iter("property") if element.get("name") == "figure"
    ]
    return Case(f"{found.get('file')}::{found.get('name')}", not failed, "; ".join(figures))


def _is_of(case: str, test: str) -> bool:
    return case == test or case.startswith((f"{test}::", f"{test}["))


if __name__ == "__main__":
    raise SystemExit(main())
