"""The kind of The Odds API v4: dozens of bookmakers a request, polled by league for credits. Pure."""

from __future__ import annotations

import re
from collections import Counter

from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import OF_EXCHANGE, Extract, Fees, Offer, Payload, Removal, Venue
from actors.core.validation import Reason
from actors.source_api.kinds import PolledKind
from actors.sources.the_odds_api.answers import OddsAnswer, Offers, Sports, error_in, read_odds, read_sports
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from actors.sources.the_odds_api.plan import HEADERS, TheOddsApiPlan

_is_key = re.compile("[A-Za-z0-9_]{1,64}").fullmatch


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's key, such as `williamhill`."""
    if not _is_key(key):
        raise ValueError(f"key was {key!r}, must be a bookmaker's key of the API, like 'williamhill'")


def decode(payload: Payload, options: TheOddsApiOptions) -> Sliced[OddsAnswer | Sports]:
    """Read an answer, in slices. Raises: PayloadError for an error of the API, or anything else."""
    if payload.scope == SPORTS_SCOPE:
        return read_sports(payload.body)
    return (yield from read_odds(payload.body, payload.answered_at, options.asked))


def extract(answer: OddsAnswer, key: str, options: TheOddsApiOptions) -> Sliced[Extract]:
    """Return a bookmaker's prices, in slices; a match listed twice is rejected."""
    del options
    yield
    offers = answer.offers.get(key, Offers())
    answered_at, newest = answer.answered_at, offers.newest
    lag_s = None if answered_at is None or newest is None else answered_at - newest
    passed_over = Counter[str]({Reason.LAY: offers.lays, Reason.UNREADABLE: answer.unreadable})
    passed_over += offers.passed_over
    matches, removals = tuple(offers.matches), tuple(offers.removals)
    if repeated := {match for match, count in offers.listed.items() if count > 1}:
        # Its two copies may have different lines, so that equal ids would not reveal it.
        twice = [match for match in matches if match.odds and match.event_id in repeated]
        matches = tuple(match for match in matches if not (match.odds and match.event_id in repeated))
        removals += tuple(Removal(match.source_match_id, Reason.DUPLICATE) for match in twice)
    if len({match.source_match_id for match in matches}) < len(matches):
        counts = Counter(match.source_match_id for match in matches)
        matches = tuple(match for match in matches if counts[match.source_match_id] == 1)
        removals += tuple(Removal(match, Reason.DUPLICATE) for match, count in counts.items() if count > 1)
    unread = ", ".join(map(repr, sorted(offers.unread)))
    notes = (f"markets that are not read: {unread}",) if unread else ()
    return Extract(matches, removals, offers.title, +passed_over, lag_s, answered_at, notes=notes)


def explain(error: TransportError) -> None:
    """Add the API's own message to a refusal."""
    if (said := error_in(error.body)) is not None:
        error.args = (f"{error}: {said}",)
        error.reason = said.reason


# The API's list "Bookmaker APIs" of July 2026; it contains all bookmakers of recorded answers of April
# 2026. Used only for warnings, because the API adds bookmakers.
_KNOWN = """
    atg_se ballybet bet365_au betanysports betclic_fr betfair_ex_au betfair_ex_eu betfair_ex_uk
    betfair_sb_uk betfred_uk betinia_se betmgm betmgm_se betonlineag betopenly betparx betr_au
    betr_us_dfs betright betrivers betsson betus betvictor betway bovada boylesports campobet_se
    casumo codere_it coolbet coral dabble_au draftkings espnbet everygame expekt_se fanatics fanduel
    fliff grosvenor gtbets hajper_se hardrockbet hardrockbet_az hardrockbet_fl hardrockbet_oh kalshi
    ladbrokes_au ladbrokes_uk leovegas leovegas_se livescorebet lowvig marathonbet matchbook
    mrgreen_se mybookieag neds netbet_fr nordicbet novig onexbet paddypower pick6 pinnacle playup
    pmu_fr pointsbetau polymarket prizepicks prophetx rebet skybet smarkets sport888 sport888_se
    sportsbet suprabets svenskaspel_se tab tabtouch tipico_de underdog unibet unibet_fr unibet_it
    unibet_nl unibet_se unibet_uk virginbet williamhill williamhill_us winamax_de winamax_fr
"""

# From the API's list of bookmakers, without Betfair's own entries.
_EXCHANGES = frozenset({"betopenly", "matchbook", "novig", "prophetx", "smarkets"})
_PREDICTION_MARKETS = frozenset({"kalshi", "polymarket"})


def offer_of(key: str, options: TheOddsApiOptions) -> Offer:
    """Return the kind of a bookmaker's offer."""
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
    keys_in=lambda answer: filter(_is_key, answer.offers),
    known_keys=frozenset(_KNOWN.split()),
    offer_of=offer_of,
)
