"""For operators: why events are linked or not, and texts for the file of links.

These answers must not be cached. No other request waits for these answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice

from msgspec.structs import replace

from actors.board.snapshot import Readable, Snapshot
from actors.core.clock import Clock
from actors.core.messages import BookmakerId, SourceMatchId, SourceName
from actors.matches.entries import event_of
from actors.matches.model import FixtureState, fixtures_of
from actors.matching.event import Event, EventKey, FixtureId
from actors.review.review import Review
from actors.review.suggestions import (
    SpellingSuggestion,
    Suggestion,
    spelling_suggestions,
    suggestions,
    text_of_decision,
)
from web.encoding import link_schemas as schemas
from web.feeds.own_bodies import OwnBodies
from web.protocol.contract import CLOSED, Answer, Operation
from web.protocol.problems import Problem
from web.protocol.query import Parameter
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

EXPLAIN, COMPARE = "/monitor/links/{id}", "/monitor/links/{id}/{other}"
SUGGEST = "/monitor/abstentions/{count}"
MAX_PAIRS = 64
_DIGITS = re.compile("[0-9]{1,4}", re.ASCII)

_WHAT = "The id of a fixture or of an entry, or `SOURCE:ID` of an event."
ID = Parameter("id", _WHAT, is_required=True, place="path")
OTHER = Parameter("other", _WHAT, is_required=True, place="path")
COUNT = Parameter(
    "count", "The number of suggestions, up to 9999.", {"type": "integer"}, is_required=True, place="path"
)

_HEADERS = ("Cache-Control",)
OPERATIONS = {
    EXPLAIN: Operation(
        "Why events are one match, or not",
        f"The links of its fixture, and the nearest candidates; {MAX_PAIRS} pairs at most.",
        (Answer(200, "The evidence.", schemas.LinksExplained, headers=_HEADERS),),
        (ID,),
        ("not_found", *CLOSED),
    ),
    COMPARE: Operation(
        "Why two events are one match, or not",
        f"For two fixtures, each event of one with each event of the other; {MAX_PAIRS} pairs at most.",
        (Answer(200, "The evidence.", schemas.LinksExplained, headers=_HEADERS),),
        (ID, OTHER),
        ("not_found", *CLOSED),
    ),
    SUGGEST: Operation(
        "Unlinked candidates, and suggestions for the file of links",
        "The nearest candidates, the most useful first. A large board takes some time.",
        (Answer(200, "The abstentions.", schemas.LinkSuggestions, headers=_HEADERS),),
        (COUNT,),
        ("not_found", *CLOSED),
    ),
}


def handlers(board: Readable, clock: Clock, review: Review | None, own: OwnBodies) -> dict[str, Handler]:
    """Return the handlers by path; `own` limits long answers."""
    links = _Links(board, clock, review or Review(), own)
    return {
        EXPLAIN: links.explain,
        COMPARE: links.compare,
        SUGGEST: links.suggest,
    }


@dataclass(frozen=True, slots=True)
class _Links:
    board: Readable
    clock: Clock
    review: Review
    own: OwnBodies

    async def explain(self, request: Asked) -> Prepared:
        snapshot = await self.board.read()
        state = fixtures_of(snapshot)
        keys = _keys(state, _last(request))
        fixture, nearest = state.of_event(keys[0]), await self.review.nearest(state, keys)
        links = [(member.key, member.to) for member in fixture.members] if fixture else []
        pairs = [(a, b) for a, b in links if b is not None] + [(pair.a, pair.b) for pair in nearest]
        return await self._explained(snapshot, pairs)

    async def compare(self, request: Asked) -> Prepared:
        snapshot = await self.board.read()
        state = fixtures_of(snapshot)
        first, other = (_keys(state, given) for given in request.path.split("/")[-2:])
        return await self._explained(snapshot, ((a, b) for a in first for b in other if a != b))

    async def _explained(self, snapshot: Snapshot, pairs: Iterable[tuple[EventKey, EventKey]]) -> Prepared:
        state = fixtures_of(snapshot)
        found = [await self._pair(state, a, b) for a, b in islice(pairs, MAX_PAIRS)]
        linking = self.review.matcher is not None
        return prepared_json(
            schemas.LinksExplained(
                snapshot.version, linking, tuple(link for link in found if link is not None)
            )
        )

    async def suggest(self, request: Asked) -> Prepared:
        if not _DIGITS.fullmatch(count := _last(request)):
            raise Problem(
                404, "not_found", f"the number of suggestions was {count[:64]!r}, must be 0 to 9999"
            )
        snapshot = await self.board.read()
        survey = await self.review.all(snapshot)
        state = fixtures_of(await self.board.read())
        abstentions, overrides = () if survey is None else survey.abstentions, self.review.overrides
        found: list[Suggestion] = []
        named: list[SpellingSuggestion] = []
        if (most := int(count)) > 0:
            of_key, long = partial(_event, state), self.review.standing.long(self.clock.now())
            found = await self.own.run(suggestions(abstentions, of_key, overrides, most), request.client)
            spelled = spelling_suggestions(long, of_key, overrides, found, most)
            named = await self.own.run(spelled, request.client)
        some = tuple(filter(None, (_suggestion(state, suggestion) for suggestion in found)))
        reasons = {} if survey is None else {str(reason): count for reason, count in survey.reasons.items()}
        by_hand = ((), ()) if survey is None else (survey.absent, survey.doubtful)
        linking = self.review.matcher is not None
        of_names = tuple(filter(None, (_spelling(state, suggestion) for suggestion in named)))
        answer = prepared_json(
            schemas.LinkSuggestions(snapshot.version, linking, reasons, *by_hand, some, of_names)
        )
        return replace(answer, holds=self.own.hold(answer.parts))

    async def _pair(self, state: FixtureState, a: EventKey, b: EventKey) -> schemas.PairExplained | None:
        of_a, of_b, found = _event(state, a), _event(state, b), await self.review.explain(state, a, b)
        first, other = shown_event(state, a), shown_event(state, b)
        if found is None or first is None or other is None:
            return None
        return schemas.PairExplained(
            first,
            other,
            found.is_linked,
            found.rule,
            found.reason,
            found.evidence,
            tuple(schemas.RuleCheck(rule, lacks) for rule, lacks in found.lacks),
            "" if not (of_a and of_b) else text_of_decision(found, of_a, of_b),
        )


def _last(request: Asked) -> str:
    return request.path.rpartition("/")[2]


def _keys(state: FixtureState, given: str) -> tuple[EventKey, ...]:
    """Return the events with this id. Raises: Problem 404 if nothing on the board has it."""
    if (fixture := state.get(FixtureId(given))) is not None:
        return tuple(member.key for member in fixture.members)
    source, _, match_id = given.partition(":")
    bookmaker, _, entry_id = given.partition("_")
    listed = state.terms.roster.get(BookmakerId(bookmaker))
    keys = [EventKey(SourceName(source), SourceMatchId(match_id))]
    if listed is not None:
        keys.append(EventKey(listed.source, SourceMatchId(entry_id)))
    for key in keys:
        if state.of_event(key) is not None:
            return (key,)
    must = "must be that of a fixture or of an entry, or SOURCE:ID"
    raise Problem(404, "not_found", f"nothing on the board has the id {given[:200]!r}, which {must}")


def _event(state: FixtureState, key: EventKey) -> Event | None:
    fixture = state.of_event(key)
    return None if fixture is None else event_of(fixture, key, state.terms.roster)


def shown_event(state: FixtureState, key: EventKey) -> schemas.LinkEvent | None:
    """Return an event with its fixture; None if no source lists it."""
    event, fixture = _event(state, key), state.of_event(key)
    return None if event is None or fixture is None else schemas.link_event(event, fixture.id)


def _suggestion(state: FixtureState, suggestion: Suggestion) -> schemas.LinkSuggestion | None:
    found = suggestion.abstention
    a, b = shown_event(state, found.a), shown_event(state, found.b)
    if a is None or b is None:
        return None
    return schemas.LinkSuggestion(
        a, b, found.reason, found.rank, found.evidence, suggestion.gain, suggestion.text
    )


def _spelling(state: FixtureState, suggestion: SpellingSuggestion) -> schemas.SpellingSuggestion | None:
    link = suggestion.link
    a, b = shown_event(state, link.a), shown_event(state, link.b)
    if a is None or b is None:
        return None
    return schemas.SpellingSuggestion(
        a, b, link.rule, link.since.wall, link.price_gap, suggestion.gain, suggestion.text
    )
