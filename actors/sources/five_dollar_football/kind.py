"""The kind of 5DollarFootballAPI: Bet365 and others, polled with a key within its plan's rate. Pure."""

from __future__ import annotations

import re

from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import OF_EXCHANGE, Extract, Offer, Payload
from actors.source_api.kinds import PolledKind
from actors.source_api.parsing import Parts
from actors.sources.five_dollar_football.kick_offs import KICK_OFF
from actors.sources.five_dollar_football.options import (
    AHEAD,
    BOOKMAKERS,
    IN_PLAY,
    LEAGUES,
    LIVE,
    NEAR,
    STATUS,
    FiveDollarFootballOptions,
    sent_headers,
)
from actors.sources.five_dollar_football.plan import FiveDollarFootballPlan
from actors.sources.five_dollar_football.prices import (
    BET365,
    Lists,
    OddsByMatch,
    of_lists,
    of_match,
    read_group,
)
from actors.sources.five_dollar_football.rate import HEADERS
from actors.sources.five_dollar_football.wire import (
    Account,
    Bookmakers,
    FixturesPage,
    Leagues,
    error_in,
    read_account,
    read_bookmakers,
    read_fixtures,
    read_leagues,
)

Content = Account | Leagues | Bookmakers | FixturesPage | Lists | OddsByMatch

WATCHED_S = 60.0  # a guess: the delay of prices before a kick-off is not documented
_is_key = re.compile("[a-z0-9][a-z0-9_.-]{1,63}").fullmatch
# Bookmakers that are exchanges; the API does not say so.
_EXCHANGES = frozenset({"betfair", "betfair_exchange", "betfairexchange", "matchbook", "smarkets"})


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker of the API, such as `bet365`."""
    if not _is_key(key):
        raise ValueError(f"key was {key!r}, must be a bookmaker of the API, like {BET365!r}")


def decode(payload: Payload, options: FiveDollarFootballOptions) -> Sliced[Content]:
    """Read an answer, or a list that the plan made. Raises: PayloadError if it cannot be read."""
    del options
    yield
    scope, body = payload.scope, payload.body
    if scope in {LIVE, NEAR} or scope.startswith(AHEAD):
        return (yield from read_fixtures(body))
    if scope == IN_PLAY or scope.startswith(KICK_OFF):
        page = yield from read_fixtures(body)
        return Lists(page.rows, payload.received_at, scope == IN_PLAY)
    if scope == STATUS:
        return read_account(body)
    if scope == LEAGUES:
        return read_leagues(body)
    if scope == BOOKMAKERS:
        return read_bookmakers(body)
    return read_group(body, payload.received_at)


def extract(content: Lists | OddsByMatch, key: str, options: FiveDollarFootballOptions) -> Sliced[Extract]:
    """Return a bookmaker's prices; the lists have only the prices of Bet365."""
    yield
    if isinstance(content, OddsByMatch):
        return of_match(content, key, options.kinds)
    return of_lists(content, options.kinds) if key == BET365 else Extract(())


def explain(error: TransportError) -> None:
    """Add the API's message to a refusal."""
    if (said := error_in(error.body)) is not None:
        error.args = (f"{error}: {said}",)


def parts(content: Content) -> Parts:
    """Return the elements of an answer."""
    match content:
        case FixturesPage(rows=rows, unread=unread):
            return Parts("matches", tuple(row.fixture for row in rows if row.fixture is not None), unread)
        case Lists(rows=rows):
            return Parts("matches", tuple(row.fixture for row in rows if row.fixture is not None))
        case OddsByMatch(odds=odds):
            return Parts("bookmakers", () if odds is None else odds.bookmakers)
        case Leagues(leagues=leagues, unread=unread):
            return Parts("leagues", leagues, unread)
        case Bookmakers(bookmakers=bookmakers, unread=unread):
            return Parts("bookmakers", bookmakers, unread)
        case Account():
            return Parts("accounts", (content,))


def offer_of(key: str, options: FiveDollarFootballOptions) -> Offer:
    """Return the kind of a bookmaker's offer."""
    del options
    return OF_EXCHANGE if key in _EXCHANGES else Offer()


KIND = PolledKind(
    name="five_dollar_football",
    options=FiveDollarFootballOptions,
    check_key=check_key,
    plan=FiveDollarFootballPlan,
    decode=decode,
    extract=extract,
    headers=HEADERS,
    sent_headers=sent_headers,
    repeats_confirm=False,
    has_titles=True,
    explain=explain,
    parts=parts,
    offer_of=offer_of,
    is_free_to_ask=True,
    watched_s=WATCHED_S,
)
