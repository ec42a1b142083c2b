"""Other markets than 1X2 after a restart: restored, confirmed and withdrawn as the 1X2 prices are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from actors.archive.folder import ENDING
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId
from actors.market_fixtures.model import markets_of
from actors.markets.market import Kind, parsed
from actors.matches.linking import Linking
from actors.matches.model import fixtures_of
from actors.matching.event import Event
from tests.support.archive.kept import ALDER, BIRCH, GOALS, OTHERS, TERMS, Kept, kept, left, listed, shown
from tests.support.builders.fixtures import EqualNames
from tests.support.builders.messages import batch, match
from tests.support.systems.site import open_site
from tests.support.time.virtual import ManualClock


def _ids(life: Kept, bookmaker: BookmakerId = ALDER) -> list[str]:
    """Return the ids of all entries that a bookmaker has on any board."""
    books = [board.newest.books[bookmaker] for board in life.board.boards.values()]
    return [entry.id for book in books for chunk in book.chunks for entry in chunk.entries]


def _fixtures(life: Kept) -> list[tuple[str, bool, bool, list[str]]]:
    """Return each fixture of the other markets: id, whether a main line, whether begun, and its entries."""
    boards = [life.board.markets.published[kind].newest for kind in OTHERS]
    return [
        (fixture.id, fixture.is_main, fixture.has_begun, [entry.id for entry in fixture.listed])
        for board in boards
        for fixture in markets_of(board)
    ]


def _list(life: Kept, *names: str, more: dict[str, Sequence[float]], stale_after_s: float) -> Batch:
    """Return a list with only other markets than 1X2, in a scope of its own."""
    of = [market for name in names for market in listed(match(name), more)[1:]]
    received = life.clock.now().mono
    return batch(of, bookmaker=ALDER, scope="single", received_mono=received, stale_after_s=stale_after_s)


class _ByNames(EqualNames):
    """A linker that does not compare kick-offs."""

    def match_of(self, event: Event) -> object:
        return event.home, event.away


def _link(life: Kept) -> None:
    """Link all events by their names."""
    linking = Linking(_ByNames(), TERMS.roster)
    for links in run_now(linking.update(fixtures_of(life.board.newest), None)):
        board = life.board.board()
        board.link(links)
        life.board.commit(board)
    life.archive.writer.step()


@pytest.mark.parametrize("is_orderly", [True, False])
@pytest.mark.parametrize("kinds", [OTHERS, ()], ids=["read again", "read no more"])
def test_markets_are_restored_where_the_list_is(
    tmp_path: Path, kinds: Sequence[Kind], *, is_orderly: bool
) -> None:
    """Markets return after an orderly end if still read; if not, the first version drops them as stale."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS, is_orderly=is_orderly) as life:
        life.put("m1", goals=(1.9, 2.0))
        last, epoch = life.put("m1", goals=(1.9, 2.1)), life.board.newest.epoch
    clock.pass_(5)
    with kept(tmp_path, clock, kinds) as life:
        first, ids = life.board.newest_of_any.version, _ids(life)
        epochs = {board.newest.epoch for board in life.board.boards.values()}

    is_restored = is_orderly and bool(kinds)
    goals = f"alder_m1 {GOALS}"
    assert (["alder_m1"] if is_orderly else []) + ([goals] if is_restored else []) == ids
    assert ({epoch}, True) == (epochs, first > last)
    assert ({goals: (1.9, 2.1)} if is_restored else {}) == shown(tmp_path, first)
    assert ([] if is_restored else [(goals, first, "stale")]) == left(tmp_path)


