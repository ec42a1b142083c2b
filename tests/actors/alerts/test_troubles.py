"""Rules about sources and about the file of links: which transitions of the log they follow."""

from __future__ import annotations

from actors.alerts.alert import Alert
from actors.alerts.rules.rule import LinkRule, SourceRule
from actors.alerts.rules.transitions import Moment
from actors.alerts.rules.troubles import Troubles
from actors.runtime.facts import Transition


def test_a_rule_follows_its_sources_or_the_file_of_links_alone() -> None:
    """A fault of the file of links fires no source rule, and a source's fault fires no rule on links."""
    told: list[Alert] = []
    to = ("phone",)
    rules = (
        LinkRule(name="link", to=to),
        SourceRule(name="any", to=to),
        SourceRule(name="b", to=to, source="b"),
    )
    troubles = Troubles(rules, lambda _: True, told.append)
    facts = [
        ("source.down", {"source": "a"}),
        ("links.rejected", {"error": "line 3"}),
        ("source.recovered", {"source": "a"}),
        ("links.replaced", {}),
    ]
    said = []
    for number, (kind, why) in enumerate(facts):
        told.clear()
        troubles.take(
            Transition(kind, "", float(number), why), Moment(number, 0, float(number), float(number))
        )
        said.append([f"{alert.rule} {alert.state}" for alert in told])

    assert [["any firing"], ["link firing"], ["any resolved"], ["link resolved"]] == said
