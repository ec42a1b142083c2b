"""Row E1 of docs/faults.md: versions. E9 to E14 are those of the archive (tests/actors/archive)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.support.builders.messages import match
from tests.support.peers.history import History
from tests.support.systems.attacked import attacked, crowd
from tests.support.systems.front_end import FilledBoard, get
from tests.support.systems.site import NAMES

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.usefixtures("logs_like_a_service")]

Figure = Callable[[str], None]
ORDER = list(NAMES)
READERS = 50
URLS = ("/api/odds", "/api/v2/odds", "/api/v2/odds?bookmaker=alder", "/api/odds?bookmaker=birch")


async def test_e1_readers_see_versions_rise_and_whole_lists(figure: Figure) -> None:
    """Readers of changing lists, part by part: no version falls, and one tag has one body."""
    front, history, random, reads = FilledBoard(), History(), Random(1), 3_000

    async def change() -> None:
        while history.reads < reads:
            prices = (random.uniform(2, 3), 3.5, 4.0)
            names = [f"m{number}" for number in range(random.choice((1, 140, 300)))]
            matches = [match(name, prices=prices) for name in names]
            front.published.put(random.choice(ORDER), *matches, stale_after_s=1e9)
            for _ in range(random.randrange(8)):
                await checkpoint()

    async def read(reader: int) -> None:
        for number in count(reader):
            if history.reads >= reads:
                return
            path, _, query = URLS[number % len(URLS)].partition("?")
            answer = await get(front.app, path, query)
            if answer.status == 200:
                history.note(reader, URLS[number % len(URLS)], answer.headers["etag"], answer.body)
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change)
        for reader in range(READERS):
            tasks.start_soon(read, reader)

    figure(f"in process: {history}")
    assert 0 == history.wrong()
    assert len(history.versions) > 10


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_e1_readers_of_a_process_see_the_same(tmp_path: Path, figure: Figure, *, is_whole: bool) -> None:
    """Over sockets, beside a source that never rests: 8,000 reads, with `--whole` a million."""
    reads = 1_000_000 if is_whole else 8_000
    with (
        attacked(tmp_path, updates_per_s=500) as running,
        crowd(running, "polling", reads=reads) as clients,
    ):
        found = clients.result(3_500)

    figure(f"over sockets: {found['text']}")
    assert 0 == found["wrong"]
    assert "200" in found["statuses"]
    assert {"200", "503"} >= {*found["statuses"]}
