"""The record of values: equal to an independent script's on real seasons; its groups checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import pytest

from actors.core.messages import BookmakerId, Prices, SourceMatchId, SourceName
from actors.lines.closing import NoClose
from actors.lines.consensus import NoConsensus, Past
from actors.lines.line import Break, Point
from actors.lines.links import Link, LinkRow, RosterRow, bookmakers_of
from actors.markets.market import ONE_X_TWO
from actors.matches.fair import Method, fair
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matching.event import FixtureId
from actors.matching.rules import Certainty, Rule
from actors.value.record import (
    Age,
    FlagTerms,
    Judged,
    flags_of,
    group_of,
    grouped,
    judged,
    mean_by_match,
    why_none,
)
from tests.support.oracles.closing_value import mean_and_error, prices, read, values
from tests.support.recordings import football_data

Lines: TypeAlias = dict[str, list[tuple[int, tuple[float, ...]]]]
SEASONS = football_data("seasons", "E0*.csv")
EARLY_MS, LATE_MS, KICK_OFF_MS = 0, 7_200_000, 10_800_000


def _past(lines: Lines, gaps: tuple[Break, ...] = ()) -> Past:
    """Return a match with these prices; the millisecond from which a price holds gives its version."""
    names = [BookmakerId(name) for name in lines]
    links = tuple(Link(SourceName(name), SourceMatchId("m1"), Rule.SAME, Certainty.SURE) for name in names)
    points = {
        f"{name}_m1": [Point(at_ms + 1, at_ms, odds) for at_ms, odds in of_name]
        for name, of_name in lines.items()
    }
    roster = bookmakers_of([(name, SourceName(name), Prices.LIVE) for name in names])
    row = LinkRow(1, 0, FixtureId("fx1"), links)
    return Past(points, [row], [RosterRow(1, 0, roster)], gaps)


def _terms(*names: str, company: str = "", min_ev: float = 0.0) -> FlagTerms:
    roster = roster_of({BookmakerId(name): BookmakerInfo(SourceName(name)) for name in names})
    if company:
        single = BookmakerId(names[0])
        roster[single] = BookmakerInfo(SourceName(names[0]), company=company)
    return FlagTerms(ONE_X_TWO, min_ev, FixtureSettings(roster))


@pytest.mark.recordings
@pytest.mark.parametrize("path", SEASONS, ids=[path.stem for path in SEASONS])
def test_record_of_a_season_is_that_of_the_script(path: Path) -> None:
    """Numbers, mean expected values, mean closing line values and their errors agree, to 1e-9."""
    names, rows = read(path)
    terms, found = _terms(*map(str.lower, names)), list[Judged]()
    for number, row in enumerate(rows):
        early, late = prices(row, names, ""), prices(row, names, "C")
        lines = {name.lower(): [(EARLY_MS, tuple(odds))] for name, odds in early.items()}
        closing = {name.lower(): fair(Method.POWER, tuple(odds)) for name, odds in late.items()}
        for flag in flags_of(_past(lines), (KICK_OFF_MS, KICK_OFF_MS), terms):
            others = [chances for name, chances in closing.items() if name != flag.bookmaker]
            verdict = judged(flag, ONE_X_TWO, others, NoConsensus.TOO_FEW)
            found.append(Judged(FixtureId(f"fx{number}"), 0, ONE_X_TWO, flag, *verdict))
    groups = grouped(found, lambda of: of.flag.bookmaker)

    expected = {name.lower(): some for name, some in values(path).items()}
    assert {name: len(some) for name, some in expected.items()} == {
        name: group.judged for name, group in groups.items() if group.judged
    }
    assert len(expected) > 4
    for name, some in expected.items():
        clv = mean_and_error([(match, value) for match, _, value in some])
        assert clv == pytest.approx((groups[name].mean_clv, groups[name].standard_error), abs=1e-9)
        assert sum(value for _, value, _ in some) / len(some) == pytest.approx(
            groups[name].mean_ev, abs=1e-9
        )


FAIR, HIGH = (2.0, 3.7, 3.9), (2.3, 3.5, 3.4)
OTHERS: Lines = {name: [(0, FAIR)] for name in ("b", "c", "d")}


@pytest.mark.parametrize(
    ("lines", "odds"),
    [
        ({"a": [(0, FAIR), (60_000, HIGH)]}, [2.3]),
        ({"a": [(0, HIGH)]}, [2.3]),
        ({"a": [(0, FAIR), (60_000, HIGH), (70_000, FAIR), (80_000, (2.4, 3.5, 3.4))]}, [2.3]),
        ({"a": [(0, FAIR), (KICK_OFF_MS, HIGH)]}, []),
        ({"a": [(0, (3.0, 3.5, 3.4))]}, []),
        ({"a": [(0, (2.6, 3.6, 2.9))]}, []),
    ],
    ids=["a price", "the first price", "once", "after the kick-off", "in doubt", "in doubt, not far off"],
)
def test_an_outcome_is_flagged_at_its_first_price(lines: Lines, odds: list[float]) -> None:
    """An outcome is flagged once at each bookmaker, before the kick-off, and not at a doubted price."""
    found = flags_of(_past({**lines, **OTHERS}), (KICK_OFF_MS, KICK_OFF_MS), _terms("a", "b", "c", "d"))

    assert odds == [flag.odds for flag in found if flag.bookmaker == "a"]
    assert {Age.NEW} >= {flag.age for flag in found}


def test_a_price_that_stood_while_others_moved_is_old() -> None:
    """A price whose company moved another price is not flagged, and nothing is flagged in a gap."""
    moved: Lines = {name: [(0, FAIR), (LATE_MS, (1.8, 3.9, 4.6))] for name in ("b", "c", "d")}
    moved["a"] = [(0, (1.95, 3.6, 3.8))]
    past, until = _past(moved), (KICK_OFF_MS, KICK_OFF_MS)
    old = flags_of(past, until, _terms("a", "b", "c", "d"))
    same = flags_of(past, until, _terms("a", "b", "c", "d", company="b"))
    gap = Break(LATE_MS, KICK_OFF_MS, LATE_MS - 1, KICK_OFF_MS, "damaged")
    hidden = flags_of(_past(moved, (gap,)), until, _terms(*"abcd"))

    assert [("a", 0, Age.HOURS)] == [(flag.bookmaker, flag.outcome, flag.age) for flag in old]
    assert [] == same
    assert [] == hidden


def test_flags_of_one_match_count_together() -> None:
    """Two equal flags of each match give the same mean and error as one flag of each match."""
    once = [(f"fx{number}", value) for number, value in enumerate([0.1, -0.2, 0.3])]

    mean, error = mean_by_match(once)
    assert [0.2 / 3, 0.145297] == pytest.approx([mean, error], abs=1e-6)
    assert [mean, error] == pytest.approx([*mean_by_match([*once, *once])])
    assert (0.1, None) == mean_by_match(once[:1])
    assert (None, None) == mean_by_match([])


@pytest.mark.parametrize(
    ("closes", "absent", "reason"),
    [
        ([NoClose.GAP, NoClose.GAP], NoConsensus.TOO_FEW, NoClose.GAP),
        ([NoClose.TOO_OLD, None], NoConsensus.TOO_FEW, NoConsensus.TOO_FEW),
        ([None, None], None, NoConsensus.TOO_FEW),
        ([None, None], NoConsensus.KIND_UNKNOWN, NoConsensus.KIND_UNKNOWN),
    ],
)
def test_the_reason_is_that_of_all_entries_or_of_the_consensus(
    closes: list[NoClose | None], absent: NoConsensus | None, reason: str
) -> None:
    """A reason of some entries only does not explain why there are too few entries."""
    assert reason == why_none(closes, absent)


def test_a_flag_without_a_close_is_counted_with_its_reason() -> None:
    """Such a flag changes no mean."""
    (flag,) = flags_of(_past({"a": [(0, HIGH)], **OTHERS}), (9, 9), _terms(*"abcd"))
    of = FixtureId("fx1"), 0, ONE_X_TWO, flag

    group = group_of([Judged(*of, 0.1), Judged(*of, None, "gap"), Judged(*of, None, "gap")])

    assert (3, 1, 0.1, {"gap": 2}) == (group.flags, group.judged, group.mean_clv, group.unjudged)
