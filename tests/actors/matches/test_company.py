"""Several sources may list one company: only the price of the company that was confirmed last counts."""

from __future__ import annotations

import pytest

from actors.core.clock import Instant
from actors.core.messages import Prices, SourceName
from actors.matches.entries import live_quotes
from actors.matches.fair import consensus_of
from actors.matches.model import BookmakerInfo, FixtureSettings, Highest, roster_of
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

ONE, OTHER, THIRD = (2.2, 3.9, 3.0), (2.0, 3.0, 4.2), (2.1, 3.3, 3.3)


def _board(company: str, prices: Prices = Prices.LIVE) -> LinkedBoard:
    """Return a board on which alder and birch belong to that company, and cedar does not."""
    roster = roster_of(
        {
            ALDER: BookmakerInfo(SourceName("two"), company="bet"),
            BIRCH: BookmakerInfo(SourceName("one"), prices, company=company),
            CEDAR: BookmakerInfo(SourceName("two")),
        }
    )
    board = LinkedBoard(FixtureSettings(roster))
    board.apply(batch([match("a", prices=THIRD)], bookmaker=CEDAR))
    board.apply(batch([match("a", prices=ONE)], bookmaker=ALDER, received_mono=-1.0))
    board.apply(batch([match("b", prices=OTHER)], bookmaker=BIRCH, received_mono=-0.5))
    board.link()
    return board


@pytest.mark.parametrize(
    ("company", "prices", "highest", "outdone"),
    [
        ("bet", Prices.LIVE, Highest((2.1, 3.3, 4.2)), {ALDER: BIRCH}),
        ("bet", Prices.COLLECTED, Highest((2.2, 3.9, 3.3)), {BIRCH: ALDER}),
        ("", Prices.LIVE, Highest((2.2, 3.9, 4.2)), {}),
    ],
)
def test_price_that_was_confirmed_last_counts(
    company: str, prices: Prices, highest: Highest, outdone: dict[str, str]
) -> None:
    """A collected price, of which only the file is confirmed, counts only if there is no live price."""
    (fixture,) = _board(company, prices).fixtures()

    assert (highest, outdone) == (fixture.highest, fixture.outdone)
    assert 3 == len(fixture.entries)


def test_price_confirmed_later_counts_from_the_next_change_of_the_fixture_on() -> None:
    """A confirmation alone makes no version of the fixture."""
    board = _board("bet")
    board.apply(batch([], bookmaker=ALDER, complete=False, received_mono=0.0))
    version, before = board.snapshot.version, board.fixtures()[0].outdone
    board.apply(batch([match("a", prices=(2.1, 3.3, 3.2))], bookmaker=CEDAR, complete=False))

    assert {ALDER: BIRCH} == before
    assert {BIRCH: ALDER} == board.fixtures()[0].outdone
    assert version == board.snapshot.version - 1


def test_two_prices_of_a_company_make_no_surebet_and_count_once_for_fair_odds() -> None:
    """The prices of alder and birch make a surebet, unless the two belong to one company."""
    for company, is_there in (("bet", False), ("", True)):
        board = _board(company)
        for second in (3.0, 6.0):
            board.now = Instant(second, WALL_0 + second)
            board.expire()
        (fixture,) = board.fixtures()

        assert is_there == (fixture.surebet is not None)
        assert is_there == (consensus_of(live_quotes(fixture, board.state.terms)) is not None)


def test_older_price_of_a_company_does_not_count_while_the_newer_list_fails() -> None:
    """Alder's price was asked for before birch's price, which may have changed since then."""
    board = _board("bet")
    board.apply(batch([match("a", prices=(2.2, 3.2, 4.2))], bookmaker=CEDAR))
    board.apply(batch([match("a", prices=(2.0, 3.8, 3.0))], bookmaker=ALDER, received_mono=-0.8))
    board.apply(batch([match("b", prices=(2.0, 3.9, 3.0))], bookmaker=BIRCH, received_mono=-0.5))
    shown = []
    for second in range(8):
        board.now = Instant(float(second), WALL_0 + second)
        if second == 4:
            board.fail(BIRCH, 4.0)
        board.expire()
        surebet = board.fixtures()[0].surebet
        shown.append(None if surebet is None else surebet.legs[1].bookmaker)

    assert [None, None, BIRCH, BIRCH, None, None, None, None] == shown
