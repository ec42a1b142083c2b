"""Groups of events that are one match, and what holds each together."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from actors.matching.event import EventKey
from actors.matching.evidence import Evidence
from actors.matching.rules import Rule


class Member(Struct, frozen=True, gc=False):
    """An event in its group, with the rule that links it with the event `to`, by `basis` and prices.

    The link holds while their prices are at most `max_price_gap` apart. `to` is the first, or a step nearer
    to it; the first member has rule `first` and no link. In the basis,
    the evidence but for the prices, this event is a, the other b.
    """

    key: EventKey
    rule: Rule
    to: EventKey | None = None
    basis: Evidence | None = None
    price_gap: float | None = None
    max_price_gap: float = inf

    @property
    def evidence(self) -> Evidence | None:
        """All evidence of the link."""
        return None if self.basis is None else replace(self.basis, price_gap=self.price_gap)


Group: TypeAlias = tuple[Member, ...]  # two or more members, ordered by key; at most one event of a source
Members: TypeAlias = dict[EventKey, Member]  # those of a group, the first first


def group_of(members: Members) -> Group:
    """Return the group of these members."""
    return tuple([members[key] for key in sorted(members)])
