"""Rules for the files of the pages: no inline code, no other host, no missing file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from web.endpoints.pages import BEGINNINGS, script, sheet
from web.endpoints.pages import FILES as BY_NAME

FILES = sorted(BY_NAME.values())
PAGES = [file for file in FILES if file.suffix == ".html"]

MARKUP_FROM_STRINGS = (
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
    r"|\beval\(|new Function|setAttribute\(\"style\""
)
MAX_LINES = 300
MAX_COLUMNS = 108
INLINE = r"<style|\sstyle=|\son[a-z]+=|javascript:|<script(?![^>]*\ssrc=)"
ADDRESS = r"(?:https?:)?//[a-z0-9-]+\.[a-z]+"
LATER = r'(?:new URL\("|import\("\./)([^"]+\.js)"'
SHEET = r'@import "([^"]+)"'
NAMESPACE = "http://www.w3.org/2000/svg"


def _text(file: Path) -> str:
    return file.read_text("utf-8")


def _found(pattern: str, files: list[Path]) -> dict[str, list[str]]:
    """Return the matches of a pattern by file, for files with matches."""
    found = {file.name: re.findall(pattern, _text(file).replace(NAMESPACE, "")) for file in files}
    return {name: matches for name, matches in found.items() if matches}


def _needed(file: Path) -> set[str]:
    """Return the names of the files that a file refers to."""
    if file.suffix == ".html":
        return set(re.findall(r'(?:src|href)="static/([^"]+)"', _text(file)))
    return _imported(file) | set(re.findall(LATER, _text(file)) + re.findall(SHEET, _text(file)))


def _imported(file: Path) -> set[str]:
    return set(re.findall(r'^import (?:.* from )?"\./([^"]+)";$', _text(file), re.MULTILINE))


def test_no_markup_or_code_is_made_from_a_string() -> None:
    """Everything that a script adds to a page is text or an element."""
    assert {} == _found(MARKUP_FROM_STRINGS, FILES)


def test_no_file_names_another_host() -> None:
    """The pages load nothing from another host."""
    assert {} == _found(ADDRESS, FILES)


def test_nothing_is_inline() -> None:
    """No page has inline scripts or styles, because the policy refuses them."""
    assert {} == _found(INLINE, PAGES)


def _reached(*files: Path, by: Callable[[Path], set[str]] = _needed) -> set[str]:
    """Return the names of the files that these files use, directly or not."""
    found: set[str] = set()
    waiting = {file.name for file in files}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= by(BY_NAME[name]) - found
    return found


def test_every_file_exists_and_is_used() -> None:
    """Every import leads to a file, and every file is reached from a page."""
    assert {file.name for file in FILES} == _reached(*PAGES)


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_page_waits_for_no_import(name: str) -> None:
    """A page's first script is sent with all modules that it needs; each is after the modules it needs."""
    sent = script(name)
    others = {module for module in BEGINNINGS if module != name}

    made = re.findall(r'^modules\["(.+)"\] = ', sent, re.MULTILINE)
    assert sorted(made) == sorted(_reached(BY_NAME[name], by=_imported) - {name, "first.js"})
    assert others & _imported(BY_NAME[name]) == set(re.findall(r'^import .*"\./(.+)";', sent, re.MULTILINE))
    assert [] == [
        (module, needed)
        for at, module in enumerate(made)
        for needed in _imported(BY_NAME[module])
        if needed not in made[:at]
    ]
    assert [] == re.findall(r"^export ", sent.rpartition("\n})();\n")[0], re.MULTILINE)


def test_a_page_waits_for_no_other_sheet() -> None:
    """A style sheet is sent with the sheets that it imports, in their order."""
    sent, parts = sheet("board-page.css"), re.findall(SHEET, _text(BY_NAME["board-page.css"]))

    places = [sent.index(_text(BY_NAME[part])) for part in parts]
    assert sorted(places) == places
    assert "@import" not in sent


def test_every_id_in_a_script_is_in_its_page() -> None:
    """Scripts find elements by their id, so each id must be in the page."""
    for page in PAGES:
        scripts = [_text(BY_NAME[name]) for name in sorted(_reached(page)) if name.endswith(".js")]
        wanted = {name for script in scripts for name in re.findall(r'ById\("([^"]+)"\)', script)}
        assert wanted <= set(re.findall(r'\sid="([^"]+)"', _text(page))), page.name


def test_scripts_are_short() -> None:
    """No module of a page has more than 300 lines, and no line has more than 108 columns."""
    ours = [file for file in FILES if file.suffix == ".js" and file.parent.name != "uplot"]
    lines = {file.name: _text(file).splitlines() for file in ours}

    assert {} == {name: len(every) for name, every in lines.items() if len(every) > MAX_LINES}
    assert [] == [line for every in lines.values() for line in every if len(line) > MAX_COLUMNS]
