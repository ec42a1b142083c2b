"""The rules about sources and about the file of links: they follow the transitions of the log. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from actors.alerts.alert import Alert, State
from actors.alerts.rules.rule import Limit, LinkRule, SourceRule
from actors.alerts.rules.transitions import Moment, Reading, Transitions
from actors.alerts.rules.wording import Trouble, trouble_alert
from actors.runtime.facts import Transition

TroubleRule = SourceRule | LinkRule
LINKS = "links"
_ANY = Limit(1.0, 1.0)
_OF_SOURCE = {
    "source.down": True,
    "source.recovered": False,
    "scope.lost": True,
    "scope.recovered": False,
    "bookmaker.withdrawn": True,
    "bookmaker.restored": False,
}
_OF_LINKS = {"links.rejected": True, "links.empty": True, "links.replaced": False}
KINDS = frozenset({*_OF_SOURCE, *_OF_LINKS})
"""The kinds of transition that rules follow."""


class Troubles:
    """The present troubles of each source, and of the file of links.

    `was_up` says whether a source has answered in this life of the service: a source that never did is in
    trouble from the start, which is noted. `offer` gets each alert; it must not wait.
    """

    def __init__(
        self, rules: Iterable[TroubleRule], was_up: Callable[[str], bool], offer: Callable[[Alert], None]
    ) -> None:
        self._was_up, self._offer = was_up, offer
        self._rules: dict[str, TroubleRule] = {}
        self._transitions: dict[str, Transitions] = {}
        self._open: dict[str, dict[str, str]] = {}
        self._now = Moment(0, 0, 0.0, 0.0)
        self.replace(rules)

    def replace(self, rules: Iterable[TroubleRule]) -> None:
        """Take other rules; unchanged rules keep their states, and what holds for the new ones is noted."""
        new = {rule.name: rule for rule in rules}
        for name, rule in new.items():
            if self._rules.get(name) != rule:
                made = self._transitions[name] = Transitions(_ANY, rule.for_s, rule.cooldown_s)
                for subject, found in self._open.items():
                    if _is_about(rule, subject):
                        made.read(subject, Reading(float(bool(found))), self._now)
        self._transitions = {name: self._transitions[name] for name in new}
        self._rules = new

    def next_due(self) -> float:
        """Return the monotonic second at which something may happen."""
        return min([each.next_due for each in self._transitions.values()], default=inf)

    def take(self, fact: Transition, now: Moment) -> None:
        """Take a transition of the log."""
        self.pass_time(now.mono)
        self._now = now
        source, is_of_source = str(fact.why.get("source", "")), fact.kind in _OF_SOURCE
        subject = source if is_of_source else LINKS
        if is_of_source and not source:
            return
        if subject not in self._open:
            self._open[subject] = {}
            if not is_of_source or self._was_up(subject):
                self._read(subject)
        found, place = self._open[subject], _place(fact)
        if (_OF_SOURCE if is_of_source else _OF_LINKS)[fact.kind]:
            found[place] = str(fact.why.get("error") or _said(fact))
        elif not fact.why.get("lists_withdrawn"):
            found.pop(place, None)
        self._read(subject)

    def pass_time(self, mono: float) -> None:
        """Let time pass up to a monotonic second."""
        for name, transitions in self._transitions.items():
            for subject, at in transitions.due(mono):
                wall = self._now.wall + (at - self._now.mono)
                now = Moment(self._now.order, self._now.version, at, wall)
                self._tell(self._rules[name], subject, State.FIRING, now)

    def _read(self, subject: str) -> None:
        reading = Reading(float(bool(self._open[subject])))
        for name, rule in self._rules.items():
            if _is_about(rule, subject):
                told = self._transitions[name].read(subject, reading, self._now)
                if told is not None:
                    self._tell(rule, subject, told, self._now)

    def _tell(self, rule: TroubleRule, subject: str, state: State, now: Moment) -> None:
        why = next(iter(self._open[subject].values()), "")
        self._offer(trouble_alert(Trouble(rule, subject, state, now, why)))


def _is_about(rule: TroubleRule, subject: str) -> bool:
    if isinstance(rule, LinkRule):
        return subject == LINKS
    return subject != LINKS and rule.source in {None, subject}


def _place(fact: Transition) -> str:
    """Return the thing in trouble: the source, one of its scopes, its lists, or the file of links."""
    return f"{fact.kind.partition('.')[0]} {fact.why.get('scope', '')}"


def _said(fact: Transition) -> str:
    if fact.kind == "bookmaker.withdrawn":
        return f"{fact.why.get('lists_withdrawn')} of its {fact.why.get('of_lists')} lists are withdrawn"
    return "the file of links is empty" if fact.kind == "links.empty" else fact.kind
