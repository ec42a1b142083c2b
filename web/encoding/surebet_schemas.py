"""The public JSON of surebets (docs/api.md), believed or not."""

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
    """An outcome, whose entry it is (its `id`), the gross price, and what it costs of a net win.

    The price was confirmed `age_s` seconds before. It is before a fee at `fee_rate`, for `max_stake` USD.
    The outcome is one of another `market` than 1X2 if that is given.
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
    """Prices that win whatever happens: `profit` of the total, after commissions; times are Unix seconds.

    `book_sum` is the total that returns 1 at least, of double chance 2. It ends `until` then if nothing is
    confirmed again. Ages and `until` are those of the version that changed the fixture last. A `weak` one
    has a profit of 0, because all stakes may be returned; every other result gains `usual_profit` at least.
    """

    profit: float
    since: float
    book_sum: float
    until: float
    legs: tuple[SurebetLeg, ...]
    weak: Literal[True] | UnsetType = UNSET
    usual_profit: float | UnsetType = UNSET


class DoubtedSurebet(Struct, frozen=True):
    """A surebet that is not believed, and why: as a `SurebetV2`, but for `since`."""

    profit: float
    book_sum: float
    until: float
    legs: tuple[SurebetLeg, ...]
    doubts: tuple[Doubt, ...]
    weak: Literal[True] | UnsetType = UNSET
    usual_profit: float | UnsetType = UNSET


class Doubted(Struct, frozen=True):
    """What a fixture has besides if its surebet is not believed."""

    doubted: DoubtedSurebet


class StakesV2(Struct, frozen=True):
    """The stake of each leg, in their order, and what is returned and gained at least, whatever wins.

    Of a weak surebet all stakes may be returned, and every other result gains the `usual_gain` at least.
    """

    amounts: tuple[float, ...]
    staked: float
    returned: float
    gain: float
    usual_gain: float | UnsetType = UNSET


class Divided(Struct, frozen=True):
    """What a fixture has besides with `total`: stakes that lose in no outcome, or why there are none."""

    stakes: StakesV2 | None
    stakes_reason: NoStakes | UnsetType = UNSET


def divided(surebet: Surebet, fixture: Fixture, terms: FixtureSettings, total: int, step: int) -> Divided:
    """Return the public form of stakes on a surebet of a fixture; `total` and `step` are in cents."""
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
    """Return the public form of a surebet of a fixture; `names` are display names."""
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
