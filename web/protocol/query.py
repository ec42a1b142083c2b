"""The query parameters: their published descriptions and their parsing. Unknown parameters are ignored."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import inf
from typing import Any, Final
from urllib.parse import parse_qs

from msgspec import Struct, field
from msgspec.structs import replace

from actors.core.messages import BookmakerId
from actors.market_fixtures.views import SeveralView
from actors.markets.market import FORMS, ONE_X_TWO, Kind, Market, parsed
from actors.markets.returns import may_gain
from actors.matches.model import OF_EVERY_MARKET, FixtureView, ViewKind
from actors.matching.event import FixtureId
from web.protocol.moments import TOKEN, At, Since, milliseconds, seconds_of, since_of
from web.protocol.negotiation import Format
from web.protocol.problems import Problem

MAX_WAIT_S = 30
MAX_CONFLATE_MS = 120_000
_SECONDS = re.compile(r"(?:30(?:\.0{1,9})?|[0-2]?[0-9](?:\.[0-9]{1,9})?)", re.ASCII)
_MILLISECONDS = re.compile(r"[0-9]{1,6}", re.ASCII)


class Parameter(Struct, frozen=True):
    """A query parameter, or a header that a client may send; `schema` is JSON Schema."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    is_required: bool = False
    place: str = "query"


