"""The integrity gate: which matches may go on the board, under which cleaned names.

Pure. A rejected match is counted by its reason and becomes a removal, because its older price is no longer
known to hold.
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
MAX_RAW_CHARS = 1024  # of a name that are read
MAX_URL_CHARS = 2048
MASK = "***"  # in place of a secret
MAX_REFUSED = 20  # of a batch that are told one by one
MAX_START_TIME = 4_102_444_800  # 2100-01-01T00:00:00Z: a kick-off later than that is a typing error

_URL = re.compile(
    r"https://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?([/?#][!-~]*)?", re.ASCII | re.IGNORECASE
).fullmatch
_MATCH_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}").fullmatch
_NO_LEAGUES = frozenset({"", "Unknown"})  # "Unknown" is v2's word for none
_JOINERS = "\u200c\u200d"  # format characters that some scripts are spelled with
_SHAPELESS = frozenset(f" {_JOINERS}\u115f\u1160\u3164\uffa0\u2800")  # Hangul's fillers, Braille's blank


class Reason(StrEnum):
    """Why a match is not accepted."""

    INCOMPLETE = "incomplete"  # not all prices of a market are there
    PRICE = "price"  # a price is unreadable, not finite, not above 1.0, or that of a match that is decided
    BOOK_SUM = "book_sum"  # the prices of a market cannot be a single offer
    LINES = "lines"  # the prices of two lines of a market contradict each other: all its lines are rejected
    LINE = "line"  # no line, or one that no market of its kind has
    MARKET = "market"  # a market of a kind that the source is not asked for, or on an impossible line
    MATCH_ID = "match_id"  # the source's id has another shape than ours
    START_TIME = "start_time"  # an impossible date or time
    DUPLICATE = "duplicate"  # the same id again in one list: the last wins
    OUTCOME = "outcome"  # an outcome that is neither team nor the draw
    TWO_WAY = "two_way"  # a market without a draw
    CROSSED = "crossed"  # an exchange's price to back is not below its price to lay: one of them is over
    LAY = "lay"  # the other side of an exchange: what it takes, not what it offers
    CORNERS = "corners"  # a market of corners, not of goals
    CARDS = "cards"  # a market of cards
    HALVES = "halves"  # a market of a half
    SPORT = "sport"  # not football
    TYPE = "type"  # a value that is not of exactly the type that is needed
    TOO_MANY = "too_many"  # the board has no room for more of the bookmaker's matches
    LAGGING = "lagging"  # a price that was already old when the source answered
    NO_RESULT = "no_result"  # listed without a market of the result of the match
    PAST = "past"  # still listed, long after its kick-off
    AHEAD = "ahead"  # its kick-off is further ahead than prices are asked for
    UNNAMED = "unnamed"  # a team has no name: only v1 shows the match
    UNREADABLE = "unreadable"  # so broken that its prices, or even its id, are unknown
    SECRET = "secret"  # noqa: S105 - a text of the match repeats a credential of its source


TWO_WAY = (0.97, 1.20)
DOUBLE_CHANCE = (1.94, 2.60)
"""The sums of 1 / price that are believed of two outcomes, and of the three of which two win."""
BOOK_SUMS: Mapping[Kind, tuple[float, float]] = {
    kind: TWO_WAY if form.winners == 1 else DOUBLE_CHANCE
    for kind, form in FORMS.items()
    if kind is not Kind.ONE_X_TWO
}


class Bounds(Struct, frozen=True):
    """The smallest and the largest book sum that is believed, both included, and what no text may contain.

    Those of other kinds of market than 1X2 are in `book_sums`. `secrets` are the credentials of the source,
    longest first. It is asked for these `kinds` of market.
    """

    book_sum_min: float = 0.95
    book_sum_max: float = 1.40
    secrets: tuple[str, ...] = ()
    book_sums: Mapping[Kind, tuple[float, float]] = field(default_factory=lambda: BOOK_SUMS)
    kinds: tuple[Kind, ...] = (Kind.ONE_X_TWO,)


class RefusedMatch(Struct, frozen=True):
    """A match that could be read, and why it is rejected all the same."""

    match: Match
    reason: Reason


class Admission(Struct, frozen=True):
    """A batch with only what may be shown, and how many matches were rejected by reason.

    `refused` are the first of those that could be read.
    """

    batch: Batch
    rejected: Counter[str]
    refused: tuple[RefusedMatch, ...] = ()


def admit(batch: Batch, bounds: Bounds) -> Sliced[Admission]:
    """Return the batch with the matches that keep the rules; the others become removals.

    Of two matches with the same id the last wins; of a match and a removal from the source, the removal.
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
            accepted.pop(match_id, None)
            rejected[Reason.DUPLICATE] += 1
            if match_id in unread:
                continue  # it is unknown which of the two is newer, so neither is believed
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
        removed = {of: _masked_id(removal, bounds.secrets) for of, removal in removed.items()}
    yield
    of = {"matches": tuple(accepted.values()), "removals": tuple(removed.values()), "kinds": bounds.kinds}
    return Admission(msgspec.structs.replace(batch, **of), rejected, tuple(refused[:MAX_REFUSED]))


def _asked(batch: Batch, bounds: Bounds) -> Bounds:
    """Return the bounds with the kinds of market that this very list was asked for."""
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
    """Return what is wrong with the market of a match, or the sum of its prices."""
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
    """Return the ids of all lines of the kinds of market of a match of which two contradict each other."""
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
    """Return the reason to reject a match of which a text, as it came or cleaned, contains a secret."""
    for secret in secrets:
        for it in (match,) if clean is match else (match, clean):
            if secret in it.home or secret in it.away or secret in it.source_match_id:
                return Reason.SECRET
            if (it.league and secret in it.league) or (it.url and secret in it.url):
                return Reason.SECRET
    return None


def _without(match: Match, secrets: tuple[str, ...]) -> Match:
    """Return a match with all its texts masked, whatever cleaning them may join."""
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
    """Return `match` with names that can be shown, the same object when they already can."""
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
    """Return an address that a page may lead to: https, ASCII, at most 2 kB, no user; else None."""
    return url if len(url) <= MAX_URL_CHARS and _URL(url) is not None else None


def clean_name(name: str) -> str:
    """Return `name` in NFC, visible, single-spaced, cut to 128 characters; it may be empty."""
    is_plain = name.isascii() and name.isprintable() and len(name) <= MAX_NAME_CHARS
    if is_plain and " ".join(name.split()) == name:
        return name  # nearly always
    return _cleaned(name[:MAX_RAW_CHARS])


@lru_cache(maxsize=16384)
def _cleaned(name: str) -> str:
    composed = unicodedata.normalize("NFC", "".join(map(_visible, name)))
    name = " ".join(composed.split())[:MAX_NAME_CHARS].rstrip()
    return name if any(map(_has_shape, name)) else ""


def _has_shape(character: str) -> bool:
    """Return whether a character shows something by itself, as a mark or a joiner does not."""
    return character not in _SHAPELESS and unicodedata.category(character)[0] != "M"


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    if character in _JOINERS or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}:
        return character
    return ""


_REASONS = frozenset(Reason)
