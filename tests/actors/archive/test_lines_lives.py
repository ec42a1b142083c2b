"""What is told of lines and closing prices, compared with a naive reading of the same archive."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from actors.archive.lines.closings import AskedClosings, Closings, FixtureClose
from actors.archive.lines.moved import Asked, Nowhere, read_lines
from actors.archive.past import Days, Unknown
from actors.lines.closing import Close, NoClose
from actors.lines.links import of_today
from actors.lines.told import Lines
from actors.markets.market import ONE_X_TWO
from actors.matches.fair import Method
from tests.support.archive.moving import Moving
from tests.support.oracles.naive_lines import Naive, fair_of

ACTS = 90
pytestmark = pytest.mark.timeout(300)


def lived(folder: Path, seed: int) -> tuple[Moving, Days, Naive]:
    """Return what some lives left, the reading of it, and the naive reading."""
    moving = Moving(folder, seed)
    for _ in range(ACTS):
        moving.act()
    moving.archive.writer.max_waiting = 10**9
    moving.clock.pass_(1)
    for name in moving.terms.roster:
        moving.board.put(name, stale_after_s=1e6)
    for _ in range(50):
        moving.archive.writer.step()
    days = Days(moving.archive.folder, lambda: moving.archive.writer.live_day)
    return moving, days, Naive(moving.archive.folder, days.gaps(days.held()))


def asked(moving: Moving, of: str, from_ms: int = 0, until_ms: int | None = None) -> Asked:
    """Return a question for lines of the whole life, or of a part."""
    now_ms = round(moving.clock.wall * 1000)
    until_ms = now_ms + 1 if until_ms is None else until_ms
    return Asked(of, ONE_X_TWO, from_ms, until_ms, now_ms, of_today(moving.terms.roster), Method.POWER)


def points_in(told: Any) -> list[tuple[Any, ...]]:
    """Return the points of the only line as the naive reading has them."""
    if isinstance(told, Nowhere):
        return []
    (line,) = told.lines
    return [
        (
            of.version,
            of.at_ms,
            of.odds,
            None if of.absent is None else str(of.absent),
            of.reason,
            of.is_state,
        )
        for of in line.points
    ]


def close_in(of: Close | NoClose) -> Any:
    """Return a close as the naive reading has it."""
    if isinstance(of, NoClose):
        return str(of)
    return (of.odds, of.closed_ms, "on offer" if of.on_offer else of.left)


def compared(told: FixtureClose, expected: dict[str, Any]) -> list[str]:
    """Return what differs in the closes of a fixture."""
    found = {of.id: (close_in(of.close), of.first_version) for of in told.entries}
    members = [[of.source, of.source_match_id, of.rule, str(of.certainty)] for of in told.members]
    chances = None if told.consensus is None else told.consensus.chances
    of_naive = expected["fair"]
    is_same = chances == of_naive if None in {chances, of_naive} else chances == pytest.approx(of_naive)
    differs = [] if found == expected["closes"] else [f"{told.id}: {found} != {expected['closes']}"]
    differs += [] if members == expected["members"] else [f"{told.id}: {members} != {expected['members']}"]
    return differs + ([] if is_same else [f"{told.id}: {chances} != {of_naive}"])


@pytest.mark.parametrize("seed", range(4))
def test_a_line_is_what_a_naive_reading_has(tmp_path: Path, seed: int) -> None:
    """Of each entry, over the whole life and over parts: gaps, restarts, midnights, suspensions, moves."""
    moving, days, naive = lived(tmp_path / "archive", seed)
    times = sorted({*naive.times.values()})
    wrong, count = list[Any](), 0
    for entry in sorted({entry for board in naive.boards.values() for entry in board}):
        for _ in range(6):
            begin, end = sorted(moving.random.choices(times, k=2))
            from_ms, until_ms = begin + moving.random.choice((0, 1, 250)), end + 1
            told = read_lines(days, asked(moving, entry, from_ms, until_ms))
            if isinstance(told, Unknown) or from_ms >= until_ms:
                continue
            first = max(version for version, at in naive.times.items() if at <= from_ms)
            last = max(version for version, at in naive.times.items() if at < until_ms)
            expected = naive.line(entry, first, last, until_ms)
            count += len(expected)
            if points_in(told) != expected:
                wrong.append((entry, from_ms, until_ms, points_in(told), expected))
    moving.end(is_orderly=True)

    assert [] == wrong
    assert count > 50


@pytest.mark.parametrize("seed", range(4))
def test_closes_are_what_a_naive_reading_has(tmp_path: Path, seed: int) -> None:
    """Of each fixture and bookmaker: the price, until when, on offer or why not; members and consensus."""
    moving, days, naive = lived(tmp_path / "archive", seed)
    now_ms, seen_ms = round(moving.clock.wall * 1000), days.held()[-1].seen_ms
    about = of_today(moving.terms.roster), Method.POWER
    told = Closings(days, AskedClosings(0, 2**50, now_ms, ONE_X_TWO, *about)).read().fixtures
    kick_offs = {fixture: naive.kick_off(fixture) for fixture in naive.first_of_fixtures()}
    wrong, kinds = list[str](), Counter[str]()
    for of in told:
        assert kick_offs[of.id] == of.listed.kick_off
        if not of.is_started:
            assert of.listed.kick_off * 1000 > now_ms
            continue
        expected = naive.closes(of.id, of.listed.kick_off, seen_ms)
        wrong += compared(of, expected)
        lines = read_lines(days, asked(moving, of.id))
        assert isinstance(lines, Lines)
        of_lines = {line.id: line.close and close_in(line.close) for line in lines.lines}
        of_naive = {entry_id: close for entry_id, (close, _) in expected["closes"].items()}
        wrong += [
            f"{it}: {of_lines.get(it)} != {close}"
            for it, close in of_naive.items()
            if of_lines.get(it) != close
        ]
        kinds.update(
            close_in(it.close)[-1] if isinstance(it.close, Close) else it.close for it in of.entries
        )
    moving.end(is_orderly=True)

    assert [] == wrong
    assert {fixture for fixture, start in kick_offs.items() if start is not None} == {of.id for of in told}
    assert kinds.total() > 5


@pytest.mark.parametrize("seed", range(4))
def test_what_was_merged_before_the_kick_off_says_into_which(tmp_path: Path, seed: int) -> None:
    """Its last events before that were in the other from the next version on."""
    moving, days, naive = lived(tmp_path / "archive", seed)
    now_ms = round(moving.clock.wall * 1000)
    about = of_today(moving.terms.roster), Method.POWER
    told = Closings(days, AskedClosings(0, 2**50, now_ms, ONE_X_TWO, *about)).read().fixtures
    merged = [of for of in told if of.into is not None]
    there = list[bool]()
    for of in merged:
        held = [it for it, at in sorted(naive.times.items()) if at < of.listed.kick_off * 1000]
        shown = [naive.at(naive.members, version) for version in held]
        last = max(number for number, fixtures in enumerate(shown) if of.id in fixtures)
        keys, others = (
            {tuple(member[:2]) for member in fixtures.get(fixture, [])}
            for fixtures, fixture in ((shown[last], of.id), (shown[last + 1], str(of.into)))
        )
        there.append(keys <= others)
    moving.end(is_orderly=True)

    assert merged
    assert all(there)


@pytest.mark.parametrize("seed", range(3))
def test_the_consensus_is_the_median_of_those_who_count(tmp_path: Path, seed: int) -> None:
    """At each version: of live prices on the board then, of members surely linked then."""
    moving, days, naive = lived(tmp_path / "archive", seed)
    hidden = [(gap.after, gap.until) for gap in naive.gaps]
    wrong, count = list[Any](), 0
    for fixture in naive.first_of_fixtures():
        told = read_lines(days, asked(moving, fixture))
        assert isinstance(told, Lines)
        assert told.consensus is not None
        for number, point in enumerate(told.consensus):
            after = (
                told.consensus[number + 1].version if number + 1 < len(told.consensus) else naive.last + 1
            )
            for version in sorted(naive.times):
                is_hidden = any(begin <= version < end for begin, end in hidden)
                if not point.version <= version < after or is_hidden:
                    continue
                members = naive.at(naive.members, version).get(fixture, [])
                board = naive.at(naive.boards, version)
                ids = naive.ids(members, version)
                counted = [
                    board[entry]
                    for entry, (_, kind, certainty) in ids.items()
                    if kind == "live" and certainty == "sure" and entry in board
                ]
                expected = fair_of(counted)
                count += expected is not None
                if (expected is None) != (point.chances is None) or (
                    expected is not None and point.chances != pytest.approx(expected)
                ):
                    wrong.append((fixture, version, point, expected))
    moving.end(is_orderly=True)

    assert [] == wrong
    assert count > 0


def test_closes_go_on_from_where_an_answer_ended(tmp_path: Path) -> None:
    """Answers of few fixtures have together what one has, each fixture once."""
    moving, days, _ = lived(tmp_path / "archive", 0)
    now_ms, about = round(moving.clock.wall * 1000), (of_today(moving.terms.roster), Method.POWER)
    whole = Closings(days, AskedClosings(0, 2**50, now_ms, ONE_X_TWO, *about)).read().fixtures
    found, begin = list[FixtureClose](), 0
    while True:
        part = Closings(days, AskedClosings(begin, 2**50, now_ms, ONE_X_TWO, *about)).read(most=2)
        found += part.fixtures
        if part.next_from is None:
            break
        begin = part.next_from * 1000
    moving.end(is_orderly=True)

    assert len(whole) > 4
    assert [*whole] == found
