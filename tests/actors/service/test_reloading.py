"""SIGHUP reads the configuration again: which keys are applied, which are not, and the line in the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.service.reloading import Reload, differences
from actors.service.settings import Settings, load
from tests.support.builders.configurations import BOOKMAKER, LAST, URL, VALID

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

TWIN = '\n[bookmakers.twin]\nname = "Twin"\nsource = "feed"\nkey = "BW"\n'
RULE = """
[receivers.phone]
kind = "ntfy"
url = "https://ntfy.example/odds"

[[alert]]
name = "soon"
when = "kickoff"
before_s = 60
to = ["phone"]

"""
CLUSTER = '[cluster]\nurl = "redis://127.0.0.1:9"\n[board]'
# The replaced part of the valid configuration, the new part, the keys applied, the keys not applied.
CHANGES: dict[str, tuple[str, str, list[str], list[str]]] = {
    "nothing": ("", "", [], []),
    "a comment": ("[board]", "# new\n[board]", [], []),
    "a default": ("[server]", "[server]\ndrain_s = 1.0", [], []),
    "an address": ("127.0.0.1:0", "127.0.0.1:1", [], ["server.bind"]),
    "some keys of a table": (
        "[server]",
        '[server]\ndrain_s = 2.0\nmax_streams = 3\nlog_level = "debug"',
        ["server.max_streams", "server.log_level"],
        ["server.drain_s"],
    ),
    "rules": ("[board]", "[surebets]\nmax_profit = 0.2\n[board]", ["surebets.max_profit"], []),
    "the first rule of alerts": ("[board]", f"{RULE}[board]", [], ["alert", "receivers.phone"]),
    "limits": ("[board]", "[limits]\nburst = 7\n[board]", ["limits.burst"], []),
    "an option of a source": (URL, "http://127.0.0.1:9/other.csv", [], ["sources.feed.url"]),
    "a name": ('name = "Bet365"', 'name = "Bet 365"', [], ["bookmakers.bet365.name"]),
    "a short name": (LAST, f'{LAST}\nshort = "B3"', ["bookmakers.bet365.short"], []),
    "a bookmaker more": (
        LAST,
        f'{LAST}\nshort = "B3"{TWIN}',
        [],
        ["bookmakers.bet365.short", "bookmakers.twin"],
    ),
    "the order of bookmakers": (BOOKMAKER, f"{TWIN}{BOOKMAKER}", [], ["bookmakers.twin"]),
}


class Service:
    """A service that runs a configuration, and notes the calls that are made when it is read again."""

    def __init__(self, folder: Path, text: str = VALID) -> None:
        self.path, self.read, self.links_hold = folder / "mine.toml", 0, True
        (folder / "links.toml").write_text("none = true\n", "utf-8")
        self.path.write_text(text, "utf-8")
        self.applied: list[tuple[Settings, Settings]] = []
        self.levels: list[str] = []
        parts = (self._read_links, lambda *settings: self.applied.append(settings), self.levels.append)
        self.reload = Reload(self.path, load(self.path), *parts)

    async def _read_links(self) -> bool:
        self.read += 1
        return self.links_hold

    async def hung_up(self, text: str) -> list[dict[str, Any]]:
        """Write another configuration, have it read, and return the log."""
        self.path.write_text(text, "utf-8")
        with capture_logs() as logs:
            await self.reload.again()
        return [{**log} for log in logs]


@pytest.mark.parametrize("case", CHANGES)
async def test_what_is_applied_and_what_needs_a_restart_is_named_in_one_line(
    tmp_path: Path, case: str
) -> None:
    """The line has keys without values, always also those not applied; the file of links is read again."""
    old, new, applied, needs_restart = CHANGES[case]
    service, text = Service(tmp_path), VALID.replace(old, new, 1) if old else VALID

    (line,) = await service.hung_up(text)
    (again,) = await service.hung_up(text)

    found = [(each["event"], each["applied"], each["needs_restart"]) for each in (line, again)]
    assert [("configuration.read", keys, needs_restart) for keys in (applied, [])] == found
    assert applied == [*differences(*service.applied[0])]
    assert 2 == service.read


async def test_in_a_cluster_what_all_processes_share_needs_a_restart(tmp_path: Path) -> None:
    """All processes need that restart. Limits are each process's own, and are applied."""
    text = VALID.replace("[board]", CLUSTER)
    service = Service(tmp_path, text)

    more = "[limits]\nburst = 7\n[surebets]\nmax_profit = 0.2\n[board]"
    (line,) = await service.hung_up(f'{text.replace("[board]", more)}short = "B3"\n')

    assert ["limits.burst"] == line["applied"]
    assert ["bookmakers.bet365.short", "surebets.max_profit"] == line["needs_restart"]


