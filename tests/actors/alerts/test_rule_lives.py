"""Rules tell each true transition once and nothing else, over random lives, by an oracle of HTTP."""

from __future__ import annotations

import pytest

from tests.support.rule_lives import lives


@pytest.mark.timeout(7200)
def test_rules_tell_each_true_transition_once(*, is_long: bool, is_whole: bool) -> None:
    """Sources go dark, links are made and ended, prices come, go and are back, rules and kick-offs change.

    What HTTP served at each version has all the transitions that were told, and no others.
    """
    lived = lives("0", 10_000 if is_whole else 100 if is_long else 40)

    assert [] == lived.wrong
    assert {"price", "move", "surebet", "value", "kickoff"} == {
        each.partition(" ")[0] for each in lived.told
    }
