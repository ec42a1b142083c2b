"""The integrity gate: decides which matches may go on the board, and cleans their names.

Pure. A rejected match is counted by its reason and becomes a removal, because its older price may no longer
hold.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from math import inf, isfinite

import msgspec
from msgspec import Struct, field

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Batch, Match, Removal, SourceMatchId, market_id
from actors.markets.lines import are_contradictory
from actors.markets.market import FORMS, Kind
from actors.markets.odds import book_sum

MAX_NAME_CHARS = 128
MAX_RAW_CHARS = 1024  # characters of a name that are read
MAX_URL_CHARS = 2048
MASK = "***"  # replaces a secret
MAX_REFUSED = 20  # matches of a batch that are reported one by one
MAX_START_TIME = 4_102_444_800  # 2100-01-01T00:00:00Z: a later kick-off is a typing error

_URL = re.compile(
    r"https://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?([/?#][!-~]*)?", re.ASCII | re.IGNORECASE
).fullmatch
_MATCH_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}").fullmatch
_NO_LEAGUES = frozenset({"", "Unknown"})  # "Unknown" is v2's word for no league
_JOINERS = "\u200c\u200d"  # format characters that belong to some scripts' spelling
_SHAPELESS = frozenset(f" {_JOINERS}\u115f\u1160\u3164\uffa0\u2800")  # fillers of Hangul, blank of Braille


class Reason(StrEnum):
    """Why a match is rejected."""

    INCOMPLETE = "incomplete"  # the market lacks some prices
    PRICE = "price"  # unreadable, not finite, not above 1.0, or the match is decided
    BOOK_SUM = "book_sum"  # the prices of a market cannot be a single offer
    LINES = "lines"  # the prices of two lines of a market contradict each other: all its lines are rejected
    LINE = "line"  # no line, or a line that its kind of market cannot have
    MARKET = "market"  # a kind of market that was not requested from the source, or an impossible line
    MATCH_ID = "match_id"  # the source's id has a wrong shape
    START_TIME = "start_time"  # an impossible date or time
    DUPLICATE = "duplicate"  # the same id again in one list: the last wins
    OUTCOME = "outcome"  # an outcome that is neither a team nor the draw
    TWO_WAY = "two_way"  # a market without a draw
    CROSSED = "crossed"  # an exchange's price to back is not below its price to lay: one is outdated
    LAY = "lay"  # a price to lay: the exchange takes such bets, it does not offer them
    CORNERS = "corners"  # a market of corners, not of goals
    CARDS = "cards"  # a market of cards
    HALVES = "halves"  # a market of a half
    SPORT = "sport"  # not football
    TYPE = "type"  # a value of a wrong type
    TOO_MANY = "too_many"  # the board has no room for more matches of the bookmaker
    LAGGING = "lagging"  # a price that was already old when the source answered
    NO_RESULT = "no_result"  # listed without a market for the result of the match
    PAST = "past"  # still listed, long after its kick-off
    AHEAD = "ahead"  # its kick-off is too far in the future
    UNNAMED = "unnamed"  # a team has no name: only v1 shows the match
    UNREADABLE = "unreadable"  # so broken that prices, or even the id, are unknown
    SECRET = "secret"  # noqa: S105 - a text of the match repeats a credential of its source


TWO_WAY = (0.97, 1.20)
DOUBLE_CHANCE = (1.94, 2.60)
"""The believable sums of 1 / price: of two outcomes, and of the three outcomes of which two win."""
BOOK_SUMS: Mapping[Kind, tuple[float, float]] = {
    kind: TWO_WAY if form.winners == 1 else DOUBLE_CHANCE
    for kind, form in FORMS.items()
    if kind is not Kind.ONE_X_TWO
}


class Bounds(Struct, frozen=True):
    """The bounds that a match must keep.

    The smallest and the largest believable book sum are inclusive; `book_sums` has bounds for kinds other
    than 1X2. No text may contain one of the `secrets`, the credentials of the source, longest first. The
    source is asked for these `kinds` of market.
    """

    book_sum_min: float = 0.95
    book_sum_max: float = 1.40
    secrets: tuple[str, ...] = ()
    book_sums: Mapping[Kind, tuple[float, float]] = field(default_factory=lambda: BOOK_SUMS)
    kinds: tuple[Kind, ...] = (Kind.ONE_X_TWO,)


class RefusedMatch(Struct, frozen=True):
    """A readable match that is rejected, and why."""

    match: Match
    reason: Reason


class Admission(Struct, frozen=True):
    """A batch that has only admitted matches, and the count of rejected ones by reason.

    `refused` are the first readable matches among the rejected ones.
    """

    batch: Batch
    rejected: Counter[str]
    refused: tuple[RefusedMatch, ...] = ()


def admit(batch: Batch, bounds: Bounds) -> Sliced[Admission]:
    """Return the batch with the matches that keep the rules; the others become removals.

    Of two matches with the same id the last wins. A removal by the source wins over a match with its id.
    """
    bounds = _asked(batch, bounds)
    accepted: dict[SourceMatchId, Match] = {}
    unread = {removal.source_match_id for removal in batch.removals}
    removed = {removal.source_match_id: removal for removal in batch.removals}
    rejected = Counter(removal.reason for removal in batch.removals if removal.reason in _REASONS)
    refused: list[RefusedMatch] = []
    for count, match in enumerate(batch.matches):
        if count % SLICE == 0:
            yield
        match_id = match.source_match_id
        if match_id in accepted or match_id in removed:
            rejected[Reason.DUPLICATE] += 1
            if match_id in unread:
                continue  # which of the two is newer is unknown, so neither is believed
            removed.pop(match_id, None)
        if (reason := fault(match, bounds)) is None:
            clean = cleaned(match)
            reason = _leak(match, clean, bounds.secrets)
            accepted[match_id] = clean
        if reason is not None:
            accepted.pop(match_id, None)
            rejected[reason] += 1
            removed[match_id] = Removal(match_id, reason)
            if len(refused) < MAX_REFUSED:
                refused.append(RefusedMatch(_without(match, bounds.secrets), reason))
    for match_id in (yield from _contradictory(accepted.values(), bounds)):
        removed[match_id] = Removal(match_id, Reason.LINES)
        rejected[Reason.LINES] += 1
        refused.append(RefusedMatch(accepted.pop(match_id), Reason.LINES))
    if bounds.secrets:
        removed = {key: _masked_id(removal, bounds.secrets) for key, removal in removed.items()}
    yield
    new = {"matches": tuple(accepted.values()), "removals": tuple(removed.values()), "kinds": bounds.kinds}
    return Admission(msgspec.structs.replace(batch, **new), rejected, tuple(refused[:MAX_REFUSED]))


def _asked(batch: Batch, bounds: Bounds) -> Bounds:
    """Return the bounds for the kinds of market that this list was requested for."""
    if not batch.kinds or batch.kinds == bounds.kinds:
        return bounds
    both = tuple([kind for kind in bounds.kinds if kind in batch.kinds])
    return msgspec.structs.replace(bounds, kinds=both or batch.kinds)


def fault(match: Match, bounds: Bounds) -> Reason | None:
    """Return the first rule that `match` breaks, or None."""
    prices = match.prices
    if not (min(prices) > 1.0 and isfinite(sum(prices))):
        return Reason.PRICE
    if not (0 <= match.fee_rate <= 1 and (match.max_stake is None or 0 < match.max_stake < inf)):
        return Reason.PRICE
    if (reason := _fault_of_market(match, bounds)) is not None:
        return reason
    start = match.begun_by
    if start is not None and not 0 < start <= MAX_START_TIME:
        return Reason.START_TIME
    return None


def _fault_of_market(match: Match, bounds: Bounds) -> Reason | None:
    """Return the fault of a match's market or of its book sum."""
    market, (least, most) = match.market, (bounds.book_sum_min, bounds.book_sum_max)
    if market.kind not in bounds.kinds:
        return Reason.MARKET
    if match.odds:
        if market.kind is Kind.ONE_X_TWO or not market.is_possible:
            return Reason.MARKET
        if len(match.odds) != len(market.outcomes):
            return Reason.INCOMPLETE
        least, most = bounds.book_sums[market.kind]
    if not least <= book_sum(match.prices) <= most:
        return Reason.BOOK_SUM
    event_id = match.event_id
    if _MATCH_ID(event_id) is None or match.source_match_id != market_id(event_id, market):
        return Reason.MATCH_ID
    return None


