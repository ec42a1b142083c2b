"""The answers of the odds endpoints, for a view, a snapshot and headers."""

from __future__ import annotations

import gc
import json
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from actors.board.board import Board
from actors.board.snapshot import Chunk, Entry, Snapshot
from actors.board.validity import BoardRules, Deadlines
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match
from tests.support.builders.boards import START
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0
from web.encoding.list_segments import Api
from web.feeds.lists import Answers, View
from web.protocol import responses as prepared
from web.protocol.responses import Prepared

pytestmark = pytest.mark.anyio

CEDAR, ALDER = BookmakerId("cedar"), BookmakerId("alder")
NAMES = {CEDAR: "Cédar", ALDER: "Alder"}
EMPTY = Snapshot.empty(100, (CEDAR, ALDER), "e9")
COMMON = {name.lower(): value for name, value in prepared.COMMON.items()}
BOTH_APIS = pytest.mark.parametrize("api", Api)


@dataclass
class _Board:
    """A board that shows the snapshot of the test; after one read, `overdue` is past its deadline."""

    snapshot: Snapshot = EMPTY
    overdue: Snapshot | None = None
    next: Snapshot | None = None

    @property
    def newest(self) -> Snapshot:
        return self.snapshot

    async def read(self, deadlines: object = None) -> Snapshot:
        del deadlines
        return self.snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        raise AssertionError(f"{bookmaker} {entry} {why}")

    def is_valid(self, deadlines: Deadlines) -> bool:
        del deadlines
        read = self.snapshot
        if read is self.overdue and self.next is not None:
            self.snapshot = self.next
        return read is not self.overdue

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        del deadlines, within_s
        return False


@dataclass
class _Shown:
    status: int
    headers: dict[str, str]
    body: bytes
    answer: Prepared


class _Lists:
    """Answers that read a board of their own."""

    def __init__(self) -> None:
        self.board = _Board()
        self.answers = Answers(self.board, NAMES)

    async def ask(
        self, view: View, snapshot: Snapshot, if_none_match: str | None = None, coding: str | None = None
    ) -> _Shown:
        """Put `snapshot` on the board and ask for the list of the view."""
        self.board.snapshot = snapshot
        answer = await self.answers.answer(view, if_none_match, coding)
        headers = {name.decode(): value.decode() for name, value in answer.headers}
        assert COMMON.items() <= headers.items()
        own = {name: value for name, value in headers.items() if name not in COMMON}
        return _Shown(answer.status, own, b"".join(answer.parts), answer)


def _after(base: Snapshot, *batches: Batch, mono: float = 0.0) -> Snapshot:
    board = Board(base, BoardRules())
    now = Instant(mono, WALL_0 + mono)
    for change in batches:
        run_now(board.apply(change, now))
    run_now(board.expire(now))
    return run_now(board.finish(START))


FULL = _after(
    EMPTY,
    batch([match("2"), match("1", league=None, start_time=None)], bookmaker="cedar"),
    batch([match("a", home="")], bookmaker="alder"),
)
MANY = _after(EMPTY, batch([match(str(number)) for number in range(2000)], bookmaker="cedar"))


def _unnamed(end: int) -> list[Match]:
    """Return matches that version 2 does not show; each fourth id is left out."""
    return [match(f"{at:03}", home="") for at in range(end) if at % 4]


@BOTH_APIS
async def test_a_body_is_made_once_for_each_view_and_version(api: Api) -> None:
    """Repeated requests for a view get the same bytes object, plain or compressed."""
    answers, confirmed = _Lists(), _after(FULL, batch(bookmaker="cedar", complete=False), mono=5.0)

    for coding in (None, "gzip"):
        first = await answers.ask(View(api), FULL, None, coding)
        again = await answers.ask(View(api), confirmed, None, coding)

        assert first.answer is again.answer


@pytest.mark.parametrize("coding", [None, "gzip"])
async def test_concurrent_requests_share_one_body(coding: str | None) -> None:
    """When many requests come at the same time, one body is made, and all requests get it."""
    context, answers = _Lists(), list[Prepared]()
    context.board.snapshot = MANY

    async def ask() -> None:
        answers.append(await context.answers.answer(View(Api.V2), None, coding))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)

    assert (20, 1) == (len(answers), len({id(answer) for answer in answers}))


