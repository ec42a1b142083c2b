"""/api/v2/value/record: the results of values, judged by the consensus at the kick-off."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from actors.archive.lines.record import AskedRecord, Records, Unfinished
from actors.archive.past import Days, Past
from actors.core.clock import Clock
from actors.matches.fair import Method
from actors.matches.model import fixtures_of
from actors.value.record import Group, group_of, grouped
from web.endpoints.past.bodies import Body, answered, encoded
from web.endpoints.past.lines import terms_of
from web.feeds.past_lists import not_now, read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, acceptable
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.span import FROM, TO
from web.protocol.value_query import MARKETS, MIN_EV, ValueQuery

PATH = "/api/v2/value/record"
WEEK_MS: Final = 7 * 86_400_000
"""The length of the span if the request has no begin."""
MINUTE_S: Final = 60
NOT_ABOVE = "the mean closing line value is not above 0: the prices with value were no better than others"
NOT_CLEARLY = "the mean closing line value is above 0 by less than two standard errors: it may be chance"


class RecordGroup(Struct, frozen=True):
    """Some flags: their mean closing line value with its standard error, and their mean expected value.

    Both means are of the `judged` flags, in a number of `matches`; `unjudged` has the other flags by the
    reason why they have no close. Means are null without judged flags, the error is also null with flags of
    one match only.
    """

    mean_clv: float | None
    standard_error: float | None
    mean_ev: float | None
    flags: int
    judged: int
    matches: int
    unjudged: Mapping[str, int]


class ValueRecord(Struct, frozen=True):
    """The record of the matches with kick-off between two times (Unix seconds), the end excluded.

    `by_bookmaker` is by id, `by_age` by the time for which a price had stood when it was flagged. The
    `note` says if the mean is not above 0, or not clearly above 0.
    """

    from_time: float
    to_time: float
    min_ev: float
    method: Method
    all: RecordGroup
    by_bookmaker: Mapping[str, RecordGroup]
    by_age: Mapping[str, RecordGroup]
    by_market: Mapping[str, RecordGroup]
    note: str | UnsetType = UNSET


_FILTERS = (FROM, TO, MIN_EV, MARKETS)
OPERATIONS = {
    PATH: Operation(
        "The record of values",
        "Each price with value counts once, when it was first seen, and is judged by the consensus of the"
        " others at the kick-off.",
        (
            Answer(200, "The record.", ValueRecord, headers=(*CACHED, "Vary", "Content-Encoding")),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (*_FILTERS, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in _FILTERS),
            *("not_acceptable", *COUNTED),
        ),
    )
}


def handlers(live: Live, clock: Clock, past: Past | None) -> dict[str, Handler]:
    """Return the handler by path; none without an archive, or if the board does not link events."""
    if past is None or live.fixtures is None:
        return {}
    records = Records()

    async def record(request: Asked) -> Prepared:
        query = ValueQuery(request.query)
        now_ms = round(clock.now().wall) // MINUTE_S * MINUTE_S * 1000  # so that the tag stays for a minute
        markets, least = query.markets(), query.min_ev()
        span, coding = query.record_span(now_ms, WEEK_MS), acceptable(request.header(b"accept-encoding"))
        settings, (bookmakers, _) = fixtures_of(live.board.newest).terms, terms_of(live)
        asked = AskedRecord(span.from_ms, span.until_ms, now_ms, markets, least, bookmakers, settings)
        what = partial(_made, records=records, asked=asked, coding=coding)
        made = await read_for(request.client, past, live.answers.own, what)
        if isinstance(made, Unfinished):
            raise not_now(f"{made.done} of {made.count} days have been read; ask again for the rest")
        return answered(made, coding, request, live)

    return {PATH: record}


def _made(days: Days, records: Records, asked: AskedRecord, coding: Coding) -> Body | Unfinished:
    """Read the record and encode it; runs in a thread."""
    found = records.read(days, asked)
    if isinstance(found, Unfinished):
        return found
    of_all = group_of(found)
    about = asked.from_ms / 1000, asked.until_ms / 1000, asked.min_ev, asked.settings.method
    content = ValueRecord(
        *about,
        _group(of_all),
        _groups(grouped(found, lambda of: of.flag.bookmaker)),
        _groups(grouped(found, lambda of: of.flag.age)),
        _groups(grouped(found, lambda of: str(of.market))),
        _note(of_all),
    )
    return encoded(content, coding)


def _groups(found: Mapping[str, Group]) -> dict[str, RecordGroup]:
    return {key: _group(group) for key, group in found.items()}


def _group(of: Group) -> RecordGroup:
    clv, error, expected = (
        None if mean is None else round(mean, 6) for mean in (of.mean_clv, of.standard_error, of.mean_ev)
    )
    return RecordGroup(clv, error, expected, of.flags, of.judged, of.matches, of.unjudged)


def _note(of: Group) -> str | UnsetType:
    if of.mean_clv is None:
        return UNSET
    if of.mean_clv <= 0:
        return NOT_ABOVE
    is_clear = of.standard_error is not None and of.mean_clv > 2 * of.standard_error
    return UNSET if is_clear else NOT_CLEARLY
