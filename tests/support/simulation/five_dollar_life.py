"""Random lives of 5DollarFootballAPI in virtual time, with an oracle that shares nothing with the source.

Matches appear, change their prices, are suspended, moved, begin early, in time or late, end and vanish,
while pages shift, answers fail and another program spends of the rate. After each step every price on the
board is a price that the venue had since its list was requested, for before kick-off or in play as shown.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import anyio
import httpx2

from actors.board.chunks import entries_of
from actors.core.messages import BookmakerId
from tests.support.peers.five_dollar_football import CONFIG, FiveDollarFootball, others, result, result_of
from tests.support.peers.web import Answer, Web, dropping, refusing, serving
from tests.support.systems.virtual_service import VirtualService, configured, pass_to
from tests.support.time.virtual import WALL_0, VirtualLoop

TEXT = (
    CONFIG.replace("api_key", 'markets = ["1x2", "asian_handicap", "over_under", "btts"]\napi_key')
    + '\n[bookmakers.pinnacle]\nsource = "five"\nkey = "pinnacle"\n'
)
BOOKMAKERS = ("bet365", "pinnacle")
PAGE = 5
STEPS = 25
TICK_S = 60.0
"""Longer than in production: idle turns of the aggregator would be half of the work."""
SHORTEST_S = 600.0
"""A match is in play for at least this time, even an abandoned match."""
TOLD_S = 200.0
"""By then the source knows that a match that began early is in play, if answers come."""
FAULTS: tuple[Answer, ...] = (
    *(serving(b"<html>"), serving(b'{"success": 0}'), serving(b"", 500)),
    *(dropping, refusing),
)

Key = tuple[str, str]
Prices = tuple[float, ...] | None


class Life:
    """A venue that remembers its prices by bookmaker and id of a market, with the second of a change."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        limit, window_s = self.random.choice(((10, 60), (40, 60), (60, 3600), (300, 3600)))
        self.venue = FiveDollarFootball(_wall, limit=limit, window_s=window_s)
        self.had: dict[Key, list[tuple[float, bool, Prices]]] = {}
        self.fault: Answer | None = None
        self.asked: list[float] = []
        self.done: Counter[str] = Counter()
        self.number = 7000
        self.begun: dict[int, float] = {}

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer, in small pages, or fail; a page may shift the next one."""
        self.asked.append(_wall())
        if self.fault is not None and self.random.random() < 0.7:
            self.done["failed"] += 1
            self.venue.times.append(_wall())
            return await self.fault(request)
        if "per_page" in request.url.params:
            most = str(min(int(request.url.params["per_page"]), PAGE))
            request.url = request.url.copy_merge_params({"per_page": most})
        answered = await self.venue.answer(request)
        if self.random.random() < 0.1:
            self.happens()
        return answered

    def happens(self) -> None:
        """Change something, and remember the offers after that."""
        venue, random = self.venue, self.random
        event = random.choice(
            ("add", "price", "price", "suspend", "move", "begin", "begin", "end", "vanish")
        )
        names = [*venue.fixtures]
        if event == "add" or not names:
            self._add()
            event = "add"
        else:
            self._change(event, random.choice(names))
        self.done[event] += 1
        self._remember()

    def _add(self) -> None:
        self.number += 1
        start = WALL_0 + anyio.current_time() + self.random.choice((30, 300, 1500, 6000, 9000, 90_000))
        self.venue.add(self.number, f"Home {self.number}", f"Away {self.number}", start=start)
        for bookmaker in BOOKMAKERS:
            self.venue.odds[self.number][bookmaker] = {"1x2": result(self._prices()), **others()}

    def _prices(self) -> list[float]:
        return [round(self.random.uniform(2.6, 3.1), 3) for _ in range(3)]

    def _change(self, event: str, name: int) -> None:
        venue, random, fixture = self.venue, self.random, self.venue.fixtures[name]
        market = venue.odds[name][random.choice(BOOKMAKERS)]["1x2"]
        is_in_play = fixture["status"] == "in_play"
        match event:
            case "price" | "suspend" if fixture["status"] != "finished":
                prices = result_of(None if event == "suspend" else self._prices())
                market["inplay" if is_in_play else "closing"] = prices
            case "move" if fixture["status"] == "scheduled":
                now = WALL_0 + anyio.current_time()
                venue.move(name, now + random.choice((-600, 60, 400, 2000, 8000, 100_000)))
            case "begin" if fixture["status"] == "scheduled":
                if fixture["kickoff_ts"] < WALL_0 + anyio.current_time() + 900:
                    fixture["status"], self.begun[name] = "in_play", anyio.current_time()
                    is_priced = random.random() < 0.5
                    for odds in venue.odds[name].values():
                        if is_priced:
                            odds["1x2"]["inplay"] = result_of(random.choice((None, self._prices())))
                            odds.update(others("inplay"))
            case "end" if is_in_play and anyio.current_time() >= self.begun[name] + SHORTEST_S:
                fixture["status"] = "finished"
            case "vanish":
                del venue.fixtures[name]

    def _remember(self) -> None:
        """Remember the present prices, whether for before a kick-off or in play."""
        now, offered = anyio.current_time(), {}
        for name, fixture in self.venue.fixtures.items():
            is_in_play = fixture["status"] == "in_play"
            if fixture["status"] != "finished":
                for bookmaker in BOOKMAKERS:
                    for market, prices in _offered(self.venue.odds[name][bookmaker], is_in_play=is_in_play):
                        offered[bookmaker, f"{name}{market}"] = is_in_play, prices
        for key in {*self.had, *offered}:
            is_in_play, found = offered.get(key, (False, None))
            self.had.setdefault(key, []).append((now, is_in_play, found))

    async def wrong(self, service: VirtualService) -> list[str]:
        """Return the prices that readers of the boards get, but that the venue never had, or no longer."""
        found, system = [], service.system
        boards = [await each.read() for each in (system.published, *system.markets.published.values())]
        now = service.clock.now()
        for board in boards:
            for bookmaker in BOOKMAKERS:
                book = board.books[BookmakerId(bookmaker)]
                for entry in entries_of(book.chunks):
                    match, since = entry.match, book.lists[entry.scope].confirmed_mono
                    self.done["shown"] += 1
                    key = bookmaker, str(match.source_match_id)
                    if not self._had(key, match.prices, since, in_play=match.in_play is True):
                        found.append(f"{key} {match.prices} since {since}: {self.had.get(key)}")
                    elif not match.in_play and (match.start_time or 0) + 1.0 < now.wall:
                        found.append(
                            f"{key} of before its kick-off {now.wall - (match.start_time or 0)} s ago"
                        )
                    elif (
                        not match.in_play and self._begun_for_s(key, now.mono) > TOLD_S + 60 * self._is_slow
                    ):
                        found.append(f"{key} of before its kick-off, in play for long")
        return found

    @property
    def _is_slow(self) -> float:
        return 60.0 if self.venue.window_s > 60 or self.done["failed"] else 0.0

    def _had(self, key: Key, prices: Prices, since: float, *, in_play: bool) -> bool:
        """Return whether the venue had these prices at a moment since a given second."""
        times = self.had.get(key, [])
        ends = [*(at for at, _, _ in times[1:]), float("inf")]
        return any(
            found == prices and is_in_play == in_play and end >= since
            for (_, is_in_play, found), end in zip(times, ends, strict=True)
        )

    def _begun_for_s(self, key: Key, now: float) -> float:
        began = [at for at, is_in_play, _ in self.had.get(key, []) if is_in_play]
        return now - min(began) if began else 0.0


async def live(seed: int, folder: Path) -> Counter[str]:
    """Run a life; return what happened. Raises: AssertionError for a wrong price, or a broken rate."""
    life = Life(seed)
    async with configured(folder, TEXT, web=Web(life.answer), tick_s=TICK_S) as service:
        for _ in range(6):
            life._add()
        life._remember()
        at = 0.0
        for _ in range(STEPS):
            life.fault = life.random.choice((None, None, None, *FAULTS))
            life.venue.has_odds = life.random.random() > 0.1
            for _ in range(life.random.randint(0, 3)):
                life.happens()
            _spend(life)
            at += life.random.choice((1.0, 7.0, 25.0, 60.0, 200.0))
            await pass_to(at)
            wrong = await life.wrong(service)
            assert not wrong, f"seed {seed}, second {at}: {wrong}"
    most = _most(life.asked, life.venue.window_s)
    assert most <= life.venue.limit, f"seed {seed}: {most} requests in a window, at most {life.venue.limit}"
    life.done["refused"] += life.venue.refused  # only the next answer shows the spending of others
    life.done["requests"] += len(life.asked)
    return life.done


def run(seed: int, folder: Path) -> Counter[str]:
    """Run a life on a loop of its own."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(live(seed, folder))
    finally:
        loop.close()


