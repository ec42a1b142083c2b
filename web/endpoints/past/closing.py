"""/api/v2/closing: each bookmaker's closing prices of the fixtures that kicked off in a span of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isinf
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.archive.lines.closings import AskedClosings, Closings, EntryClose, FixtureClose, Listed
from actors.archive.past import Days, Past
from actors.core.clock import Clock
from actors.core.messages import BookmakerId, Scope
from actors.lines.closing import Close, NoClose
from actors.matches.fair import Method
from actors.matching.leagues import league_of, league_stated
from web.endpoints.past.line_schemas import fair_of
from web.endpoints.past.lines import Body, answered, encoded, terms_of
from web.feeds.past_lists import read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, acceptable
from web.protocol.query import BOOKMAKER, FROM, LEAGUE, TO
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.span import MARKET, SpanQuery

PATH = "/api/v2/closing"
DAY_MS: Final = 86_400_000
"""The length of the span if the request has no begin."""
ENCODED = 10
"""Fixtures encoded in a step: with 50 bookmakers a millisecond, during which no other thread runs."""
Seconds = Annotated[float, Meta(description="Unix seconds")]
Outcomes = Mapping[str, float]
_encode = msgspec.json.Encoder().encode


class FirstSeen(Struct, frozen=True, omit_defaults=True):
    """The first version with a price of the entry; with `state` it is older than the searched time."""

    version: int
    time: Seconds
    state: bool = False


class EntryClosing(Struct, frozen=True, omit_defaults=True):
    """The closing price of an entry, or the `reason` why it has none.

    The price was shown until `closed_at`, at most the kick-off. `on_offer` says whether it was still shown
    at the kick-off; if not, `left` says why. `fair` are the bookmaker's own probabilities, without margin.
    """

    bookmaker: str
    name: str
    id: str
    first_seen: FirstSeen
    odds: Outcomes | UnsetType = UNSET
    closed_at: Seconds | UnsetType = UNSET
    on_offer: bool | UnsetType = UNSET
    left: str | UnsetType = UNSET
    fair: Outcomes | UnsetType = UNSET
    reason: NoClose | UnsetType = UNSET


class MemberThen(Struct, frozen=True):
    """A member at the kick-off; `link`, its certainty, is null if it was not kept."""

    source: str
    id: str
    rule: str
    link: str | None


class FixtureClosing(Struct, frozen=True):
    """The closing prices of a fixture with its last names; `fair` is the consensus at the kick-off.

    Without a consensus `fair_reason` says why. Before the kick-off `reason` is `not_started`. If the
    fixture was merged `into` another before the kick-off, the other has its entries.
    """

    id: str
    home: str
    away: str
    league: str
    start_time: int
    fair: Outcomes | None
    members: tuple[MemberThen, ...]
    closings: tuple[EntryClosing, ...]
    fair_reason: str | UnsetType = UNSET
    reason: NoClose | UnsetType = UNSET
    into: str | UnsetType = UNSET


class ClosingList(Struct, frozen=True):
    """Fixtures by kick-off and id; further fixtures, if any, kick off at `next_from` or later."""

    market: str
    method: Method
    fixtures: list[FixtureClosing]
    fixtures_count: int
    next_from: int | None


OPERATIONS = {
    PATH: Operation(
        "Closing prices",
        "The last price of each bookmaker before the final kick-off of each fixture, or why there is none.",
        (
            Answer(200, "The closing prices.", ClosingList, headers=(*CACHED, "Vary", "Content-Encoding")),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (FROM, TO, BOOKMAKER, LEAGUE, MARKET, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in (FROM, TO, BOOKMAKER, LEAGUE, MARKET)),
            *("not_acceptable", *COUNTED),
        ),
    )
}


class _Form(Struct, frozen=True):
    names: Mapping[BookmakerId, str]
    bookmaker: BookmakerId | None
    league: str | None
    coding: Coding


def handlers(live: Live, clock: Clock, past: Past | None) -> dict[str, Handler]:
    """Return the handler by path; none without an archive, or if the board does not link events."""
    if past is None or live.fixtures is None:
        return {}

    async def closing(request: Asked) -> Prepared:
        query, now_ms = SpanQuery(request.query), round(clock.now().wall * 1000)
        _, from_s, until_s, _ = query.choice()
        until_ms = now_ms + 1 if isinf(until_s) else round(until_s * 1000)
        from_ms = until_ms - DAY_MS if isinf(from_s) else round(from_s * 1000)
        asked = AskedClosings(from_ms, until_ms, now_ms, query.market(), *terms_of(live))
        coding = acceptable(request.header(b"accept-encoding"))
        form = _Form(live.names, query.bookmaker(live.names), query.choice()[0], coding)
        await past.written(live.board.newest.version)
        what = partial(_made, asked=asked, form=form)
        made = await read_for(request.client, past, live.answers.own, what)
        return answered(made, coding, request, live)

    return {PATH: closing}


def _made(days: Days, asked: AskedClosings, form: _Form) -> Body:
    """Read closing prices and encode them; runs in a thread."""
    closed = Closings(days, asked).read(_of_league(form.league))
    parts = b",".join(_steps(closed.fixtures, asked, form))
    of_fixtures: Any = msgspec.Raw(b"[" + parts + b"]")
    content = ClosingList(
        str(asked.market), asked.method, of_fixtures, len(closed.fixtures), closed.next_from
    )
    return encoded(content, form.coding)


def _steps(fixtures: Sequence[FixtureClose], asked: AskedClosings, form: _Form) -> Iterator[bytes]:
    for begin in range(0, len(fixtures), ENCODED):
        yield _encode([_fixture(of, asked, form) for of in fixtures[begin : begin + ENCODED]])[1:-1]


def _of_league(asked: str | None) -> Callable[[Listed], bool]:
    """Return a test whether a fixture is in the league, given by its label or its id."""
    meant = None if asked is None else (league_stated(asked) or asked)

    def is_wanted(listed: Listed) -> bool:
        if asked is None or listed.league == asked:
            return True
        league = league_of(Scope(""), listed.league, teams=(listed.home, listed.away))
        return league.key == meant

    return is_wanted


def _fixture(of: FixtureClose, asked: AskedClosings, form: _Form) -> FixtureClosing:
    listed, consensus = of.listed, of.consensus
    chances = None if consensus is None else consensus.chances
    entries = (it for it in of.entries if form.bookmaker in {None, it.bookmaker})
    return FixtureClosing(
        *(of.id, listed.home, listed.away, listed.league or "Unknown", listed.kick_off),
        None if chances is None else fair_of(asked.market, chances),
        tuple([MemberThen(it.source, it.source_match_id, it.rule, it.certainty) for it in of.members]),
        tuple([_entry(it, asked, form) for it in entries]),
        UNSET if consensus is None or consensus.absent is None else consensus.absent,
        UNSET if of.is_started else NoClose.NOT_STARTED,
        of.into or UNSET,
    )


def _entry(of: EntryClose, asked: AskedClosings, form: _Form) -> EntryClosing:
    seen = FirstSeen(of.first_version, of.first_ms / 1000, of.is_state)
    about = of.bookmaker, form.names.get(of.bookmaker, of.bookmaker), of.id, seen
    close = of.close
    if not isinstance(close, Close):
        return EntryClosing(*about, reason=close)
    return EntryClosing(
        *about,
        dict(zip(asked.market.outcomes, close.odds, strict=True)),
        *(close.closed_ms / 1000, close.on_offer, close.left or UNSET),
        UNSET if of.chances is None else fair_of(asked.market, of.chances),
    )