@pytest.mark.parametrize(("first", "then"), [("error", "info"), ("info", "error")])
async def test_the_line_is_shown_at_the_lower_of_two_levels(tmp_path: Path, first: str, then: str) -> None:
    """The log level for this line is the lower one; then the new level is set."""
    text = VALID.replace("[server]", f'[server]\nlog_level = "{first}"')
    service = Service(tmp_path, text)

    await service.hung_up(text.replace(f'"{first}"', f'"{then}"'))

    assert ["info", then] == service.levels


@pytest.mark.parametrize("broken", ["[sources.feed", VALID.replace("= 900", "= 0"), ""])
async def test_a_broken_configuration_changes_nothing(tmp_path: Path, broken: str) -> None:
    """The log line says what is wrong, and not even the file of links is read."""
    service = Service(tmp_path)

    (line,) = await service.hung_up(broken)

    assert ("configuration.rejected", 0, []) == (line["event"], service.read, service.applied)
    assert str(service.path) in line["error"]


async def test_a_broken_file_of_links_is_told_by_its_own_line(tmp_path: Path) -> None:
    """The reload itself then logs no line and applies nothing."""
    links = tmp_path / "links.toml"
    text = VALID.replace("[board]", f"[links]\nfile = {str(links)!r}\n[board]")
    service = Service(tmp_path, text)
    service.links_hold = False
    more = text.replace("[board]", "[limits]\nburst = 7\n[board]")

    emptied = await service.hung_up(more)
    links.write_text("[[team]]\n", "utf-8")
    broken = await service.hung_up(more)

    assert ([], []) == (emptied, broken)
    assert (2, []) == (service.read, service.applied)


async def test_another_file_of_links_needs_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The present decisions stay until the restart, and no file is read; a broken new file is reported."""
    monkeypatch.chdir(tmp_path)
    service = Service(tmp_path)

    (good,) = await service.hung_up(VALID.replace("[board]", '[links]\nfile = "links.toml"\n[board]'))
    read = service.read
    (broken,) = await service.hung_up(VALID.replace("[board]", '[links]\nfile = "no.toml"\n[board]'))

    assert (["links.file"], 0) == (good["needs_restart"], read)
    assert ("configuration.rejected", True) == (broken["event"], "links.file" in broken["error"])


def test_the_order_of_bookmakers_is_one_of_the_lists(tmp_path: Path) -> None:
    """The order of bookmakers is a difference between two configurations, since lists are in that order."""
    path = tmp_path / "mine.toml"
    texts = [VALID + TWIN, VALID.replace(BOOKMAKER, f"{TWIN}{BOOKMAKER}")]
    found = []
    for text in texts:
        path.write_text(text, "utf-8")
        found.append(load(path))

    assert ["the order of bookmakers"] == [*differences(*found)]


async def test_receivers_are_replaced_but_not_their_queue(tmp_path: Path) -> None:
    """A service that began without receivers delivers no alerts before it is started again."""
    receiver = '[receivers.me]\nkind = "slack"\nurl = "https://h.example/PRIVATE"\n'
    with_one = VALID.replace("[sources.feed]", f"{receiver}[sources.feed]")
    service = Service(tmp_path, with_one)

    (line,) = await service.hung_up(
        with_one.replace("PRIVATE", "HIDDEN").replace("[board]", '[alerts]\npath = "q"\n[board]')
    )
    (begun,) = await Service(tmp_path).hung_up(with_one)

    assert (["receivers.me.url"], ["alerts.path"]) == (line["applied"], line["needs_restart"])
    assert ([], ["receivers.me"]) == (begun["applied"], begun["needs_restart"])
    assert "HIDDEN" not in str(line)