BOOKMAKER: Final = Parameter("bookmaker", "Show only this bookmaker; default: all bookmakers.")
MAX_BOOKMAKERS = 20
BOOKMAKERS: Final = Parameter(
    "bookmaker",
    "One bookmaker: show the fixtures that it prices, with all bookmakers' prices. Two to twenty: show the"
    " fixtures that any of them prices, with prices, best prices and surebets of only these bookmakers.",
    {"type": "array", "minItems": 1, "maxItems": MAX_BOOKMAKERS, "uniqueItems": True},
)
FAIR: Final = Parameter(
    "fair",
    "Add the fair odds of this bookmaker: its own prices without its margin.",
)
OF_BOOKMAKERS: Final = (BOOKMAKER, BOOKMAKERS, FAIR)
"""Parameters whose schemas list the configured bookmakers."""
VIEW: Final = Parameter(
    "view",
    "Show changes of fixtures, only of fixtures with a surebet, or of values, instead of the list.",
    {"type": "string", "enum": [*OF_EVERY_MARKET, "value"]},
)
ALERTS: Final = "alerts"
VIEW_OF_STREAM: Final = Parameter(
    VIEW.name,
    "Send fixtures, only fixtures with a surebet, values, or the latest alerts, instead of the list.",
    {"type": "string", "enum": [*VIEW.schema["enum"], ALERTS]},
)
LEAGUE: Final = Parameter(
    "league",
    "Show only this league: its `league_id`, or the label that any source has for it. Changes need `view`"
    " with it.",
)
MARKET: Final = Parameter(
    "market",
    "Show this market, such as over_under:2.5 or btts, instead of 1x2; /api/v2/markets lists them."
    " over_under:main and asian_handicap:main are the line of each match that most bookmakers list."
    " Up to ten markets with commas, `main` (all main markets), or `any` (only for surebets) show several:"
    " then each fixture has them in `markets`.",
)
_PART = r"\.(25|5|75)"
_TOTALS = rf"over_under:(0{_PART}|(1?[1-9]|10)({_PART})?|20)"
_HANDICAPS = rf"asian_handicap:(0|-?(0{_PART}|[1-9]({_PART})?|10))"
ONE_MARKET: Final = Parameter(
    MARKET.name,
    "Show this market instead of 1x2; /api/v2/markets lists them.",
    {"type": "string", "pattern": f"^(1x2|btts|double_chance|{_TOTALS}|{_HANDICAPS})$"},
)
FIXTURE: Final = Parameter("fixture", "Show only the markets of the fixture with this id.")
MAX_MARKETS = 10
_MAIN, _ANY = ":main", "any"
_WITH_LINES = {kind for kind, form in FORMS.items() if form.lines is not None}
_TIMES = {
    "anyOf": [
        {"type": "integer", "minimum": -999_999_999_999, "maximum": 999_999_999_999},
        {"type": "string", "format": "date-time"},
    ]
}
_THEN = "in Unix seconds or as a time of RFC 3339, such as 2026-12-05T15:00:00Z."
FROM: Final = Parameter("from", f"Show only matches with kick-off then or later, {_THEN}", _TIMES)
TO: Final = Parameter("to", f"Show only matches with kick-off before then, {_THEN}", _TIMES)
_RATIO = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?", re.ASCII)
BEFORE: Final = Parameter("to", f"Show only events before then, {_THEN}", _TIMES)
SUBJECT: Final = Parameter(
    "subject",
    "Show only events about this source, bookmaker or other subject; for a bookmaker also those of its"
    " source.",
)
MIN_PROFIT: Final = Parameter(
    "min_profit",
    "Show only surebets with this profit or more: 0.01 is 1 % of the total stake.",
    {"type": "string", "pattern": f"^{_RATIO.pattern}$"},
)
DOUBTED: Final = Parameter(
    "doubted",
    "Show also doubted surebets, with their doubts.",
    {"type": "string", "const": "1"},
)
WEAK: Final = Parameter(
    "weak",
    "Show also weak surebets, on whole lines such as over_under:3: one result returns all stakes, every"
    " other result gains.",
    {"type": "string", "const": "1"},
)
_AMOUNT = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,2})?", re.ASCII)
MAX_TOTAL = 1_000_000
TOTAL: Final = Parameter(
    "total",
    f"Divide this total, from 1 to {MAX_TOTAL}, over the outcomes of each surebet, in whole cents.",
    {"type": "number", "minimum": 1, "maximum": MAX_TOTAL, "multipleOf": 0.01},
)
STEP: Final = Parameter(
    "step",
    "With `total`: each stake is a whole multiple of this, from 0.01 to the total; default: 0.01.",
    {"type": "number", "minimum": 0.01, "maximum": MAX_TOTAL, "multipleOf": 0.01},
)
CHOICES: Final = (LEAGUE, FROM, TO, MIN_PROFIT)
OF_LISTS: Final = (*CHOICES, FAIR, DOUBTED, WEAK, TOTAL, STEP)
_NOT_OF_CHANGES: Final = (FROM, TO, MIN_PROFIT, FAIR, DOUBTED, TOTAL, STEP)
NOT_IN_CHANGES: Final = tuple(f"invalid_{choice.name}" for choice in _NOT_OF_CHANGES)
"""Codes for parameters that lists have, and changes of fixtures do not."""
SINCE: Final = Parameter(
    "since",
    "The version that the client has: `VERSION-EPOCH`, as in an ETag, or `VERSION` alone.",
    {"type": "string", "pattern": f"^{TOKEN.pattern}$"},
    is_required=True,
)
LAST_SINCE: Final = Parameter("since", "Like `Last-Event-ID`, for clients that cannot set headers.")
WAIT: Final = Parameter(
    "wait",
    f"Seconds to wait for a change, at most {MAX_WAIT_S}; default: answer at once.",
    {"type": "string", "pattern": f"^{_SECONDS.pattern}$"},
)
CONFLATE: Final = Parameter(
    "conflate_ms",
    "Send at most one event of changes in this many milliseconds.",
    {"type": "integer", "minimum": 0, "maximum": MAX_CONFLATE_MS},
)


AT: Final = Parameter(
    "at",
    "Show the list of this version (a whole number), or of this time (RFC 3339).",
    {"type": "string", "examples": ["1795338501510", "2026-11-25T18:00:00Z"]},
)
FORMAT: Final = Parameter(
    "format",
    "Write the list as JSON, or as a table in CSV for spreadsheets; default: json.",
    {"type": "string", "enum": [*Format]},
)
NOT_FILTERS: Final = (AT, FORMAT)
"""Parameters that choose another list, or another form of it, not some of its entries."""
_VERSION = re.compile(r"[0-9]{1,18}", re.ASCII)