def test_fixtures_are_the_same_as_before(tmp_path: Path) -> None:
    """Ids, main lines and an event without 1X2 prices stay; a commit without a change makes no version."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        of = listed(match("m1"), {"goals": (1.9, 2.0), "handicap": (1.8, 2.1), "btts": (1.7, 2.2)})
        side = listed(match("m2", home="Other", away="Another"), {"goals": (1.5, 2.6)})[1:]
        line = of[1].of_market(msgspec.structs.replace(of[1].market, quarters=14), (3.1, 1.3))
        life.put_all([*of, line, *side])
        before, sides = _fixtures(life), {*life.board.markets.sides.by_event}
    clock.pass_(5)
    with kept(tmp_path, clock, OTHERS) as life:
        after, sides_after = _fixtures(life), {*life.board.markets.sides.by_event}
        first = life.board.newest_of_any.version
        again = life.put_all([*of, line, *side])

    assert before == after
    assert 5 == len(after)
    assert sides == sides_after
    assert 1 == len(sides)
    assert first == again


def test_a_market_is_as_old_as_its_own_list(tmp_path: Path) -> None:
    """After the stop the 1X2 list is too old; the list of other markets holds longer, then gets stale."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        life.put("m1")
        life.board.apply(_list(life, "m1", more={"goals": (1.9, 2.0)}, stale_after_s=300.0))
        life.archive.writer.step()
    clock.pass_(200)
    with kept(tmp_path, clock, OTHERS) as life:
        ids = _ids(life)
        clock.pass_(99)
        life.board.current()
        until = _ids(life)
        clock.pass_(1)
        life.board.current()
        after = _ids(life)

    assert ([f"alder_m1 {GOALS}"], [f"alder_m1 {GOALS}"], []) == (ids, until, after)


def test_only_a_complete_list_confirms_what_is_restored(tmp_path: Path) -> None:
    """A confirmation or change of the old list is refused; a complete list replaces restored markets."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0))
        list_id = f"list-{life.board.lists}"
    clock.pass_(5)
    with kept(tmp_path, clock, OTHERS) as life:
        for changes in ((), listed(match("m1"), {"goals": (9.0, 1.1)})):
            life.board.apply(
                batch(
                    changes,
                    bookmaker=ALDER,
                    list_id=list_id,
                    complete=False,
                    received_mono=clock.mono,
                    stale_after_s=600.0,
                )
            )
        life.archive.writer.step()
        refused = shown(tmp_path, life.board.newest_of_any.version)
        version = life.put("m1", btts=(1.7, 2.2))
        replaced = shown(tmp_path, version)

    assert {f"alder_m1 {GOALS}": (1.9, 2.0)} == refused
    assert {"alder_m1 btts": (1.7, 2.2)} == replaced
    assert [(f"alder_m1 {GOALS}", version, "withdrawn")] == left(tmp_path)


@pytest.mark.parametrize("more", [{"in_play": True}, {"start_time": None, "latest_start": 10}])
def test_no_market_of_a_match_that_has_begun_is_restored(tmp_path: Path, more: dict[str, int]) -> None:
    """It is enough that the 1X2 prices show the kick-off: the list of other markets may be older."""
    clock = ManualClock()
    if "latest_start" in more:
        more = {**more, "latest_start": round(clock.wall) + 3}
    with kept(tmp_path, clock, OTHERS) as life:
        goals = [
            market for name in ("m1", "m2") for market in listed(match(name), {"goals": (1.9, 2.0)})[1:]
        ]
        life.put_all([match("m1", **more), match("m2"), *goals])  # type: ignore[arg-type]  # fields by name
    clock.pass_(5)
    with kept(tmp_path, clock, OTHERS) as life:
        ids = _ids(life)

    assert ["alder_m2", f"alder_m2 {GOALS}"] == ids


@pytest.mark.parametrize("more", [{"in_play": True}, {"start_time": 3}], ids=["in play", "kicked off"])
def test_a_handicap_that_another_source_takes_for_begun_is_not_restored(
    tmp_path: Path, more: dict[str, int]
) -> None:
    """A handicap in play may count only the goals from now on; totals count the whole score."""
    clock = ManualClock()
    if "start_time" in more:
        more = {"start_time": round(clock.wall) + 3}
    with kept(tmp_path, clock, OTHERS) as life:
        life.put_all(listed(match("m1", start_time=None), {"goals": (1.9, 2.0), "handicap": (1.8, 2.1)}))
        life.put_all([match("m1", **more)], BIRCH)  # type: ignore[arg-type]  # fields by name
        _link(life)
        joined = _fixtures(life)
    clock.pass_(5)
    with kept(tmp_path, clock, OTHERS) as life:
        ids = _ids(life)

    assert ["in_play" in more] == [begun for name, _, begun, _ in joined if "handicap" in name]
    assert ["alder_m1", f"alder_m1 {GOALS}"] == ids


def test_versions_go_on_from_the_newest_of_any_board(tmp_path: Path) -> None:
    """Versions go on also if the clock was set back and the last changes were of other markets."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        main = life.put("m1", goals=(1.9, 2.0))
        last = max(life.put("m1", goals=(1.9, 2.0 + n / 10)) for n in range(3))
    clock.wall -= 3600.0
    with kept(tmp_path, clock, OTHERS) as life:
        firsts = {board.newest.version for board in life.board.boards.values()}
        following = life.put("m1", goals=(1.9, 2.5))

    assert last > main
    assert {last + 1} == firsts
    assert last + 2 == following
    assert [] == left(tmp_path)


