"""The file of links by hand: its tables, and errors that name table and value."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.configuration.toml_file import MAX_BYTES
from actors.core.errors import ConfigError
from actors.core.messages import SourceMatchId, SourceName
from actors.matching.event import EventKey
from actors.matching.overrides import Listing, Overrides, Pair, TeamAlias
from actors.matching.rules import Rule
from actors.review import links_file
from tests.support.builders.events import event, groups
from tests.support.documents import document

TEAM = '[[team]]\nname = "Odense"\nalso = ["OB"]\n'
LEAGUE = '[[league]]\nsame = ["a:Premier League", "b:soccer_epl"]\n'
PAIR = 'events = ["a:E0-1", "b:x.~_9"]\nreason = "seen"\n'
LISTED = 'home = "Leeds"\naway = ["Hull", "Kingston"]\nday = [2026-08-15, "2026-08-16"]\n'

# The text of the file, and the text that the error must contain.
INVALID = {
    "not TOML": ("[[team", "TOML"),
    "a number of too many digits": (f"[[must]]\nreason = {'9' * 5000}", "TOML"),
    "a number of too many bits": (f"must = 0x{'f' * 6000}", "TOML that can be read: Exceeds the limit"),
    "such a number in a table": (
        f"[[must]]\n{PAIR.replace('seen', '')}since = [0x{'f' * 6000}]".replace('""', f"0x{'f' * 6000}"),
        "TOML that can be read: Exceeds the limit",
    ),
    "a key of too many parts": (f"must{'.a' * 3000} = 1", "links.toml: "),
    "arrays without end": (f"must = {'[' * 3000}{']' * 3000}", "TOML that can be read: maximum recursion"),
    "unknown table": ("[[teams]]\n", "teams"),
    "one table": ('[team]\nname = "a"', "team was {'name': 'a'}"),
    "a value": ("must = 3", "must was 3"),
    "a value among tables": ("must = [3]", "[[must]] 1 was 3, must be a table"),
    "unknown key": (
        f"{TEAM}als = 1",
        "[[team]] 1.als is not an option, must be one of name, also, country; did",
    ),
    "no other name": (
        '[[team]]\nname = "a"\nalso = []',
        "[[team]] 1.also was [], must be a list of at least one and at most 100, each text",
    ),
    "a name that is a number": (TEAM.replace('"OB"', "7"), "[[team]] 1.also was [7], must be a list"),
    "an empty name": (
        TEAM.replace('"OB"', '""'),
        "[[team]] 1.also was [''], must be a list of at least one",
    ),
    "a name with two spaces": (TEAM.replace("OB", "O  B"), "'O  B' must be"),
    "a name twice": (TEAM.replace("OB", "Odense"), "'Odense' is there twice"),
    "a name in two teams": (
        TEAM + TEAM.replace("OB", "B"),
        "[[team]] 2: 'Odense' is in [[team]] 1 as well",
    ),
    "a team with too many names": (
        '[[team]]\nname = "a"\nalso = [' + ",".join(f'"{number}"' for number in range(101)) + "]",
        "must be a list of at least one and at most 100, each text of at least 1 character",
    ),
    "an unknown country": (TEAM + 'country = "Atlantis"', "to the country 'Atlantis'"),
    "a mark of class on some names": (
        '[[team]]\nname = "Seattle Sounders II"\nalso = ["Tacoma Defiance"]',
        "[[team]] 1: some names are marked as women, youth or reserves and some are not",
    ),
    "one league": (
        '[[league]]\nsame = ["a"]',
        "[[league]] 1.same was ['a'], must be a list of at least two, each text",
    ),
    "an event without a source": (
        '[[must]]\nevents = ["E0-1", "b:2"]\nreason = "x"',
        "'E0-1' must be SOURCE:ID",
    ),
    "three events": (
        '[[must]]\nevents = ["a:1", "b:2", "c:3"]\nreason = "x"',
        "[[must]] 1.events was ['a:1', 'b:2', 'c:3'], must be a list of two, each text",
    ),
    "events of one source": (
        '[[must]]\nevents = ["a:1", "a:2"]\nreason = "x"',
        "both events are of one source",
    ),
    "names without a day": (
        f'[[must]]\n{PAIR}home = "a"\naway = "b"',
        "[[must]] 1: home, away and day belong together, must have day as well",
    ),
    "three names": (
        f'[[must_not]]\n{PAIR}home = ["a", "b", "c"]\naway = "b"\nday = 2026-08-15',
        "[[must_not]] 1.home was ['a', 'b', 'c'], must be text, or a list of two, each text",
    ),
    "a time of a day": (
        f'[[must]]\n{PAIR}home = "a"\naway = "b"\nday = 2026-08-15T12:00:00Z',
        "must be a day like 2026-08-15, or a list of two",
    ),
    "an empty name of an event": (
        f'[[must]]\n{PAIR}home = ""\naway = "b"\nday = 2026-08-15',
        "[[must]] 1: '' must be 1 to 128 visible characters",
    ),
    "both with names": (
        f"[[must]]\n{PAIR}{LISTED}[[must_not]]\n{PAIR.replace('E0-1', 'E0-2')}{LISTED}",
        "[[must_not]] 1: its events are in [[must]] 1 as well",
    ),
    "none that is not true": ("none = false", "none was False, must be true, or left out"),
    "none beside a table": (
        f"none = true\n{TEAM}",
        "none = true says that the file has no tables on purpose, must be left out where it has some",
    ),
    "no reason": (
        '[[must_not]]\nevents = ["a:1", "b:2"]',
        "[[must_not]] 1.reason is missing, must be text of at least 1 character",
    ),
    "both": (
        f"[[must]]\n{PAIR}[[must_not]]\n{PAIR}",
        "[[must_not]] 1: its events are in [[must]] 1 as well",
    ),
    "both by way of others": (
        "".join(
            f'[[{table}]]\nevents = ["{a}:1", "{b}:1"]\nreason = "seen"\n'
            for table, a, b in (
                ("must", "a", "b"),
                ("must", "c", "d"),
                ("must", "b", "c"),
                ("must_not", "d", "a"),
            )
        ),
        "[[must_not]] 1: its events are one match by several [[must]]",
    ),
}


def _key(source: str, match_id: str) -> EventKey:
    return EventKey(SourceName(source), SourceMatchId(match_id))


def test_every_table_is_read(tmp_path: Path) -> None:
    """Aliases of teams and leagues, and both kinds of pairs, are there in the order of the file."""
    path = tmp_path / "links.toml"
    text = (
        f'{TEAM}country = "Denmark"\n{LEAGUE}[[must]]\n{PAIR}[[must_not]]\n{PAIR.replace("E0-1", "E0-2")}'
    )
    path.write_text(text, "utf-8")

    assert Overrides(
        (TeamAlias(("Odense", "OB"), "denmark"),),
        (("a:Premier League", "b:soccer_epl"),),
        (Pair(_key("a", "E0-1"), _key("b", "x.~_9"), "seen"),),
        (Pair(_key("a", "E0-2"), _key("b", "x.~_9"), "seen"),),
    ) == links_file.read(path)


@pytest.mark.parametrize("text", [document("docs/configuration.md"), links_file.__doc__])
def test_the_documented_file_is_valid(text: str) -> None:
    """The examples in docs/configuration.md and in the module each have one entry of every table."""
    example = "[[team]]" + text.partition("[[team]]")[2].partition("```")[0]

    found = links_file.parse(example)

    assert [1, 1, 1, 1] == [*map(len, (found.teams, found.leagues, found.must, found.must_not))]
    assert [pair.listed is not None for pair in (*found.must, *found.must_not)] == [True, False]


def test_file_of_an_editor_that_marks_utf_8_is_read(tmp_path: Path) -> None:
    """Such an editor is Windows' Notepad, which puts three bytes before the text."""
    path = tmp_path / "links.toml"
    path.write_text(TEAM, "utf-8-sig")

    assert 1 == len(links_file.read(path).teams)


