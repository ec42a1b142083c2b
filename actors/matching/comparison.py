"""Compares two matches: names, class, kick-off and leagues; finds the remaining conditions for a link.

Pure, given overrides. Prices are compared later, event by event. Everything else is the same for all events
with the same names, league and kick-off, which share one `Description`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import inf
from operator import attrgetter

from msgspec import Struct, field

from actors.core.messages import SourceName
from actors.matching.event import Event, EventKey
from actors.matching.evidence import (
    EQUAL,
    Evidence,
    How,
    LeagueEvidence,
    Likeness,
    NameEvidence,
    are_of_several,
    are_of_several_countries,
    likeness,
    likeness_by_words,
    may_be_of_several,
)
from actors.matching.leagues import (
    League,
    countries_evidence,
    given_competitions,
    have_one_label,
    league_evidence,
    league_of,
    load,
)
from actors.matching.overrides import Overrides
from actors.matching.rules import (
    BONUS,
    LIMITS,
    LONGEST,
    LONGEST_ALIKE,
    LONGEST_FUZZY,
    ON_TIME,
    UNKNOWN_APART,
    Condition,
    Objection,
    Relation,
    open_to,
    rank_of,
)
from actors.naming.marks import have_marks
from actors.naming.names import Name, are_equal, parse
from actors.naming.similarity import stems
from actors.naming.team_class import FIRST, TeamClass, differ

MUST_RANK = 9.0  # above all ranks from evidence
CLEARLY = 0.3  # needed lead in similarity over the crossed names, of 2
_GIVEN = NameEvidence(Likeness.SAME, 1.0, How.GIVEN)
_TOWNS_IN_BRACKETS = frozenset({"argentina", "uruguay"})
_likeness_of = attrgetter("likeness")


class Description(Struct, eq=False, gc=False):
    """The common features of events that list a match in the same way; `start` is Unix seconds.

    `keys` are the keys of these events, by source. With `is_one_club` the tables have both teams as one
    club, so that the tables are ignored for this match. With `is_of_several` two pairs of clubs of one
    country have these names, with `is_ambiguous` they may have them. With `is_unnamed` a team is not known
    yet.
    """

    home: Name
    away: Name
    league: League
    start: int | None
    home_team: TeamClass
    away_team: TeamClass
    is_one_club: bool
    is_of_several: bool
    is_ambiguous: bool
    is_unnamed: bool
    keys: dict[SourceName, dict[EventKey, None]] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Name, Name, League, int | None]:
        """The values that identify the description."""
        return self.home, self.away, self.league, self.start


def teams_of(home: str, away: str, league: League) -> tuple[Name, Name]:
    """Return the names of both teams of a match in that league.

    In Argentina and Uruguay a letter in brackets is a town if only one team has one: Sarmiento (J).
    """
    teams = parse(home), parse(away)
    if league.country in _TOWNS_IN_BRACKETS and (teams[0].team == FIRST) != (teams[1].team == FIRST):
        return parse(home, has_towns=True), parse(away, has_towns=True)
    return teams


def described(home: Name, away: Name, league: League, start: int | None) -> Description:
    """Return a description without events."""
    teams = home.team | league.team, away.team | league.team
    is_one_club = _likeness(home, away, league, league).likeness is Likeness.SAME
    of_several = are_of_several(home, away, league.country), may_be_of_several(home, away, league.country)
    is_unnamed = home.is_unnamed or away.is_unnamed
    return Description(home, away, league, start, *teams, is_one_club, *of_several, is_unnamed)


def swapped(description: Description) -> Description:
    """Return the description with home and away exchanged, without events."""
    return described(description.away, description.home, description.league, description.start)


class Comparator:
    """Finds the relation of two descriptions. Its creation reads the shipped tables, some 0.5 s."""

    def __init__(self, overrides: Overrides) -> None:
        load()
        self._aliases: dict[str, list[tuple[str | None, tuple[Name, ...]]]] = {}
        for team in overrides.teams:
            names = tuple(parse(name) for name in team.names)
            for name in names:
                self._aliases.setdefault(name.text, []).append((team.country, names))
        self._leagues = given_competitions(overrides.leagues)

    def league(self, event: Event) -> League:
        """Return the league of an event."""
        given = None
        if self._leagues:
            label, scope = event.league or "", event.scope
            labels = (f"{event.source}:{label}", f"{event.source}:{scope}", label, scope)
            given = next((self._leagues[label] for label in labels if label in self._leagues), None)
        return league_of(event.scope, event.league, given, (event.home, event.away))

    def aliases(self, name: Name) -> list[Name]:
        """Return the operator's other spellings of that name, in any country."""
        return [other for _, names in self._aliases.get(name.text, ()) for other in names]

    def relation(self, a: Description, b: Description) -> Relation | None:
        """Return the relation of two descriptions; None if nothing suggests one match."""
        if (delta_s := _apart(a, b)) is None or (far := abs(delta_s)) > LONGEST:
            return None
        if a.is_unnamed or b.is_unnamed:
            return None  # "Winner QF1" may be in different cups, and either team may be the winner
        ours, theirs = a.league, b.league
        home = EQUAL if a.home is b.home else self._names(a, b, a.home, b.home)
        if home.likeness < 0 and far > LONGEST_FUZZY:
            return None
        away = EQUAL if a.away is b.away else self._names(a, b, a.away, b.away)
        worse, better = home.likeness, away.likeness
        if worse > better:
            worse, better = better, worse
        if not _may_be_one(worse, better, far):
            return None
        if better < Likeness.SAME and not (_share_stem(a.home, b.home) or _share_stem(a.away, b.away)):
            return None  # no common stem: `near` finds such pairs only by chance
        country = countries_evidence(ours, theirs)
        league = _league_evidence(a, b, country)
        objection = self._objection(a, b, home, away)
        if objection is None and _are_namesakes(a, b, league):
            objection = Objection.LEAGUE
        is_timed = a.start is not None
        if not is_timed and objection is None:  # then only one label and agreeing prices can link them
            objection = None if have_one_label(ours, theirs) else Objection.KICK_OFF
            league = LeagueEvidence.SAME
        return _relation(home, away, delta_s, league, country, objection, is_timed=is_timed)

    def _objection(
        self, a: Description, b: Description, home: NameEvidence, away: NameEvidence
    ) -> Objection | None:
        """Return the reason that forbids a link, whatever leagues and prices say; None if there is none."""
        worse, better = sorted((home.likeness, away.likeness))
        if self._is_crossed(a, b, home, away):
            return Objection.SWAPPED
        if _differ(a, b) or (worse < Likeness.SAME and _have_marks(a, b)):
            return Objection.CLASS
        if abs(_apart(a, b) or 0) > _moves_at_most(a, b):
            return Objection.KICK_OFF
        is_short_for_two = better < Likeness.NEAR and home.how is How.TABLE is away.how
        return Objection.NAME if worse < 0 or is_short_for_two else None

    def _is_crossed(self, a: Description, b: Description, home: NameEvidence, away: NameEvidence) -> bool:
        """Return whether the names fit about as well with home and away exchanged."""
        if (a.home.text, a.away.text) == (b.home.text, b.away.text) and a.home.text != a.away.text:
            return False
        if are_equal(a.home, a.away) or are_equal(b.home, b.away):
            return True
        crossed = self._names(a, b, a.home, b.away), self._names(a, b, a.away, b.home)
        worse, better = sorted(crossed, key=_likeness_of)
        return (
            worse.likeness >= min(home.likeness, away.likeness)
            and better.likeness >= max(home.likeness, away.likeness)
            and worse.similarity + better.similarity + CLEARLY > home.similarity + away.similarity
        )

    def is_swapped(self, a: Description, b: Description) -> bool:
        """Return whether the teams are the same with home and away exchanged."""
        straight, crossed = (
            [self._names(a, b, a.home, home).likeness, self._names(a, b, a.away, away).likeness]
            for home, away in ((b.home, b.away), (b.away, b.home))
        )
        return min(crossed) >= Likeness.ALIKE and min(crossed) > max(straight)

    def evidence(self, a: Description, b: Description, gap: float | None) -> Evidence:
        """Return the evidence about two events with these descriptions, whose prices differ by `gap`."""
        home = self._names(a, b, a.home, b.home)
        away = self._names(a, b, a.away, b.away)
        delta_s = None if a.start is None or b.start is None else b.start - a.start
        country = countries_evidence(a.league, b.league)
        return Evidence(home, away, delta_s, _league_evidence(a, b, country), country, gap)

    def _names(self, ours: Description, theirs: Description, a: Name, b: Name) -> NameEvidence:
        """Return the similarity of two teams' names."""
        league, other = ours.league, theirs.league
        if ours.is_one_club or theirs.is_one_club:
            likeness = likeness_by_words(a, b)
        else:
            likeness = _likeness(a, b, league, other)
        if likeness.likeness is not Likeness.SAME and self._aliases and self._is_given(a, b, league, other):
            return _GIVEN
        return likeness

    def _is_given(self, a: Name, b: Name, league: League, other: League) -> bool:
        """Return whether the operator equates both names, directly or with a spelling of the tables."""
        ours = [(None, a), *self._given(a, league.country or other.country)]
        theirs = [(None, b), *self._given(b, other.country or league.country)]
        return any(
            _likeness(x, y, league, other).likeness is Likeness.SAME
            for country, x in ours
            for other_country, y in theirs
            if country is None
            or other_country is None
            or country == other_country  # equal names in two countries are two teams
        )

    def _given(self, name: Name, known: str | None) -> list[tuple[str | None, Name]]:
        """Return the operator's other spellings, with the country of each."""
        return [
            (country, other)
            for country, names in self._aliases.get(name.text, ())
            if country is None or known is None or country == known
            for other in names
        ]