def _contradictory(matches: Iterable[Match], bounds: Bounds) -> Sliced[list[SourceMatchId]]:
    """Return the ids of all lines where two lines of one match and kind of market contradict each other."""
    if not any(FORMS[kind].lines for kind in bounds.kinds):
        return []
    lines: dict[tuple[str, Kind], list[Match]] = {}
    for count, match in enumerate(matches, 1):
        if match.market.quarters is not None:
            lines.setdefault((match.event_id, match.market.kind), []).append(match)
        if count % SLICE == 0:
            yield
    found: list[SourceMatchId] = []
    for count, ((_, kind), some) in enumerate(lines.items(), 1):
        if are_contradictory(kind, [(match.market.quarters or 0, match.odds) for match in some]):
            found += [match.source_match_id for match in some]
        if count % SLICE == 0:
            yield
    return found


def _leak(match: Match, clean: Match, secrets: tuple[str, ...]) -> Reason | None:
    """Return the reason to reject a match if one of its texts, raw or cleaned, contains a secret."""
    for secret in secrets:
        for seen in (match,) if clean is match else (match, clean):
            if secret in seen.home or secret in seen.away or secret in seen.source_match_id:
                return Reason.SECRET
            if (seen.league and secret in seen.league) or (seen.url and secret in seen.url):
                return Reason.SECRET
    return None


