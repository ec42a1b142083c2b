"""The history of changes: the last change of each match since a version, exact back to a limit."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs

from actors.board.board import Board
from actors.board.history import MAX_ANSWER, Change, HistoryLimits, ListHistory, Recent
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, run_now
from actors.core.messages import Batch, BookmakerId, Removal, SourceMatchId
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, RULES, START, after
from tests.support.builders.messages import batch, match, withdrawn
from tests.support.time.virtual import WALL_0

Shown = list[tuple[str, int, str | None]]


def _history(*snapshots: Snapshot, limits: HistoryLimits = HistoryLimits()) -> ListHistory:  # noqa: B008
    history = ListHistory(EMPTY, limits)
    for snapshot in snapshots:
        history.add(snapshot)
    return history


def _since(history: ListHistory, version: int, view: BookmakerId | None = None) -> Shown:
    recent = _recent(history, version, view)
    shown = [(change.id, change.version, None) for change in recent.shown]
    return [*shown, *((change.id, change.version, change.reason) for change in recent.gone)]


def _recent(history: ListHistory, version: int, view: BookmakerId | None = None) -> Recent[Change]:
    recent = run_now(history.since(view, version))
    assert recent is not None
    return recent


def _oldest(history: ListHistory) -> tuple[int, int, int]:
    run_now(history.digest())
    return history.oldest(None), history.oldest(ALDER), history.oldest(BIRCH)


def _at(mono: float) -> Instant:
    return Instant(mono, WALL_0 + mono)


def _expired(base: Snapshot, now: Instant) -> Snapshot:
    board = Board(base, RULES)
    run_now(board.expire(now))
    return run_now(board.finish(START))


ONE = after(EMPTY, batch([match("b"), match("a")]), batch([match("x")], bookmaker="birch"))
TWO = after(ONE, batch([match("b", prices=(2.1, 3.4, 3.9)), match("a")], received_mono=1.0), now=_at(1.0))


def test_changes_are_in_the_order_of_the_list() -> None:
    """Changes are ordered by bookmaker as configured, then by id in code points."""
    assert [("alder_a", 1001, None), ("alder_b", 1001, None), ("birch_x", 1001, None)] == _since(
        _history(ONE), 1000
    )


def test_view_has_its_own_changes_and_version() -> None:
    """Changes of another bookmaker affect neither the changes nor the version of a bookmaker's view."""
    history = _history(ONE, TWO)

    assert [("birch_x", 1001, None)] == _since(history, 1000, BIRCH)
    assert [] == _since(history, 1001, BIRCH)
    assert (1002, 1002, 1001) == (history.latest(None), history.latest(ALDER), history.latest(BIRCH))


@pytest.mark.parametrize(("since", "merged"), [(1000, True), (1001, False), (1002, False)])
def test_merged_commits_are_reported(since: int, merged: bool) -> None:  # noqa: FBT001
    """The answer says whether more than one commit changed the view since that version."""
    assert merged == _recent(_history(ONE, TWO), since, ALDER).is_merged
    assert not _recent(_history(ONE, TWO), since, BIRCH).is_merged


def _removed(*removals: Removal, complete: bool = True) -> Batch:
    return batch([match("b")], removals=removals, complete=complete, received_mono=1.0)


def _gone(reason: str) -> Removal:
    return Removal(SourceMatchId("a"), reason)


OVER = match("a", start_time=int(WALL_0) - 20_000)


def test_removal_has_a_reason() -> None:
    """Clients get one of six reasons, whatever reason the source gave."""
    for change, reason in [
        (_removed(), "withdrawn"),
        (_removed(_gone("withdrawn"), complete=False), "withdrawn"),
        (_removed(_gone("suspended")), "suspended"),
        (_removed(_gone("suspended"), complete=False), "suspended"),
        (_removed(_gone("inactive"), complete=False), "suspended"),
        (_removed(_gone("closed"), complete=False), "finished"),
        (_removed(_gone("finished")), "finished"),
        (_removed(_gone("price")), "rejected"),
        (_removed(_gone("undefined"), complete=False), "rejected"),
        (batch([match("b"), OVER], received_mono=1.0), "finished"),
        (batch([OVER], complete=False, received_mono=1.0), "finished"),
        (batch([match("b"), match("a", home="")], received_mono=1.0), "unnamed"),
        (withdrawn(received_mono=1.0), "withdrawn"),
    ]:
        history = _history(ONE, after(ONE, change, now=_at(1.0)))

        assert ("alder_a", 1002, reason) == _since(history, 1001)[0], (change, reason)