@lru_cache(maxsize=1 << 12)
def _relation(  # noqa: PLR0917
    home: NameEvidence,
    away: NameEvidence,
    delta_s: int,
    league: LeagueEvidence,
    country: int,
    objection: Objection | None,
    *,
    is_timed: bool,
) -> Relation:
    """Return a relation; equal arguments share a cached object, because few relations are frequent."""
    far, worse, better = abs(delta_s), *sorted((home.likeness, away.likeness))
    rank = rank_of(home, away, far, league, country)
    conditions, bearable = open_to(better, worse, LIMITS[bisect_left(LIMITS, far)], league, country)
    if not is_timed:
        conditions = tuple([condition for condition in conditions if condition.priced])
    reason = Objection.NAME if worse < Likeness.SAME and far <= LONGEST_FUZZY else Objection.KICK_OFF
    if league is LeagueEvidence.DIFFERENT:
        reason = Objection.LEAGUE
    if objection is not None:
        conditions, bearable = (), -1.0
    return Relation(conditions, bearable, rank, objection or reason, home, away, delta_s, league, country)


def rank_with(relation: Relation, condition: Condition | None, gap: float | None) -> float:
    """Return the rank of two events: that of names and league, plus a rule's bonus, less a price gap."""
    bonus = BONUS.get(condition.rule, 0.0) if condition is not None else 0.0
    return relation.rank + bonus - (0.0 if gap is None else min(2 * gap, 0.5))


