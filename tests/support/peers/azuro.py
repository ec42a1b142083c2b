"""Azuro in memory: games in pages, their conditions and odds, for `peers/web.py`.

No real answer was recorded: bodies are written by hand in the shape of real ones, with invented names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from random import Random
from typing import Any

import httpx2

from tests.support.peers.web import serving

CONFIG = """
[sources.azuro]
kind = "azuro"
url = "http://azuro.example/api/v1/public"

[bookmakers.azuro]
name = "Azuro"
source = "azuro"
key = "azuro"
"""
ODDS = ("1.81", "3.78", "4.43")
RESULT = ("29", "30", "31")


def game_of(game_id: str, home: str, away: str, start: float, **changed: Any) -> dict[str, Any]:
    """Return a game."""
    return {
        "id": game_id,
        "gameId": game_id,
        "slug": f"a-b-{game_id}",
        "title": f"{home} - {away}",
        "startsAt": str(int(start)),
        "state": "Prematch",
        "turnover": "8861.42",
        "sport": {"sportId": "33", "slug": "football", "name": "Football"},
        "league": {"id": "1", "slug": "premier-league", "name": "Premier League"},
        "country": {"id": "2", "slug": "england", "name": "England"},
        "participants": [{"name": home, "image": "x"}, {"name": away, "image": "x"}],
        **changed,
    }


def condition_of(
    game_id: str, odds: Sequence[str] = ODDS, outcomes: Sequence[str] = RESULT, **changed: Any
) -> dict[str, Any]:
    """Return the condition of the result of a game, or another one."""
    return {
        "conditionId": f"3006{game_id}{outcomes[0]}",
        "state": "Active",
        "title": None,
        "isPrematchEnabled": True,
        "isLiveEnabled": True,
        "margin": 0,
        "hidden": False,
        "outcomes": [
            {"title": None, "outcomeId": outcome, "odds": price}
            for outcome, price in zip(outcomes, odds, strict=True)
        ],
        "game": {"gameId": game_id, "sport": {"sportId": "33"}},
        "wonOutcomeIds": [],
        **changed,
    }


def polled(condition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a condition as the poll of odds has it: only its id, its state and its outcomes."""
    outcomes = [
        {"id": f"{condition['conditionId']}_{place}", "outcomeId": each["outcomeId"], "odds": each["odds"]}
        for place, each in enumerate(condition["outcomes"])
    ]
    return {"conditionId": condition["conditionId"], "state": condition["state"], "outcomes": outcomes}


class Azuro:
    """The venue; games (in pages of `page_size`), conditions and outcomes come in random order.

    Its poll of odds has whole conditions only if it `repeats` them, as the real venue may do later.
    """

    name, config, opens_s = "azuro", CONFIG, 15.0

    def __init__(self, seed: int = 1, page_size: int = 100, *, repeats: bool = False) -> None:
        self.page_size = page_size
        self.repeats = repeats
        self.games: dict[str, dict[str, Any]] = {}
        self.conditions: dict[str, list[dict[str, Any]]] = {}
        self.random = Random(seed)

    def add(
        self, game_id: str, home: str = "Home Town", away: str = "Away United", *, start: float
    ) -> None:
        """List a game, with its true result and a condition that only looks like the result."""
        self.games[game_id] = game_of(game_id, home, away, start)
        self.conditions[game_id] = [
            condition_of(game_id, ("1.2", "1.3", "1.4"), ("38", "39", "40")),
            condition_of(game_id),
        ]

    def remove(self, game_id: str) -> None:
        """Take a game off the list."""
        del self.games[game_id]

    def move(self, game_id: str, start: float) -> None:
        """Have a game kick off at another time."""
        self.games[game_id]["startsAt"] = str(int(start))

    def result(self, game_id: str) -> dict[str, Any]:
        """Return the condition of the result of a game, to be changed."""
        return self.conditions[game_id][1]

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        asked = json.loads(request.content or b"{}")
        match request.url.path.rpartition("/")[2]:
            case "games-by-filters":
                body: Any = self.page(dict(request.url.params))
            case "conditions-by-game-ids":
                assert len(asked["gameIds"]) <= 10
                body = self.listed(
                    condition for name in asked["gameIds"] for condition in self.conditions.get(name, ())
                )
            case "condition-batch":
                assert len(asked["conditionIds"]) <= 100
                body = self.listed(
                    condition
                    for listed in self.conditions.values()
                    for condition in listed
                    if condition["conditionId"] in asked["conditionIds"]
                )
                if not self.repeats:
                    body = {"conditions": [*map(polled, body["conditions"])]}
            case path:
                raise AssertionError(path)
        return await serving(json.dumps(body).encode())(request)

    def page(self, query: dict[str, str]) -> dict[str, Any]:
        """Return a page of the games in a state; stopped games are listed with the coming games."""
        assert "football" == query["sportSlug"]
        is_live = query["gameState"] == "Live"
        games = [game for game in self.games.values() if (game["state"] == "Live") == is_live]
        size, page = min(int(query["perPage"]), self.page_size), int(query["page"])
        shown = games[(page - 1) * size : page * size]
        self.random.shuffle(shown)
        return {
            "games": shown,
            "page": page,
            "perPage": size,
            "total": len(games),
            "totalPages": ceil(len(games) / size),
        }

    def listed(self, conditions: Any) -> dict[str, Any]:
        """Return conditions in random order."""
        found = list(conditions)
        self.random.shuffle(found)
        for condition in found:
            self.random.shuffle(condition["outcomes"])
        return {"conditions": found}
