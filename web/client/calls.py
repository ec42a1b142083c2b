"""The requests to the service: each function returns a `Call`, which a client makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from . import past, values

A = TypeVar("A")
E = TypeVar("E", bound=values.Match | values.Fixture)

Moment = int | float | str | datetime
"""Unix seconds, RFC 3339, or a datetime with a time zone."""
Several = str | Iterable[str]
"""One value, or several, which are joined with commas."""


@dataclass(frozen=True, slots=True)
class Call(Generic[A]):
    """A GET of `path` with `parameters`, answered by an `answer`.

    The capabilities list the path as `listed_as`; an empty one is not checked. If it `may_fail`, its answer
    may have the status 503, too.
    """

    path: str
    answer: type[A]
    parameters: Mapping[str, str]
    listed_as: str = ""
    may_fail: bool = False

    @property
    def target(self) -> str:
        """The path and the query of the call."""
        return f"{self.path}?{urlencode(self.parameters)}" if self.parameters else self.path


@dataclass(frozen=True, slots=True)
class ListCall(Call[A], Generic[A, E]):
    """A call of a list that a board can follow; `view` is its name at the changes and the stream."""

    view: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether each change of the view's version is a change of this list."""
        return self.parameters.keys() <= {"bookmaker"}

    def given(self, **parameters: str) -> ListCall[A, E]:
        """Return the call with these parameters in place of its own parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def following(self, path: str, **more: str) -> Call[values.Change]:
        """Return the call for the changes or the stream of this list."""
        view = {"view": self.view} if self.view else {}
        return Call(path, values.Change, {**view, **self.parameters, **more}, path)


def odds(
    *, bookmaker: str | None = None, at: Moment | None = None
) -> ListCall[values.MatchList, values.Match]:
    """Ask for the list of odds of 1X2; `at` asks an archive, by a version (int) or a time."""
    path, given = "/api/v2/odds", _given(bookmaker=bookmaker, at=at)
    return ListCall(path, values.MatchList, given, path)


def fixtures(
    *,
    bookmaker: Several | None = None,
    market: Several | None = None,
    league: str | None = None,
    from_: Moment | None = None,
    to: Moment | None = None,
    fair: str | None = None,
) -> ListCall[values.FixtureList, values.Fixture]:
    """Ask for fixtures: the same match across bookmakers."""
    path = "/api/v2/fixtures"
    given = _given(bookmaker=bookmaker, market=market, league=league, from_=from_, to=to, fair=fair)
    return ListCall(path, values.FixtureList, given, path, view="fixtures")


def surebets(
    *,
    bookmaker: Several | None = None,
    market: Several | None = None,
    league: str | None = None,
    from_: Moment | None = None,
    to: Moment | None = None,
    min_profit: float | None = None,
    doubted: bool = False,
    weak: bool = False,
    total: float | None = None,
    step: float | None = None,
) -> ListCall[values.SurebetList, values.Fixture]:
    """Ask for fixtures whose prices win whatever happens; `total` divides money over their legs."""
    path = "/api/v2/surebets"
    chosen = _given(bookmaker=bookmaker, market=market, league=league, from_=from_, to=to)
    more = _given(min_profit=min_profit, doubted=doubted, weak=weak, total=total, step=step)
    return ListCall(path, values.SurebetList, {**chosen, **more}, path, view="surebets")


def value(
    *,
    min_ev: float | None = None,
    reference: str | None = None,
    bookmaker: Several | None = None,
    league: str | None = None,
    market: Several | None = None,
    doubted: bool = False,
) -> Call[values.ValueList]:
    """Ask for prices above the fair price, by the consensus of other bookmakers or by a `reference`."""
    given = {"min_ev": min_ev, "reference": reference, "bookmaker": bookmaker, "league": league}
    return _simple("/api/v2/value", values.ValueList, **given, market=market, doubted=doubted)


def alerts(*, since: str | None = None) -> Call[values.AlertList]:
    """Ask for the alerts that fired lately, or for those after the `cursor` of an earlier answer."""
    return _simple("/api/v2/alerts", values.AlertList, since=since)


def fixture(fixture_id: str, *, fair: str | None = None) -> Call[values.OneFixture]:
    """Ask for one fixture and its links; the id of a merged fixture leads to its new one."""
    return Call(f"/api/v2/fixtures/{_part(fixture_id)}", values.OneFixture, _given(fair=fair))


def ages(fixture_id: str, *, market: str | None = None) -> Call[values.FixtureAges]:
    """Ask when the prices of a fixture were confirmed, and when they changed."""
    path = f"/api/v2/fixtures/{_part(fixture_id)}/ages"
    return Call(path, values.FixtureAges, _given(market=market))


def markets(*, fixture: str | None = None) -> Call[values.MarketList]:
    """Ask for the markets on the board, or the markets of one fixture."""
    return _simple("/api/v2/markets", values.MarketList, fixture=fixture)


def lines(
    entry_or_fixture: str,
    *,
    market: str | None = None,
    from_: Moment | None = None,
    to: Moment | None = None,
    points: int | None = None,
) -> Call[past.LineList]:
    """Ask how the prices of an entry, or of a fixture, moved."""
    given = {"id": entry_or_fixture, "market": market, "from_": from_, "to": to, "points": points}
    return _simple("/api/v2/lines", past.LineList, **given)


def closing(
    *,
    from_: Moment | None = None,
    to: Moment | None = None,
    bookmaker: str | None = None,
    league: str | None = None,
    market: str | None = None,
) -> Call[past.ClosingList]:
    """Ask for closing prices of the fixtures that kicked off in a span; needs an archive."""
    given = {"from_": from_, "to": to, "bookmaker": bookmaker, "league": league, "market": market}
    return _simple("/api/v2/closing", past.ClosingList, **given)


def movers(
    *,
    window_s: int | None = None,
    min: float | None = None,  # noqa: A002 - the parameter's name
    market: str | None = None,
    league: str | None = None,
) -> Call[past.MoverList]:
    """Ask for the fixtures whose consensus moved most; needs an archive."""
    given = {"window_s": window_s, "min": min, "market": market, "league": league}
    return _simple("/api/v2/movers", past.MoverList, **given)


def archive() -> Call[past.Archive]:
    """Ask for the content of the archive."""
    return _simple("/api/v2/archive", past.Archive)


def health() -> Call[values.Health]:
    """Ask for the state of every bookmaker, also while none is serving."""
    return replace(_simple("/health", values.Health), may_fail=True)


def capabilities() -> Call[values.Capabilities]:
    """Ask for the capabilities of the service."""
    return Call("/api/capabilities", values.Capabilities, {})


def other(path: str, **parameters: Any) -> Call[dict[str, Any]]:
    """Ask for a path that this client has no values for; its answer is a dict."""
    return _simple(path, dict[str, Any], **parameters)


def _simple(path: str, answer: type[A], **given: Any) -> Call[A]:
    return Call(path, answer, _given(**given), path)


def _part(given: str) -> str:
    """Return an id, encoded for a path. Raises: ValueError if no path can have it."""
    if given in {"", ".", ".."}:  # in a path these would name another resource
        raise ValueError(f"{given!r} is no id")
    return quote(given, safe=":")


def _given(**parameters: Any) -> dict[str, str]:
    """Return the given parameters as texts; `from_` is the parameter `from`."""
    return {
        name.rstrip("_"): _text(value)
        for name, value in parameters.items()
        if value is not None and value is not False
    }


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case True:
            return "1"
        case int():
            return str(value)
        case float():
            return f"{value:.9f}".rstrip("0").rstrip(".")
        case datetime():
            if value.tzinfo is None:
                raise ValueError(f"{value} was without a time zone, must have one")
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case _:
            return ",".join(map(str, value))
