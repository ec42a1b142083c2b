"""The documented venue, which lists its matches and is then asked for their prices, in virtual time."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import httpx2
import msgspec
import pytest

from actors.board.validity import BoardRules
from actors.core.messages import BookmakerId, SourceName
from actors.service.settings import BookmakerSettings, ServerSettings, Settings, SourceSettings
from tests.support.peers.web import Web, serving
from tests.support.source_code import ROOT
from tests.support.systems.virtual_service import VirtualService, pass_to, running
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

FIFTY = "fifty"
HOUR = 3600.0
PRICES = [1.9, 3.4, 4.2]


class Venue:
    """A venue with two pages of matches; the `gone` matches have no prices."""

    def __init__(self, *starts: float) -> None:
        self.matches = [
            {"id": f"m{number}", "start": int(WALL_0 + start), "home": f"H {number}", "away": f"A {number}"}
            for number, start in enumerate(starts)
        ]
        self.gone: set[str] = set()

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        query = request.url.params
        half = len(self.matches) // 2
        body: Any = {"matches": self.matches[:half], "is_last": False}
        if query.get("page") == "2":
            body = {"matches": self.matches[half:], "is_last": True}
        if request.url.path == "/prices":
            body = {name: PRICES for name in query["ids"].split(",") if name not in self.gone}
        return await serving(json.dumps(body).encode())(request)


def _service(web: Web) -> VirtualService:
    document = (ROOT / "docs" / "sources.md").read_text("utf-8")
    text = re.findall(r"```python\n(.*?)```", document, re.DOTALL)[0]
    example: dict[str, Any] = {"__name__": FIFTY}
    exec(compile(text, "docs/sources.md", "exec", dont_inherit=True), example)  # noqa: S102 - our own text
    kind = example["KIND"]
    options = msgspec.convert({"kind": FIFTY, "url": f"http://{FIFTY}.example"}, kind.options)
    settings = Settings(
        ServerSettings(),
        BoardRules(),
        {SourceName(FIFTY): SourceSettings(kind, options)},
        {BookmakerId(FIFTY): BookmakerSettings(SourceName(FIFTY), FIFTY, None)},
    )
    return VirtualService(settings, webs={FIFTY: web}, clock=VirtualClock(WALL_0))


def _shown(service: VirtualService) -> set[str]:
    return {str(entry.match.source_match_id) for entry in service.entries(FIFTY)}


async def test_documented_venue_shows_what_it_lists_and_has_prices_of() -> None:
    """A match without prices leaves with its group's next answer, an unlisted match with the next list."""
    venue = Venue(HOUR, HOUR, 30 * HOUR)
    web = Web(venue.answer)
    async with running(service := _service(web)):
        await pass_to(5.0)
        first = _shown(service)
        venue.gone.add("m0")
        await pass_to(20.0)
        without_prices = _shown(service)
        del venue.matches[2]
        await pass_to(200.0)
        not_listed = _shown(service)

    assert ({"m0", "m1", "m2"}, {"m1", "m2"}, {"m1"}) == (first, without_prices, not_listed)


async def test_documented_venue_is_asked_by_nearness_and_by_list() -> None:
    """Prices near a kick-off are asked for every 10 s, other prices every 60 s, both pages every 120 s."""
    web = Web(Venue(HOUR, 30 * HOUR).answer)
    async with running(_service(web)):
        await pass_to(400.0)
        timed = [*zip(web.asked, map(str, [request.url for request in web.requests]), strict=True)]

    gaps = {
        part: {round(later - at) for at, later in pairwise([at for at, url in timed if url.endswith(part)])}
        for part in ("ids=m0", "ids=m1", "page=1", "page=2")
    }
    assert {"ids=m0": {10}, "ids=m1": {60}, "page=1": {120}, "page=2": {120}} == gaps


async def test_documented_venue_is_asked_for_fifty_matches_at_once() -> None:
    """All requests for a day's matches, except the last one, are for fifty matches."""
    web = Web(Venue(*[HOUR] * 60).answer)
    async with running(_service(web)):
        await pass_to(4.0)

    urls = [request.url for request in web.requests]
    asked = [url.params["ids"].split(",") for url in urls if url.path == "/prices"]
    assert [50, 10] == [len(ids) for ids in asked]


async def test_prices_wait_for_a_list_that_holds() -> None:
    """Without a list of the last ten minutes no prices are asked for, and none are shown."""
    venue = Venue(HOUR, HOUR)
    web = Web(venue.answer)
    async with running(service := _service(web)):
        await pass_to(5.0)
        before = _shown(service)
        web.answers["/matches"] = serving(b"", 500)
        await pass_to(900.0)
        late = [
            at for at, request in zip(web.asked, web.requests, strict=True) if request.url.path == "/prices"
        ]
        after = _shown(service)

    assert ({"m0", "m1"}, set()) == (before, after)
    assert 560 < late[-1] < 601
