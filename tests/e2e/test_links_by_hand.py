"""Links by hand: found, explained, decided, and no decision or surebet outlives its match."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.programs import item, listed
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually
from web.__main__ import main

PROGRAM = """
import sys, time
shown, at = None, 0.0
while True:
    text = open(sys.argv[1]).read()
    if text != shown or time.monotonic() > at + 2.0:
        sys.stdout.write(text)
        sys.stdout.flush()
        shown, at = text, time.monotonic()
    time.sleep(0.05)
"""
CONFIG = """
[server]
drain_s = 0.0
[links]
file = "{folder}/links.toml"
"""
SOURCE = """
[sources.{name}]
kind = "program"
command = ["{python}", "-S", "{folder}/program.py", "{folder}/{name}"]
[bookmakers.{name}]
name = "{name}"
source = "{name}"
key = "program"
"""
START = (datetime.now(UTC) + timedelta(days=2)).replace(hour=15, minute=0, second=0, microsecond=0)
LATER = START + timedelta(days=38)
ODDS = {"ba": (2.2, 3.6, 3.5), "bb": (2.1, 3.7, 3.8)}  # the two agree, and make a surebet
BY_ID = '[[must]]\nevents = ["ba:m", "bb:m"]\nreason = "r"\n'
BY_NAMES = f'{BY_ID}home = ["Leeds", "Qzx"]\naway = ["Hull", "Vbn"]\nday = {START:%Y-%m-%d}\n'
APART = (
    '[[must_not]]\nevents = ["ba:m", "bb:m"]\nreason = "r"\n'
    f'home = "Leeds"\naway = "Hull"\nday = {START:%Y-%m-%d}\n'
)
MAX_LINES, MAX_WIDTH = 24, 140
Lists = Callable[..., None]


@pytest.fixture
def lists(tmp_path: Path) -> Lists:
    """Have a source list one match from now on."""
    versions = {"ba": 0, "bb": 0}

    def replace(
        source: str, home: str, away: str, start: datetime = START, *, match_id: str = "m", like: str = ""
    ) -> None:
        odds = dict(zip(("one", "draw", "two"), ODDS[like or source], strict=True))
        versions[source] += 1
        match = item(match_id, home=None, start=f"{start:%Y-%m-%dT%H:%M:%SZ}") | {
            "home": home,
            "away": away,
            "league": "England - Premier League",
            "odds": odds,
        }
        text = listed(match, list_id=str(versions[source]))
        (tmp_path / f"{source}.new").write_bytes(text)
        (tmp_path / f"{source}.new").rename(tmp_path / source)

    return replace


@contextmanager
def _running(folder: Path, links: str) -> Iterator[Service]:
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    (folder / "links.toml").write_text(links, "utf-8")
    text = CONFIG.format(folder=folder) + "".join(
        SOURCE.format(name=name, python=sys.executable, folder=folder) for name in ODDS
    )
    (folder / "by-hand.toml").write_text(text, "utf-8")
    with service(folder / "by-hand.toml") as running:
        running.wait_ready()
        yield running


def _members(running: Service) -> list[list[str]]:
    """Return the ids of the entries of each fixture; none until all entries are linked."""
    found: Any = running.get("/api/v2/fixtures").json()
    return sorted([entry["id"] for entry in fixture["entries"]] for fixture in found.get("fixtures", ()))


def _surebets(running: Service, query: str = "") -> int:
    return int(running.get(f"/api/v2/surebets{query}").json().get("fixtures_count", 0))


@pytest.mark.parametrize(("links", "fixtures"), [(BY_ID, 1), (BY_NAMES, 2)])
def test_no_surebet_outlives_the_match_that_was_linked_by_hand(
    tmp_path: Path, lists: Lists, links: str, fixtures: int
) -> None:
    """A match 38 days later reuses an id: a decision by names does not link it, one by id is doubted."""
    lists("ba", "Leeds", "Hull")
    lists("bb", "Qzx", "Vbn")
    with _running(tmp_path, links) as running:
        eventually(lambda: _surebets(running) == 1, "the surebet of the linked match is there")
        lists("ba", "Bologna", "Torino", LATER)
        eventually(lambda: "Bologna" in running.get("/api/v2/odds").text, "the other match is there")
        eventually(lambda: len(_members(running)) == fixtures, "it is linked by the decision")
        doubted = len(ODDS) - fixtures
        eventually(lambda: _surebets(running, "?doubted=1") == doubted, "all prices are there")

        assert 0 == _surebets(running)


def test_what_is_kept_apart_stays_apart_under_another_id(tmp_path: Path, lists: Lists) -> None:
    """The decision holds when a source rebuilds its list with other ids."""
    lists("ba", "Leeds", "Hull")
    lists("bb", "Leeds", "Hull")
    with _running(tmp_path, APART) as running:
        eventually(lambda: len(_members(running)) == len(ODDS), "both are there")
        lists("ba", "Leeds", "Hull", match_id="new")
        eventually(lambda: "ba_new" in str(_members(running)), "it has another id")
        pending = eventually(
            lambda: running.get("/health").json()["links"]["pending"] == 0, "all is linked"
        )

        assert pending
        assert [["ba_new"], ["bb_m"]] == _members(running)


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, "".join(capsys.readouterr())


def test_a_link_is_found_explained_and_decided(
    tmp_path: Path, lists: Lists, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken or emptied file does not drop the decision, and `/health` warns of either."""
    file = tmp_path / "links.toml"
    lists("ba", "Derby", "Qpr")
    lists("bb", "Derby County", "Town", START + timedelta(days=1), like="ba")
    with _running(tmp_path, "none = true\n") as running:
        url = f"--url={running.base}"
        eventually(lambda: len(_members(running)) == len(ODDS), "all is linked")
        _, explained = _printed(capsys, "links", "explain", "ba:m", "bb:m", url)
        twice = _printed(capsys, "links", "explain", "ba:m", "ba:m", url)
        _, suggested = _printed(capsys, "links", "suggest", url)
        _, alone = _printed(capsys, "trace", "ba_m", url)
        unknown = [_printed(capsys, "links", "explain", name, url) for name in ("ba:nothing", "\udcff")]
        lists("ba", "Leeds", "Hull")
        lists("bb", "Qzx", "Vbn")
        eventually(lambda: "Derby" not in running.get("/api/v2/odds").text, "they have other names")
        file.write_text(BY_NAMES, "utf-8")
        running.process.send_signal(signal.SIGHUP)
        eventually(lambda: "linked by: must" in _printed(capsys, "links", "stats", url)[1], "it is linked")
        eventually(lambda: _surebets(running) == 1, "its surebet is there")
        traced = [
            _printed(capsys, "trace", name, url)[1].splitlines() for name in ("ba_m", "ba_mx", "Leeds")
        ]
        for number, broken in enumerate(("[[must]]\n", ""), start=1):
            file.write_text(broken, "utf-8")
            running.process.send_signal(signal.SIGHUP)
            eventually(lambda: len(running.events("links.rejected")) == number, "the file is read")  # noqa: B023
        rejected = [line["error"] for line in running.events("links.rejected")]
        health = running.get("/health").json()
        kept = _surebets(running)
        file.write_text("none = true\n", "utf-8")
        running.process.send_signal(signal.SIGHUP)
        eventually(lambda: len(_members(running)) == len(ODDS), "the two are apart")
        after = running.get("/health").json()["links"]
        running.stop()
        down = [_printed(capsys, *words, url)[0] for words in (("links", "stats"), ("trace", "ba_m"))]

    assert "not linked: " in explained
    assert "day_moved" in explained
    assert "prices: 0.000 apart" in explained
    assert (0, True) == (twice[0], "both are one event" in twice[1])
    assert '"ba:m"' in suggested
    assert "not linked with bb:m" in alone
    assert [69, 69] == [code for code, _ in unknown] == down
    assert "nothing on the board has the id 'ba:nothing'" in unknown[0][1]
    assert "[[must]] 1" in rejected[0]
    assert "links.toml: has none of the 1 previous tables" in rejected[1]
    assert ("warn", "warn", 1) == (health["status"], health["links"]["status"], kept)
    assert "refused" in health["links"]["last_error"]
    assert ("pass", None) == (after["status"], after["last_error"])
    _check_traces(*traced)


def _check_traces(there: list[str], absent: list[str], by_name: list[str]) -> None:
    """Check that each trace is one short screen: an entry, an id that does not exist, and a team."""
    assert max(map(len, (there, absent, by_name))) <= MAX_LINES
    assert max(len(line) for line in there + absent + by_name) <= MAX_WIDTH
    assert there[0].startswith("ba_m  Leeds v Hull")
    assert there[1].startswith("ON THE BOARD at version ")
    assert {"price", "list", "bookmaker", "source", "fixture"} <= {line[2:12].strip() for line in there}
    assert "NOT ON THE BOARD: never_seen" == absent[1]
    assert "  nearest   ba_m  Leeds v Hull" in absent
    assert any("Leeds" in line for line in by_name[2:])
