"""Lists that lose too much at once are refused twice and accepted the third time (faults.md, C5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

import pytest
from msgspec.structs import replace

from actors.board.board import Board
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Removal, SourceMatchId
from actors.markets.market import Kind, market_of
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match, withdrawn
from tests.support.time.virtual import WALL_0

RULES = BoardRules()
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))
ACCEPTED, SUSPECT = Verdict.ACCEPTED, Verdict.SUSPECT
AHEAD, BEGUN = int(WALL_0) + 1, int(WALL_0)


def _list(
    numbers: Iterable[int],
    mono: float = 0.0,
    *,
    rejected: Iterable[int] = (),
    start_time: int | None = None,
    prefix: str = "m",
    list_id: str = "list-1",
) -> Batch:
    matches = [match(f"{prefix}{number}", start_time=start_time) for number in numbers]
    removals = [Removal(SourceMatchId(f"{prefix}{number}"), "price") for number in rejected]
    return batch(matches, removals=removals, received_mono=mono, list_id=list_id)


def _applied(base: Snapshot, batches: Sequence[Batch]) -> tuple[list[Verdict], Snapshot]:
    board = Board(base, RULES)
    verdicts = [
        run_now(board.apply(change, Instant(change.received_mono, WALL_0))).verdict for change in batches
    ]
    return verdicts, run_now(board.finish(START))


def _verdict(before: Batch, after: Batch) -> Verdict:
    return _applied(_applied(EMPTY, [before])[1], [after])[0][0]


FULL = _applied(EMPTY, [_list(range(100))])[1]
SMALL = range(10)


def test_list_is_suspect_if_it_loses_more_than_half_and_more_than_twenty() -> None:
    """A suspect list must exceed both bounds: more than half, and more than twenty lost matches."""
    for before, kept, expected in [
        (41, 20, SUSPECT),  # loses 21, more than half
        (42, 21, ACCEPTED),  # loses 21, exactly half
        (43, 21, SUSPECT),
        (20, 0, ACCEPTED),  # loses all, but only 20
        (21, 0, SUSPECT),
        (21, 1, ACCEPTED),
        (500, 250, ACCEPTED),
        (500, 249, SUSPECT),
    ]:
        assert expected is _verdict(_list(range(before)), _list(range(kept))), (before, kept)


def _draw(random: Random) -> tuple[list[Batch], Batch, bool]:
    """Draw lists, the next list of a scope, and whether that list loses too much by a plain count."""
    times = [(AHEAD, None), (None, None), (None, AHEAD), (BEGUN, None), (None, BEGUN)]
    own = {f"m{number}": random.choice(times) for number in range(random.randrange(90))}
    made = {
        name: match(name, start_time=start, latest_start=latest) for name, (start, latest) in own.items()
    }
    share, rejected = random.choice((0.0, 0.2, 0.4, 0.5, 0.6, 0.8)), random.choice((0.0, 0.0, 0.5))
    kept = [name for name in own if random.random() < share]
    refused = [name for name in own if name not in kept and random.random() < rejected]
    news = [match(f"new{number}") for number in range(random.choice((0, 50)))]
    is_delta, is_image = random.choice(((False, False), (False, False), (False, True), (True, False)))
    gone = {*own} - {*kept, *refused} if is_delta else ()
    removals = [Removal(SourceMatchId(name), "price") for name in refused]
    removals += [Removal(SourceMatchId(name), "withdrawn") for name in gone]
    following = batch(
        [*(made[name] for name in kept), *news],
        removals=removals,
        complete=not is_delta,
        is_image=is_image,
        received_mono=1.0,
    )
    ahead = [name for name, times in own.items() if BEGUN not in times]
    lost = len({*ahead} - {*kept, *refused})
    is_doubtful = lost > 20 and lost > len(ahead) / 2 and not (is_delta or is_image)
    other = batch([match(f"other{number}") for number in range(60)], scope="other")
    return [batch(made.values()), other], following, is_doubtful


def test_only_polled_lists_that_lose_matches_still_to_begin_are_suspect() -> None:
    """Only matches of the same scope count; deltas, images and rejected matches raise no suspicion."""
    seen = Counter[bool]()
    for seed in range(300):
        before, following, is_doubtful = _draw(Random(seed))
        (verdict,), _ = _applied(_applied(EMPTY, before)[1], [following])

        assert (SUSPECT if is_doubtful else ACCEPTED) is verdict, seed
        seen[is_doubtful] += 1

    assert min(seen[True], seen[False]) > 30


def test_suspect_list_changes_and_confirms_nothing() -> None:
    """The previous list and its deadline stay, no version is made, and the list is no longer held."""
    verdicts, snapshot = _applied(FULL, [_list(SMALL, 9.0, list_id="list-2")])

    book = snapshot.books[BOOKMAKER]
    assert ([SUSPECT], FULL.version) == (verdicts, snapshot.version)
    assert (FULL.books[BOOKMAKER].chunks, 30.0, True) == (
        book.chunks,
        snapshot.valid_until,
        book.is_serving,
    )
    held = [
        snapshot.holds(BOOKMAKER, SCOPE, batch(list_id=name).list_id, WALL_0, RULES.max_matches)
        for name in ("list-1", "list-2")
    ]
    assert [False, False] == held


def test_third_suspect_list_in_a_row_is_accepted() -> None:
    """Exactly the third suspect list in a row is accepted, whether or not the three are equal."""
    doubtful = [_list(range(10 - number), 1.0 + number, list_id=f"list-{number}") for number in range(3)]

    verdicts, snapshot = _applied(FULL, doubtful)

    assert [SUSPECT, SUSPECT, ACCEPTED] == verdicts
    assert (8, FULL.version + 1) == (snapshot.books[BOOKMAKER].count, snapshot.version)
    assert (0, 33.0) == (snapshot.books[BOOKMAKER].lists[SCOPE].doubted, snapshot.valid_until)


def test_accepted_list_in_between_restarts_the_count() -> None:
    """The count needs three suspect lists in a row, each in its own commit; an accepted list resets it."""
    batches = [
        _list(SMALL, 1.0),
        _list(SMALL, 2.0),
        _list(range(99), 3.0),
        _list(SMALL, 4.0),
        _list(SMALL, 5.0),
        _list(SMALL, 6.0),
    ]

    verdicts, snapshot = list[Verdict](), FULL
    for polled in batches:
        found, snapshot = _applied(snapshot, [polled])
        verdicts += found

    assert [SUSPECT, SUSPECT, ACCEPTED, SUSPECT, SUSPECT, ACCEPTED] == verdicts


def test_refused_batch_in_between_keeps_the_count() -> None:
    """Outdated and unfounded batches do not change the count of suspect lists."""
    outdated = _list(range(100), -1.0)
    unfounded = batch(complete=False, list_id="list-2", received_mono=2.5)
    batches = [_list(SMALL, 1.0), outdated, _list(SMALL, 2.0), unfounded, _list(SMALL, 3.0)]

    expected = [SUSPECT, Verdict.OUTDATED, SUSPECT, Verdict.UNFOUNDED, ACCEPTED]
    assert expected == _applied(FULL, batches)[0]


@pytest.mark.parametrize("is_stale", [True, False])
def test_any_list_is_accepted_after_a_withdrawal(*, is_stale: bool) -> None:
    """After a withdrawal no match can be lost, whether the list was stale or its source withdrew it."""
    doubted = _applied(FULL, [_list(SMALL, 9.0)])[1]
    board = Board(doubted, RULES)
    now = Instant(30.0, WALL_0)
    run_now(board.expire(now) if is_stale else board.apply(withdrawn(received_mono=10.0), now))

    assert run_now(board.finish(START)).books[BOOKMAKER].lists[SCOPE].doubted == 0
    assert [ACCEPTED] == _applied(run_now(board.finish(START)), [_list(SMALL, 31.0)])[0]


def test_match_whose_market_moves_to_another_line_is_not_lost() -> None:
    """A list with one line per match may have another line of each match the next time."""
    matches = [match(f"m{number}", start_time=AHEAD) for number in range(30)]
    lists = [
        replace(
            batch(
                [each.of_market(market_of(Kind.OVER_UNDER, line), (1.9, 1.9)) for each in matches[:kept]]
            ),
            received_mono=mono,
        )
        for mono, line, kept in ((0.0, 2.5, 30), (1.0, 2.75, 30), (2.0, 2.75, 9))
    ]

    assert [ACCEPTED, ACCEPTED, SUSPECT] == _applied(EMPTY, lists)[0]
