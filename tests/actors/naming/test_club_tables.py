"""The shipped tables of clubs: no club has two rows, and no row has two clubs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from actors.matching.evidence import Likeness, likeness
from actors.naming.data import rows
from actors.naming.names import Name, parse
from actors.naming.tables import clubs_by_country, spellings

DECIDED = Path(__file__).parent / "two_clubs.tsv"  # pairs of different clubs with similar names


def _with_equal_words(clubs: dict[str, set[Name]]) -> Iterator[tuple[str, str]]:
    """Yield pairs of clubs with a spelling of the same words, whatever their legal forms and years."""
    by_words: dict[frozenset[str], set[str]] = {}
    for club, names in clubs.items():
        for name in names:
            by_words.setdefault(frozenset(name.words), set()).add(club)
    for those in by_words.values():
        yield from combinations(sorted(those), 2)


def test_no_club_has_two_rows() -> None:
    """Two clubs of one country with the same words are one, unless the file says that they are two."""
    found = {
        (country, *pair)
        for country, clubs in clubs_by_country().items()
        for pair in _with_equal_words(clubs)
    }

    lines = DECIDED.read_text(encoding="utf-8").splitlines()[1:]
    assert {tuple(line.split("\t")) for line in lines} == found


def _years(name: Name) -> set[str]:
    return {word for word in name.core if word.isdigit() and len(word) == len("1899")}


def test_no_row_has_two_clubs() -> None:
    """The names of a club have one year of foundation; only those of Lokomotiv Plovdiv have two."""
    found = {
        club
        for clubs in clubs_by_country().values()
        for club, names in clubs.items()
        for a, b in combinations(names, 2)
        if a.words == b.words and (years := _years(a)) and (others := _years(b)) and years != others
    }

    assert {"PFC Lokomotiv Plovdiv"} == found


def test_rows_that_are_joined_are_there() -> None:
    """Every club that the table of joined rows names has a row of its own, and is named only once."""
    known = {(row[0], spellings(row)[0]) for row in rows("clubs.tsv")}
    joined = [(row[0], club) for row in rows("clubs_joined.tsv") for club in (row[1], *row[2].split("|"))]

    assert [] == [pair for pair in joined if pair not in known]
    assert len(joined) == len({*joined})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("FC Haka", "FC Haka Valkeakoski"),
        ("GD Chaves", "Desportivo de Chaves"),
        ("Vasas FC", "Vasas SC"),
        ("Etar", "Etar Veliko Tarnovo"),
        ("Gandzasar", "Gandzasar Kapan"),
        ("CA Bragantino", "RB Bragantino"),
        ("Wimbledon", "AFC Wimbledon"),
        ("Universitatea Craiova", "CS U Craiova"),
        ("Leones Negros", "Leones Negros U. de G."),
        ("Akhmat Grozny", "Terek Grozny"),
        ("SK Beveren", "Waasland-Beveren"),
        ("Cangzhou Mighty Lions", "Shijiazhuang Ever Bright"),
        ("Viitorul Constanta", "Farul Constanta"),
        ("Zaria Balti", "CSF Balti"),
        ("1. FC Lokomotive Leipzig", "VfB Leipzig"),
    ],
)
def test_a_club_that_the_larger_table_has_twice_is_one(a: str, b: str) -> None:
    """Such clubs were renamed, merged or founded anew; joined rows or a spelling by hand make them one."""
    assert Likeness.SAME is likeness(parse(a), parse(b), None).likeness


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Vancouver FC", "Vancouver Whitecaps"),
        ("Metalist 1925 Kharkiv", "Metalist Kharkiv"),
        ("FC U Craiova 1948", "Universitatea Craiova"),
        ("FCSB", "Steaua Bucuresti"),
        ("FCSB", "CSA Steaua"),
    ],
)
def test_two_clubs_that_the_larger_table_has_as_one_are_two(a: str, b: str) -> None:
    """Both clubs may play on one day."""
    assert Likeness.OTHER is likeness(parse(a), parse(b), None).likeness


def test_towns_are_read_as_names_are() -> None:
    """Each line has the words that a comparison of names uses, and the lines are sorted."""
    towns = [town for (town,) in rows("towns.tsv")]

    assert sorted({*towns}) == towns
    assert [] == [town for town in towns if parse(town).words != tuple(town.split())]