def _id_of(given: str, known: Collection[BookmakerId]) -> str:
    """Return a hint with the intended id if `given` is a display name, or differs in case."""
    names = known if isinstance(known, Mapping) else {}
    wanted = given.strip().casefold()
    meant = next((name for name in known if wanted in {name, names.get(name, name).casefold()}), None)
    return "" if meant is None else f"; did you mean {meant!r}?"


class Query:
    """The parameters of a request. Every method raises Problem 400 for a value that is not allowed."""

    def __init__(self, raw: bytes) -> None:
        self._values = parse_qs(raw.decode("latin-1"), keep_blank_values=True)

    def bookmaker(
        self, known: Collection[BookmakerId], parameter: Parameter = BOOKMAKER
    ) -> BookmakerId | None:
        """Return one of `known`, or None if `parameter` is absent."""
        must = f"must be one of: {', '.join(known)}"
        given = self._one(parameter.name, must)
        if given is not None and given not in known:
            raise _invalid(parameter.name, f"was {given[:64]!r}", must + _id_of(given, known))
        return None if given is None else BookmakerId(given)

    def bookmakers(self, known: Collection[BookmakerId]) -> tuple[BookmakerId, ...]:
        """Return up to twenty bookmakers in the order of `known`; none if the parameter is absent."""
        must = f"must be one of these, or two to {MAX_BOOKMAKERS} with commas between: {', '.join(known)}"
        given = self._one(BOOKMAKERS.name, must)
        if given is None:
            return ()
        names = given.split(",")
        if not {*names} <= {*known} or len({*names}) < len(names) or len(names) > MAX_BOOKMAKERS:
            raise _invalid(BOOKMAKERS.name, f"was {given[:64]!r}", must + _id_of(given, known))
        for of_changes in (SINCE, WAIT):
            if len(names) > 1 and of_changes.name in self._values:
                raise _invalid(BOOKMAKERS.name, "names several", f"must be one with '{of_changes.name}'")
        return tuple(name for name in known if name in names)

    def watches_alerts(self) -> bool:
        """Return whether the client wants alerts, which no parameter of lists may choose."""
        if self._values.get(VIEW_OF_STREAM.name) != [ALERTS]:
            return False
        for choice in (BOOKMAKER, LEAGUE, MARKET, WEAK, *_NOT_OF_CHANGES):
            if choice.name in self._values:
                raise _invalid(choice.name, "is only for lists", f"must not be given with view={ALERTS}")
        return True

    def watched(
        self, known: Collection[BookmakerId], parameter: Parameter = VIEW
    ) -> BookmakerId | FixtureView | SeveralView | None:
        """Return the view whose changes the client wants: the view of the list, or of fixtures.

        The view's league is an id or a label, as the client wrote it. `parameter` declares all views.
        """
        must = f"must be one of: {', '.join(parameter.schema['enum'])}"
        given = self._one(VIEW.name, must)
        bookmaker = self.bookmaker(known)
        league = self._one(LEAGUE.name, "must be given once, or not at all")
        if WEAK.name in self._values and given != ViewKind.SUREBETS:
            raise _invalid(WEAK.name, "is only for surebets", "must come with view=surebets")
        if given is None:
            for choice in (LEAGUE, MARKET):
                if choice.name in self._values:
                    must = "must come with view=fixtures or view=surebets"
                    raise _invalid(choice.name, "is only for fixtures", must)
            return bookmaker
        if given not in OF_EVERY_MARKET:
            raise _invalid(VIEW.name, f"was {given[:64]!r}", must)
        for choice in _NOT_OF_CHANGES:
            if choice.name in self._values:
                raise _invalid(choice.name, "is only for whole lists", "must not be given with changes")
        return self.of_markets(FixtureView(ViewKind(given), bookmaker, league))

    def of_markets(self, view: FixtureView) -> FixtureView | SeveralView:
        """Return the view for the requested market or markets; 1X2 by default.

        If weak surebets are requested too, markets that may have them get a view of kind `WEAK`.
        """
        found = self._of_markets(view)
        if view.kind is not ViewKind.SUREBETS or not self._is_wanted(WEAK):
            return found
        if isinstance(found, FixtureView):
            return _with_weak(found)
        views = tuple(map(_with_weak, found.views))
        return SeveralView(f"{found.asked}&{WEAK.name}", views) if views != found.views else found

    def _of_markets(self, view: FixtureView) -> FixtureView | SeveralView:
        given = self._one(MARKET.name, "must be given once, or not at all")
        if given is None:
            return view
        if given == _MAIN[1:]:
            return SeveralView(given, tuple(replace(view, market=_by_kind(kind)) for kind in Kind))
        if given == _ANY and view.kind is ViewKind.SUREBETS:
            every = (replace(view, market=_by_kind(kind), has_every_line=True) for kind in Kind)
            return SeveralView(given, tuple(every))
        names = given.split(",")
        markets = [_market(name) for name in names[:MAX_MARKETS]]
        if len({*markets}) < len(names):
            why = f"names one twice, or more than {MAX_MARKETS}"
            raise _invalid(MARKET.name, why, f"must be up to {MAX_MARKETS} with commas between")
        views = [replace(view, market=market) for market in markets]
        return views[0] if len(views) == 1 else SeveralView(given, tuple(views))

    def market(self) -> Market:
        """Return the requested market with its line; 1X2 if absent."""
        given = self._one(MARKET.name, "must be given once, or not at all")
        return ONE_X_TWO if given is None else _with_its_line(given)

    def fixture(self) -> FixtureId | None:
        """Return the requested fixture; None if it is absent."""
        given = self._one(FIXTURE.name, "must be the id of one fixture, or absent")
        return None if given is None else FixtureId(given)

    def choice(self) -> tuple[str | None, float, float, float | None]:
        """Return the filters of fixtures: league, begin and end of kick-off times, least profit."""
        must = "must be given once, or not at all"
        start, end = self._time(FROM.name, -inf), self._time(TO.name, inf)
        given = self._one(MIN_PROFIT.name, must)
        if given is not None and not _RATIO.fullmatch(given):
            raise _invalid(MIN_PROFIT.name, f"was {given[:64]!r}", "must be a number from 0, like 0.01")
        return self._one(LEAGUE.name, must), start, end, None if given is None else float(given)

    def before_s(self) -> float:
        """Return the time before which events are requested, in Unix seconds; infinity if absent."""
        return self._time(BEFORE.name, inf)

    def subject(self) -> str | None:
        """Return the requested subject of events; None if it is absent."""
        return self._one(SUBJECT.name, "must be given once, or not at all")

    def doubted(self) -> bool:
        """Return whether doubted surebets are requested."""
        return self._is_wanted(DOUBTED)

    def division(self) -> tuple[int, int]:
        """Return the total to divide (0 if absent) and the step of the stakes, both in cents."""
        total = self._cents(TOTAL.name, 100, MAX_TOTAL * 100)
        if total is None and STEP.name in self._values:
            raise _invalid(STEP.name, "is given alone", f"must come with '{TOTAL.name}'")
        return total or 0, self._cents(STEP.name, 1, total or 1) or 1

    def since(self) -> Since:
        """Return the version since which changes are requested; it is required."""
        must = "must be the version of an answer, an integer, perhaps with its epoch: VERSION-EPOCH"
        given = self._one(SINCE.name, must)
        if given is None:
            raise _invalid(SINCE.name, "is missing", must)
        if (since := since_of(given)) is None:
            raise _invalid(SINCE.name, f"was {given[:64]!r}", must)
        return since

    def since_if_given(self) -> Since | None:
        """Return the version since which something is requested; None if absent."""
        return self.since() if SINCE.name in self._values else None

    def at(self) -> At | None:
        """Return the requested version or time; None if absent."""
        must = "must be a version, a whole number, or a time like 2026-11-25T18:00:00Z"
        given = self._one(AT.name, must)
        if given is None:
            return None
        if _VERSION.fullmatch(given):
            return At(int(given))
        if (ms := milliseconds(given)) is None:
            raise _invalid(AT.name, f"was {given[:64]!r}", must)
        return At(None, ms)

    def refuse_at(self, why: str) -> None:
        """Raise Problem 400 if `at` is given; for paths and services without a past."""
        if AT.name in self._values:
            raise _invalid(AT.name, why, "must be left out")

    def format(self) -> Format:
        """Return the requested format; JSON if absent."""
        must = f"must be one of: {', '.join(Format)}"
        given = self._one(FORMAT.name, must)
        if given is not None and given not in Format.__members__.values():
            raise _invalid(FORMAT.name, f"was {given[:64]!r}", must)
        return Format.JSON if given is None else Format(given)

    def last_since(self) -> str | None:
        """Return `since` as it was written, valid or not; None if it is absent."""
        given = self._values.get(LAST_SINCE.name)
        return None if given is None else ", ".join(given)

    def wait_s(self) -> float:
        """Return the seconds to wait for a change, 0 if absent."""
        return self._number(WAIT.name, _SECONDS, MAX_WAIT_S, "seconds")

    def conflate_s(self) -> float:
        """Return the least seconds between two changes, 0 if absent."""
        return self._number(CONFLATE.name, _MILLISECONDS, MAX_CONFLATE_MS, "whole milliseconds") / 1000

    def _time(self, name: str, default: float) -> float:
        must = "must be Unix seconds, a whole number, or a time like 2026-12-05T15:00:00Z"
        given = self._one(name, must)
        if given is None:
            return default
        if (found := seconds_of(given)) is None:
            raise _invalid(name, f"was {given[:64]!r}", must)
        return found

    def _is_wanted(self, parameter: Parameter) -> bool:
        must = "must be 1, or absent"
        given = self._one(parameter.name, must)
        if given not in {None, parameter.schema["const"]}:
            raise _invalid(parameter.name, f"was {given[:64]!r}", must)
        return given is not None

    def _cents(self, name: str, least: int, most: int) -> int | None:
        must = f"must be from {least / 100:g} to {most / 100:.10g}, in whole cents, like 100 or 99.50"
        given = self._one(name, must)
        if given is None:
            return None
        cents = round(float(given) * 100) if _AMOUNT.fullmatch(given) else 0
        if not least <= cents <= most:
            raise _invalid(name, f"was {given[:64]!r}", must)
        return cents

    def _number(self, name: str, form: re.Pattern[str], most: int, unit: str) -> float:
        must = f"must be {unit}, at most {most}"
        given = self._one(name, must)
        if given is not None and not (form.fullmatch(given) and float(given) <= most):
            raise _invalid(name, f"was {given[:64]!r}", must)
        return float(given or 0)

    def _one(self, name: str, must: str) -> str | None:
        given = self._values.get(name, [])
        if len(given) > 1:
            raise _invalid(name, f"was given {len(given)} times", must)
        return given[0] if given else None


