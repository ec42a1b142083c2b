"""Fixtures at their kick-off, for bets: the certainty of the link of each close."""

from __future__ import annotations

import pytest

from actors.matching.rules import Certainty
from web.cli.closes import link_of

SURE, LIKELY = Certainty.SURE, Certainty.LIKELY


@pytest.mark.parametrize(
    ("members", "link"),
    [
        ([("m1", SURE), ("m2", LIKELY)], SURE),
        ([("m1", LIKELY), ("m2", SURE)], LIKELY),
        ([("m1", SURE), ("m1", LIKELY)], LIKELY),
        ([("m1", SURE), ("m1", None)], None),
        ([("m1", None)], None),
        ([("m2", SURE)], None),
    ],
)
def test_a_close_is_as_sure_as_its_member(
    members: list[tuple[str, Certainty | None]], link: Certainty | None
) -> None:
    """If two sources have an entry with the same id, the less certain link counts."""
    assert link is link_of("alder_m1", "alder", members)
