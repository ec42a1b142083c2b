"""An independent reading of the exchange's stream, by the library betfairlightweight, to check ours.

The library leaves some work to its user, which is done here without any code of ours: absent and null
are the same, an image of a subscription replaces everything known before, ids may be strings.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from betfairlightweight import StreamListener

from tests.support.builders.betfair import DRAW, Json

UNIQUE_ID = 1
MESSAGE_FIELDS = {"op", "ct", "clk", "initialClk", "pt", "mc"}
RUNNER_FIELDS = {"id", "hc", "ltp", "atb", "batb"}

Best = dict[tuple[int, float], tuple[float, float] | None]
"""Price and size of the best offer to back, by selection id and handicap."""


class Reading(NamedTuple):
    """One market as the library reads it."""

    status: str | None
    best: Best


class Oracle:
    """One subscription, read by the library; level 0 is the best price."""

    def __init__(self) -> None:
        self._listener = StreamListener(max_latency=None, lightweight=True)
        self._listener.register_stream(UNIQUE_ID, "marketSubscription")

    def take(self, line: bytes) -> None:
        """Read one message of the subscription."""
        message = _without_null(json.loads(line.decode(errors="replace")))
        if message.get("ct") == "SUB_IMAGE":
            self._listener.stream.clear_cache()
        known = {name: value for name, value in message.items() if name in MESSAGE_FIELDS}
        known["mc"] = [_plain(change) for change in message.get("mc", ())]
        self._listener.on_data(json.dumps({"pt": 0, **known, "id": UNIQUE_ID}))

    def markets(self) -> dict[str, Reading]:
        """Return all markets."""
        return {name: self.market(name) for name in self._listener.stream._caches}

    def market(self, market_id: str) -> Reading:
        """Return one market."""
        book = self._listener.stream._caches[market_id]
        best = {(runner.selection_id, float(runner.handicap)): _best(runner) for runner in book.runners}
        return Reading(book.market_definition.get("status"), best)

    def offer(self, market_id: str) -> tuple[float, float, float] | None:
        """Return home, draw and away price of one market; None if it is not open or lacks a price."""
        book = self._listener.stream._caches.get(market_id)
        described = {} if book is None else book.market_definition
        if (described.get("marketType"), described.get("status")) != ("MATCH_ODDS", "OPEN"):
            return None
        active = [runner for runner in described.get("runners", ()) if runner.get("status") == "ACTIVE"]
        by_priority = {
            runner.get("sortPriority"): runner["id"] for runner in active if runner["id"] != DRAW
        }
        sides = (by_priority.get(1), DRAW, by_priority.get(2))
        best = self.market(market_id).best
        found = [best.get((side, 0.0)) for side in sides if side is not None]
        prices = [pair[0] for pair in found if pair is not None]
        return (prices[0], prices[1], prices[2]) if len(active) == len(prices) == len(sides) else None


def is_one_offer(prices: tuple[float, ...]) -> bool:
    """Return whether the book sum is within the default bounds."""
    return min(prices) > 1 and 0.95 <= sum(1 / price for price in prices) <= 1.40


def _best(runner: Any) -> tuple[float, float] | None:
    levels = runner.best_available_to_back.order_book
    if levels:
        return (levels[0][1], levels[0][2]) if 0 in levels else None
    ladder = runner.available_to_back.serialised
    return (ladder[0]["price"], ladder[0]["size"]) if ladder else None


def _plain(market: Json) -> Json:
    described = market.get("marketDefinition")
    if described is not None:
        runners = [{**runner, "id": int(runner["id"])} for runner in described.get("runners", ())]
        market = {**market, "marketDefinition": {**described, "runners": runners}}
    changes = [
        {name: value for name, value in runner.items() if name in RUNNER_FIELDS} | {"id": int(runner["id"])}
        for runner in market.get("rc", ())
    ]
    return {**market, "rc": changes}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_null(item) for item in value]
    return value
