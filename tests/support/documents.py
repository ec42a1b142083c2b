"""Functions that split the documents of the repository into headings, rows of tables and code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tests.support.source_code import ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


class Block(Struct, frozen=True):
    """A fenced block: its language and its lines."""

    language: str
    lines: tuple[str, ...]


def document(name: str) -> str:
    """Return the text of a document, named by its path in the repository."""
    return (ROOT / name).read_text("utf-8")


def blocks(text: str) -> list[Block]:
    """Return all fenced blocks in order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(language, tuple(body.splitlines())) for language, body in found]


def prose(text: str) -> str:
    """Return the text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """Return the possible targets of a link after `#`: the headings, spelt as GitHub does."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(text: str, heading: str) -> str:
    """Return the text under the heading that begins with `heading`, up to the next heading of any level."""
    _, found, rest = text.partition(f"\n{heading}")
    assert found, f"there is no heading {heading!r}"
    return rest.partition("\n#")[0]


def rows(text: str) -> Iterator[list[str]]:
    """Return the cells of every row of every table in `text`, without the header rows."""
    for table in re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def quoted(cell: str) -> list[str]:
    """Return every text in code quotes."""
    return re.findall(r"`([^`]+)`", cell)
