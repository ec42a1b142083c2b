"""What a service shows of Polymarket by the rules of its page, from its tables; and changes of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from tests.support.builders.polymarket import ROLES
from tests.support.peers.polymarket import Polymarket

Choose = Callable[[Sequence[Any]], Any]

STATES: dict[str, tuple[Any, ...]] = {
    "closed": (False, True),
    "active": (True, False),
    "acceptingOrders": (True, False, None),
    "enableOrderBook": (True, False),
    "negRisk": (True, False),
    "groupItemThreshold": ("0", "1", "2", None),
    "outcomes": ('["Yes", "No"]', '["No", "Yes"]'),
}
EVENTS: dict[str, tuple[Any, ...]] = {"ended": (False, True, None), "period": ("NS", "1H", "FT", "VFT")}


def change(venue: Polymarket, event_id: str, choose: Choose) -> None:
    """Have a match, one of its markets or books say something else."""
    listed, name, role = venue.matches[event_id], choose([*STATES, *EVENTS, "no book"]), choose(ROLES)
    if name == "no book":
        listed.asks.pop(role, None)
    elif name in EVENTS:
        listed.event[name] = choose(EVENTS[name])
    else:
        listed.market(role, **{name: choose(STATES[name])})


def expected(venue: Polymarket) -> dict[str, tuple[Decimal, ...]]:
    """Return the odds of each match that is shown, rounded down as it is."""
    shown = {}
    for name, listed in venue.matches.items():
        event, says = listed.event, [listed.markets.get(role, {}) for role in ROLES]
        is_open = event["ended"] is not True and event["period"] not in {"FT", "VFT"}
        for number, said in enumerate(says):
            is_open &= said.get("closed", False) is False
            is_open &= all(said.get(key, True) is True for key in ("active", "acceptingOrders"))
            is_open &= all(said.get(key, True) is True for key in ("enableOrderBook", "negRisk"))
            is_open &= said.get("groupItemThreshold", str(number)) in {None, str(number)}
            is_open &= (
                said.get("outcomes", '["Yes", "No"]') == '["Yes", "No"]'
            )  # else its token has no book
        asks = [_ask(listed.asks.get(role, ())) for role in ROLES]
        if is_open and all(ask is not None and Decimal("0.005") < ask < Decimal("0.995") for ask in asks):
            odds = [(1 / ask).quantize(Decimal("0.0001"), ROUND_FLOOR) for ask in asks if ask is not None]
            if Decimal("0.95") <= sum(1 / price for price in odds) <= Decimal("1.40"):
                shown[name] = tuple(odds)
    return shown


def _ask(levels: Any) -> Decimal | None:
    """Return the price at which 10 USD can be staked, None if they cannot."""
    staked = Decimal(0)
    for price, size in sorted((Decimal(price), Decimal(size)) for price, size in levels):
        staked += price * size
        if staked >= 10:
            return price
    return None
