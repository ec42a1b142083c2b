"""Random lives: rules report each true transition once and nothing else, compared with HTTP answers."""

from __future__ import annotations

import pytest

from tests.support.rule_lives import lives


@pytest.mark.timeout(7200)
def test_rules_tell_each_true_transition_once(*, is_long: bool, is_whole: bool) -> None:
    """Sources fail, links begin and end, prices come, go and return, rules and kick-offs change.

    The HTTP answers of all versions show exactly the transitions that the rules reported.
    """
    lived = lives("0", 10_000 if is_whole else 100 if is_long else 40)

    assert [] == lived.wrong
    assert {"price", "move", "surebet", "value", "kickoff"} == {
        each.partition(" ")[0] for each in lived.told
    }