def _without(match: Match, secrets: tuple[str, ...]) -> Match:
    """Return a match with all its texts masked, also secrets that only cleaning would join."""
    return _masked_match(cleaned(_masked_match(match, secrets)), secrets) if secrets else match


def _masked_match(match: Match, secrets: tuple[str, ...]) -> Match:
    return msgspec.structs.replace(
        match,
        source_match_id=SourceMatchId(masked(match.source_match_id, secrets)),
        home=masked(match.home, secrets),
        away=masked(match.away, secrets),
        league=match.league and masked(match.league, secrets),
        url=match.url and masked(match.url, secrets),
    )


def _masked_id(removal: Removal, secrets: tuple[str, ...]) -> Removal:
    return Removal(SourceMatchId(masked(removal.source_match_id, secrets)), removal.reason)


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text with `MASK` in place of the secrets."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def cleaned(match: Match) -> Match:
    """Return `match` with displayable names; the same object if nothing changes."""
    league = clean_name(match.league or "")
    source_time = match.source_time
    clean = msgspec.structs.replace(
        match,
        home=clean_name(match.home),
        away=clean_name(match.away),
        league=None if league in _NO_LEAGUES else league,
        source_time=None if source_time is None or not isfinite(source_time) else source_time,
        url=None if match.url is None else clean_url(match.url),
    )
    return match if clean == match else clean


def clean_url(url: str) -> str | None:
    """Return an address that is safe to link to (https, ASCII, at most 2 kB, no user), otherwise None."""
    return url if len(url) <= MAX_URL_CHARS and _URL(url) is not None else None


def clean_name(name: str) -> str:
    """Return `name` in NFC, visible, single-spaced, cut to 128 characters; it may be empty."""
    is_plain = name.isascii() and name.isprintable() and len(name) <= MAX_NAME_CHARS
    if is_plain and " ".join(name.split()) == name:
        return name  # the usual case
    return _cleaned(name[:MAX_RAW_CHARS])


@lru_cache(maxsize=16384)
def _cleaned(name: str) -> str:
    composed = unicodedata.normalize("NFC", "".join(map(_visible, name)))
    name = " ".join(composed.split())[:MAX_NAME_CHARS].rstrip()
    return name if any(map(_has_shape, name)) else ""


def _has_shape(character: str) -> bool:
    """Return whether a character is visible by itself; marks and joiners are not."""
    return character not in _SHAPELESS and unicodedata.category(character)[0] != "M"


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    if character in _JOINERS or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}:
        return character
    return ""


_REASONS = frozenset(Reason)
