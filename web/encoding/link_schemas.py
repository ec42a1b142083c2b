"""The JSON of links for operators (docs/operations.md): evidence, and suggestions for the file of links."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from actors.matching.event import Event
from actors.matching.evidence import Evidence
from actors.matching.rules import Objection, Rule
from web.encoding.schemas import Version


class LinkEvent(Struct, frozen=True):
    """An event as its source lists it, and its fixture."""

    fixture: str
    source: str
    source_match_id: str
    home: str
    away: str
    league: str | None
    scope: str
    start_time: int | None


class RuleCheck(Struct, frozen=True):
    """One way in which a rule can hold; `lacks` says what the evidence lacks, empty if the rule holds."""

    rule: Rule
    lacks: str


class PairExplained(Struct, frozen=True):
    """The evidence for linking events a and b; `rule` links them, or `reason` is why they are not linked.

    `text` is for the file of links: it separates linked events, and links other events. It may be empty.
    """

    a: LinkEvent
    b: LinkEvent
    linked: bool
    rule: Rule | None
    reason: Objection | None
    evidence: Evidence
    rules: tuple[RuleCheck, ...]
    text: str


class LinksExplained(Struct, frozen=True):
    """Pairs of events; none if the linker does not run."""

    version: Version
    linking: bool
    pairs: tuple[PairExplained, ...]


class LinkSuggestion(Struct, frozen=True):
    """Two events that are not linked, and a text for the file of links that would settle `gain` such pairs.

    The text is empty if the file of links cannot settle them.
    """

    a: LinkEvent
    b: LinkEvent
    reason: Objection
    rank: float
    evidence: Evidence
    gain: int
    text: str


class SpellingSuggestion(Struct, frozen=True):
    """A text for the file of links that makes two names the same team; it makes `gain` likely links sure.

    Among these links, the link of a and b has held longest: since `since` (Unix seconds) their prices have
    agreed, at most `price_gap` apart.
    """

    a: LinkEvent
    b: LinkEvent
    rule: Rule
    since: float
    price_gap: float
    gain: int
    text: str


class LinkSuggestions(Struct, frozen=True):
    """Abstentions, the most useful first; none if the linker does not run.

    `absent` has lines of the file of links whose events are not on the board, `doubtful` lines that may be
    wrong by now. `spellings` come from links that have held for an hour.
    """

    version: Version
    linking: bool
    abstentions: dict[str, int]
    absent: tuple[str, ...]
    doubtful: tuple[str, ...]
    suggestions: tuple[LinkSuggestion, ...]
    spellings: tuple[SpellingSuggestion, ...]


class EntryAge(Struct, frozen=True):
    """When its source last vouched for an entry's price, and when the price last changed (Unix seconds).

    No source vouches for a collected price.
    """

    confirmed_at: float | None
    updated: float


class FixtureAges(Struct, frozen=True):
    """The entries of a fixture by id; `at` is the service's current time.

    `market` is present for a market other than 1X2.
    """

    version: Version
    at: float
    id: str
    entries: dict[str, EntryAge]
    market: str | UnsetType = UNSET


def link_event(event: Event, fixture: str) -> LinkEvent:
    """Return the public form of an event."""
    names = event.home, event.away, event.league, event.scope
    return LinkEvent(fixture, event.source, event.source_match_id, *names, event.start_time)