def test_last_reason_counts() -> None:
    """A match that leaves, returns and leaves again in one commit has the last reason."""
    back = batch([match("a")], complete=False, received_mono=1.0)
    steps = [_removed(_gone("suspended"), complete=False), back, _removed(_gone("price"))]

    history = _history(ONE, after(ONE, *steps, now=_at(1.0)))

    assert ("alder_a", 1002, "rejected") == _since(history, 1001)[0]


def test_stale_list_is_removed_as_stale() -> None:
    """All matches of a stale list are removed in one commit, with the reason `stale`."""
    history = _history(ONE, _expired(ONE, _at(30.0)))

    assert {"stale"} == {reason for _, _, reason in _since(history, 1001)}
    assert 3 == len(_since(history, 1001))


def test_expired_match_is_removed_as_finished() -> None:
    """A match that expires after its kick-off has the reason `finished`."""
    base = after(EMPTY, batch([match("a", start_time=int(WALL_0))], stale_after_s=1e9))

    history = _history(base, _expired(base, _at(10_800.0)))

    assert [("alder_a", 1002, "finished")] == _since(history, 1001)


def test_entries_without_a_name_are_no_change_of_v2() -> None:
    """Entries without a name are added, changed and removed without a change of v2."""
    snapshot = after(EMPTY, batch([match("a", home="")]))
    two = after(
        snapshot, batch([match("a", home="", prices=(2.1, 3.4, 3.9))], received_mono=1.0), now=_at(1.0)
    )
    history = _history(snapshot, two, _expired(two, _at(31.0)))

    assert ([], 1000) == (_since(history, 1000), history.latest(None))


def test_restored_match_is_listed_as_present() -> None:
    """When a match comes back, its removal is no longer in the history."""
    gone = after(ONE, _removed(), now=_at(1.0))
    back = after(gone, batch([match("b"), match("a")], received_mono=2.0), now=_at(2.0))

    assert [("alder_a", 1003, None)] == _since(_history(ONE, gone, back), 1001)


def test_oldest_changes_are_dropped_first() -> None:
    """Above the bound the oldest changes are dropped, and each view's oldest version rises with them."""
    history = _history(ONE, TWO, limits=HistoryLimits(max_changes=2))

    assert (1001, 1001, 1000) == _oldest(history)
    assert [("alder_b", 1002, None), ("birch_x", 1001, None)] == _since(history, 1001) + _since(
        history, 1000, BIRCH
    )
    assert run_now(history.since(None, 1000)) is run_now(history.since(ALDER, 1000)) is None


def test_frequent_changes_of_one_match_take_one_place() -> None:
    """Only one change per match is kept, so a thousand changes of one match do not displace others."""
    snapshots = [ONE]
    for number in range(1, 1000):
        prices = (2.0 + number / 1e4, 3.5, 4.0)
        change = batch([match("b", prices=prices)], complete=False, received_mono=number / 100)
        snapshots.append(after(snapshots[-1], change, now=_at(number / 100)))

    history = _history(*snapshots, limits=HistoryLimits(max_changes=3))

    assert (1000, 3) == (_oldest(history)[0], len(_since(history, 1000)))


def test_listeners_are_called_after_commits_are_digested() -> None:
    """Listeners get the views that changed in v2, after one or several commits."""
    history, heard = ListHistory(EMPTY, HistoryLimits()), []
    history.subscribe(lambda views: heard.append(set(views)))
    history.add(ONE)
    history.add(TWO)
    before = list(heard)

    run_now(history.digest())
    history.add(after(TWO, batch([match("n", home="")], scope="s", received_mono=1.0), now=_at(1.0)))
    run_now(history.digest())

    assert ([], [{None, ALDER, BIRCH}]) == (before, heard)


def test_long_commit_is_digested_in_slices() -> None:
    """A question asked during the digestion gets a complete answer and finishes the digestion."""
    history = ListHistory(EMPTY, HistoryLimits())
    history.add(after(EMPTY, batch([match(f"{number:05}") for number in range(1000)])))
    steps = history.digest()
    next(steps)

    asked = len(_since(history, 1000))

    assert (1000, []) == (asked, list(steps))
    assert 1000 == len(_since(history, 1000))


