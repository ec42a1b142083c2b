"""The Odds API v4: dozens of bookmakers a request, polled by league, for a key and its credits.

Pure. One answer holds one sport with all its bookmakers. A list, or a match of it, that the API itself
has not refreshed for too long is not believed to be live. All bookmakers are asked for by name where
that costs no more, so there are few whose prices are gathered for nothing.
"""

from __future__ import annotations

import re
from collections import Counter

from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import Extract, Match, Payload, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.kinds import PolledKind
from actors.sources.the_odds_api.answers import Part, Slate, Sports, error_in, read_slate, read_sports
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from actors.sources.the_odds_api.plan import HEADERS, TheOddsApiPlan


def check_key(key: str) -> None:
    """Raise ValueError unless `key` can be a bookmaker's key, such as `williamhill`."""
    if not re.fullmatch("[A-Za-z0-9_]{1,64}", key):
        raise ValueError(f"key was {key!r}, must be a bookmaker's key of the API, like 'williamhill'")


def decode(payload: Payload, options: TheOddsApiOptions) -> Sliced[Slate | Sports]:
    """Read an answer, in slices. Raises: PayloadError if it is an error or no answer of the API."""
    del options
    if payload.scope == SPORTS_SCOPE:
        return read_sports(payload.body)
    return (yield from read_slate(payload.body, payload.answered_at))


def extract(slate: Slate, key: str, options: TheOddsApiOptions) -> Sliced[Extract]:
    """Return one bookmaker's prices, which were gathered while the answer was decoded.

    A match whose outcomes are not the three of a football match is rejected under its own reason, and
    one that is offered twice as well: which of the offers holds cannot be told.
    Lay prices are the other side of an exchange: passed over, and counted.
    """
    del options
    yield
    part = slate.parts.get(key, Part())
    answered_at, newest = slate.answered_at, part.newest
    lag_s = None if answered_at is None or newest is None else answered_at - newest
    passed_over: Counter[str] = Counter()
    passed_over[Reason.LAY] = part.lays
    passed_over[Reason.UNREADABLE] = slate.unreadable
    matches, removals = tuple(part.matches), tuple(part.removals)
    if doubled := _doubled(matches):
        matches = tuple(one for one in matches if one.source_match_id not in doubled)
        removals += tuple(Removal(match_id, Reason.DUPLICATE) for match_id in doubled)
    return Extract(matches, removals, part.title, +passed_over, lag_s, answered_at)


def _doubled(matches: tuple[Match, ...]) -> list[SourceMatchId]:
    """Name the matches that stand there more than once, in order."""
    if len({one.source_match_id for one in matches}) == len(matches):
        return []
    counted = Counter(one.source_match_id for one in matches)
    return [match_id for match_id, count in counted.items() if count > 1]


def explain(error: TransportError) -> None:
    """Add to a refusal what the API says of it."""
    if (said := error_in(error.body)) is not None:
        error.args = (f"{error}: {said}",)
        error.reason = said.reason


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
)
