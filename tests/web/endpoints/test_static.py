"""Rules for the files of the pages, which a linter would check if one were installed.

The scripts are formatted as Prettier does it, in 108 columns with an indent of four.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from web.endpoints.pages import FOLDER

FILES = sorted(FOLDER.iterdir())
SCRIPTS = [file for file in FILES if file.suffix == ".js"]
PAGES = [file for file in FILES if file.suffix == ".html"]
MAX_COLUMNS = 108
MAX_LINES = 350

MARKUP_FROM_STRINGS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
    r"|\beval\(|new Function|setAttribute\(\"style\""
)
INLINE = re.compile(r"<style|\sstyle=|\son[a-z]+=|javascript:|<script(?![^>]*\ssrc=)")
ADDRESS = re.compile(r"(?:https?:)?//[a-z0-9-]+\.[a-z]+")
NAMESPACE = "http://www.w3.org/2000/svg"

EVERY = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
SCRIPT = pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
PAGE = pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)


def _text(file: Path) -> str:
    return file.read_text("utf-8")


def _needed(file: Path) -> set[str]:
    """Return the names of the files that a file refers to."""
    if file.suffix == ".html":
        return set(re.findall(r'(?:src|href)="static/([^"]+)"', _text(file)))
    return set(re.findall(r'^import (?:.* from )?"\./([^"]+)";$', _text(file), re.MULTILINE))


@EVERY
def test_lines_are_formatted_alike(file: Path) -> None:
    """Indents of four, no trailing space, one line feed at the end, and at most 108 columns."""
    lines = _text(file).split("\n")

    assert "" == lines.pop()
    assert [] == [
        line for line in lines if len(line) > MAX_COLUMNS or line != line.rstrip() or "\t" in line
    ]
    code = [line for line in lines if not line.lstrip().startswith("*")]
    assert [] == [line for line in code if (len(line) - len(line.lstrip())) % 4]


@SCRIPT
def test_a_script_is_short_and_states_its_purpose(file: Path) -> None:
    """The first line of a script is a comment that states its purpose."""
    assert re.match("// [A-Z<].+\n", _text(file))
    assert _text(file).count("\n") <= MAX_LINES


@SCRIPT
def test_a_script_is_written_like_the_others(file: Path) -> None:
    """Scripts use double quotes, and neither var nor loose comparison."""
    code = re.sub(r"//.*|/\*\*.*?\*/", "", _text(file), flags=re.MULTILINE)

    assert [] == re.findall(r"(?<!\w)'[^'\n]*'|\bvar\b|[^=!<>]==[^=]|!=[^=]", code)


@EVERY
def test_no_markup_or_code_is_made_from_a_string(file: Path) -> None:
    """Everything that a script adds to a page is text or an element."""
    assert [] == MARKUP_FROM_STRINGS.findall(_text(file))


@EVERY
def test_no_file_names_another_host(file: Path) -> None:
    """The pages load nothing from another host."""
    assert [] == ADDRESS.findall(_text(file).replace(NAMESPACE, ""))


@PAGE
def test_nothing_is_inline(file: Path) -> None:
    """No page has inline scripts or styles, because the policy refuses them."""
    assert [] == INLINE.findall(_text(file))


def test_every_file_exists_and_is_used() -> None:
    """Every import leads to a file, and every file is reached from a page."""
    found: set[str] = set()
    waiting = {file.name for file in PAGES}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _needed(FOLDER / name) - found

    assert {file.name for file in FILES} == found


@PAGE
def test_every_id_in_a_script_is_in_its_page(file: Path) -> None:
    """Scripts find elements by their id."""
    scripts = {"index.html": "main.js", "monitor.html": "monitor.js", "docs.html": "theme.js"}
    wanted = set(re.findall(r'ById\("([^"]+)"\)', _text(FOLDER / scripts[file.name]), re.IGNORECASE))

    assert wanted <= set(re.findall(r'\sid="([^"]+)"', _text(file)))
