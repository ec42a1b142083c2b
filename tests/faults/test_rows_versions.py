"""Rows E of docs/faults.md: versions and validators. Nothing is stored yet (E9 to E14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from tests.support.builders.messages import match
from tests.support.oracles.negotiation import matches_by_rfc
from tests.support.peers.history import History
from tests.support.peers.raw_client import ask_in_a_row
from tests.support.simulation.readers import get
from tests.support.systems.attacked import attacked, crowd
from tests.support.systems.live_world import World
from tests.support.systems.site import EPOCH, NAMES, Site, open_site

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.usefixtures("logs_like_a_service")]

Figure = Callable[[str], None]
ORDER = list(NAMES)
READERS = 50
URLS = ("/api/odds", "/api/v2/odds", "/api/v2/odds?bookmaker=alder", "/api/odds?bookmaker=birch")
VIEWS = [path + query for path in URLS[:2] for query in ("", *(f"?bookmaker={name}" for name in NAMES))]
TAGS = ('"{tag}"', 'W/"{tag}"', '"{tag}-gzip"', '"4999"', '""', '"a,b"', '"\xe9"', '"x"', 'W/"1"')
GARBAGE = ("*", ",", " ", "\t", '"', "W/", "{tag}", "'{tag}'", 'w/"{tag}"', "x" * 40)
TOGETHER = 100
"""Requests in a row on one connection."""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Return a site where every bookmaker serves."""
    async with open_site() as one:
        for name in NAMES:
            one.publish(name, match("m1"))
        yield one


async def test_e1_readers_see_versions_rise_and_whole_lists(figure: Figure) -> None:
    """Readers of changing lists, part by part: no version falls, and one tag has one body."""
    world, history, random, reads = World(Random(1), 1_000), History(), Random(1), 3_000

    async def change() -> None:
        while history.reads < reads:
            prices = (random.uniform(2, 3), 3.5, 4.0)
            names = (f"m{number}" for number in range(random.choice((1, 140, 300))))
            world.publish(random.choice(ORDER), *(match(one, prices=prices) for one in names))
            for _ in range(random.randrange(8)):
                await checkpoint()

    async def read(reader: int) -> None:
        for number in count(reader):
            if history.reads >= reads:
                return
            path, _, query = URLS[number % len(URLS)].partition("?")
            answer = await get(world.app, path, query)
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


async def test_e4_any_validator_gets_what_the_rfc_says(site: Site, figure: Figure) -> None:
    """Weak tags, lists, `*`, garbage, up to 8 kB: 304 or 200, as a second reading of the RFC says."""
    random, tag = Random(4), f"5003-{EPOCH}"
    lists = [", ".join(random.choices(TAGS, k=random.randrange(1, 6))) for _ in range(500)]
    broken = ["".join(random.choices(TAGS + GARBAGE, k=random.randrange(1, 9))) for _ in range(480)]
    long = ["".join(random.choices(TAGS + GARBAGE, k=2_000))[:7_900] for _ in range(10)]
    long += [", ".join([*random.choices(TAGS[2:], k=700), TAGS[one % 3]]) for one in range(10)]
    headers = [one.replace("{tag}", tag) for one in (*lists, *broken, *long)]
    seen: Counter[int] = Counter()
    for at in range(0, len(headers), TOGETHER):
        some = headers[at : at + TOGETHER]
        answers = await ask_in_a_row(site, [("/api/v2/odds", f"If-None-Match: {one}\r\n") for one in some])
        for sent, one in zip(some, answers, strict=False):
            expected = 304 if matches_by_rfc(sent.strip(" \t"), f'"{tag}"') else 200
            assert (expected, f'"{tag}"') == (one.status, one.headers["etag"]), sent
            seen[one.status] += 1

    figure(f"{seen.total():,} of {len(headers):,} as an oracle says, {seen[304]} of them 304; no 5xx")
    assert len(headers) == seen.total()
    assert min(seen[304], seen[200]) > 100


async def test_e6_a_change_elsewhere_leaves_a_view_unchanged(site: Site, figure: Figure) -> None:
    """After each commit every view is asked with its tag: 304 if and only if what it shows is the same."""
    random, false, seen = Random(6), Counter[int](), Counter[int]()
    had = await _shown(site)
    for _ in range(50):
        home, price = random.choice(("Home", "Home", "")), random.choice((2.0, 2.1, 2.2))
        site.publish(random.choice(ORDER), match("m1", home=home, prices=(price, 3.5, 4.0)))
        asked = [(view, f"If-None-Match: {etag}\r\n") for view, (etag, _) in had.items()]
        answers, now = await ask_in_a_row(site, asked), await _shown(site)
        for view, one in zip(VIEWS, answers, strict=False):
            expected = 304 if now[view][1] == had[view][1] else 200
            seen[one.status] += 1
            false[one.status] += one.status != expected
        had = now

    figure(
        f"{seen.total()} polls: of {seen[304]} times 304 {false[304]} false,"
        f" of {seen[200]} times 200 {false[200]} false"
    )
    assert 0 == false.total()
    assert min(seen[304], seen[200]) > 50


async def _shown(site: Site) -> dict[str, tuple[str, Any]]:
    """Return the tag of each view, and what it shows, which is all but its version."""
    answers = await ask_in_a_row(site, [(view, "") for view in VIEWS])
    return {
        view: (one.headers["etag"], msgspec.json.decode(one.body)["matches"])
        for view, one in zip(VIEWS, answers, strict=False)
    }