def test_an_empty_file_says_nothing() -> None:
    """An empty file is valid, and `none` may say that it is empty on purpose."""
    assert Overrides() == links_file.parse("")
    assert Overrides(none=True) == links_file.parse("none = true")


def test_a_pair_has_its_names_and_days() -> None:
    """A single value is for both events; a list has the values of the first and the second event."""
    (pair,) = links_file.parse(f"[[must]]\n{PAIR}{LISTED}").must

    assert (
        Listing("Leeds", "Hull", 1_786_752_000),
        Listing("Leeds", "Kingston", 1_786_838_400),
    ) == pair.listed


def test_one_id_may_be_of_two_matches() -> None:
    """If pairs have names and days, these decide, so the same ids may be linked and kept apart."""
    again = LISTED.replace("2026-08", "2026-09")
    found = links_file.parse(f"[[must]]\n{PAIR}{LISTED}[[must_not]]\n{PAIR}{again}[[must_not]]\n{PAIR}")

    assert (1, 2) == (len(found.must), len(found.must_not))


def test_one_name_may_be_two_teams_of_two_countries() -> None:
    """Each country may use the spelling for one team."""
    chile = '[[team]]\nname = "Odense"\nalso = ["Viña"]\ncountry = "Chile"\n'

    assert 2 == len(links_file.parse(TEAM + chile).teams)


@pytest.mark.parametrize("case", INVALID)
def test_an_error_names_file_table_and_value(tmp_path: Path, case: str) -> None:
    """The error is one line and begins with the path of the file."""
    text, expected = INVALID[case]
    path = tmp_path / "links.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as raised:
        links_file.read(path)

    assert str(raised.value).startswith(f"{path}: ")
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"\xff", b"#" * (MAX_BYTES + 1)])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    """A missing file, a file in another encoding and a file too large are errors of the configuration."""
    path = tmp_path / "links.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match=r"links\.toml: cannot be read: "):
        links_file.read(path)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """This holds for a pipe that nobody writes to, and for a folder."""
    path = tmp_path / "links.toml"
    os.mkfifo(path)

    for other in (path, tmp_path):
        with pytest.raises(ConfigError, match="it is no file"):
            links_file.read(other)


def test_an_alias_of_a_country_is_one_in_its_leagues() -> None:
    """The country may be a name or an adjective; in leagues of other countries the alias does not count."""
    here = [event("a", "Qwertz", league="Danish Superliga"), event("b", "Yxcv", league="Danish Superliga")]
    for country, rules in (("Denmark", [Rule.SAME]), ("danish", [Rule.SAME]), ("Norway", [])):
        team = f'[[team]]\nname = "Qwertz"\nalso = ["Yxcv"]\ncountry = "{country}"'
        found = groups(*here, overrides=links_file.parse(team))

        assert rules == [linked.rule for _, linked in found]


@given(
    st.text()
    | st.lists(st.sampled_from([TEAM, LEAGUE, PAIR, LISTED, "[[must]]\n", "=", "[", '"'])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """The parser raises only errors of the configuration."""
    try:
        found = links_file.parse(text)
    except ConfigError:
        return

    assert all(len(team.names) > 1 for team in found.teams)
