"""The oracle of surebets: the real offers of bookmakers, and whether three bets can lose.

It knows which real match each listed match is. Nothing here is taken from the code of fixtures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import inf

from msgspec import Struct

from actors.markets.odds import Odds

Results = tuple[str, str, str]
ENOUGH = 3  # so many other companies show that a price is far too high
EVALUATED_WITHIN_S = 1.0
NO_GAIN = 1 - 1e-6
Listed = set[tuple[str, str]]  # the name of a shop, and the id of a match there
RESULTS = ("home", "draw", "away")


class Mistake(StrEnum):
    """The mistake in listed prices."""

    CROSSED = "crossed"  # home and away are exchanged
    HIGH = "high"  # one price is far too high


class Offer(Struct, frozen=True):
    """A match as a bookmaker lists it: the result of a real match on which it bets for 1, X and 2.

    Prices were current at `vouched_mono` (monotonic seconds); `start` is Unix seconds. Nobody can bet at
    prices that are listed by `mistake`.
    """

    results: Results
    prices: Odds
    start: float
    vouched_mono: float
    is_in_play: bool = False
    mistake: Mistake | None = None


class Shop(Struct):
    """A bookmaker: its offers by id; `is_known` is false once an attempt to get the offers failed.

    At `renewed_mono` the bookmaker said that no offer has changed.
    """

    company: str
    commission: float = 0.0
    offers: dict[str, Offer] = {}
    is_known: bool = False
    renewed_mono: float = -inf


class Bet(Struct, frozen=True):
    """A bet at a shop on 1, X or 2 (0, 1, 2) of a match, by the match's id at the shop."""

    shop: str
    match_id: str
    outcome: int
    price: float
    stake: float


class Truth:
    """The shops by name; offers count until they are `max_age_s` old."""

    def __init__(self, shops: dict[str, Shop], max_age_s: float) -> None:
        self.shops = shops
        self._max_age_s = max_age_s

    def fault(self, bets: Sequence[Bet], beside: Listed, mono: float, wall: float) -> str:
        """Return why three bets may lose at that time, empty if they cannot.

        A company's older price counts as old where its newer price stands `beside`; after a second if
        only a confirmation shows which price is newer.
        """
        found = [self._fault_of(bet, beside, mono, wall) for bet in bets]
        results = {
            self.shops[bet.shop].offers[bet.match_id].results[bet.outcome]
            for bet, fault in zip(bets, found, strict=True)
            if not fault
        }
        matches = {result.partition(":")[0] for result in results}
        if not any(found) and (len(matches) > 1 or len(results) < len(RESULTS)):
            found.append(f"bets on {sorted(results)}")
        if min(paid := [self._paid(bets, winner) for winner in bets]) < sum(bet.stake for bet in bets):
            found.append(f"pays {paid}")
        return ", ".join(filter(None, found))

    def _fault_of(self, bet: Bet, beside: Listed, mono: float, wall: float) -> str:
        """Return why a bet may not be placed at its price, empty if it may."""
        shop = self.shops[bet.shop]
        offer = shop.offers.get(bet.match_id)
        if offer is None or not shop.is_known:
            return f"{bet.shop} may not offer {bet.match_id} any more"
        if not self._is_open(offer, mono, wall):
            return f"the price of {bet.shop} is old, or the match has begun"
        if offer.prices[bet.outcome] != bet.price:
            return f"{bet.shop} offers {offer.prices}, not {bet.price}"
        if offer.mistake is not None and self._is_known(offer.mistake, bet.shop, beside):
            return f"{bet.shop} lists {offer.prices} by mistake: {offer.mistake}"
        for other, match_id in self._newer(bet.shop, offer):
            if (other, match_id) in beside and self.shops[other].renewed_mono < mono - EVALUATED_WITHIN_S:
                return f"the company of {bet.shop} has a newer price"
        return ""

    def _is_known(self, mistake: Mistake, name: str, beside: Listed) -> bool:
        """Return whether other prices that stand `beside` show a mistake: a high price needs several."""
        others = {self.shops[other].company for other, _ in beside} - {self.shops[name].company}
        return mistake is Mistake.CROSSED or len(others) >= ENOUGH

    def _paid(self, bets: Sequence[Bet], winner: Bet) -> float:
        """Return what is paid out if a bet wins: a shop takes commission on its net loss."""
        gross = winner.price * winner.stake
        staked = sum(bet.stake for bet in bets if bet.shop == winner.shop)
        return gross - self.shops[winner.shop].commission * max(gross - staked, 0.0)

    def profits(self, mono: float, wall: float, among: Listed | None = None) -> dict[str, float]:
        """Return the real matches on which three bets gain, each at the best shop, only `among` places."""
        best: dict[str, dict[str, float]] = {}
        for name, shop in self.shops.items():
            for match_id, offer in shop.offers.items():
                is_there = among is None or (name, match_id) in among
                is_newest = not [*self._newer(name, offer)]
                is_meant = offer.mistake is None and shop.is_known
                if not (is_there and is_newest and is_meant and self._is_open(offer, mono, wall)):
                    continue
                for result, price in zip(offer.results, offer.prices, strict=True):
                    real, _, winner = result.partition(":")
                    nets, net = best.setdefault(real, {}), 1 + (price - 1) * (1 - shop.commission)
                    nets[winner] = max(net, nets.get(winner, 0.0))
        sums = {
            real: sum(1 / net for net in nets.values())
            for real, nets in best.items()
            if len(nets) == len(RESULTS)
        }
        return {real: 1 / total - 1 for real, total in sums.items() if total < NO_GAIN}

    def _is_open(self, offer: Offer, mono: float, wall: float) -> bool:
        """Return whether a price is fresh, and the match has not begun."""
        return mono < offer.vouched_mono + self._max_age_s and wall < offer.start and not offer.is_in_play

    def _newer(self, name: str, offer: Offer) -> Iterator[tuple[str, str]]:
        """Return where the company lists newer prices of the match: shop and id."""
        for other, shop in self.shops.items():
            if shop.company == self.shops[name].company:
                for match_id, listed in shop.offers.items():
                    if listed.vouched_mono > offer.vouched_mono and {*listed.results} == {*offer.results}:
                        yield other, match_id