def _spend(life: Life) -> None:
    """Have another program spend some requests, but not the last three requests of a window."""
    venue, now = life.venue, _wall()
    used = sum(at > now - venue.window_s for at in venue.times)
    if life.random.random() < 0.2:
        venue.times += [now] * min(max(venue.limit - used - 3, 0), 2)


def _most(times: list[float], window_s: float) -> int:
    """Return the most requests in any window."""
    ordered, most, first = sorted(times), 0, 0
    for last, at in enumerate(ordered):
        while ordered[first] <= at - window_s:
            first += 1
        most = max(most, last - first + 1)
    return most


def _offered(odds: dict[str, Any], *, is_in_play: bool) -> list[tuple[str, Prices]]:
    """Return the markets that are on offer, by the end of their ids."""
    moment, found = "inplay" if is_in_play else "closing", list[tuple[str, Prices]]()
    for name, market in odds.items():
        prices = market[moment]
        if prices is None or name not in {"1x2", "asian_handicap", "goal_line", "btts"}:
            continue
        line = f":{prices['line']:g}" if "line" in prices else ""
        ours = {"1x2": "", "goal_line": " over_under"}.get(name, f" {name}")
        found.append((f"{ours}{line}", tuple(of for key, of in prices.items() if key != "line")))
    return found


def _wall() -> float:
    return WALL_0 + anyio.current_time()