def test_markets_leave_after_the_end_of_an_earlier_release(tmp_path: Path) -> None:
    """The earlier release saved only 1X2 at its end, so other markets are not restored."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0))
    ending = msgspec.msgpack.decode((tmp_path / ENDING).read_bytes())
    del ending["markets"]
    (tmp_path / ENDING).write_bytes(msgspec.msgpack.encode(ending))
    clock.pass_(5)
    with kept(tmp_path, clock, OTHERS) as life:
        first, ids = life.board.newest.version, _ids(life)

    assert ["alder_m1"] == ids
    assert [(f"alder_m1 {GOALS}", first, "stale")] == left(tmp_path)


def test_the_next_day_begins_with_what_is_restored(tmp_path: Path) -> None:
    """A life that begins on another day writes the whole state, with all markets, to the new day's file."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        clock.pass_(86_400 - clock.wall % 86_400 - 10)
        life.put_all(listed(match("m1", start_time=None), {"goals": (1.9, 2.0)}))
    clock.pass_(20)
    with kept(tmp_path, clock, OTHERS) as life:
        first = life.board.newest.version
        life.archive.writer.step()

    assert 2 == len([*tmp_path.glob("*.db")])
    assert {f"alder_m1 {GOALS}": (1.9, 2.0)} == shown(tmp_path, first)


@pytest.mark.anyio
async def test_cursors_of_markets_end_where_those_of_fixtures_do(tmp_path: Path) -> None:
    """Links are made anew: changes since a cursor from before are 410, and a poll gets the whole list."""
    base, goals = match("m1"), parsed(GOALS)
    views = ("/api/v2/fixtures", f"/api/v2/fixtures?market={GOALS}")
    async with open_site(archived=tmp_path, kinds=OTHERS) as site:
        site.publish("alder", base, base.of_market(goals, (1.9, 2.0)))
        before = [await site.get(view) for view in views]
    site.clock.pass_(5)
    async with open_site(archived=tmp_path, clock=site.clock, kinds=OTHERS) as site:
        after = [
            await site.get(view, if_none_match=of.headers["etag"])
            for view, of in zip(views, before, strict=True)
        ]
        since = [
            await site.get(f"/api/v2/changes?view=fixtures&since={of.json()['cursor']}{query}")
            for of, query in zip(before, ("", f"&market={GOALS}"), strict=True)
        ]

    assert [200, 200] == [of.status_code for of in after]
    assert [1, 1] == [len(of.json()["fixtures"]) for of in after]
    assert [410, 410] == [of.status_code for of in since]
