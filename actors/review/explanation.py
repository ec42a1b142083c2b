"""Explains why two events are linked or not; finds the nearest events that are not linked with an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.matching.clustering import Node
from actors.matching.comparison import Description, rank_with, swapped
from actors.matching.event import Chances, EventKey
from actors.matching.evidence import Evidence, Likeness
from actors.matching.matcher import Matcher
from actors.matching.rules import CONDITIONS, Condition, Group, Objection, Relation, Rule, lacks, price_gap

NEAR = 0.9  # the least rank of a reported pair

Prices: TypeAlias = Callable[[EventKey], Chances | None]
"""Returns the probabilities in an event's prices, such as those on the board."""


class Explanation(Struct, frozen=True):
    """The finding about two events: the rule that links them, or the reason against a link.

    Events linked only through others have no rule. `lacks` has each way in which a rule can hold, in order,
    with the missing evidence ("" if the rule holds).
    """

    rule: Rule | None
    reason: Objection | None
    evidence: Evidence
    lacks: tuple[tuple[Rule, str], ...]
    is_linked: bool


class Abstention(Struct, frozen=True):
    """Two similar events that are not linked; the evidence compares `a` with `b`."""

    a: EventKey
    b: EventKey
    reason: Objection
    rank: float
    evidence: Evidence


class _Found(Struct, frozen=True):
    """An event similar to another one; `condition` is None if no rule holds."""

    node: Node
    relation: Relation
    gap: float | None
    condition: Condition | None

    @property
    def rank(self) -> float:
        return rank_with(self.relation, self.condition, self.gap)


def explain(matcher: Matcher, a: EventKey, b: EventKey, prices: Prices | None = None) -> Explanation | None:
    """Return the evidence about two events at these prices; None if the matcher lacks one of them.

    Without `prices`, the matcher's newest prices are used.
    """
    node, other, compare = matcher.node(a), matcher.node(b), matcher.comparator
    if node is None or other is None:
        return None
    prices = prices or matcher.chances
    gap = price_gap(prices(a), prices(b))
    evidence = compare.evidence(node.description, other.description, gap)
    relation = compare.relation(node.description, other.description)
    holds = None if relation is None else relation.condition(gap)
    is_linked = node.group is not None and node.group is other.group
    if is_linked:
        rule, reason = _rule_in(node.group or (), a, b) or (holds.rule if holds else None), None
    else:
        rule, reason = None, _reason(matcher, node, other, gap)
    lacking = _shortfalls(evidence)
    if relation is None or not relation.conditions:  # a decision by hand overrules the rules
        why = str(reason or Objection.NAME)
        is_forbidden = relation is not None and relation.bearable < 0
        lacking = tuple((each, why if is_forbidden else lack or why) for each, lack in lacking)
    return Explanation(rule, reason, evidence, lacking, is_linked=is_linked)


def nearest(
    matcher: Matcher, keys: Iterable[EventKey], prices: Prices | None = None
) -> Sliced[list[Abstention]]:
    """Return the nearest unlinked candidate of each event without a link, and of each group."""
    found: list[Abstention] = []
    for key in keys:
        node = matcher.node(key)
        if node is not None and (node.group is None or node.group[0].key == key):
            candidate = _nearest(matcher, node, prices or matcher.chances)
            if candidate is not None:
                found.append(candidate)
        yield
    return found


def in_order(found: Iterable[Abstention]) -> tuple[Abstention, ...]:
    """Return each pair once, the highest rank first; pairs with home and away swapped come last."""
    pairs = {(min(pair.a, pair.b), max(pair.a, pair.b)): pair for pair in found}
    return tuple(sorted(pairs.values(), key=lambda pair: (-pair.rank, pair.a, pair.b)))


def _rule_in(group: Group, a: EventKey, b: EventKey) -> Rule | None:
    """Return the rule that links two members directly, None if they are linked through others."""
    return next((member.rule for member in group if (member.key, member.to) in {(a, b), (b, a)}), None)


def _nearest(matcher: Matcher, node: Node, prices: Prices) -> Abstention | None:
    """Return an event's nearest candidate outside its group, of a source that the group lacks."""
    event, group = node.event, node.group or ()
    sources = {member.key.source for member in group} | {event.source}
    near = [
        found
        for found in _resembling(matcher, node, node.description, prices)
        if found.rank >= NEAR and found.node.event.source not in sources
    ]
    if not near:
        return None if group else _swapped(matcher, node)
    best = min(near, key=lambda found: (-found.rank, found.node.event.key))
    reason = _reason(matcher, node, best.node, best.gap)
    return Abstention(event.key, best.node.event.key, reason, best.rank, _evidence(matcher, node, best))


def _swapped(matcher: Matcher, node: Node) -> Abstention | None:
    """Return an event that lists the same match with home and away swapped, if any."""
    there = [
        found
        for found in _resembling(matcher, node, swapped(node.description), lambda _: None)
        if found.condition is not None and found.node.group is None
    ]
    if not there:
        return None
    found = min(there, key=lambda resembling: resembling.node.event.key)
    evidence = matcher.comparator.evidence(swapped(node.description), found.node.description, found.gap)
    return Abstention(node.event.key, found.node.event.key, Objection.SWAPPED, 0.0, evidence)


def _resembling(matcher: Matcher, node: Node, description: Description, prices: Prices) -> Iterator[_Found]:
    """Yield events of other sources that are similar to `description`, in no order."""
    chances = prices(node.event.key)
    for other in matcher.index.find(description):
        if (relation := matcher.comparator.relation(description, other)) is not None:
            for there in matcher.others(other, node.event.source):
                gap = price_gap(chances, prices(there.event.key))
                yield _Found(there, relation, gap, relation.condition(gap))


def _evidence(matcher: Matcher, node: Node, found: _Found) -> Evidence:
    return matcher.comparator.evidence(node.description, found.node.description, found.gap)


def _reason(matcher: Matcher, a: Node, b: Node, gap: float | None) -> Objection:
    """Return why two events, whose prices are `gap` apart, are not linked."""
    if b.event.key in matcher.overridden.must_not.of(a.event.key):
        return Objection.MUST_NOT
    if matcher.comparator.is_swapped(a.description, b.description):
        return Objection.SWAPPED
    relation = matcher.comparator.relation(a.description, b.description)
    if relation is None:
        names = matcher.comparator.evidence(a.description, b.description, None)
        is_same = min(names.home.likeness, names.away.likeness) is Likeness.SAME
        return Objection.KICK_OFF if is_same else Objection.NAME
    if relation.condition(gap) is None:
        return Objection.PRICES if relation.conditions else relation.reason
    members = {member.key for node in (a, b) for member in node.group or ()} - {a.event.key, b.event.key}
    return Objection.MEMBER if members else Objection.TWO_CANDIDATES


def _shortfalls(evidence: Evidence) -> tuple[tuple[Rule, str], ...]:
    """Return each way in which a rule can hold, with the missing evidence ("" if none is missing)."""
    worse, better = sorted((evidence.home.likeness, evidence.away.likeness))
    far = float("inf") if evidence.kickoff_delta_s is None else abs(evidence.kickoff_delta_s)
    gap = evidence.price_gap
    found = []
    for condition in CONDITIONS:
        lack = lacks(condition, better, worse, far, evidence.league, evidence.country)
        if not lack and (condition.priced if gap is None else gap > condition.gap):
            lack = "prices"
        found.append((condition.rule, lack))
    return tuple(found)
