"""A program's process: what its output means once it has been ended."""

from __future__ import annotations

import anyio
import pytest

from actors.transports.process import running
from tests.support.time.waiting import DEADLINE_S

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]


async def test_what_is_read_when_the_process_was_ended_is_nothing() -> None:
    """The number of the closed pipe may be that of another file by then."""
    said: list[str | None] = []

    async with running(["true"], {}) as program:
        with anyio.fail_after(DEADLINE_S):
            while not program.has_exited():  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
    said.append(await program.remark())

    assert [None] == said
