"""Prices of one market of a match at several bookmakers: random but repeatable, or recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from actors.core.messages import BookmakerId, Prices
from actors.markets.market import OUTCOMES, Kind, Market, market_of
from actors.matches.surebets import PricedLeg

NOW = 1000.0
_LINES = {Kind.OVER_UNDER: (1, 26), Kind.ASIAN_HANDICAP: (-14, 14)}


def boards(count: int, seed: int = 5) -> Iterator[list[PricedLeg]]:
    """Yield the legs of `count` markets, of all kinds in turn."""
    random = Random(f"boards/{seed}")
    for number in range(count):
        kind = [*Kind][number % len(Kind)]
        lines = _LINES.get(kind)
        yield board(random, Market(kind, None if lines is None else random.randint(*lines)))


def lines_of(files: Iterable[Path]) -> Iterator[list[PricedLeg]]:
    """Yield the legs of each line of each match in recorded answers of The Odds API, at their prices."""
    for file in files:
        for event in json.loads(file.read_bytes()):
            found: dict[Market, list[PricedLeg]] = {}
            for bookmaker in event["bookmakers"]:
                for listed in bookmaker["markets"]:
                    if listed["key"] in ("totals", "spreads"):
                        by_name = {outcome["name"]: outcome for outcome in listed["outcomes"]}
                        names, kind = ("Over", "Under"), Kind.OVER_UNDER
                        if listed["key"] == "spreads":
                            names, kind = (event["home_team"], event["away_team"]), Kind.ASIAN_HANDICAP
                        market = market_of(kind, by_name[names[0]]["point"])
                        found.setdefault(market, []).extend(
                            leg(market, bookmaker["key"], place, by_name[name]["price"])
                            for place, name in enumerate(names)
                        )
            yield from found.values()


def board(random: Random, market: Market) -> list[PricedLeg]:
    """Return the legs of two to six bookmakers at similar prices; every tenth board has any prices."""
    chances = _chances(random, market.kind)
    is_wild = market.winners == 1 and random.random() < 0.1
    legs = []
    for name in "abcdef"[: random.randint(2, 4 if len(chances) > 2 else 6)]:
        margin = random.uniform(0.99, 1.08)
        taken, fee = random.choice((0.0, 0.0, 0.02, 0.05)), random.choice((0.0, 0.0, 0.0, 0.03))
        for outcome, chance in enumerate(chances):
            price = random.uniform(1.01, 6) if is_wild else random.uniform(0.95, 1.07) / chance / margin
            digits = random.choice((2, 2, 3))
            legs.append(
                leg(market, name, outcome, max(round(price, digits), 1.01), commission=taken, fee_rate=fee)
            )
    return legs


def leg(
    market: Market,
    bookmaker: str,
    outcome: int,
    price: float,
    *,
    commission: float = 0.0,
    fee_rate: float = 0.0,
) -> PricedLeg:
    """Return a leg about which there is no doubt."""
    count = len(market.outcomes)
    return PricedLeg(
        BookmakerId(bookmaker),
        outcome,
        price,
        commission,
        NOW,
        90.0,
        Prices.LIVE,
        is_sure=True,
        chances=(1 / count,) * count,
        fee_rate=fee_rate,
        market=market,
    )


def _chances(random: Random, kind: Kind) -> list[float]:
    """Return the true chance of each outcome to be won, at least 0.1 if only one outcome is won."""
    if len(OUTCOMES[kind]) == 2:
        first = random.uniform(0.1, 0.9)
        return [first, 1 - first]
    parts = [random.uniform(1, 5) for _ in range(3)]
    home, draw, away = (part / sum(parts) for part in parts)
    return [home + draw, home + away, draw + away] if kind is Kind.DOUBLE_CHANCE else [home, draw, away]
