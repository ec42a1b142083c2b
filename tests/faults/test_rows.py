"""Every row of docs/faults.md has a test that exists, or a reason."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from scripts.reliability_table import documented
from tests.support.documents import document, rows
from tests.support.source_code import ROOT

TABLE: dict[str, Any] = tomllib.loads((ROOT / "tests/faults/rows.toml").read_text("utf-8"))


def test_every_row_has_a_test_or_a_reason() -> None:
    """No other row has either: a new fault needs a test, or a reason why it has none."""
    ids = sorted(row[0] for row in rows(document("docs/faults.md")))

    assert ids == sorted([*TABLE["tests"], *TABLE["reasons"]])


def test_the_document_names_the_tests() -> None:
    """`scripts/reliability --document` writes the last column: the file of the test, or the reason."""
    text = document("docs/faults.md")

    assert documented(text, TABLE) == text


def test_every_test_of_a_row_exists() -> None:
    """Each named test is a file, or a function in it."""
    missing = set()
    for test in TABLE["tests"].values():
        file, _, function = test.partition("[")[0].partition("::")
        path = ROOT / file
        if not path.is_file() or (
            function and not re.search(rf"def {function}\(", path.read_text("utf-8"))
        ):
            missing.add(test)

    assert set() == missing
