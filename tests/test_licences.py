"""All packages installed to run are permissively licensed, and the list of licences can show it."""

from __future__ import annotations

import pytest

from scripts.licences_table import LOCKS, is_permissive, locked, rows


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("MIT AND PSF-2.0", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND MPL-2.0", False),
        ("(BSD-3-Clause OR GPL-2.0-only) AND LGPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_licence_is_permissive_if_all_its_parts_are(licence: str, *, expected: bool) -> None:
    """One permissive alternative is enough; a package without a licence is not permissive."""
    assert expected == is_permissive(licence)


def test_what_is_installed_to_run_is_permissive() -> None:
    """Every locked package that is installed here is checked, which is nearly every locked package."""
    found = rows("run")

    assert 0.8 * len(set(locked(LOCKS["run"]))) < len(found)
    assert [] == [row for row in found if not is_permissive(row[2])]
