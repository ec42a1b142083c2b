"""The plan of requests to The Odds API: sports and their intervals within a budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import ceil, inf

import msgspec
from msgspec import Struct

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError
from actors.core.messages import Scope
from actors.source_api.plan import Plan, Target
from actors.sources.the_odds_api.answers import OddsAnswer, Sports
from actors.sources.the_odds_api.asked import MarketsAsked
from actors.sources.the_odds_api.budget import (
    DAY_S,
    NEAR_AFTER_S,
    Calendar,
    Ledger,
    Spending,
    Windows,
    near_windows,
)
from actors.sources.the_odds_api.options import TheOddsApiOptions, cheapest_call, odds_target, sports_target
from actors.sources.the_odds_api.wire import OURS

INVALID_MARKET = "invalid_market"
SPORTS_INTERVAL_S = DAY_S
DOUBTED_INTERVAL_S = 600.0
FREE_CREDITS_A_MONTH = 500
USUAL_SPORTS = 40  # a guess at the football keys in season, until they are known
CALL_SPACING_S = 0.04  # the API allows 30 calls a second
REMAINING, USED, LAST = "x-requests-remaining", "x-requests-used", "x-requests-last"
HEADERS = (REMAINING, USED, LAST)
CEILING_SHARE = 0.9  # the longest interval, as a share of `stale_after_s`, if the budget allows it
KNOWN_AHEAD_S = 28 * DAY_S  # kick-offs further ahead of an answer are ignored
_CLIENT_ERRORS = range(400, 500)
_WHOLE = re.compile(r"([0-9]{1,12})(\.0+)?").fullmatch


class Carried(Struct, frozen=True, array_like=True):
    """The plan's state for another process: credits of a call, the API's last figures, spending."""

    cost: float
    seen: dict[str, float | None]
    spending: Spending | None


class TheOddsApiPlan(Plan):
    """The plan of a key. Raises: ValueError for options that cannot work."""

    def __init__(self, options: TheOddsApiOptions, keys: tuple[str, ...]) -> None:
        self._api, self._keys = options, keys
        self._markets = MarketsAsked(options.asked)
        self._call, self._other = cheapest_call(options, keys, options.asked)
        self._cost = float(self._call.credits)
        self._markets_of: dict[Scope, tuple[str, ...]] = {}
        self._otherwise: set[Scope] = set()
        self._refusals: list[str] = []
        self._near: dict[Scope, Windows] = {}
        self._charged: dict[Scope, tuple[float, float]] = {}
        self._seen: dict[str, float | None] = dict.fromkeys(HEADERS)
        self._last_asked_mono = -inf
        self._ledger = None if options.credits_per_day is None else Ledger(options.credits_per_day)
        self._sports: tuple[str, ...] = ()
        self._boost_at = (-inf, 0.0, 1.0)
        self._is_doubted = False
        super().__init__(options, ())
        self._set_sports(() if options.sports == "football" else tuple(options.sports))
        self._check()

    def first_delay_s(self, target: Target, now: Instant) -> float:
        """Return 0 for the first sports, then delays at the rate of available credits."""
        del now
        if self._ledger is None or target.is_catalogue or target.scope in self._near:
            return 0.0
        waiting = [sport for sport in self._sports if Scope(sport) not in self._near]
        at_once = max(int(self._ledger.start_credits / self._cost), 1)
        place = max(waiting.index(target.scope) + 1 - at_once, 0)
        return place * self._cost * DAY_S / self._ledger.per_day

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until the sport's share of the budget pays for a call again."""
        if target.is_catalogue:
            return DOUBTED_INTERVAL_S if self._is_doubted else SPORTS_INTERVAL_S
        if self._ledger is None:
            return self._api.poll_interval_s
        windows, boost = self._near.get(target.scope, ()), self._boost(self._ledger, now)
        return max(self._calendar.interval_s(windows, now.wall, boost), self._api.poll_interval_s)

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds to midnight (UTC) if the day's credits are spent, or to the next call."""
        spacing_s = self._last_asked_mono + CALL_SPACING_S - now.mono
        if self._ledger is None or target.is_catalogue:
            return spacing_s
        return max(spacing_s, self._ledger.wait_s(self._cost, now))

    def on_asked(self, target: Target, now: Instant) -> None:
        """Count the credits before they are spent."""
        self._last_asked_mono = now.mono
        cost = 0.0 if target.is_catalogue else self._cost
        self._charged[target.scope] = (cost, now.mono)
        self._markets_of[target.scope] = self._markets.now
        self._otherwise.discard(target.scope)
        if self._ledger is not None:
            self._ledger.spend(cost, now)

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """Correct the counted cost by the answer's headers."""
        for name in HEADERS:
            self._seen[name] = _whole(headers.get(name), self._seen[name])
        if not target.is_catalogue and (last := _whole(headers.get(LAST), None)) is not None:
            self._correct(target, last, now)
            at_most = last if self._ledger is None else min(last, self._ledger.per_day)
            self._cost = max(float(self._call.credits), at_most)

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Refund a call that was not charged; otherwise retry after a third of the interval or later."""
        if isinstance(error, TransportError):
            self.on_answered(target, error.headers, now)
            is_refused = error.status in _CLIENT_ERRORS and LAST not in error.headers
            if not error.is_sent or is_refused:
                self._correct(target, 0.0, now)
        if error.reason == INVALID_MARKET:
            self._on_refused(target, error)
        charged, _ = self._charged.get(target.scope, (0.0, 0.0))
        return self.interval_s(target, now) / 3 if charged and self._ledger is not None else 0.0

    def on_learnt(self, target: Target, content: object, now: Instant) -> None:
        """Take the kick-offs of a sport, or the list of sports."""
        match content:
            case Sports(keys=keys):
                # A list without most of the known sports is accepted only the second time.
                self._is_doubted = not self._is_doubted and 2 * len(keys) < len(self._sports)
                if not self._is_doubted:
                    self._set_sports(keys)
            case OddsAnswer(kick_offs=kick_offs, answered_at=answered_at):
                at = now.wall if answered_at is None else answered_at
                coming = [time for time in kick_offs if at - NEAR_AFTER_S <= time <= at + KNOWN_AHEAD_S]
                self._near[target.scope] = near_windows(coming)
                self._markets.answered(self._markets_of.get(target.scope, ()))
                self._ask_for(self._markets.now)
                self._plan_calendar()

    def asks_otherwise(self, target: Target) -> bool:
        """Return whether the API refused a market, so that the next call asks for other markets."""
        return target.scope in self._otherwise

    def take_refusals(self) -> tuple[str, ...]:
        """Return errors for the markets that the API has refused since the last call."""
        taken, self._refusals = tuple(self._refusals), []
        return taken

    def quota(self) -> Mapping[str, float | None]:
        """Return the API's figures on the key's credits, and the plan's budget."""
        return {
            "requests_remaining": self._seen[REMAINING],
            "requests_used": self._seen[USED],
            "credits_last": self._seen[LAST],
            "credits_a_call": self._cost,
            "credits_per_day": self._api.credits_per_day,
            "credits_left_today": None if self._ledger is None else round(self._ledger.left, 3),
        }

    def carried(self, soon: Sequence[Target], now: Instant) -> bytes:
        """Return the spending, including the calls that may be made soon."""
        ledger, reserved = self._ledger, len(soon) * self._cost
        spending = None if ledger is None else ledger.carried(reserved, now)
        return msgspec.msgpack.encode(Carried(self._cost, self._seen, spending))

    def resume(self, carried: bytes, now: Instant) -> None:
        """Continue with another process's spending."""
        found = msgspec.msgpack.decode(carried, type=Carried) if carried else None
        if found is not None:
            self._cost, self._seen = max(found.cost, float(self._call.credits)), found.seen
            self._charged.clear()
            self._plan_calendar()
        if self._ledger is not None:
            self._ledger.resume(None if found is None else found.spending, now)

    def facts(self) -> Mapping[str, object]:
        """Return the chosen way of requests and its cost, as soon as the sports are known."""
        if not self._sports:
            return {}
        other = {} if self._other is None else {f"credits_by_{self._other.parameter}": self._other.credits}
        markets = ",".join(self._call.markets)
        return {
            "asks_by": self._call.parameter,
            **({} if markets == OURS else {"markets": markets}),
            "credits_a_call": self._call.credits,
            "credits_per_day": self._api.credits_per_day,
            "sports": len(self._sports),
            **other,
        }

    def describe(self) -> list[str]:
        """Return lines for an operator: targets, and intervals in quiet and busy hours."""
        count = self._expected_sports()
        known = "" if self._sports else " (as many as usual: which ones is known when it runs)"
        other = f", by {self._other.parameter} {self._other.credits}" if self._other else ""
        asks, costs = f"{self._call.parameter} {self._call.value}", f"{self._cost:g}{other}"
        if self._call.markets != (OURS,):
            asks = f"{asks} for {','.join(self._call.markets)}"
            costs = f"{costs}; {self._call.credits_a_market} a market"
        lines = [f"sports: {count}{known}", f"asks by {asks}: credits a call {costs}"]
        per_day = self._api.credits_per_day
        if per_day is None:
            spent = count * self._cost * DAY_S / self._api.poll_interval_s
            line = f"no credits_per_day: {spent:,.0f} credits a day"
            if spent > FREE_CREDITS_A_MONTH / 30:
                line = f"warning: {line}; a free key has {FREE_CREDITS_A_MONTH} a month"
            return [*lines, line, *super().describe()]
        lines.append(
            f"at most {per_day:g} credits a UTC day; near is from 2 h before a kick-off to 2.5 h after"
        )
        lines.append(f"none near: {self._freshness(self._intervals_with(0, count)[1])}")
        for near in sorted({1, count}):
            near_s, far_s = self._intervals_with(near, count)
            rest = "the others" if near < count else "at other hours"
            lines.append(f"{near} of {count} near: {self._freshness(near_s)}")
            lines.append(f"{' ' * 8}{rest}: {self._freshness(far_s)}")
        return lines

    def _freshness(self, interval_s: float) -> str:
        return f"every {_span(interval_s)}, stale after {_span(self._api.staleness_at(interval_s))}"

    def _expected_sports(self) -> int:
        return len(self._sports) or USUAL_SPORTS

    def _check(self) -> None:
        """Refuse a budget too small for a call, and a `stale_after_s` too short for the budget."""
        per_day, stale_s = self._api.credits_per_day, self._api.stale_after_s
        if per_day is not None and per_day < self._cost:
            raise ValueError(
                f"credits_per_day was {per_day:g}, must be at least the {self._cost:g} that one call costs"
            )
        needed_s = self._equal_share_s()
        if stale_s is not None and stale_s < needed_s:
            why = f"each of {self._expected_sports()} sports can be asked every {_span(needed_s)}"
            raise ValueError(f"stale_after_s was {stale_s:g}, must be at least {ceil(needed_s)}: {why}")

    def _equal_share_s(self) -> float:
        """Return the interval if all sports have the same interval."""
        if self._api.credits_per_day is None:
            return self._api.poll_interval_s
        fair_s = self._expected_sports() * self._cost * DAY_S / self._api.credits_per_day
        return max(fair_s, self._api.poll_interval_s)

    def _boost(self, ledger: Ledger, now: Instant) -> float:
        """Return the boost at `now`, computed once for each moment."""
        left = ledger.left_to_spread(now) / self._cost
        if self._boost_at[:2] != (now.wall, left):
            self._boost_at = (now.wall, left, self._calendar.boost(now.wall, left))
        return self._boost_at[2]

    def _calendar_of(self, sports: Mapping[Scope, Windows]) -> Calendar:
        stale_s = self._api.stale_after_s
        ceiling_s = inf if stale_s is None else max(CEILING_SHARE * stale_s, self._equal_share_s())
        return Calendar(sports, (self._api.credits_per_day or 0.0) / self._cost, ceiling_s)

    def _plan_calendar(self) -> None:
        near = {Scope(sport): self._near.get(Scope(sport), ()) for sport in self._sports}
        self._calendar = self._calendar_of(near)
        self._boost_at = (-inf, 0.0, 1.0)

    def _intervals_with(self, near: int, count: int) -> tuple[float, float]:
        """Return the near and the far interval on a day when `near` of `count` sports have kick-offs."""
        windows = near_windows([int(DAY_S / 2)])
        sports = {Scope(str(number)): windows if number < near else () for number in range(count)}
        rates = self._calendar_of(sports).rates(0.0)
        floor_s = self._api.poll_interval_s
        return max(1 / rates.far / rates.weight, floor_s), max(1 / rates.far, floor_s)

    def _set_sports(self, sports: tuple[str, ...]) -> None:
        self._sports = sports
        self._near = {scope: windows for scope, windows in self._near.items() if scope in sports}
        self._plan_calendar()
        odds = tuple(odds_target(self._api, self._call, sport) for sport in sports)
        is_open = self._api.sports == "football"
        self._targets = (sports_target(self._api), *odds) if is_open else odds

    def _on_refused(self, target: Target, error: SourceError) -> None:
        """Ask for other markets after a refusal, which may answer a call before the last call."""
        asked = self._markets_of.get(target.scope, ())
        if refused := self._markets.refused(asked, str(error)):
            self._refusals.append(f"not asked for any more: {', '.join(refused)}: {error}")
        if asked != self._markets.now:
            self._otherwise.add(target.scope)
            self._ask_for(self._markets.now)

    def _ask_for(self, markets: tuple[str, ...]) -> None:
        """Ask for these markets from now on, and plan with their cost."""
        if markets != self._call.markets:
            self._call, self._other = cheapest_call(self._api, self._keys, markets)
            self._cost = float(self._call.credits)
            self._set_sports(self._sports)

    def _correct(self, target: Target, amount: float, now: Instant) -> None:
        """Replace the counted credits of the last request by `amount`."""
        already, at = self._charged.get(target.scope, (0.0, now.mono))
        self._charged[target.scope] = (amount, at)
        if self._ledger is not None:
            self._ledger.spend(amount - already, now, of=at)


def _whole(value: str | None, otherwise: float | None) -> float | None:
    found = None if value is None else _WHOLE(value)
    return otherwise if found is None else int(found[1])


def _span(seconds: float) -> str:
    """Return a duration as text: 45 s, 90 min, 54 h."""
    for unit_s, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.3g} {unit}"
    return f"{seconds:.3g} s"
