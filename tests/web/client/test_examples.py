"""Each example of the documents runs unchanged, against a service in this process."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from actors.core.messages import Match
from tests.support.builders.messages import match
from tests.support.systems.process import ROOT
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import ManualClock
from web import client as c

DOCUMENTS = [ROOT / "docs" / "client.md", ROOT / "README.md"]
BLOCK = re.compile(r"^([^\n]*[?:][^\n]*)\n\n```python\n(.*?)```", re.DOTALL | re.MULTILINE)
EXAMPLES = [found for file in DOCUMENTS for found in BLOCK.findall(file.read_text("utf-8"))]
MAX_LINES = 25
ENOUGH = 6
"""The number of changes of a board, or answers of a poll, after which an endless example ends."""
EVERY_S = 0.1


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a service with an archive, whose prices change all the time."""
    folder = tmp_path_factory.mktemp("archive")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_changing(folder)) as url:
        yield url


@asynccontextmanager
async def _changing(folder: Path) -> AsyncIterator[str]:
    opened = open_site(archived=folder, clock=ManualClock(wall=time.time()))
    async with opened as site, anyio.create_task_group() as tasks:
        tasks.start_soon(_change, site)
        yield site.base
        tasks.cancel_scope.cancel()


async def _change(site: Site) -> None:
    """Let the prices of one bookmaker change, appear and leave; the other two's prices are a surebet."""
    for source in site.status.sources.values():
        source.is_simulated = True
    for _ in range(2):
        site.publish("alder", *(_match(number, (3.1, 2.9, 2.9)) for number in range(4)))
        site.publish("cedar", *(_match(number, (2.9, 3.1, 3.1)) for number in range(4)))
        site.clock.pass_(3.0)  # a surebet is shown only after some time
    for price in cycle((2.6, 2.7, None)):
        odds = [] if price is None else [(price, 2.7, 2.6)] * 4
        site.publish("birch", *(_match(number, prices) for number, prices in enumerate(odds)))
        await anyio.sleep(EVERY_S)


def _match(number: int, prices: Sequence[float]) -> Match:
    return match(
        f"m{number}",
        home=f"Home {number}",
        away=f"Away {number}",
        league="English Premier League",
        prices=prices,
        start_time=int(time.time()) + 86_400,
    )


def _enough(module: ModuleType, base: str) -> None:
    """Direct the clients of a module to `base`, and end endless loops."""

    class Board(c.Board[Any]):
        changes = 0

        def __next__(self) -> Any:
            if self.changes == ENOUGH:
                raise StopIteration
            event = super().__next__()
            self.changes += isinstance(event, c.Changes)
            return event

    class AsyncBoard(c.AsyncBoard[Any]):
        changes = 0

        async def __anext__(self) -> Any:
            if self.changes == ENOUGH:
                raise StopAsyncIteration
            event = await super().__anext__()
            self.changes += isinstance(event, c.Changes)
            return event

    class Client(c.Client):
        def __init__(self, url: str = "") -> None:
            del url
            super().__init__(base)

        def board(self, call: Any, *, stream: bool = True) -> Any:
            return Board(self._core, call, self._driver, by_stream=stream)

        def poll(self, call: Any, every_s: float = 5.0) -> Any:
            del every_s
            return islice(super().poll(call, EVERY_S), ENOUGH)

    class AsyncClient(c.AsyncClient):
        def __init__(self, url: str = "") -> None:
            del url
            super().__init__(base)

        def board(self, call: Any, *, stream: bool = True) -> Any:
            return AsyncBoard(self._core, call, self._driver, by_stream=stream)

    module.__dict__.update({**vars(c), "Client": Client, "AsyncClient": AsyncClient})


@pytest.mark.parametrize("code", [code for _, code in EXAMPLES], ids=[asked for asked, _ in EXAMPLES])
def test_an_example_runs(
    base: str,
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The example runs unchanged from the document; it prints or writes something."""
    module = ModuleType("oddsboard_client")
    _enough(module, base)
    monkeypatch.setitem(sys.modules, "oddsboard_client", module)
    monkeypatch.chdir(tmp_path)

    exec(code, {"__name__": "example"})  # noqa: S102 - the code is from our document
    assert capsys.readouterr().out or [*tmp_path.iterdir()]


def test_examples_are_short_and_many() -> None:
    """There are at least 20 examples, and each has at most 25 lines."""
    assert 20 <= len(EXAMPLES)
    assert [] == [asked for asked, code in EXAMPLES if code.count("\n") > MAX_LINES]
