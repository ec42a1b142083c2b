"""5DollarFootballAPI in memory: an account, matches in pages, their odds, for `peers/web.py`.

Bodies are written by hand in the shapes of its OpenAPI document, with invented names and prices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import httpx2

from tests.support.peers.web import serving

API_KEY = "fb_live_invented_key"
CONFIG = f"""
[sources.five]
kind = "five_dollar_football"
url = "http://five.example/v1"
api_key = "{API_KEY}"

[bookmakers.bet365]
name = "Bet365"
source = "five"
key = "bet365"
"""
PRICES = (2.1, 3.4, 3.6)
DAY_S = 86_400


def result_of(prices: Sequence[float | None] | None) -> dict[str, Any] | None:
    """Return the prices of a result, None if the match has none."""
    return None if prices is None else dict(zip(("home", "draw", "away"), prices, strict=True))


def result(
    closing: Sequence[float | None] | None = PRICES, inplay: Sequence[float | None] | None = None
) -> dict[str, Any]:
    """Return the market of the result at its three moments; the opening prices are never on offer."""
    return {
        "opening": {"home": 1.91, "draw": 3.51, "away": 4.21},
        "closing": result_of(closing),
        "inplay": result_of(inplay),
    }


def others(moment: str = "closing", line: float = -0.5, total: float = 2.75) -> dict[str, Any]:
    """Return the other markets, and some that look alike, with prices at one moment only."""
    handicap = {"line": line, "home": 2.02, "away": 1.82}
    goals = {"line": total, "over": 1.88, "under": 1.96}
    both = {"yes": 1.75, "no": 2.05}

    def at(prices: Mapping[str, Any]) -> dict[str, Any]:
        return {"opening": None, "closing": None, "inplay": None, moment: dict(prices)}

    return {
        "asian_handicap": at(handicap),
        "goal_line": at(goals),
        "btts": at(both),
        "corner_line": at({**goals, "line": 9.5}),
        "corner_asian": at(handicap),
        "card_line": at({**goals, "line": 4.5}),
        "card_asian": at(handicap),
        "asian_handicap_half": at({**handicap, "line": -0.25}),
        "goal_line_half": at({**goals, "line": 1.25}),
        "corner_line_half": at({**goals, "line": 4.5}),
    }


def lines_of(odds: Mapping[str, Any]) -> dict[str, Any]:
    """Return odds in the form of a list without `odds_full`: the result, and the other markets' lines."""
    return {
        name: market
        if name == "1x2"
        else {moment: offered and offered.get("line") for moment, offered in market.items()}
        for name, market in odds.items()
        if name != "btts"
    }


def fixture_of(
    match_id: int, home: str, away: str, start: float, league: tuple[int, str] = (39, "Premier League")
) -> dict[str, Any]:
    """Return a match that has not begun, without odds."""
    at = datetime.fromtimestamp(int(start), UTC)
    return {
        "id": match_id,
        "league": {"id": league[0], "name": league[1]},
        "teams": {
            "home": {"id": match_id * 10, "name": home},
            "away": {"id": match_id * 10 + 1, "name": away},
        },
        "kickoff_utc": at.isoformat(),
        "kickoff_ts": int(start),
        "status": "scheduled",
        "goals": {"home": None, "away": None},
    }


