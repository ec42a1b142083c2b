"""One run reports all faults of a configuration, and all faults of a file of links."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.review import links_file
from actors.service.settings import load
from tests.support.builders.configurations import (
    API,
    BOOKMAKER,
    FEED,
    INVALID,
    INVALID_API,
    LAST,
    SPORTS,
    URL,
    VALID,
)

PROGRAM = """\
kind = "program"
command = ["sh"]
environment = { PLACE = "here", COUNT = 1 }
secrets = { KEY = true }"""
Changes = list[tuple[str, str]]

SEVERAL: dict[str, tuple[str, Changes, list[str]]] = {
    "a variable of a program that is no text, and a secret that is none": (
        VALID,
        [
            (f'kind = "football_data"\nurl = "{URL}"\npoll_interval_s = 900', PROGRAM),
            (LAST, 'key = "program"'),
        ],
        ["feed.environment.COUNT was '***', must be text", "feed.secrets.KEY was '***', must be text"],
    ),
    "two unknown keys of a table": (
        VALID,
        [("[server]", "[server]\nport = 80\nhost = 1")],
        ["server.port is not an option", "server.host is not an option"],
    ),
    "a range, a type and a missing key": (
        VALID,
        [("= 900", "= 0"), (FEED, f'{FEED}\ntimeout_s = "1 s"'), (f'url = "{URL}"', "")],
        ["feed.timeout_s was '1 s'", "feed.poll_interval_s was 0", "feed.url is missing"],
    ),
    "a source and its bookmaker": (
        VALID,
        [("= 900", "= 0"), (LAST, f"{LAST}\nmargin = 1"), (BOOKMAKER, "[bookmakers.Bet365]")],
        [
            *("feed.poll_interval_s was 0", "bookmakers.Bet365 must be a table, named"),
            "bookmakers.Bet365.margin is not an option",
        ],
    ),
    "a bookmaker of no source, and one of a wrong key": (
        VALID,
        [
            (LAST, 'key = "Max"\n[bookmakers.b]\nname = "B"\nsource = "fed"\nkey = "BW"'),
            ("10800", "0"),
        ],
        [
            "board.expire_after_kickoff_s was 0",
            "bet365.key was 'Max', an aggregate",
            "b.source was 'fed', must be one of feed; did you mean 'feed'?",
        ],
    ),
    "short names that are equal, too long, not clean": (
        VALID,
        [
            (
                LAST,
                (
                    f'{LAST}\nshort = "B365"\n'
                    '[bookmakers.b]\nname = "B"\nsource = "feed"\nkey = "BW"\nshort = "b365"\n'
                    '[bookmakers.c]\nname = "C"\nsource = "feed"\nkey = "PP"\nshort = "Ladbrokes 2"\n'
                    '[bookmakers.d]\nname = "D"\nsource = "feed"\nkey = "WH"\nshort = " W"'
                ),
            ),
        ],
        [
            "bookmakers.b.short was 'b365', as of bookmakers.bet365",
            "bookmakers.c.short was 'Ladbrokes 2'",
            "bookmakers.d.short was ' W'",
        ],
    ),
    "equal names, equal keys, a proxy, an address": (
        VALID,
        [
            (LAST, f'{LAST}\n[bookmakers.b]\nname = "Bet365"\nsource = "feed"\n{LAST}'),
            ("[board]", '[limits]\ntrusted_proxies = ["a", "b"]\n[board]'),
            ('"127.0.0.1:0"', '"here"'),
        ],
        [
            "server.bind was 'here'",
            "limits.trusted_proxies has 'a'",
            "limits.trusted_proxies has 'b'",
            "bookmakers.b.key was 'B365', which bookmakers.bet365 has already",
            "bookmakers.b.name was 'Bet365', which bookmakers.bet365 has already",
        ],
    ),
    "variables that are not set, and more": (
        API,
        [
            ('"s3cret-that-nobody-may-see"', '"${NOWHERE}"'),
            (SPORTS, f"{SPORTS}\nregions = ['${{NOT_THERE}}']\ncredits_per_day = 0"),
            ('key = "pinnacle"', 'key = "a&b"'),
        ],
        [
            "api.api_key refers to ${NOWHERE}",
            "api.regions refers to ${NOT_THERE}",
            "api.credits_per_day was 0",
            "bookmakers.pinnacle.key was 'a&b'",
        ],
    ),
    "a source that nobody uses, and a plan that is too slow": (
        API,
        [
            (SPORTS, f"{SPORTS}\nstale_after_s = 59"),
            ("[bookmakers.pinnacle]", '[sources.idle]\nkind = "simulated"\n[bookmakers.pinnacle]'),
        ],
        ["sources.api.stale_after_s was 59", "sources.idle is used by no bookmaker"],
    ),
    "an unknown kind, and its bookmaker": (
        VALID,
        [('"football_data"', '"footbal_data"'), ('name = "Bet365"', 'name = " "')],
        ["sources.feed.kind was 'footbal_data'", "bookmakers.bet365.name was ' '"],
    ),
    "what is checked alone, beside other keys of its table": (
        VALID,
        [
            ('"127.0.0.1:0"', '"127.0.0.1:80000"\ndrain_s = -1'),
            (
                "[board]",
                '[limits]\nburst = 0\ntrusted_proxies = ["a"]\n[links]\nfil = 1\nfile = "/no"\n[board]',
            ),
            (LAST, 'key = "Max"\ncommission = 5\n[cluster]\nprefix = ""\nurl = "http://here"'),
        ],
        [
            *("server.drain_s was -1", "server.bind was '127.0.0.1:80000'"),
            *("limits.burst was 0", "limits.trusted_proxies has 'a'"),
            *("links.fil is not an option", "links.file: /no: cannot be read"),
            *("bookmakers.bet365.commission was 5", "bookmakers.bet365.key was 'Max'"),
            *("cluster.prefix was ''", "cluster.url was 'http://here'"),
        ],
    ),
    "a name, and what is in its table": (
        VALID,
        [("sources.feed", "sources.Feed"), ('"feed"', '"Feed"'), ("= 900", "= 0"), (LAST, 'key = "Max"')],
        [
            *("sources.Feed must be a table, named", "sources.Feed.poll_interval_s was 0"),
            "bookmakers.bet365.key was 'Max'",
        ],
    ),
    "no bookmaker": (
        VALID,
        [(VALID[VALID.index(BOOKMAKER) :], "")],
        ["bookmakers is missing"],
    ),
    "a number with too many digits for a text": (
        VALID,
        [("[server]", f"[server]\nmax_streams = 0x{'f' * 5000}")],
        ["is not TOML that can be read: Exceeds the limit"],
    ),
    "no table of sources": (
        VALID,
        [(f'{FEED}\nkind = "football_data"\nurl = "{URL}"\npoll_interval_s = 900\n', ""), ("10800", "0")],
        ["board.expire_after_kickoff_s was 0", "sources is missing"],
    ),
}


def _refused(folder: Path, text: str) -> list[str]:
    config = folder / "wrong.toml"
    config.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as error:
        load(config, {"PATH": "/bin"})
    lines = str(error.value).split("\n")
    assert all(line.startswith(f"{config}: ") for line in lines)
    return [line.removeprefix(f"{config}: ") for line in lines]


@pytest.mark.parametrize("case", SEVERAL)
def test_all_faults_of_a_configuration_are_told_at_once(tmp_path: Path, case: str) -> None:
    """Each fault has a line; a fault that only follows from another fault has none."""
    text, changes, expected = SEVERAL[case]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    lines = _refused(tmp_path, text)

    assert [True] * len(expected) == [any(wanted in line for line in lines) for wanted in expected]
    assert len(expected) == len(lines), lines


@pytest.mark.parametrize("case", [*INVALID, *INVALID_API])
def test_one_fault_is_one_line(tmp_path: Path, case: str) -> None:
    """The line has the found value, what is allowed and the nearest name, but no faults that follow.

    The line names no type of Python and no regular expression.
    """
    base = VALID if case in INVALID else API
    old, new, said = (INVALID | INVALID_API)[case]

    (line,) = _refused(tmp_path, base.replace(old, new, 1) if new else base.replace(old, ""))
    inside = ("Expected `", "enum", "float", "null", "regex", "^", "<", "typing")
    assert [True, False] == [text in line for text in (said, "s3cret")]
    assert [] == [word for word in inside if word in line]


def test_faults_of_the_file_of_links_are_among_them(tmp_path: Path) -> None:
    """Each fault of the file of links names the configuration's key and the path of the file."""
    links = tmp_path / "links.toml"
    links.write_text('[[team]]\nname = "a  b"\nalso = ["c", "c"]\n[[teem]]\n', "utf-8")
    lines = _refused(tmp_path, VALID.replace("[board]", f'[links]\nfile = "{links}"\n[board]\nsize = 1'))

    assert 4 == len(lines)
    assert 3 == sum(line.startswith(f"links.file: {links}: ") for line in lines)


