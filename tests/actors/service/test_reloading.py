"""SIGHUP: what of a configuration that was read again is said, and what happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.service.reloading import Reload, differences
from actors.service.settings import load
from tests.support.builders.configurations import BOOKMAKER, LAST, URL, VALID

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

TWIN = '\n[bookmakers.twin]\nname = "Twin"\nsource = "feed"\nkey = "BW"\n'
CHANGES = {
    "nothing": ("", "", []),
    "a comment": ("[board]", "# new\n[board]", []),
    "a default": ("[server]", "[server]\ndrain_s = 1.0", []),
    "an address": ("127.0.0.1:0", "127.0.0.1:1", ["server.bind"]),
    "two keys of a table": (
        "[server]",
        '[server]\ndrain_s = 2.0\nlog_level = "debug"',
        ["server.drain_s", "server.log_level"],
    ),
    "a table": ("[board]", "[surebets]\nmax_profit = 0.2\n[board]", ["surebets.max_profit"]),
    "limits": ("[board]", "[limits]\nburst = 7\n[board]", ["limits.burst"]),
    "an option of a source": (URL, "http://127.0.0.1:9/other.csv", ["sources.feed.url"]),
    "a name": ('name = "Bet365"', 'name = "Bet 365"', ["bookmakers.bet365.name"]),
    "a bookmaker more": (LAST, f"{LAST}{TWIN}", ["bookmakers.twin"]),
    "the order of bookmakers": (BOOKMAKER, f"{TWIN}{BOOKMAKER}", ["bookmakers.twin"]),
    "the file of links": ("[board]", '[links]\nfile = "links.toml"\n[board]', ["links.file"]),
}


class Service:
    """A service that runs the valid configuration, and counts how often the links were read."""

    def __init__(self, folder: Path) -> None:
        self.path, self.read = folder / "mine.toml", 0
        (folder / "links.toml").write_text("none = true\n", "utf-8")
        self.path.write_text(VALID, "utf-8")
        self.reload = Reload(self.path, load(self.path), self._read_links)

    async def _read_links(self) -> None:
        self.read += 1

    async def hung_up(self, text: str) -> list[dict[str, Any]]:
        """Write another configuration, and return what is logged when it is read."""
        self.path.write_text(text, "utf-8")
        with capture_logs() as logs:
            await self.reload.again()
        return [{**log} for log in logs]


@pytest.mark.parametrize("case", CHANGES)
async def test_what_needs_a_restart_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """By key, without a value; the file of links is read again."""
    monkeypatch.chdir(tmp_path)
    old, new, changed = CHANGES[case]
    service = Service(tmp_path)

    (line,) = await service.hung_up(VALID.replace(old, new, 1) if old else VALID)

    assert ("configuration.read", changed, 1) == (line["event"], line["needs_restart"], service.read)


@pytest.mark.parametrize("broken", ["[sources.feed", VALID.replace("= 900", "= 0"), ""])
async def test_a_broken_configuration_changes_nothing(tmp_path: Path, broken: str) -> None:
    """The line says what is wrong, and not even the file of links is read."""
    service = Service(tmp_path)

    (line,) = await service.hung_up(broken)

    assert ("configuration.rejected", 0) == (line["event"], service.read)
    assert str(service.path) in line["error"]


async def test_a_broken_file_of_links_is_told_by_its_own_line(tmp_path: Path) -> None:
    """Which `/health` repeats, as before."""
    links = tmp_path / "links.toml"
    service = Service(tmp_path)
    links.write_text("[[team]]\n", "utf-8")

    assert [] == await service.hung_up(VALID.replace("[board]", f"[links]\nfile = {str(links)!r}\n[board]"))
    assert 1 == service.read


def test_the_order_of_bookmakers_is_one_of_the_lists(tmp_path: Path) -> None:
    """Lists are in that order."""
    path = tmp_path / "mine.toml"
    texts = [VALID + TWIN, VALID.replace(BOOKMAKER, f"{TWIN}{BOOKMAKER}")]
    found = []
    for text in texts:
        path.write_text(text, "utf-8")
        found.append(load(path))

    assert ["the order of bookmakers"] == [*differences(*found)]
