"""The prices of the simulated source: expected goals, fair probabilities, bookmakers' prices.

Arithmetic below `simulated.py`, of which it is a part, and above the fixtures. It must not choose
when prices move, nor draw random numbers: equal arguments give equal prices, in every process.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct

from actors.core.messages import Match, SourceMatchId
from actors.sources.simulated.world import Fixture

Triple: TypeAlias = tuple[float, float, float]
"""One number for each outcome, in the order home win, draw, away win."""

Labels: TypeAlias = tuple[str, str, str | None, int | None]
"""Home, away, league and start time of a match, as the source tells them."""

MIN_PRICE = 1.01
MAX_PRICE = 201.0

_DECIDED = 0.99
_DRIFT_KEPT = 0.99
_MAX_GOALS = 10
_RATE_STEP = 0.002
_MIN_PROBABILITY = 1e-6
_KEY = re.compile(r"(sharp|standard|wide)(-[0-9]{1,3})?")

# Margin, and how far the bookmaker's own opinion of a probability may lie off, as a fraction.
_STYLES = {"sharp": (0.025, 0.006), "standard": (0.055, 0.02), "wide": (0.085, 0.03)}

# A price below the first number is rounded to the second.
_STEPS = ((5.0, 0.01), (10.0, 0.05), (20.0, 0.1), (50.0, 0.5), (math.inf, 1.0))


class Offer:
    """A fixture on offer, and how far its goal rates have drifted, as logarithms, at the time `at`.

    It changes; whoever lists it owns it.
    """

    __slots__ = ("at", "away_drift", "fixture", "home_drift", "labels", "name")

    def __init__(self, name: SourceMatchId, fixture: Fixture, labels: Labels, at: float) -> None:
        self.name = name
        self.fixture = fixture
        self.labels = labels
        self.at = at
        self.home_drift = self.away_drift = 0.0

    def drift(self, at: float, home_step: float, away_step: float) -> None:
        """Move on to `at` and add a step to each drift, which has gone back by a hundredth."""
        self.at = at
        self.home_drift = _DRIFT_KEPT * self.home_drift + home_step
        self.away_drift = _DRIFT_KEPT * self.away_drift + away_step

    def fair(self) -> Triple | None:
        """Return the fair probabilities, or None while no bookmaker would price the match."""
        fixture, at = self.fixture, self.at
        if fixture.is_paused(at):
            return None
        left = fixture.left(at)
        home_rate = fixture.home_rate * left * math.exp(self.home_drift)
        away_rate = fixture.away_rate * left * math.exp(self.away_drift)
        fair = result_probabilities(home_rate, away_rate, fixture.lead(at))
        return None if max(fair) > _DECIDED else fair

    def match(self, prices: Triple) -> Match:
        """Return the match as it is published, at `prices`."""
        home, away, league, start_time = self.labels
        return Match(self.name, home, away, league, *prices, start_time)


class Book(Struct, frozen=True):
    """How one bookmaker prices: its margin, and its own opinion, drawn from `seed` and `key`."""

    key: str
    seed: int
    margin: float
    spread: float


def open_book(key: str, seed: int) -> Book:
    """Return the book for a bookmaker key.

    Raises: ValueError, saying what was found and what is allowed, for a key of another form.
    """
    found = _KEY.fullmatch(key)
    if found is None:
        raise ValueError(
            f"key was {key!r}, must be sharp, standard or wide, "
            "optionally with a hyphen and a number of one to three digits (standard-2)"
        )
    margin, spread = _STYLES[found[1]]
    return Book(key, seed, margin, spread)


def result_probabilities(home_rate: float, away_rate: float, lead: int) -> Triple:
    """Return the probabilities of home win, draw and away win; their sum is 1.

    `home_rate` and `away_rate` are the goals expected in the rest of the match, `lead` is home
    goals less away goals so far. Goals are independent Poisson variables, each cut off at ten
    (M. J. Maher, "Modelling association football scores", Statistica Neerlandica 36, 1982).
    """
    home_goals, _ = _goals(round(home_rate / _RATE_STEP))
    away_goals, away_fewer = _goals(round(away_rate / _RATE_STEP))
    home_win = draw = 0.0
    for extra, chance in enumerate(home_goals):
        level_at = extra + lead
        if level_at >= 0:
            home_win += chance * away_fewer[min(level_at, _MAX_GOALS + 1)]
            if level_at <= _MAX_GOALS:
                draw += chance * away_goals[level_at]
    return home_win, draw, max(0.0, 1.0 - home_win - draw)


def quote(book: Book, match_id: str, fair: Triple) -> Triple:
    """Return the decimal prices of `book` for a match, each from 1.01 to 201.

    The bookmaker's opinion is `fair` with its own constant error for this match; the margin is
    laid on in proportion. The book sum is 1 + margin up to rounding, and at worst, where a price
    is at its limit, between 0.98 and 1.12.
    """
    home_error, draw_error, away_error = _errors(book, match_id)
    home = max(fair[0], _MIN_PROBABILITY) * home_error
    draw = max(fair[1], _MIN_PROBABILITY) * draw_error
    away = max(fair[2], _MIN_PROBABILITY) * away_error
    payout = (home + draw + away) / (1.0 + book.margin)
    return _rounded(payout / home), _rounded(payout / draw), _rounded(payout / away)


@lru_cache(maxsize=4096)
def _goals(steps: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return P(goals = n) for n = 0..10 and P(goals < n) for n = 0..11, at `steps` of the rate."""
    rate = steps * _RATE_STEP
    weights = [rate**goals / math.factorial(goals) for goals in range(_MAX_GOALS + 1)]
    total = sum(weights)
    exactly = tuple(weight / total for weight in weights)
    return exactly, tuple(sum(exactly[:goals]) for goals in range(_MAX_GOALS + 2))


def _errors(book: Book, match_id: str) -> Triple:
    # A digest, because str.__hash__ differs from process to process.
    home, draw, away = blake2b(f"{book.seed}/{book.key}/{match_id}".encode(), digest_size=3).digest()
    unit = book.spread / 127.5
    off = 1.0 - book.spread
    return off + unit * home, off + unit * draw, off + unit * away


def _rounded(price: float) -> float:
    for below, step in _STEPS:
        if price < below:
            return min(max(round(round(price / step) * step, 2), MIN_PRICE), MAX_PRICE)
    return MAX_PRICE