def _with_weak(view: FixtureView) -> FixtureView:
    """Return the view with weak surebets if its market may have any, otherwise `view`."""
    market = view.market
    has_lines = market.kind in _WITH_LINES
    may_have = has_lines and (market.quarters is None or not may_gain(market))
    return replace(view, kind=ViewKind.WEAK) if may_have else view


def _market(name: str) -> Market:
    """Parse a market, or the main line of a kind. Raises: Problem 400."""
    if (kind := name.removesuffix(_MAIN)) in _WITH_LINES and kind != name:
        return Market(Kind(kind))
    return _with_its_line(name)


def _with_its_line(name: str) -> Market:
    try:
        return _same(parsed(name))
    except ValueError as error:
        raise Problem(400, f"invalid_{MARKET.name}", f"parameter '{MARKET.name}' {error}") from error


def _by_kind(kind: Kind) -> Market:
    """Return the only market of a kind, or its main line."""
    return _same(Market(kind))


def _same(market: Market) -> Market:
    """Return `ONE_X_TWO` itself for 1X2, because it is compared by identity."""
    return ONE_X_TWO if market == ONE_X_TWO else market


def market_asked(market: Market) -> str:
    """Return a market as clients write it: `KIND:main` if its line is missing and its kind has lines."""
    return f"{market}{_MAIN}" if market.quarters is None and market.kind in _WITH_LINES else str(market)


def _invalid(name: str, fault: str, must: str) -> Problem:
    return Problem(400, f"invalid_{name}", f"parameter '{name}' {fault}, {must}")