class FiveDollarFootball:
    """The venue at a plan's rate, `odds` by match and bookmaker; `wall` returns its clock (Unix seconds).

    It counts the requests of each window, and refuses requests above the limit.
    """

    name, config, opens_s = "bet365", CONFIG, 60.0

    def __init__(
        self,
        wall: Callable[[], float],
        *,
        plan: str = "pro",
        limit: int = 10,
        window_s: int = 60,
        has_odds: bool = True,
        own: Sequence[str] = ("bet365", "pinnacle"),
    ) -> None:
        self.wall = wall
        self.plan, self.limit, self.window_s = plan, limit, window_s
        self.has_odds = has_odds
        self.own = own  # the bookmakers of the plan
        self.fixtures: dict[int, dict[str, Any]] = {}
        self.odds: dict[int, dict[str, dict[str, Any]]] = {}
        self.leagues = {39: "Premier League", 61: "La Liga"}
        self.names = {"bet365": "Bet 365", "pinnacle": "Pinnacle"}
        self.times: list[float] = []
        self.refused = 0
        self.asked: list[str] = []
        self.changes: list[Callable[[], None]] = []
        """Changes that happen after the next first pages of lists with a second page."""

    def add(
        self,
        match_id: int | str,
        home: str = "Home Town",
        away: str = "Away United",
        *,
        start: float,
        **fields: Any,
    ) -> None:
        """List a match with the result at Bet365."""
        match_id = int(match_id)
        self.fixtures[match_id] = {**fixture_of(match_id, home, away, start), **fields}
        self.odds[match_id] = {"bet365": {"1x2": result()}}

    def remove(self, match_id: str) -> None:
        """Take a match off the list."""
        del self.fixtures[int(match_id)]

    def move(self, match_id: int | str, start: float) -> None:
        """Have a match kick off at another time."""
        at = datetime.fromtimestamp(int(start), UTC)
        self.fixtures[int(match_id)] |= {"kickoff_ts": int(start), "kickoff_utc": at.isoformat()}

    def begin(self, match_id: int, prices: Sequence[float] | None = PRICES) -> None:
        """Kick off a match, with prices in play."""
        self.fixtures[match_id]["status"] = "in_play"
        self.odds[match_id]["bet365"]["1x2"]["inplay"] = result_of(prices)

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request as the API does."""
        now = self.wall()
        self.asked.append(str(request.url))
        self.times.append(now)
        recent = [at for at in self.times if at > now - self.window_s]
        left = max(self.limit - len(recent), 0)
        headers = {
            "Date": format_datetime(datetime.fromtimestamp(now, UTC), usegmt=True),
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": str(int(min(recent) + self.window_s) + 1),
        }
        if len(recent) > self.limit:
            self.refused += 1
            return await self._error(
                request, 429, "rate_limited", "too many", {**headers, "Retry-After": "7"}
            )
        if request.headers.get("Authorization") != f"Bearer {API_KEY}":
            return await self._error(request, 401, "invalid_key", "unknown API key", headers)
        path, query = request.url.path.removeprefix("/v1/"), dict(request.url.params)
        if "odds" in f"{path}?{query.get('include', '')}" and not self.has_odds:
            return await self._error(request, 403, "plan_required", "odds need a paid plan", headers)
        if not {*query.get("bookmakers", "bet365").split(",")} <= {*self.own}:
            return await self._error(request, 403, "plan_required", "bookmakers need Ultra", headers)
        body = self.body(path, query)
        if self.changes and body and body.get("pagination", {}).get("has_more") and "fixtures" in path:
            self.changes.pop(0)()
        if body is None:
            return await self._error(request, 404, "not_found", "no such resource", headers)
        return await serving(json.dumps(body).encode(), headers=headers)(request)

    def body(self, path: str, query: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the body of an answer; None for an unknown path."""
        match path.split("/"):
            case ["status"]:
                limits = {"rate_limit": self.limit, "rate_window_seconds": self.window_s}
                return _whole({"plan": self.plan, "limits": limits, "usage": {"today": len(self.times)}})
            case ["leagues"]:
                rows = [{"id": each, "name": name, "country_id": 1} for each, name in self.leagues.items()]
                return _page(rows, query, 100)
            case ["bookmakers"]:
                return _whole([{"id": 1, "name": name, "slug": slug} for slug, name in self.names.items()])
            case ["fixtures"]:
                return self._listed(query)
            case ["fixtures", name, "odds"] if int(name) in self.fixtures:
                return self._by_match(int(name), query)
        return None

    def _listed(self, query: Mapping[str, str]) -> dict[str, Any] | None:
        is_live = query.get("status") == "live"
        if "league" in query and int(query["league"]) not in self.leagues:
            return None
        rows = []
        for name, fixture in sorted(
            self.fixtures.items(), key=lambda each: (each[1]["kickoff_ts"], each[0])
        ):
            if is_live:
                is_listed = fixture["status"] == "in_play"
            else:
                first, last = int(query["start_time"]), int(query["end_time"])
                assert 0 < last - first <= DAY_S
                is_listed = first <= fixture["kickoff_ts"] < last
            if is_listed and query.get("league") in {None, str(fixture["league"]["id"])}:
                odds = self.odds[name].get("bet365", {})
                is_full = query["include"] == "odds_full"
                rows.append({**fixture, "odds": odds if is_full else lines_of(odds)})
        return _page(rows, query, 500 if is_live else 50)

    def _by_match(self, name: int, query: Mapping[str, str]) -> dict[str, Any]:
        bookmakers: list[dict[str, Any]] = [
            {"id": 1, "name": self.names.get(slug, slug), "slug": slug, "odds": self.odds[name][slug]}
            for slug in query["bookmakers"].split(",")
            if slug in self.odds[name]
        ]
        if (market := query.get("market")) is not None:
            for each in bookmakers:
                each["odds"] = {key: of for key, of in each["odds"].items() if key == market}
        return _whole({"fixture_id": name, "bookmakers": bookmakers})

    async def _error(
        self, request: httpx2.Request, status: int, code: str, message: str, headers: Mapping[str, str]
    ) -> httpx2.Response:
        error = {"type": "error", "code": code, "message": message, "request_id": "req_1"}
        body = json.dumps({"success": 0, "error": error}).encode()
        return await serving(body, status, dict(headers))(request)


def _whole(data: Any) -> dict[str, Any]:
    return {"success": 1, "data": data}


def _page(rows: Sequence[Any], query: Mapping[str, str], most: int) -> dict[str, Any]:
    page, per_page = int(query.get("page", 1)), min(int(query.get("per_page", 50)), most)
    shown = rows[(page - 1) * per_page : page * per_page]
    has_more = page * per_page < len(rows)
    pagination = {"page": page, "per_page": per_page, "count": len(shown), "has_more": has_more}
    return {"success": 1, "data": [*shown], "pagination": pagination}
