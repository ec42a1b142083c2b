"""Rules that the files of the pages keep: what a linter would check, without one from elsewhere.

The scripts are laid out as Prettier does it, in 108 columns and steps of four.
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
    """Return the names of the files that one file asks for."""
    if file.suffix == ".html":
        return set(re.findall(r'(?:src|href)="static/([^"]+)"', _text(file)))
    return set(re.findall(r'^import (?:.* from )?"\./([^"]+)";$', _text(file), re.MULTILINE))


@EVERY
def test_lines_are_laid_out_alike(file: Path) -> None:
    """Sliced of four spaces, nothing at the end of a line, one line feed at the end, not too much."""
    lines = _text(file).split("\n")

    assert "" == lines.pop()
    assert [] == [
        line for line in lines if len(line) > MAX_COLUMNS or line != line.rstrip() or "\t" in line
    ]
    code = [line for line in lines if not line.lstrip().startswith("*")]
    assert [] == [line for line in code if (len(line) - len(line.lstrip())) % 4]


@SCRIPT
def test_a_script_is_short_and_says_what_it_is_for(file: Path) -> None:
    """In words, in its first line."""
    assert re.match("// [A-Z<].+\n", _text(file))
    assert _text(file).count("\n") <= MAX_LINES


@SCRIPT
def test_a_script_is_written_like_the_others(file: Path) -> None:
    """Double quotes, neither var nor loose comparison."""
    code = re.sub(r"//.*|/\*\*.*?\*/", "", _text(file), flags=re.MULTILINE)

    assert [] == re.findall(r"(?<!\w)'[^'\n]*'|\bvar\b|[^=!<>]==[^=]|!=[^=]", code)


@EVERY
def test_nothing_becomes_part_of_a_page_but_as_text(file: Path) -> None:
    """No markup or code is ever made from a string."""
    assert [] == MARKUP_FROM_STRINGS.findall(_text(file))


@EVERY
def test_nothing_is_asked_of_anybody_else(file: Path) -> None:
    """No address of another host stands in any file."""
    assert [] == ADDRESS.findall(_text(file).replace(NAMESPACE, ""))


@PAGE
def test_nothing_is_inline(file: Path) -> None:
    """The policy would refuse it."""
    assert [] == INLINE.findall(_text(file))


def test_every_file_is_there_and_needed() -> None:
    """From the pages on, each import leads to a file, and no file is left over."""
    found: set[str] = set()
    waiting = {file.name for file in PAGES}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _needed(FOLDER / name) - found

    assert {file.name for file in FILES} == found


@PAGE
def test_every_element_that_a_script_looks_for_is_in_its_page(file: Path) -> None:
    """By its id."""
    scripts = {"index.html": "main.js", "monitor.html": "monitor.js"}
    wanted = set(re.findall(r'byId\("([^"]+)"\)', _text(FOLDER / scripts[file.name])))

    assert wanted <= set(re.findall(r'\sid="([^"]+)"', _text(file)))
