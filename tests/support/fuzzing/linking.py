"""Targets of linking: the file of links by hand, names and leagues, and the queries of fixtures."""

from __future__ import annotations

from contextlib import suppress
from math import inf, isfinite

from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.core.validation import clean_name
from actors.matches.model import FixtureView
from actors.matching.event import Event
from actors.matching.overrides import Overrides
from actors.review.explanation import explain, nearest
from actors.review.links_file import parse
from tests.support.builders.events import event, groups, linker
from tests.support.fuzzing.target import Target
from web.protocol.problems import Problem
from web.protocol.query import Query

BOOKMAKERS = (BookmakerId("alder"), BookmakerId("birch"))
FILE = b"""[[team]]
name = "Odense Boldklub"
also = ["OB"]
country = "denmark"
[[league]]
same = ["one:Premier League", "two:soccer_epl"]
[[must]]
events = ["one:1", "two:1"]
home = "Odense Boldklub"
away = ["Everton", "Everton FC"]
day = 2026-03-07
reason = "r"
[[must_not]]
events = ["one:1", "two:2"]
reason = "r"
"""
NAMES = (
    b"Manchester United\nNott'm Forest\nPremier League\nMan Utd\nNottingham Forest\nsoccer_epl",
    b"Ajax II\nJong PSV\nEredivisie\nAjax (Am)\nPSV U21\nEerste Divisie",
    b"\xc3\x98B W\nQ.P.R.\n\nOB Ladies\nQPR\n",
)
MARKS = (b"\n", b" II", b" (W)", b" U21", b"Under 23", b"FC ", b"St ", b"Utd", b"1948", b"&", b".", b"'")


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    tables = (
        b"[[team]]",
        b"[[league]]",
        b"[[must]]",
        b"[[must_not]]",
        b"events",
        b"also",
        b"same",
        b'"one:1"',
        b"day",
        b"2026-03-07",
    )
    queries = (
        b"view=fixtures",
        b"view=surebets&bookmaker=birch&since=1",
        b"league=a&from=0&to=9&min_profit=0.1",
    )
    words = (b"&", b"%", b"view=", b"league=", b"from=", b"to=", b"min_profit=", b"nan", b"inf", b"+")
    return (
        Target("links_file", _file, (FILE, FILE.split(b"[[must]]")[0]), tables),
        Target("names", _names, NAMES, MARKS),
        Target("fixture_query", _query, queries, words),
    )


def _file(data: bytes) -> int:
    """Read a file; a linker takes the result, with its events in any order."""
    try:
        overrides = parse(data.decode("utf-8", "replace"))
    except ConfigError:
        return 0
    _link([event("one", "Odense Boldklub"), event("two", "OB"), event("two", match_id="2")], overrides)
    return 0


def _names(data: bytes) -> int:
    """Link two events with these names and leagues; the order of the events must not matter."""
    lines = [clean_name(name) for name in data.decode("utf-8", "replace").split("\n")]
    group, other = [*lines, *[""] * 6][:3], [*lines, *[""] * 6][3:6]
    if all((*group[:2], *other[:2])):
        _link([event("one", *group), event("two", *other)], Overrides())
    return 0


def _link(events: list[Event], overrides: Overrides) -> None:
    found = groups(*events, overrides=overrides)
    if found != groups(*reversed(events), overrides=overrides):
        raise AssertionError("the order of events matters")
    made = linker(*events, overrides=overrides)
    run_now(nearest(made, made.keys()))
    there, back = (explain(made, events[a].key, events[b].key) for a, b in ((0, 1), (1, 0)))
    assert there is not None
    assert back is not None
    for side in (there.evidence.home, there.evidence.away):
        if not 0 <= side.similarity <= 1:
            raise AssertionError(f"the similarity was {side.similarity}")
    if (there.rule, there.reason, there.lacks) != (back.rule, back.reason, back.lacks):
        raise AssertionError("what is said of two events depends on which is first")


def _query(raw: bytes) -> int:
    query = Query(raw)
    with suppress(Problem):
        _, start, end, profit = query.choice()
        for given, default in ((start, -inf), (end, inf), (profit or 0.0, None)):
            if given != default and not isfinite(given):
                raise AssertionError(f"was {given}")
    with suppress(Problem):
        if isinstance(query.watched(BOOKMAKERS), FixtureView) and query.choice() != (None, -inf, inf, None):
            raise AssertionError("a filter of lists was taken for changes")
    return 0
