"""The parts of a batch by kind of market."""

from __future__ import annotations

from msgspec.structs import replace

from actors.board.kinds import parts
from actors.core.cooperative import run_now
from actors.core.messages import Removal, SourceMatchId, market_id
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import batch, match

BASE = match("m1")
OU = BASE.of_market(parsed("over_under:2.5"), (1.9, 1.9))
KINDS = (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.BTTS)


def test_each_kind_gets_its_matches_and_removals() -> None:
    """A plain id belongs to 1X2; all other fields of the batch are the same in each part."""
    gone = market_id(BASE.source_match_id, parsed("btts"))
    removals = [Removal(SourceMatchId("m2"), "price"), Removal(gone, "price")]
    whole = replace(batch([BASE, OU], removals=removals), kinds=KINDS)
    found = run_now(parts(whole))

    assert KINDS == (*found,)
    assert [(BASE,), (OU,), ()] == [part.matches for part in found.values()]
    assert [["m2"], [], [gone]] == [[it.source_match_id for it in part.removals] for part in found.values()]
    assert {replace(whole, matches=(), removals=(), kinds=())} == {
        replace(part, matches=(), removals=(), kinds=()) for part in found.values()
    }


def test_kind_that_a_list_was_not_asked_for_gets_no_part() -> None:
    """The list says nothing about such a kind, so the entries of that kind from another list stay."""
    found = run_now(parts(replace(batch([OU]), kinds=(Kind.OVER_UNDER,))))

    assert [Kind.OVER_UNDER] == [*found]


def test_batch_of_1x2_alone_is_its_own_part() -> None:
    """A service without other markets therefore makes no copy of a batch."""
    whole = batch([BASE])

    assert whole is run_now(parts(whole))[Kind.ONE_X_TWO]


def test_removal_of_an_unknown_market_is_of_no_part() -> None:
    """No entry of an unknown kind of market can be on a board, so its removal is left out."""
    whole = replace(batch(removals=[Removal(SourceMatchId("m1 corners:9.5"), "price")]), kinds=KINDS)

    assert not any(part.removals for part in run_now(parts(whole)).values())
