"""The closing line value of bets: the fixture of each bet, and the value of its odds at the close.

Pure. Names and leagues are compared by the matcher of the board; a bet that fits two fixtures is assigned
to neither. The value of a bet is the fair probability of its outcome at the kick-off, times its odds, less
1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import fsum, sqrt
from typing import Final

from msgspec import Struct

from actors.core.messages import BookmakerId, Scope, SourceMatchId, SourceName
from actors.lines.closing import NoClose
from actors.markets.market import Market
from actors.matching.blocking import Index
from actors.matching.comparison import Comparator, Description, described, teams_of
from actors.matching.event import Event, EventKey
from actors.matching.rules import LONGEST, Certainty, Objection, Rule

DAY_MS: Final = 86_400_000
IN_PLAY_MS: Final = 4 * 3_600_000
"""The longest time after the kick-off at which a bet may still have been on the match."""
RESEMBLING = 3
"""The most fixtures listed for a bet that resemble its match but are other matches."""
_SOMETIME = 0
"""A common kick-off for all matches while their names are compared."""


class Bet(Struct, frozen=True):
    """A bet at decimal odds, placed at a time (Unix milliseconds).

    The kick-off is in Unix seconds. Without a bookmaker only the consensus is compared.
    """

    row: int
    at_ms: int
    home: str
    away: str
    market: Market
    outcome: str
    odds: float
    league: str | None = None
    kick_off: int | None = None
    bookmaker: BookmakerId | None = None


class EntryAtClose(Struct, frozen=True):
    """A bookmaker's closing odds by outcome, shown up to `closed_at` (Unix seconds), or why there are none.

    `link` is the certainty of the entry's link to this fixture at the kick-off; None if it was not stored.
    """

    odds: Mapping[str, float] | None = None
    closed_at: float | None = None
    on_offer: bool | None = None
    reason: NoClose | None = None
    link: Certainty | None = None


class AtClose(Struct, frozen=True):
    """A fixture, and a market of it at its kick-off (Unix seconds): fair probabilities, or why it has none.

    With `is_merged` it was merged into another fixture before. `members` are pairs of a source and its id
    at the kick-off; empty if the fixture was first listed later.
    """

    id: str
    home: str
    away: str
    league: str | None
    kick_off: int
    is_started: bool = True
    fair: Mapping[str, float] | None = None
    fair_reason: str | None = None
    entries: Mapping[str, EntryAtClose] = {}
    is_merged: bool = False
    members: frozenset[tuple[str, str]] = frozenset()


class Fit(Struct, frozen=True):
    """A fixture that fits a bet, with the certainty and the rule."""

    fixture: AtClose
    certainty: Certainty
    rule: Rule


class NotJudged(StrEnum):
    """Why a bet has no value, or its bookmaker no closing price, in addition to the board's reasons."""

    NO_FIXTURE = "no_fixture"
    AMBIGUOUS = "ambiguous"  # two or more fixtures fit
    AFTER_KICK_OFF = "after_kick_off"  # the bet was placed after the kick-off
    NO_CLOSE_ON_THIS_LINE = "no_close_on_this_line"
    NO_ENTRY = "no_entry"  # the bookmaker had no entry for the match or market


class Verdict(Struct, frozen=True):
    """The judgement of a bet: its value, or the reason why it has none, with details.

    `entry` is the entry of its bookmaker; `entry_reason` says why that entry has no closing price.
    """

    bet: Bet
    reason: str | None = None
    detail: str = ""
    fit: Fit | None = None
    entry: EntryAtClose | None = None
    entry_reason: str | None = None
    fair: float | None = None
    clv: float | None = None


class Finder:
    """Finds the bets that a fixture fits.

    A bet without a kick-off fits fixtures up to `ahead_ms` after the bet, and fixtures that may have been
    in play at that time; such a link is never sure.
    """

    def __init__(self, bets: Iterable[Bet], comparator: Comparator, ahead_ms: int) -> None:
        self._comparator, self._ahead_ms = comparator, ahead_ms
        self._index = Index(comparator)
        self._bets: dict[Description, list[Bet]] = {}
        self._known: dict[tuple[str, str, str | None], Description] = {}
        for bet in bets:
            self._bets.setdefault(self._description(bet), []).append(bet)
        for description in self._bets:
            self._index.add(description)

    def _description(self, match: Bet | AtClose) -> Description:
        """Return the description of a match without a time; bets with equal names share one."""
        names = match.home, match.away, match.league
        if (known := self._known.get(names)) is None:
            key = EventKey(SourceName(""), SourceMatchId(""))
            event = Event(key, match.home, match.away, match.league, Scope(""), _SOMETIME)
            league = self._comparator.league(event)
            known = described(*teams_of(match.home, match.away, league), league, _SOMETIME)
            if isinstance(match, Bet):
                self._known[names] = known
        return known

    def fitting(self, fixture: AtClose) -> Iterator[tuple[Bet, Fit | Objection]]:
        """Yield each bet that may be on the fixture, with how it fits, or the objection to it."""
        ours = self._description(fixture)
        for theirs in self._index.near(ours):
            for bet in self._bets.get(theirs, ()):
                if is_near(bet, fixture.kick_off, self._ahead_ms):
                    found = self._fit(bet, fixture, theirs, ours)
                    if found is not None:
                        yield bet, found

    def _fit(
        self, bet: Bet, fixture: AtClose, theirs: Description, ours: Description
    ) -> Fit | Objection | None:
        if bet.kick_off is not None:
            theirs = described(theirs.home, theirs.away, theirs.league, bet.kick_off)
            ours = described(ours.home, ours.away, ours.league, fixture.kick_off)
        relation = self._comparator.relation(theirs, ours)
        if relation is None:
            return None
        condition = relation.condition(None)  # what was offered at the time of the bet is unknown
        if condition is None:
            return relation.reason
        certainty = Certainty.LIKELY if bet.kick_off is None else relation.certainty
        return Fit(fixture, certainty, condition.rule)