PAIR = '[[must]]\nevents = ["a:1", "b:2"]\nreason = "x"\n'
LINKS = {
    "two names of a team": ('[[team]]\nname = "a  b"\nalso = [" c"]', ["'a  b' must be", "' c' must be"]),
    "two teams": (
        '[[team]]\nname = "a  b"\nalso = ["c"]\n[[team]]\nname = "d"\nals = ["e"]',
        ["[[team]] 1: 'a  b'", "[[team]] 2.als is not an option", "[[team]] 2.also is missing"],
    ),
    "a team and its country": (
        '[[team]]\nname = "Ajax"\nalso = ["Ajax Women", "Ajax"]\ncountry = "Atlantis"',
        ["are marked as women", "'Ajax' is there twice", "to the country 'Atlantis'"],
    ),
    "names that other teams have": (
        '[[team]]\nname = "a"\nalso = ["b"]\n' * 3,
        [
            *("[[team]] 2: 'a' is in [[team]] 1 as well", "[[team]] 2: 'b' is in [[team]] 1 as well"),
            *("[[team]] 3: 'a' is in [[team]] 1 as well", "[[team]] 3: 'b' is in [[team]] 1 as well"),
        ],
    ),
    "an event twice wrong": (
        '[[must]]\nevents = ["1", "b:2", "c:3"]\n[[must_not]]\nevents = ["x", "y"]\nreason = "x"',
        [
            *("[[must]] 1.events was", "[[must]] 1.reason is missing"),
            *("'x' must be SOURCE:ID", "'y' must be SOURCE:ID"),
        ],
    ),
    "pairs that contradict each other": (
        f"{PAIR}{PAIR.replace('must', 'must_not')}{PAIR.replace('must', 'must_not')}",
        ["[[must_not]] 1: its events are in", "[[must_not]] 2: its events are in"],
    ),
    "a pair of one source, and a league of one label": (
        f'{PAIR.replace("b:", "a:")}[[league]]\nsame = ["a"]',
        ["both events are of one source", "[[league]] 1.same was ['a'], must be a list of at least two"],
    ),
    "keys, and what is wrong besides": (
        '[[team]]\nname = "a  b"\nalso = ["c"]\nnick = "d"\n[[must]]\nevents = ["x", "b:1"]',
        [
            *("[[team]] 1.nick is not an option", "[[team]] 1: 'a  b' must be"),
            *("[[must]] 1.reason is missing", "[[must]] 1: 'x' must be SOURCE:ID"),
        ],
    ),
    "unknown tables": ("[[leage]]\n[teams]\n", ["leage is no table", "teams is no table"]),
    "values in place of tables": ('must = 3\nteam = "a"', ["must was 3", "team was 'a'"]),
    "a value among tables": (
        "league = [1, {same = []}]",
        ["[[league]] 1 was 1", "[[league]] 2.same was []"],
    ),
}


@pytest.mark.parametrize("case", LINKS)
def test_all_faults_of_a_file_of_links_are_told_at_once(case: str) -> None:
    """Each fault has a line, with the number of its table."""
    text, expected = LINKS[case]
    with pytest.raises(ConfigError) as error:
        links_file.parse(text)
    lines = str(error.value).split("\n")

    assert [True] * len(expected) == [any(wanted in line for line in lines) for wanted in expected], lines
    assert len(expected) == len(lines), lines


def test_very_many_faults_are_counted() -> None:
    """Only the first faults are shown; the last line has the number of the faults that are not shown."""
    with pytest.raises(ConfigError) as error:
        links_file.parse('[[team]]\nname = "a  b"\nalso = ["c  d"]\n' * 100)
    lines = str(error.value).split("\n")

    assert links_file.MAX_FAULTS + 1 == len(lines)
    assert f"faults that are not shown: {400 - 2 - links_file.MAX_FAULTS}" == lines[-1]
