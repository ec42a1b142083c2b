"""The public JSON of surebets (docs/api.md), believed or doubted."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.core.messages import event_id_of
from actors.markets.market import ONE_X_TWO
from actors.markets.stakes import NoStakes, StakedLeg, stakes
from actors.matches.model import Fixture, FixtureSettings
from actors.matches.surebets import Commission, Doubt, Surebet
from web.encoding.schemas import Names, Price

Share = Annotated[float, Meta(ge=0, le=1, description="of the total stake")]


class SurebetLeg(Struct, frozen=True):
    """A leg: the outcome, the `id` of its entry, the gross price, and the commission on a net win.

    The price was confirmed `age_s` seconds before. The price is before the fee at `fee_rate`, and is good
    for `max_stake` USD. `market` is present for a market other than 1X2.
    """

    outcome: str
    id: str
    bookmaker: str
    odds: Price
    commission: Commission
    stake: Share
    age_s: Annotated[float, Meta(ge=0)]
    fee_rate: float | UnsetType = UNSET
    max_stake: float | UnsetType = UNSET
    market: str | UnsetType = UNSET


class SurebetV2(Struct, frozen=True):
    """Prices that win with every result: `profit` of the total, after commissions; times are Unix seconds.

    `book_sum` is the total stake that returns at least 1 (2 for double chance). The surebet ends at `until`
    unless prices are confirmed again. Ages and `until` are as of the fixture's last change. A `weak`
    surebet has a profit of 0, because one result returns all stakes; every other result gains at least
    `usual_profit`.
    """

    profit: float
    since: float
    book_sum: float
    until: float
    legs: tuple[SurebetLeg, ...]
    weak: Literal[True] | UnsetType = UNSET
    usual_profit: float | UnsetType = UNSET


class DoubtedSurebet(Struct, frozen=True):
    """A surebet that is not believed, and why; otherwise like `SurebetV2`, without `since`."""

    profit: float
    book_sum: float
    until: float
    legs: tuple[SurebetLeg, ...]
    doubts: tuple[Doubt, ...]
    weak: Literal[True] | UnsetType = UNSET
    usual_profit: float | UnsetType = UNSET


class Doubted(Struct, frozen=True):
    """The member that a fixture has if its surebet is not believed."""

    doubted: DoubtedSurebet


class StakesV2(Struct, frozen=True):
    """The stake of each leg in order, and the least return and gain of all results.

    For a weak surebet one result returns all stakes; every other result gains at least `usual_gain`.
    """

    amounts: tuple[float, ...]
    staked: float
    returned: float
    gain: float
    usual_gain: float | UnsetType = UNSET


class Divided(Struct, frozen=True):
    """The members that a fixture has with `total`: stakes that never lose, or why there are none."""

    stakes: StakesV2 | None
    stakes_reason: NoStakes | UnsetType = UNSET


def divided(surebet: Surebet, fixture: Fixture, terms: FixtureSettings, total: int, step: int) -> Divided:
    """Return the public form of stakes on a fixture's surebet; `total` and `step` are in cents."""
    entries, roster = fixture.entries, terms.roster
    legs = tuple(
        StakedLeg(
            leg.bookmaker,
            leg.odds,
            roster[leg.bookmaker].commission,
            entries[leg.bookmaker].match.fee_rate,
            entries[leg.bookmaker].match.max_stake,
        )
        for leg in surebet.legs
    )
    found = stakes(legs, total, step, fixture.market)
    if isinstance(found, NoStakes):
        return Divided(None, found)
    amounts = tuple(amount / 100 for amount in found.amounts)
    staked = sum(found.amounts) / 100
    if surebet.usual_profit is not None:
        return Divided(StakesV2(amounts, staked, staked, 0.0, found.gain / 100))
    return Divided(StakesV2(amounts, staked, found.returned / 100, found.gain / 100))


def surebet_v2(surebet: Surebet, fixture: Fixture, names: Names, terms: FixtureSettings) -> SurebetV2:
    """Return the public form of a fixture's surebet; `names` are display names."""
    entries, roster = fixture.entries, terms.roster
    legs = tuple(
        SurebetLeg(
            leg.outcome,
            event_id_of(entries[leg.bookmaker].id),
            names[leg.bookmaker],
            leg.odds,
            roster[leg.bookmaker].commission,
            leg.stake,
            leg.age_s,
            entries[leg.bookmaker].match.fee_rate or UNSET,
            UNSET if (most := entries[leg.bookmaker].match.max_stake) is None else most,
            UNSET if fixture.market is ONE_X_TWO else str(fixture.market),
        )
        for leg in surebet.legs
    )
    usual = surebet.usual_profit
    weak = (UNSET, UNSET) if usual is None else (True, usual)
    return SurebetV2(surebet.profit, surebet.since, surebet.book_sum, surebet.until, legs, *weak)


def doubted(
    surebet: Surebet, doubts: tuple[Doubt, ...], fixture: Fixture, names: Names, terms: FixtureSettings
) -> Doubted:
    """Return the public form of a surebet that is not believed."""
    it = surebet_v2(surebet, fixture, names, terms)
    weak = it.weak, it.usual_profit
    return Doubted(DoubtedSurebet(it.profit, it.book_sum, it.until, it.legs, doubts, *weak))