def _likeness(a: Name, b: Name, league: League, other: League) -> NameEvidence:
    ours, theirs = league.country, other.country
    country = (ours or theirs) if ours == theirs or not (ours and theirs) else None
    return likeness(a, b, country) if a.text <= b.text else likeness(b, a, country)


def _apart(a: Description, b: Description) -> int | None:
    """Return b's kick-off minus a's; an assumed delay if both are unknown, None if one is unknown."""
    if a.start is None or b.start is None:
        return UNKNOWN_APART if a.start is b.start else None
    return b.start - a.start


def _moves_at_most(a: Description, b: Description) -> float:
    """Return the largest plausible delay of a match, before the same teams meet again."""
    if a.home_team.other or a.away_team.other or _is_played(a) or _is_played(b):
        return LONGEST_FUZZY  # simulated: some teams meet every quarter of an hour
    return ON_TIME if a.league.may_be_friendly or b.league.may_be_friendly else inf


def _is_played(description: Description) -> bool:
    """Return whether both teams have a word in brackets, such as the player in simulated matches.

    If the word is their country instead, only links of moved kick-offs are missed.
    """
    return description.home.is_explained and description.away.is_explained


def _may_be_one(worse: Likeness, better: Likeness, far: int) -> bool:
    """Return whether names and kick-offs allow one match, or a doubt about the table of clubs.

    Two clubs of the table cannot play one opponent at one minute: the pair is reported, and not linked.
    """
    if better < Likeness.SAME:
        return worse > 0 and far <= LONGEST_FUZZY
    return far <= (LONGEST_FUZZY if worse < 0 else LONGEST if worse is Likeness.SAME else LONGEST_ALIKE)


def _league_evidence(a: Description, b: Description, country: int) -> LeagueEvidence:
    """Return the evidence from the labels, which prove nothing where the names may mean several clubs."""
    found = league_evidence(a.league, b.league, country)
    is_same = found is LeagueEvidence.SAME
    return LeagueEvidence.CONCLUDED if is_same and (a.is_ambiguous or b.is_ambiguous) else found


def _are_namesakes(a: Description, b: Description, league: LeagueEvidence) -> bool:
    """Return whether further clubs have these names, and no league's label says which clubs are meant.

    A label never distinguishes clubs of one country, because they may play in one league.
    """
    if a.is_of_several or b.is_of_several:
        return True
    return league is not LeagueEvidence.SAME and any(
        side.league.country is None and are_of_several_countries(side.home, side.away) for side in (a, b)
    )


def _share_stem(a: Name, b: Name) -> bool:
    return not stems(a).isdisjoint(stems(b))


def _differ(a: Description, b: Description) -> bool:
    """Return whether two names of a team differ in class: women, youth, reserves."""
    return differ(a.home_team, b.home_team) or differ(a.away_team, b.away_team)


def _have_marks(a: Description, b: Description) -> bool:
    """Return whether both teams of either match have an unknown mark of class."""
    return have_marks(a.home, a.away, b.home, b.away) or have_marks(b.home, b.away, a.home, a.away)