def is_near(bet: Bet, kick_off: int, ahead_ms: int) -> bool:
    """Return whether a fixture with that kick-off (Unix seconds) may be the bet's."""
    begin, end = span_of(bet, ahead_ms)
    return begin <= kick_off * 1000 < end


def span_of(bet: Bet, ahead_ms: int) -> tuple[int, int]:
    """Return the range of the kick-off for a bet's fixture (Unix milliseconds), the end excluded."""
    if bet.kick_off is None:
        return bet.at_ms - IN_PLAY_MS, bet.at_ms + ahead_ms
    return (bet.kick_off - LONGEST) * 1000, (bet.kick_off + LONGEST) * 1000 + 1


def judged(bets: Sequence[Bet], fixtures: Iterable[AtClose], finder: Finder) -> list[Verdict]:
    """Return the verdicts on bets of one market, in their order; the fixtures must have that market."""
    fits: dict[int, dict[str, Fit]] = {bet.row: {} for bet in bets}
    against: dict[int, list[str]] = {bet.row: [] for bet in bets}
    for fixture in fixtures:
        if fixture.is_merged:
            continue  # its entries are in the other fixture
        for bet, found in finder.fitting(fixture):
            if isinstance(found, Fit):
                fits[bet.row][fixture.id] = found
            else:
                against[bet.row].append(f"resembles {_named(fixture)}, not linked because of: {found}")
    return [_judged(bet, _distinct([*fits[bet.row].values()]), against[bet.row]) for bet in bets]


def _distinct(fits: Sequence[Fit]) -> list[Fit]:
    """Return the fits of separate matches: changed links may leave a fixture that is part of another."""
    return [fit for fit in fits if not any(_is_part(fit.fixture, other.fixture) for other in fits)]


def _is_part(a: AtClose, b: AtClose) -> bool:
    """Return whether b has all members of a and more, at one kick-off: both are the same match."""
    return a.kick_off == b.kick_off and a.is_started and a.members < b.members


def _judged(bet: Bet, fits: Sequence[Fit], against: Sequence[str]) -> Verdict:
    if not fits:
        return Verdict(bet, NotJudged.NO_FIXTURE, "; ".join(sorted(against)[:RESEMBLING]))
    if len(fits) > 1:
        names = "; ".join(sorted(_named(fit.fixture) for fit in fits))
        return Verdict(bet, NotJudged.AMBIGUOUS, names)
    (fit,) = fits
    fixture = fit.fixture
    if bet.at_ms >= fixture.kick_off * 1000:
        return Verdict(bet, NotJudged.AFTER_KICK_OFF, fit=fit)
    if not fixture.is_started:
        return Verdict(bet, NoClose.NOT_STARTED, fit=fit)
    entry, entry_reason = _entry(bet, fixture)
    fair = None if fixture.fair is None else fixture.fair[bet.outcome]
    if fair is None:
        return Verdict(bet, _no_fair(bet.market, fixture), "", fit, entry, entry_reason)
    return Verdict(bet, None, "", fit, entry, entry_reason, fair, clv_of(fair, bet.odds))


def _entry(bet: Bet, fixture: AtClose) -> tuple[EntryAtClose | None, str | None]:
    """Return the bookmaker's entry, and why it has no close; (None, None) without a bookmaker."""
    if bet.bookmaker is None:
        return None, None
    entry = fixture.entries.get(bet.bookmaker)
    if entry is None:
        return None, _missing(bet.market)
    return entry, entry.reason


def _no_fair(market: Market, fixture: AtClose) -> str:
    """Return why there is no fair probability: the reason that all entries share, if any."""
    if not fixture.entries:
        return _missing(market)
    reasons = {entry.reason for entry in fixture.entries.values()}
    common = next(iter(reasons)) if len(reasons) == 1 else None
    return common or fixture.fair_reason or NoClose.NO_PRICE


def _missing(market: Market) -> NotJudged:
    """Return why a market is missing; on another line the bookmaker may have a close."""
    return NotJudged.NO_ENTRY if market.line is None else NotJudged.NO_CLOSE_ON_THIS_LINE


def _named(fixture: AtClose) -> str:
    return f"{fixture.id} {fixture.home} - {fixture.away} ({fixture.league or 'Unknown'})"


def clv_of(fair: float, odds: float) -> float:
    """Return the closing line value of odds, 0.05 for 5 %, by the fair probability at the close.

    It compares the odds with the fair odds 1 / `fair`. On a line that may return the stake, `fair` is the
    probability that the part not returned is won.
    """
    return fair * odds - 1.0


class Mean(Struct, frozen=True):
    """The mean of some values and its standard error; None for less than one value, or less than two."""

    count: int
    mean: float | None
    standard_error: float | None


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of values, assumed independent, with its standard error.

    The standard error is the sample's standard deviation (n - 1) divided by the root of n.
    """
    count = len(values)
    if not count:
        return Mean(0, None, None)
    mean = fsum(values) / count
    if count == 1:
        return Mean(1, mean, None)
    variance = fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Mean(count, mean, sqrt(variance / count))