class _Interrupting(dict[BookmakerId, str]):
    """Names that call `interrupt` at their first reading, which happens while a body is made."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        super().__init__(NAMES)
        self._interrupt = iter([interrupt])

    def __getitem__(self, bookmaker: BookmakerId) -> str:
        next(self._interrupt, lambda: None)()
        return super().__getitem__(bookmaker)


async def test_a_cancelled_request_does_not_stop_the_others() -> None:
    """When the request that makes a body is cancelled, a waiting request makes the body."""
    asked, answered = list[str](), list[str]()
    leaver = anyio.CancelScope()
    large = _after(EMPTY, batch([match(f"{number:05}") for number in range(20_000)], bookmaker="cedar"))
    answers = Answers(_Board(large), _Interrupting(leaver.cancel))

    async def ask(name: str) -> None:
        asked.append(name)
        await answers.answer(View(Api.V1), None, "gzip")
        answered.append(name)

    async def leave() -> None:
        with leaver:
            await ask("leaver")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(leave)
        tasks.start_soon(ask, "stayer")

    assert (["leaver", "stayer"], ["stayer"]) == (asked, answered)


async def test_an_entry_that_goes_stale_while_encoding_is_left_out() -> None:
    """No answer shows an entry past its deadline, however long its body took."""
    context = _Lists()
    later = _after(MANY, batch([match("a")], bookmaker="alder"), mono=1)
    context.board.overdue, context.board.next = MANY, later

    shown = json.loads((await context.ask(View(Api.V2), MANY)).body)

    assert (later.version, 2001) == (shown["version"], shown["matches_count"])


async def test_compressed_bytes_of_v2_do_not_depend_on_entries_that_it_does_not_show() -> None:
    """Another machine may compress the list later, after unnamed entries came and left."""
    listed = [match(f"{at:03}") for at in range(0, 600, 4)]
    base = _after(EMPTY, batch(listed, bookmaker="cedar"))
    later = _after(base, batch([*listed, *_unnamed(600)], bookmaker="cedar"))
    again = _after(later, batch([*listed, *_unnamed(590)], bookmaker="cedar"))

    zipped = [
        (await _Lists().ask(View(Api.V2), board, None, "gzip")).body for board in (base, later, again)
    ]

    assert [zipped[0]] * 3 == zipped


async def test_an_older_body_is_freed_by_the_next_read() -> None:
    """A replaced body is not kept, even if only another view is read."""
    context = _Lists()
    part = (await context.ask(View(Api.V2), FULL)).answer.parts[0]
    while_shown = sys.getrefcount(part)

    await context.ask(View(Api.V1, ALDER), _after(FULL, batch([], bookmaker="cedar", list_id="list-2")))

    assert while_shown - 1 == sys.getrefcount(part)


async def test_no_old_chunk_is_kept() -> None:
    """A view that is no longer read does not keep an old board in memory."""
    context, base = _Lists(), _after(EMPTY, batch([match("old")], bookmaker="cedar"))
    await context.ask(View(Api.V1), base, None, "gzip")
    old = weakref.ref(base.books[CEDAR].chunks[0])
    later = _after(base, batch([match("new")], bookmaker="cedar", list_id="list-2"))
    await context.ask(View(Api.V2, ALDER), _after(later, batch([], bookmaker="alder")))

    del base, later
    gc.collect()

    assert old() is None


async def test_memory_is_bounded_however_many_versions_are_read() -> None:
    """After a hundred versions, which were all read, at most two are in memory."""
    context, snapshot, chunks = _Lists(), EMPTY, list[weakref.ref[Chunk]]()
    for number in range(100):
        listed = [match(f"{at}", prices=(2 + number / 1000, 3.5, 3.5)) for at in range(3)]
        lists = [batch(listed, bookmaker=name, list_id=f"list-{number}") for name in NAMES]
        snapshot = _after(snapshot, *lists)
        chunks += [weakref.ref(book.chunks[0]) for book in snapshot.books.values()]
        await context.ask(View(Api.V2), snapshot, None, "gzip")
    gc.collect()

    assert 2 <= sum(chunk() is not None for chunk in chunks) <= 4
