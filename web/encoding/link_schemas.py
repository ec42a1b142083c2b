"""The JSON of links for operators (docs/operations.md): evidence, and the gain of a line by hand."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from actors.matching.event import Event
from actors.matching.evidence import Evidence
from actors.matching.rules import Objection, Rule
from web.encoding.schemas import Version


class LinkEvent(Struct, frozen=True):
    """A match as a source lists it, and its fixture."""

    fixture: str
    source: str
    source_match_id: str
    home: str
    away: str
    league: str | None
    scope: str
    start_time: int | None


class RuleCheck(Struct, frozen=True):
    """One way in which a rule can hold, and what the evidence lacks for it; empty if it holds."""

    rule: Rule
    lacks: str


class PairExplained(Struct, frozen=True):
    """The evidence about two events, that of a against b; `rule` links them, `reason` is against it.

    `text` is for the file of links: it keeps linked events apart, and links others. It may be empty.
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
    """Pairs of events; without the linker there are none."""

    version: Version
    linking: bool
    pairs: tuple[PairExplained, ...]


class LinkSuggestion(Struct, frozen=True):
    """Two events that are not linked, and a text for the file of links that would settle `gain` such pairs.

    No text: nothing there would.
    """

    a: LinkEvent
    b: LinkEvent
    reason: Objection
    rank: float
    evidence: Evidence
    gain: int
    text: str


class SpellingSuggestion(Struct, frozen=True):
    """A text for the file of links that makes two names one team's, of `gain` links that are likely only.

    The link of a and b is the one that stood longest: since `since` (Unix seconds) its prices agreed, at
    most `price_gap` apart.
    """

    a: LinkEvent
    b: LinkEvent
    rule: Rule
    since: float
    price_gap: float
    gain: int
    text: str


class LinkSuggestions(Struct, frozen=True):
    """Abstentions, the likely gain first; without the linker there are none.

    Of the file of links `absent` has what is not on the board, `doubtful` what may be wrong by now.
    `spellings` are of links that stood for an hour.
    """

    version: Version
    linking: bool
    abstentions: dict[str, int]
    absent: tuple[str, ...]
    doubtful: tuple[str, ...]
    suggestions: tuple[LinkSuggestion, ...]
    spellings: tuple[SpellingSuggestion, ...]


class EntryAge(Struct, frozen=True):
    """When its source last vouched for an entry's price, and when that last changed: Unix seconds.

    A price that is only collected is never vouched for.
    """

    confirmed_at: float | None
    updated: float


class FixtureAges(Struct, frozen=True):
    """The entries of a fixture by id, `at` this time of the service.

    They are of another `market` than 1X2 if that is given.
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
