"""The documents name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.source_code import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link of a document names a file of the repository."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    own = [link for link in links if not link.startswith(("http://", "https://"))]

    assert [] == [link for link in own if not (document.parent / link).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_paths_exist(document: Path) -> None:
    """Every path in code quotes that begins with a folder of ours exists, with or without its `.py`."""
    paths = re.findall(
        r"`((?:actors|web|tests|scripts|config|docs)/[\w./-]+)`", document.read_text("utf-8")
    )
    assert [] == [path for path in paths if not any((ROOT / one).exists() for one in (path, f"{path}.py"))]
