"""`oddsboard surebets`: asks a running service for its surebets, and for the stakes of each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlencode

from actors.markets.stakes import NoStakes
from web.cli.asking import add_url, answer
from web.encoding.fixture_schemas import FixtureList, FixtureV2
from web.encoding.surebet_schemas import StakesV2
from web.server.lifecycle import Exit

PATH = "/api/v2/surebets"
WHY = {
    NoStakes.ROUNDING: "whatever the division in whole steps, an outcome may lose; take a larger total",
    NoStakes.LIMIT: "a stake is above the known limit of its price; take a smaller total",
}


def add_options(surebets: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    surebets.add_argument(
        "--total", default="100", metavar="AMOUNT", help="the money to divide; default: %(default)s"
    )
    surebets.add_argument(
        "--step",
        default="0.01",
        metavar="AMOUNT",
        help="stakes are multiples of it; default: %(default)s",
    )
    add_url(surebets)


def run(given: argparse.Namespace) -> Exit:
    """Print the surebets. Raises: ServiceUnreachableError."""
    sys.stdout.writelines(f"{line}\n" for line in surebet_lines(given))
    return Exit.STOPPED


def surebet_lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of each surebet with its stakes, by kick-off. Raises: ServiceUnreachableError."""
    asked = urlencode({"total": given.total, "step": given.step})
    found = answer(given, f"{PATH}?{asked}", FixtureList)
    if not found.fixtures:
        yield "no surebet now"
    for fixture in found.fixtures:
        yield from _lines(fixture)


def _lines(fixture: FixtureV2) -> Iterator[str]:
    if (surebet := fixture.surebet) is None:
        return
    when = "kick-off unknown"
    if fixture.start_time is not None:
        when = f"{datetime.fromtimestamp(fixture.start_time, UTC):%Y-%m-%d %H:%M} UTC"
    yield f"{fixture.home} v {fixture.away}, {fixture.league}, {when}: {surebet.profit:.2%}"
    found = fixture.stakes
    amounts = found.amounts if isinstance(found, StakesV2) else (None,) * len(surebet.legs)
    for leg, amount in zip(surebet.legs, amounts, strict=True):
        stake = f"{leg.stake:.1%}" if amount is None else f"{amount:.2f}"
        taken = f", takes {leg.commission:.1%}" if leg.commission else ""
        where = f"{leg.bookmaker}{taken}, {leg.age_s:.0f} s old"
        yield f"  {leg.outcome}  {stake:>12}  at {leg.odds:g}  {where}"
    if isinstance(found, StakesV2):
        yield f"  of {found.staked:.2f} returns at least {found.returned:.2f}, a gain of {found.gain:.2f}"
    elif isinstance(fixture.stakes_reason, NoStakes):
        yield f"  no stakes: {WHY[fixture.stakes_reason]}"