def test_digestions_that_take_turns_lose_nothing() -> None:
    """While one digestion drops changes in slices, others go on; listeners hear of each view once."""
    many = [match(f"{number:05}") for number in range(4 * SLICE)]
    later = [match(listed.source_match_id, prices=(9.0, 9.0, 1.3)) for listed in many]
    first = after(EMPTY, batch(many), batch(many, bookmaker="birch"))
    second = after(first, batch(later, received_mono=1.0), now=_at(1.0))
    history = _history(first, second, limits=HistoryLimits(max_changes=4 * SLICE))
    heard: list[BookmakerId | None] = []
    history.subscribe(heard.extend)

    rest = [history.digest(), history.digest(), history.digest()]
    while rest:
        rest = [steps for steps in rest if next(steps, rest) is None]

    assert {None: 1, ALDER: 1, BIRCH: 1} == Counter(heard)
    assert (1001, 1001, 1002) == (history.oldest(None), history.latest(BIRCH), history.latest(ALDER))
    assert 4 * SLICE == len(_since(history, 1001, ALDER))


def test_long_answer_is_of_one_moment() -> None:
    """An answer includes no change added while it is sorted, and lacks no change replaced meanwhile."""
    many = [match(f"{number:05}") for number in range(4 * SLICE)]
    first = after(EMPTY, batch(many))
    history = _history(first)
    run_now(history.digest())
    steps = history.since(None, 1000)
    next(steps)

    moved = [match(f"{number:05}", prices=(9.0, 9.0, 1.3)) for number in range(4 * SLICE)]
    history.add(after(first, batch(moved, received_mono=1.0), now=_at(1.0)))
    run_now(history.digest())

    old, new = run_now(steps), _recent(history, 1001)
    assert old is not None
    assert [(1001, 2.0), (1002, 9.0)] == [
        (recent.version, recent.shown[-1].entry and recent.shown[-1].entry.match.home_price)
        for recent in (old, new)
    ]
    assert {change.id for change in old.shown} == {change.id for change in new.shown}
    assert {1001} == {change.version for change in old.shown}


def test_changes_of_many_commits_are_found_from_each_version() -> None:
    """For any number of commits and replaced changes, the answer since each version is complete."""
    snapshots, expected = [EMPTY], dict[str, int]()
    for number in range(3 * SLICE):
        change = batch(
            [match(f"{number * 7 % (2 * SLICE):04}", prices=(2.0 + number / 1e4, 3.5, 4.0))],
            complete=number == 0,
            received_mono=number / 100,
        )
        snapshots.append(after(snapshots[-1], change, now=_at(number / 100)))
        expected[f"alder_{number * 7 % (2 * SLICE):04}"] = snapshots[-1].version
    history = _history(*snapshots[1:])

    for since in range(EMPTY.version, snapshots[-1].version + 1):
        wanted = {name: version for name, version in expected.items() if version > since}
        assert wanted == {name: version for name, version, _ in _since(history, since)}


def test_long_answer_is_replaced_by_the_list() -> None:
    """A client that is too far behind gets the whole list, which is smaller; other views get changes."""
    many = [match(f"{number:05}") for number in range(MAX_ANSWER)]
    most = after(EMPTY, batch(many), batch([match("x")], bookmaker="birch"))
    history = _history(most)

    assert run_now(history.since(None, 1000)) is None
    assert (MAX_ANSWER, 1) == (len(_since(history, 1000, ALDER)), len(_since(history, 1000, BIRCH)))
    assert ([], 1000) == (_since(history, 1001), _oldest(history)[0])


def test_commit_that_is_dropped_in_part_is_dropped_entirely() -> None:
    """The rest of a commit would be part of no complete answer, so only later commits are kept."""
    history = _history(ONE, TWO, limits=HistoryLimits(max_changes=2))
    three = after(TWO, batch([match("c"), match("d")], complete=False, received_mono=2.0), now=_at(2.0))
    run_now(history.digest())

    history.add(three)

    assert (1002, 1002, 1001) == _oldest(history)
    assert (["alder_c", "alder_d"], 2) == ([pair[0] for pair in _since(history, 1002)], history._count)


def test_versions_before_the_first_are_unknown() -> None:
    """The history of a new process has no versions of an earlier process."""
    assert (1000, 1000) == (_oldest(_history())[0], _oldest(_history(ONE, TWO))[0])


def test_a_history_that_begins_anew_knows_nothing_of_before() -> None:
    """The new versions are those of the new snapshot; listeners are notified of the given views."""
    history, told = _history(ONE), list[object]()
    history.subscribe(told.extend)
    anew = structs.replace(TWO, version=5000, epoch="other")

    history.restart(anew, (None, ALDER))
    assert ("other", [None, ALDER]) == (history.epoch, told)
    assert (TWO.version, ONE.version) == (history.latest(ALDER), history.latest(BIRCH))
    assert None is run_now(history.since(ALDER, ONE.version))
    assert [] == _since(history, 5000)
