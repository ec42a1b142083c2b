"""Withdrawn lists in the log: changes that belong together are one line."""

from __future__ import annotations

import pytest
import structlog
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId, Scope, SourceName
from actors.monitoring.outages import Outage

LOG = structlog.get_logger()
LISTS = 4

WITHDRAWN, RESTORED = "withdrawn", "restored"


def _play(script: str, *, is_down: bool) -> list[tuple[int, str, int]]:
    """Play the numbers of withdrawn lists, one a second; return second, event and lists still withdrawn."""
    outage, lines = Outage(), []
    for second, count in enumerate(script):
        gone = frozenset((BookmakerId("alder"), Scope(f"league-{number}")) for number in range(int(count)))
        with capture_logs() as logs:
            outage.note(SourceName("source"), gone, LISTS, float(second), LOG, is_down=is_down)
        lines += [
            (second, line["event"].removeprefix("bookmaker."), line["lists_withdrawn"]) for line in logs
        ]
    return lines


@pytest.mark.parametrize(
    ("script", "logged"),
    [
        pytest.param("0000", [], id="all is well"),
        pytest.param("01234", [(4, WITHDRAWN, 4)], id="one after the other, until all are"),
        pytest.param("0444" + "3210", [(1, WITHDRAWN, 4), (7, RESTORED, 0)], id="and back"),
        pytest.param("01" + "2" * 12, [(12, WITHDRAWN, 2)], id="some, and then quiet"),
        pytest.param("0110", [(3, WITHDRAWN, 0), (3, RESTORED, 0)], id="back before it was logged"),
        pytest.param("0" + "12" * 40, [(61, WITHDRAWN, 1), (61, RESTORED, 1)], id="never quiet"),
    ],
)
def test_changes_that_belong_together_are_a_line(script: str, logged: list[tuple[int, str, int]]) -> None:
    """A line comes when all lists or none are withdrawn, after 10 s without a change, or after 60 s."""
    assert logged == _play(script, is_down=False)


EVERY_GROUP = [(11, WITHDRAWN, 1), (26, WITHDRAWN, 2), (41, WITHDRAWN, 3), (48, WITHDRAWN, 4)]


@pytest.mark.parametrize(
    ("is_down", "logged"), [(True, [EVERY_GROUP[0], EVERY_GROUP[-1]]), (False, EVERY_GROUP)]
)
def test_slow_outage_of_a_whole_source_is_two_lines(
    logged: list[tuple[int, str, int]], *, is_down: bool
) -> None:
    """If the source is down, only the first lists and then all are logged; otherwise each group is."""
    assert logged == _play("0" + "1" * 15 + "2" * 15 + "3" * 17 + "4", is_down=is_down)
