"""Chooses the markets of a call, and drops markets that the API refuses. Pure.

One unknown market fails the whole call (422, INVALID_MARKET). The message names the refused markets:

    Markets not supported by this endpoint: totals_h1, totals_h2

Without their names the markets are tried one by one, each together with the markets answered before.
"""

from __future__ import annotations

import re

_words = re.compile("[A-Za-z0-9_]+").findall


class MarketsAsked:
    """The markets of the next call, `now`."""

    def __init__(self, markets: tuple[str, ...]) -> None:
        self.now = markets
        self._answered: tuple[str, ...] = ()  # the markets in `now` that were answered
        self._later: tuple[str, ...] = ()

    def answered(self, asked: tuple[str, ...]) -> None:
        """Note that a call for these markets was answered."""
        if asked == self.now:
            self._answered = asked
            self._go_on(asked)

    def refused(self, asked: tuple[str, ...], said: str) -> tuple[str, ...]:
        """Note that a call for these markets was refused; return the markets that are given up.

        The last market is never given up.
        """
        if asked != self.now:
            return ()
        named = tuple(market for market in asked if market in _words(said))
        unknown = tuple(market for market in asked if market not in self._answered)
        if 0 < len(named) < len(asked):
            self.now = _without(asked, named)
            self._answered = _without(self._answered, named)
            return named
        if len(unknown) == 1 and (self._answered or self._later):
            self._go_on(self._answered)
            return unknown
        if len(unknown) > 1:
            self.now, self._later = (*self._answered, unknown[0]), unknown[1:] + self._later
        return ()

    def _go_on(self, good: tuple[str, ...]) -> None:
        self.now, self._later = good + self._later[:1], self._later[1:]


def _without(markets: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(market for market in markets if market not in others)
