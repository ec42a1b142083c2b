"""What the servers add to every answer."""

from __future__ import annotations

import httpx2
import pytest

from tests.support.systems.site import open_site

pytestmark = pytest.mark.anyio


async def test_the_date_of_answers_is_at_most_a_second_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made once a second."""
    passed = 0.0
    monkeypatch.setattr("hypercorn.config.time", lambda: 1_000_000_000 + passed)
    monkeypatch.setattr("web.server.servers.elapsed_s", lambda: passed)
    async with open_site() as site, httpx2.AsyncClient(base_url=site.base) as client:

        async def date_after(seconds: float) -> str:
            nonlocal passed
            passed = seconds
            return (await client.get("/health/live")).headers["Date"]

        dates = [await date_after(seconds) for seconds in (0.75, 1.25, 1.75, 60.0)]

    assert ["01:46:40", "01:46:40", "01:46:41", "01:47:40"] == [date.split()[4] for date in dates]
