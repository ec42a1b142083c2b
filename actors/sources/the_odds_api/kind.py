"""The Odds API v4: dozens of bookmakers a request, polled by league, for a key and its credits. Pure."""

from __future__ import annotations

import re
from collections import Counter

from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import OF_EXCHANGE, Extract, Fees, Match, Offer, Payload, Removal, Venue
from actors.core.validation import Reason
from actors.source_api.kinds import PolledKind
from actors.sources.the_odds_api.answers import OddsAnswer, Offers, Sports, error_in, read_odds, read_sports
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from actors.sources.the_odds_api.plan import HEADERS, TheOddsApiPlan


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's key, such as `williamhill`."""
    if not re.fullmatch("[A-Za-z0-9_]{1,64}", key):
        raise ValueError(f"key was {key!r}, must be a bookmaker's key of the API, like 'williamhill'")


def decode(payload: Payload, options: TheOddsApiOptions) -> Sliced[OddsAnswer | Sports]:
    """Read an answer, in slices. Raises: PayloadError if it is an error or no answer of the API."""
    del options
    if payload.scope == SPORTS_SCOPE:
        return read_sports(payload.body)
    return (yield from read_odds(payload.body, payload.answered_at))


def extract(answer: OddsAnswer, key: str, options: TheOddsApiOptions) -> Sliced[Extract]:
    """Return a bookmaker's prices, in slices; a match that is offered twice is rejected."""
    yield
    offers = answer.offers.get(key, Offers())
    answered_at, newest = answer.answered_at, offers.newest
    lag_s = None if answered_at is None or newest is None else answered_at - newest
    passed_over = Counter[str]({Reason.LAY: offers.lays, Reason.UNREADABLE: answer.unreadable})
    matches, removals = tuple(offers.matches), tuple(offers.removals)
    if len({match.source_match_id for match in matches}) < len(matches):
        counts = Counter(match.source_match_id for match in matches)
        matches = tuple(match for match in matches if counts[match.source_match_id] == 1)
        removals += tuple(Removal(match, Reason.DUPLICATE) for match, count in counts.items() if count > 1)
    if offer_of(key, options) is OF_EXCHANGE:
        thin = {match.source_match_id for match in matches if _sum(match) > options.exchange_book_sum_max}
        matches = tuple(match for match in matches if match.source_match_id not in thin)
        removals += tuple(Removal(match, Reason.BOOK_SUM) for match in sorted(thin))
    return Extract(matches, removals, offers.title, +passed_over, lag_s, answered_at)


def _sum(match: Match) -> float:
    """Return the book sum; 0 for a price that is none."""
    prices = (match.home_price, match.draw_price, match.away_price)
    return sum(1 / price for price in prices) if min(prices) > 0 else 0.0


def explain(error: TransportError) -> None:
    """Add the API's own message to a refusal."""
    if (said := error_in(error.body)) is not None:
        error.args = (f"{error}: {said}",)
        error.reason = said.reason


# Bookmakers of the API's documentation and answers, for a warning only: there are always new ones.
_KNOWN = """
    ballybet bet365_au betanysports betclic betfair_ex_au betfair_ex_eu betfair_ex_uk betfair_sb_uk
    betmgm betonlineag betparx betr_au betright betrivers betsson betus betvictor betway bovada
    boylesports casumo coolbet coral draftkings espnbet everygame fanatics fanduel fliff grosvenor
    gtbets hardrockbet ladbrokes_au ladbrokes_uk leovegas livescorebet livescorebet_eu lowvig
    marathonbet matchbook mybookieag neds nordicbet onexbet paddypower parionssport_fr pinnacle playup
    pointsbetau rebet skybet smarkets sport888 sportsbet suprabets tab tabtouch tipico_de unibet
    unibet_eu unibet_fr unibet_uk virginbet williamhill williamhill_us winamax_de winamax_fr
"""

# Of the API's list of bookmakers, beside those of Betfair.
_EXCHANGES = frozenset({"betopenly", "matchbook", "novig", "prophetx", "smarkets"})
_PREDICTION_MARKETS = frozenset({"kalshi", "polymarket"})


def offer_of(key: str, options: TheOddsApiOptions) -> Offer:
    """Return what kind of bookmaker has that key."""
    del options
    if key.startswith("betfair_ex_") or key in _EXCHANGES:
        return OF_EXCHANGE
    is_market = key in _PREDICTION_MARKETS
    return Offer(Venue.PREDICTION_MARKET, Fees.NOT_INCLUDED) if is_market else Offer()


KIND = PolledKind(
    name="the_odds_api",
    options=TheOddsApiOptions,
    check_key=check_key,
    plan=TheOddsApiPlan,
    decode=decode,
    extract=extract,
    headers=HEADERS,
    repeats_confirm=False,
    has_titles=True,
    explain=explain,
    keys_in=lambda answer: answer.offers,
    known_keys=frozenset(_KNOWN.split()),
    offer_of=offer_of,
)
