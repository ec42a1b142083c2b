"""Makes matches with odds from Azuro's games and conditions. Pure.

The result of a whole game is the condition with exactly the outcomes 29, 30 and 31: home, draw and away.
Other conditions with three outcomes look similar. A match without this condition is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.core.messages import Match, Removal, SourceMatchId
from actors.core.validation import MAX_START_TIME, Reason, clean_name
from actors.source_api import groups
from actors.source_api.groups import after_preface
from actors.source_api.parsing import Unread
from actors.sources.azuro.wire import Condition, Game, read_conditions

S = TypeVar("S", bound=Struct)

OUTCOMES = ("29", "30", "31")
ACTIVE, PREMATCH, LIVE = "Active", "Prematch", "Live"
FOOTBALL = "football"
SUSPENDED, FINISHED, WITHDRAWN = "suspended", "finished", "withdrawn"
OVER = frozenset({"Finished", "Canceled", "Resolved", "Removed"})
_ODDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,20})?").fullmatch
_SECONDS = re.compile("[0-9]{1,12}").fullmatch


class ListedMatch(Struct, frozen=True):
    """A match with its condition from the list, without odds; `start` is in Unix seconds."""

    id: SourceMatchId
    home: str
    away: str
    league: str | None
    start: int
    is_live: bool
    result: Condition | None = None


class Group(groups.Group[ListedMatch], frozen=True):
    """The matches of a request. `unreadable` games are counted in recordings before 2026-11-29 alone."""

    unreadable: int = 0


class Odds(Struct, frozen=True):
    """A group with its conditions by id; None for an id that several conditions share."""

    group: Group
    by_id: Mapping[str, Condition | None]
    unread: Unread = Unread()


_group = msgspec.json.Decoder(Group)


def read_odds(body: bytes) -> Odds:
    """Read a group and its conditions. Raises: PayloadError if they cannot be read."""
    group, answer = after_preface(body, _group)
    read = read_conditions(answer)
    by_id: dict[str, Condition | None] = {}
    for condition in read.conditions:
        by_id[condition.condition_id] = None if condition.condition_id in by_id else condition
    return Odds(group, by_id, read.unread)


def listed_match(game: Game) -> ListedMatch | Removal:
    """Return a game as a match, or why it is not shown."""
    name = SourceMatchId(game.game_id)
    if game.state not in {PREMATCH, LIVE}:
        return Removal(name, FINISHED if game.state in OVER else SUSPENDED)
    if game.sport is not None and game.sport.slug not in {None, FOOTBALL}:
        return Removal(name, Reason.SPORT)
    teams = [clean_name(team.name or "") for team in game.participants]
    if len(teams) != 2 or "" in teams or teams[0] == teams[1]:  # noqa: PLR2004 - home and away
        return Removal(name, Reason.OUTCOME)
    start = int(game.starts_at) if _SECONDS(game.starts_at) else 0
    if not 0 < start <= MAX_START_TIME:
        return Removal(name, Reason.START_TIME)
    named = [part.name for part in (game.country, game.league) if part is not None and part.name]
    return ListedMatch(name, teams[0], teams[1], ": ".join(named) or None, start, game.state == LIVE)


def result_of(conditions: Iterable[Condition]) -> Condition | str:
    """Return the only unresolved condition of the result, without odds, or why there is none."""
    found = {condition.condition_id: condition for condition in conditions if _is_result(condition)}
    if not found:
        return Reason.NO_RESULT
    going_on = [condition for condition in found.values() if condition.state not in OVER]
    shown = [condition for condition in going_on if condition.hidden is not True]
    if len(shown) == 1:
        return _without_odds(shown[0])
    if shown:
        return Reason.OUTCOME
    return SUSPENDED if going_on else FINISHED


def offer(listed: ListedMatch, odds: Odds) -> Match | Removal:
    """Return a match with its odds, or why it is not shown."""
    known = listed.result
    polled = None if known is None else odds.by_id.get(known.condition_id)
    if known is None or polled is None:
        return Removal(listed.id, WITHDRAWN)
    condition = _completed(polled, known)
    if condition.game is not None and condition.game.game_id != listed.id:
        return Removal(listed.id, Reason.OUTCOME)
    is_enabled = condition.is_live_enabled if listed.is_live else condition.is_prematch_enabled
    if condition.state != ACTIVE or condition.hidden is True or is_enabled is False:
        return Removal(listed.id, FINISHED if condition.state in OVER else SUSPENDED)
    if not _is_result(condition):
        return Removal(listed.id, Reason.OUTCOME)
    by_outcome = {outcome.outcome_id: outcome for outcome in condition.outcomes}
    ordered = [by_outcome[outcome] for outcome in OUTCOMES]
    if any(outcome.state not in {None, ACTIVE} or outcome.hidden is True for outcome in ordered):
        return Removal(listed.id, SUSPENDED)
    home, draw, away = (float(outcome.odds) if _ODDS(outcome.odds) else 0.0 for outcome in ordered)
    return Match(
        listed.id,
        listed.home,
        listed.away,
        listed.league,
        home,
        draw,
        away,
        listed.start,
        in_play=listed.is_live,
    )


def _without_odds(condition: Condition) -> Condition:
    """Return a listed condition without its odds, its outcomes in a fixed order."""
    outcomes = sorted(condition.outcomes, key=lambda outcome: outcome.outcome_id)
    bare = tuple(replace(outcome, odds="") for outcome in outcomes)
    return replace(condition, outcomes=bare, game=None)


def _completed(polled: Condition, listed: Condition) -> Condition:
    """Return a polled condition, with the fields that only the list has."""
    by_id = {outcome.outcome_id: outcome for outcome in listed.outcomes}
    outcomes = tuple(_updated(each, by_id.get(each.outcome_id, each)) for each in polled.outcomes)
    return _updated(replace(polled, outcomes=outcomes), listed)


def _updated(new: S, old: S) -> S:
    """Return `old`, updated with all fields that `new` has."""
    fields = {name: getattr(new, name) for name in new.__struct_fields__}
    return replace(old, **{name: value for name, value in fields.items() if value is not None})


def _is_result(condition: Condition) -> bool:
    return tuple(sorted(outcome.outcome_id for outcome in condition.outcomes)) == OUTCOMES
