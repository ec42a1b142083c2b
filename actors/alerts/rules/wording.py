"""The alert of a transition: its title and details, made of the names that the board shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TypeAlias, assert_never

from msgspec import Struct

from actors.alerts.alert import Alert, State
from actors.alerts.rules.readings import About
from actors.alerts.rules.rule import (
    KickoffRule,
    LinkRule,
    MatchRule,
    MoveRule,
    PriceRule,
    SourceRule,
    SurebetRule,
    ValueRule,
)
from actors.alerts.rules.transitions import Moment
from actors.core.messages import BookmakerId
from actors.markets.market import ONE_X_TWO
from actors.matches.leagues import UNKNOWN, league_of_fixture
from actors.matches.model import Fixture

Detail: TypeAlias = str | int | float | bool | None
MAX_TITLE = 500  # characters
Names: TypeAlias = Mapping[BookmakerId, str]


class MatchTransition(Struct, frozen=True, gc=False):
    """A transition to report; `value` is the reading, None if there is no reading any more."""

    rule: MatchRule
    subject: str
    state: State
    now: Moment
    about: About
    value: float | None = None


def match_alert(told: MatchTransition, names: Names) -> Alert:
    """Return the alert of a rule about matches; `names` are the bookmakers' display names."""
    fixture = told.about.fixture
    match = fixture.match
    of = "" if fixture.market is ONE_X_TWO else f" {fixture.market}"
    title = f"{match.home} - {match.away}{of}: {_said(told, names)}"
    return _alert(told, title, _details(told, names))


class Trouble(Struct, frozen=True, gc=False):
    """A transition of a source or of the file of links; `why` is the error, without secrets."""

    rule: SourceRule | LinkRule
    subject: str
    state: State
    now: Moment
    why: str


def trouble_alert(told: Trouble) -> Alert:
    """Return the alert of a rule about sources or links."""
    what = f"source {told.subject}" if isinstance(told.rule, SourceRule) else "links"
    is_over = told.state is State.RESOLVED
    said = "the trouble is over" if is_over else told.why
    return _alert(told, f"{what}: {said}"[:MAX_TITLE], {"error": None if is_over else told.why})


def _alert(told: MatchTransition | Trouble, title: str, details: Mapping[str, Detail]) -> Alert:
    rule, subject, now = told.rule, told.subject, told.now
    alert_id = f"{rule.name} {subject} {now.version}"
    if isinstance(told, Trouble):  # several may happen at one version
        alert_id += f".{now.order}"
    if told.state is State.RESOLVED:
        alert_id += " resolved"
    at = round(now.wall, 3)
    return Alert(
        alert_id, rule.name, rule.when, told.state, now.version, at, subject, title, details, rule.to
    )


def _said(told: MatchTransition, names: Names) -> str:
    rule, about, value, is_over = told.rule, told.about, told.value, told.state is State.RESOLVED
    match rule:
        case PriceRule():
            if value is None:
                return f"{_priced(about, names)} is withdrawn"
            was = "" if about.before in {None, value} else f", was {about.before:g}"
            return f"{_priced(about, names)} is {'now only ' * is_over}{value:g}{was}"
        case MoveRule():
            by = f"{100 * (value or 0.0):+.1f} percentage points in {rule.window_s:g} s"
            return f"fair probability of {_outcome(about)} moved {by}"
        case SurebetRule():
            return "the surebet is over" if is_over else f"surebet of {100 * (value or 0.0):.2f} %"
        case ValueRule():
            has = (
                "no such value any more"
                if is_over
                else f"an expected value of {100 * (value or 0.0):.1f} %"
            )
            return f"{_priced(about, names)} has {has}"
        case KickoffRule():
            return f"begins in {max(round(about.fixture.place.start - told.now.wall), 0)} s"
    assert_never(rule)


def _outcome(about: About) -> str | None:
    return None if about.outcome is None else about.fixture.market.outcomes[about.outcome]


def _priced(about: About, names: Names) -> str:
    bookmaker = about.bookmaker
    return f"{_outcome(about)} at {'' if bookmaker is None else names.get(bookmaker, bookmaker)}"


def _details(told: MatchTransition, names: Names) -> dict[str, Detail]:
    rule, about, value = told.rule, told.about, told.value
    fixture, start = about.fixture, about.fixture.place.start
    match = fixture.match
    details: dict[str, Detail] = {
        "fixture": fixture.match_id,
        "home": match.home,
        "away": match.away,
        "league": match.league or UNKNOWN,
        "league_id": league_of_fixture(fixture).id,
        "kick_off": None if start == inf else start,
        "market": str(fixture.market),
    }
    if about.outcome is not None:
        details["outcome"] = _outcome(about)
    if about.bookmaker is not None:
        details |= {
            "bookmaker": names.get(about.bookmaker, about.bookmaker),
            "bookmaker_id": about.bookmaker,
        }
    match rule:
        case PriceRule():
            details |= {"odds": value, "before": about.before}
        case MoveRule():
            details |= {"moved": None if value is None else round(value, 6), "window_s": rule.window_s}
        case SurebetRule():
            details |= {"profit": value, "legs": _legs(fixture, names) if value is not None else None}
        case ValueRule():
            details |= {"odds": _price(about), "ev": value, "reference": rule.reference or "consensus"}
        case KickoffRule():
            pass
    return details


def _price(about: About) -> float | None:
    if about.bookmaker is None or about.outcome is None:
        return None
    entry = about.fixture.entry(about.bookmaker)
    return None if entry is None else entry.match.prices[about.outcome]


def _legs(fixture: Fixture, names: Names) -> str:
    legs = () if fixture.surebet is None else fixture.surebet.legs
    return ", ".join(
        f"{leg.outcome} {leg.odds:g} {names.get(leg.bookmaker, leg.bookmaker)}" for leg in legs
    )
