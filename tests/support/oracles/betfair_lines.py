"""An independent reading of the exchange's Asian handicaps: from messages to lines and reasons.

It shares nothing with the source: it keeps the content of messages in plain tables, and takes all of the
checks from the documents: back below lay, two-way book sums, odds in the order of the lines.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.support.builders.betfair import Json

BOOK_SUM = (0.97, 1.12)


class Verdict(NamedTuple):
    """The offer of a line to home and away, and why the line may not be shown; None if it may be shown."""

    odds: tuple[float, float]
    reason: str | None


class LineOracle:
    """A subscription, as a table of definitions and a table of offers.

    It judges a market anew only after a message about it.
    """

    def __init__(self) -> None:
        self.defined: dict[str, Json] = {}
        self.offers: dict[tuple[str, int, float, str], dict[float, tuple[float, float]]] = {}
        self._judged: dict[str, dict[float, Verdict]] = {}

    def take(self, raw: bytes) -> None:
        """Read a message of market data."""
        message = json.loads(raw)
        if message.get("ct") == "SUB_IMAGE":
            self.defined.clear()
            self.offers.clear()
            self._judged.clear()
        for part in message.get("mc") or ():
            name = part["id"]
            self._judged.pop(name, None)
            if part.get("img"):
                self.defined.pop(name, None)
                self.offers = {key: rows for key, rows in self.offers.items() if key[0] != name}
            self.defined[name] = part.get("marketDefinition") or self.defined.get(name) or {}
            for runner in part.get("rc") or ():
                for ladder in ("atb", "atl", "batb", "batl"):
                    rows = self.offers.setdefault(_key(name, runner, ladder), {})
                    for *place, price, size in runner.get(ladder) or ():
                        rows[place[0] if place else price] = (price, size)

    def verdicts(self) -> dict[str, Verdict]:
        """Return all lines of open handicap markets with both prices, by their ids."""
        results: dict[object, str] = {
            it["eventId"]: name for name, it in self.defined.items() if it.get("marketType") == "MATCH_ODDS"
        }
        found: dict[str, Verdict] = {}
        for name, it in self.defined.items():
            if (it.get("marketType"), it.get("status")) == ("ASIAN_HANDICAP", "OPEN"):
                match_id = results.get(it["eventId"]) or str(it["eventId"])
                if name not in self._judged:
                    self._judged[name] = self._lines(name)
                for line, verdict in self._judged[name].items():
                    found[f"{match_id} asian_handicap:{line:g}"] = verdict
        return found

    def _lines(self, name: str) -> dict[float, Verdict]:
        runners = sorted(self.defined[name]["runners"], key=lambda runner: runner["sortPriority"])
        home, away = runners[0]["id"], runners[1]["id"]
        found: dict[float, Verdict] = {}
        for runner in runners:
            line = runner.get("hc", 0)
            if runner["id"] != home or runner["status"] != "ACTIVE":
                continue
            odds = [self._best(name, home, line, "b"), self._best(name, away, -line, "b")]
            if None not in odds:
                found[line] = Verdict(
                    (odds[0], odds[1]), self._doubt(name, (home, line), (away, -line), odds)
                )
        clean = [found[line].odds for line in sorted(found) if found[line].reason is None]
        ordered = [(-home_odds, away_odds) for home_odds, away_odds in clean]
        is_fit = all(ordered == sorted(ordered, key=lambda pair: pair[side]) for side in (0, 1))
        return {
            line: verdict if is_fit or verdict.reason else verdict._replace(reason="lines")
            for line, verdict in found.items()
        }

    def _doubt(self, name: str, *rest: Any) -> str | None:
        *sides, odds = rest
        for (team, line), back in zip(sides, odds, strict=True):
            lay = self._best(name, team, line, "l")
            if lay is not None and back >= lay:
                return "crossed"
        return None if BOOK_SUM[0] <= sum(1 / each for each in odds) <= BOOK_SUM[1] else "book_sum"

    def _best(self, name: str, team: int, line: float, side: str) -> Any:
        levels = self.offers.get((name, team, line, f"bat{side}"), {})
        rows = levels or self.offers.get((name, team, line, f"at{side}"), {})
        prices = [price for price, size in rows.values() if size > 0]
        return (max if side == "b" else min)(prices, default=None)


def _key(name: str, runner: Json, ladder: str) -> tuple[str, int, float, str]:
    return name, int(runner["id"]), runner.get("hc") or 0, ladder
