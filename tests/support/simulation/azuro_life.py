"""The life of Azuro."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.support.oracles.azuro_reading import (
    PARTS,
    RESULT,
    change,
    flags_of,
    is_listed,
    odds_of,
    result_of,
)
from tests.support.peers.azuro import CONFIG, Azuro, condition_of, polled
from tests.support.simulation.venue_life import (
    DAY,
    HOUR,
    OVER_S,
    Choose,
    Life,
    Listing,
    Odds,
    Quote,
    Reading,
    last_before,
)

IN_PLAY_S = (9.0, 10.0)
STATES = ("Prematch", "Live")


class AzuroLife(Life):
    """The life of Azuro, whose games are one list, of two states."""

    name, shipped, listed_for_s = "azuro", CONFIG, 600.0
    near_poll_s, far_poll_s, slower = 10.0, 60.0, 2.0

    def __init__(self, wall_0: float, seed: int, page_size: int, *, is_slow: bool) -> None:
        super().__init__(wall_0, is_slow=is_slow)
        self.venue = Azuro(seed, page_size, repeats=seed % 4 == 0)
        self.answer = self.venue.answer
        self._reading: Reading | None = None
        self._total: int | None = None
        self._lists: list[Listing] = []
        self._changed = 0.0  # the time of the last change of the list, or of a result
        self._results: dict[str, list[tuple[float, Any]]] = {}  # conditions as they were listed

    def add(self, number: int, start: float) -> None:
        """List a game."""
        self.venue.add(f"100{number}", f"Home {number}", f"Away {number}", start=start)

    def names(self) -> list[str]:
        """Return the games."""
        return [*self.venue.games]

    def happens(self, name: str, choose: Choose) -> None:
        """Change something about a game, its condition or an outcome."""
        match choose((*PARTS, "price", "price", "kick-off", "other condition")):
            case "price":
                price = str(choose(range(150, 250)) / 100)
                choose(self.venue.result(name)["outcomes"])["odds"] = price
            case "kick-off":
                self.venue.games[name]["startsAt"] = str(
                    int(self.wall_0 + choose((HOUR, 30 * HOUR, 60 * HOUR, -30 * HOUR)))
                )
            case "other condition":
                other = condition_of(name, conditionId=f"4006{name}{choose(range(3))}")
                self.venue.conditions[name][1] = other
            case part:
                change(self.venue, name, part, choose)

    def close(self, name: str, choose: Choose) -> None:
        """Stop or hide a game, its condition or an outcome."""
        game, result = self.venue.games[name], self.venue.result(name)
        part, said = choose(
            (
                (result, {"state": "Stopped"}),
                (result, {"hidden": True}),
                (result, {"isPrematchEnabled": False, "isLiveEnabled": False}),
                (
                    result,
                    {
                        "isPrematchEnabled": game["state"] == "Live",
                        "isLiveEnabled": game["state"] != "Live",
                    },
                ),
                (result["outcomes"][0], {"state": "Stopped"}),
                (result["outcomes"][0], {"hidden": True}),
                (game, {"state": "Stopped"}),
            )
        )
        part.update(said)

    def settle(self, name: str) -> None:
        """End a game."""
        self.venue.games[name]["state"] = "Finished"
        self.venue.result(name).update(state="Resolved", wonOutcomeIds=[RESULT[0]])

    def remove(self, name: str) -> None:
        """Take a game off the list."""
        del self.venue.games[name]

    def follow(self, request: httpx2.Request, body: Any, asked: float, now: float) -> None:
        """Take a page of games, conditions or odds."""
        query = request.url.params
        match request.url.path.rpartition("/")[2]:
            case "games-by-filters":
                self._page(query["gameState"], int(query["page"]), body, asked, now)
            case "conditions-by-game-ids":
                self._conditions(json.loads(request.content)["gameIds"], body["conditions"], now)
            case "condition-batch":
                ids = json.loads(request.content)["conditionIds"]
                self._odds({*ids}, body["conditions"], asked, now)

    def listings(self) -> list[Listing]:
        """Return the newest list."""
        return self._lists[-1:]

    def is_current(self, since: float) -> bool:
        """Return whether all games and odds were asked for after `since`, odds as the list has them."""
        if not self._lists or self._lists[-1].asked < since:
            return False
        for name in self._lists[-1].matches:
            result = self._results[name][-1][1] if name in self._results else "unknown"
            quote = self.quotes.get(name)
            if result is not None and (quote is None or quote.asked <= since or not quote.is_listed):
                return False
        return True

    def expected(self, now: float) -> dict[str, Odds]:
        """Return the odds by the tables, in the known conditions: no new conditions are looked for."""
        wall, found = self.wall_0 + now, {}
        for name, game in self.venue.games.items():
            listed = self._results.get(name, [(0.0, None)])[-1][1]
            by_id = {condition["conditionId"]: condition for condition in self.venue.conditions[name]}
            found_now = None if listed is None else by_id.get(listed["conditionId"])
            sent = found_now if found_now is None or self.venue.repeats else polled(found_now)
            odds = odds_of(game, sent, listed) if is_listed(game) else None
            if odds is not None and int(game["startsAt"]) > wall - OVER_S:
                found[name] = odds
        return found

    def _page(self, state: str, page: int, body: Any, asked: float, now: float) -> None:
        if (state, page) == (STATES[0], 1):
            self._reading = Reading(asked)
        reading = self._reading
        if reading is None:
            return
        if page == 1:
            self._total, reading.seen = body["total"], set()
        reading.items += body["games"]
        reading.seen |= {game["gameId"] for game in body["games"]}
        is_last = page >= body["totalPages"]
        if body["total"] != self._total or (is_last and len(reading.seen) != self._total):
            self._reading = None  # the list has changed meanwhile
        elif is_last and state == STATES[1]:
            self._reading = None
            self._listed(Listing(self._shown(reading.items, now), reading.asked, now))

    def _shown(self, games: list[Any], now: float) -> dict[str, Any]:
        newest = {game["gameId"]: game for game in games}
        wall = self.wall_0 + now
        return {
            name: game
            for name, game in newest.items()
            if is_listed(game) and int(game["startsAt"]) >= wall - 2 * OVER_S
        }

    def _listed(self, listing: Listing) -> None:
        self._lists.append(listing)
        self._check_quotes(listing.done)

    def _conditions(self, names: list[str], conditions: list[Any], now: float) -> None:
        for name in names:
            of = [condition for condition in conditions if condition["game"]["gameId"] == name]
            self._results.setdefault(name, []).append((now, result_of(of)))
        self._check_quotes(now)

    def _check_quotes(self, now: float) -> None:
        self._changed = now
        for name, quote in self.quotes.items():
            quote.is_listed &= quote.of == self._now(name)

    def _now(self, name: str) -> Any:
        return _of(self._lists[-1].matches.get(name), self._results.get(name, [(0.0, None)])[-1][1])

    def _odds(self, asked_for: set[str], conditions: list[Any], asked: float, now: float) -> None:
        by_id = {condition["conditionId"]: condition for condition in conditions}
        found: dict[str, tuple[Any, Any]] = {}
        for listing in last_before(self._lists, now):
            for name, game in listing.matches.items():
                for result in self._last_results(name, now):
                    if result["conditionId"] in asked_for and name not in found:
                        found[name] = game, result
        holds_s, is_changed = self._holds([game for game, _ in found.values()], now), self._changed >= asked
        if is_changed:
            holds_s = (IN_PLAY_S[0], 3 * self.far_poll_s)
        for name, (game, result) in found.items():
            odds, of = odds_of(game, by_id.get(result["conditionId"]), result), _of(game, result)
            start = int(game["startsAt"])
            is_listed = of == self._now(name) and not is_changed
            self.quotes[name] = Quote(odds, of, start, asked, holds_s, is_listed)
        for name in set(self.quotes) - set(found):  # quotes of a group that has lost the game meanwhile
            if not self.quotes[name].is_listed and self.quotes[name].of[-1] in asked_for:
                del self.quotes[name]

    def _last_results(self, name: str, now: float) -> list[Any]:
        """Return the last result of a game, or two results if the last one came in this moment."""
        known = self._results.get(name, [])
        last = known[-2:][::-1] if known and known[-1][0] == now else known[-1:]
        return [result for _, result in last if result is not None]

    def _holds(self, games: list[Any], now: float) -> tuple[float, float]:
        starts = [int(game["startsAt"]) for game in games]
        near_s, far_s = 3 * self.near_poll_s, 3 * self.far_poll_s
        begun = self.wall_0 + now + near_s  # a price so long before a kick-off may hold until the kick-off
        if any(game["state"] == "Live" for game in games) or any(start <= begun for start in starts):
            return IN_PLAY_S
        return (near_s, near_s) if self.is_near(starts, now) else (far_s, far_s)


def _of(game: Any, result: Any) -> Any:
    """Return the values that must not change for a game to be asked for in the same way and group."""
    return None if game is None else (game["state"], int(game["startsAt"]) // DAY, *flags_of(result))
