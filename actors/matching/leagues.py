"""Labels of leagues: the competition, country and class of teams that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from actors.core.messages import Scope
from actors.matching.evidence import LeagueEvidence
from actors.matching.overrides import joined
from actors.naming.data import rows
from actors.naming.names import parse, plain
from actors.naming.tables import clubs_of, countries, countries_of, country_of, hosts_of
from actors.naming.tables import load as load_clubs
from actors.naming.team_class import SIMULATED, TeamClass, of_league

_FRIENDLY = re.compile(
    "friendl|amistos|amichevol|amical|amicaux|freundschaft|testspiel|oefen|venskab|vanskap|trening|traning"
    "|tovarishch|towarzysk|prijatelj|pratelsk|baratsag|hazirlik"
).search
_CONTEST = re.compile(  # words for contests: a label without one may be a label of friendlies
    r"\b(?:leagues?|li[gh]\w{0,3}|ligue\d?|leg[ae]|lyg\w|liiga\w*|super\w*|premie\w*|prim[ei]\w*|segund\w*"
    r"|terce\w*|seri[ea]\w*|di[vw]i[sz]\w*|[ck]h?ampion\w*|campeon\w*|sampion\w*|meister\w*|mester\w*"
    r"|[ck]up\w*|copa|coup?p?e|coppa|pokal\w*|puchar\w*|pohar\w*|beker\w*|taca|trophy|shield"
    r"|conferen\w*|na[ct]ional\w*|nations|qualif\w*|eliminat\w*|play ?offs?|tournament|torneo|torneio"
    r"|tournoi|turnier|games|elite\w*|bundes\w*|regional\w*|ober\w*|ere\w*|ekstra\w*|alls\w*|ettan|veikkaus\w*"
    r"|meistri\w*|virs\w*|botola|apertura|clausura|euro|deild\w*|yk+onen|kakkonen|hnl|nb|npl|mls|efl|fa)\b"
    r"|liga\b|league\b|divis|cup\b|kupa\b"
).search

_SHORT = {
    "lge": "league",
    "div": "division",
    "chship": "championship",
    "champ": "championship",
    "prem": "premier",
    **dict.fromkeys(("qualification", "qualifications", "qualifying", "qualifier", "quals"), "qualifiers"),
}
_SMALL = frozenset({"de", "del", "di", "da", "do", "of", "the"})
_NO_SCOPE = Scope("")
Teams: TypeAlias = tuple[str, str] | tuple[()]
_KEY = re.compile(r"soccer_\w+|:.*|[a-z][a-z .'-]*:[a-z0-9]+", re.ASCII).fullmatch  # not in the tables
_ELECTRONIC = re.compile(r"\b(?!eSwatini)(?:e-\w|e[A-Z])").search  # eBundesliga, e-Cup
_SEASON = re.compile(r"\b(?:19|20)\d\d(?: (?:20)?\d\d)?\b")
_REGION = re.compile(  # precedes a competition of several countries: "Africa - CAF Champions League"
    "(?:world|internationals?(?: clubs)?|europe|africa|asia|oceania"
    "|(?:south|north|central|north and central) america) "
)
_STAGE = re.compile(
    " (?:group [a-l]|group stage|(?:league|knockout) (?:phase|stage)|final (?:stage|tournament)|round of 16"
    "|(?:quarter |semi )?finals?)$"
)
_FEDERATION = re.compile(
    r"\b(?:fifa|uefa|conmebol|concacaf|caf|afc|ofc|cosafa|cecafa|waff|saff|asean|eaff|unaf|wafu)\b"
).search
_COMPETITION = re.compile(
    r"\b(?:cup|copa|coupe|qualif\w*|eliminat\w*|champion\w*|league|nations|euro|games|tournament)\b"
).search


class League(Struct, frozen=True, eq=False, gc=False):
    """A league as labels name it; `words` is its plain text without the country, joined.

    `key` is the competition of the shipped table; otherwise `own`, which is country and words; otherwise
    the label, which two sources may use for different leagues. A competition of several countries has an
    `own` and no country.
    """

    key: str
    competition: str | None
    country: str | None
    team: TeamClass
    words: str
    own: str | None
    is_labelled: bool = True
    may_be_friendly: bool = False  # two teams may meet twice in a day
    is_concluded: bool = False  # the country was concluded from the clubs, which is no proof

    @property
    def is_known(self) -> bool:
        """Whether its key belongs to a single league."""
        return self.competition is not None or self.own is not None


def league_of(
    scope: Scope, label: str | None, given: str | None = None, teams: Teams | None = None
) -> League:
    """Return the league of an event; the scope may be the source's own key for it.

    `given` is a competition by the operator. A label that leagues of several countries have, such as
    "Premier League", gets the country of the teams' clubs by the table, if that is known. `teams` are home
    and away.
    """
    label = label or ""
    if not teams or is_telling(label, scope):
        return _league_of(scope, label, given, None)
    if all(country_of(parse(team)) for team in teams):
        return _league_of(scope, label, given, None, are_countries=True)
    return _league_of(scope, label, given, _country_of(*teams, _parts(label)[2]))


@lru_cache(maxsize=1 << 14)
def is_telling(label: str, scope: Scope = _NO_SCOPE) -> bool:
    """Return whether a label or its scope names a country, or a competition known without one."""
    return any(_known(label, scope))


def _known(label: str, scope: Scope) -> tuple[str | None, str | None]:
    """Return the competition and the country that a label and its scope name."""
    if (competition := _table().get(scope) or _competition(label)) is not None:
        return competition, _countries()[competition]
    return None, _parts(label)[1] or _parts(scope.replace("_", " "))[1]


def _country_of(home: str, away: str, words: str) -> str | None:
    """Return the country of two clubs by the table; of one known club only if it has the league."""
    names = parse(home), parse(away)
    here, there = map(countries_of, names)
    if not (here and there):  # a possible short name alone proves nothing
        hosts = hosts_of(frozenset(country for name in names for country, _ in clubs_of(name)))
        having = frozenset(country for country in hosts if f"{country}:{words}" in _table())
        return min(having) if len(having) == 1 else None
    both = here & there
    having = frozenset(
        country for country in hosts_of(here) & hosts_of(there) if f"{country}:{words}" in _table()
    )
    for some in (both & having, having, both):
        if len(some) == 1:
            return min(some)
    return None


@lru_cache(maxsize=1 << 14)
def _league_of(
    scope: Scope, label: str, given: str | None, played_in: str | None, *, are_countries: bool = False
) -> League:
    known, country = _known(label, scope)
    text, _, words = _parts(label)
    if played_in is not None:
        known, country = _table().get(f"{played_in}:{words}"), played_in
    team = of_league(text, country)
    if _ELECTRONIC(label):
        team |= SIMULATED
    own = None
    if words and known is None and country is not None:
        own = f"{country}:{words}"
    elif words and known is None and not team.other:
        own = _international_key(scope, text, words, are_countries=are_countries)
    return _league(
        given or known or own or f":{label}",
        given or known,
        country,
        team,
        words,
        own=own,
        is_labelled=bool(text or known or given),
        may_be_friendly=bool(_FRIENDLY(text) or (words and not (given or known) and not _CONTEST(text))),
        is_concluded=played_in is not None and given is None,
    )


def _international_key(scope: Scope, text: str, words: str, *, are_countries: bool) -> str | None:
    """Return the key of a competition of several countries that sources call alike, None for other labels.

    It needs a label with a federation's name or, between two countries, the label of a competition or of
    friendlies. A key of The Odds API always means one competition.
    """
    is_said = _COMPETITION(text) or _FRIENDLY(text)
    if (are_countries and is_said) or (" " in text and _FEDERATION(text) and not _FRIENDLY(text)):
        return f"international:{words}"
    return scope if scope.startswith("soccer_") else None


def stated(league: League) -> League:
    """Return the league with its concluded country as proven."""
    parts = league.key, league.competition, league.country, league.team, league.words
    return _league(*parts, own=league.own, is_labelled=True, may_be_friendly=league.may_be_friendly)


def countries_evidence(a: League, b: League) -> int:
    """Return 1 if both leagues are of one country, -1 if they are of two, 0 if one is unknown."""
    if a.country is None or b.country is None:
        return 0
    return 1 if a.country == b.country else -1


def league_evidence(a: League, b: League, country: int) -> LeagueEvidence:
    """Return the evidence from two leagues' labels; `country` is the result of `countries_evidence`."""
    concluded = a.is_concluded or b.is_concluded
    same = LeagueEvidence.CONCLUDED if concluded else LeagueEvidence.SAME
    if a.competition is not None and b.competition is not None:
        return same if a.competition == b.competition else LeagueEvidence.DIFFERENT
    if (a.own is not None and a.own == b.own) or (country > 0 and a.words and a.words == b.words):
        return same
    if country < 0:
        return LeagueEvidence.DIFFERENT
    are_two_labels = a.words and b.words and a.words != b.words
    return LeagueEvidence.UNCLEAR if are_two_labels else LeagueEvidence.UNKNOWN


def have_one_label(a: League, b: League) -> bool:
    """Return whether two labels are equal, apart from a country that only one of them has."""
    return a.key == b.key or (bool(a.words) and a.words == b.words and countries_evidence(a, b) >= 0)


def given_competitions(same: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the competition of each label; groups with a label in common form one competition.

    It is the shipped table's competition for any of these labels. If the table has several, the operator
    overrules it, and the labels form a competition of their own.
    """
    competitions: dict[str, str] = {}
    for label, every in joined(same).items():
        if label not in competitions:
            competitions |= dict.fromkeys(every, _competition_of(every))
    return competitions


def _competition_of(labels: list[str]) -> str:
    known = _competitions_of(labels)
    return known.pop() if len(known) == 1 else min(labels)


def _competitions_of(labels: Iterable[str]) -> set[str]:
    """Return the shipped table's competitions for labels, with or without their source.

    A label without a country's name, such as "EPL", counts only if no other label is known.
    """
    certain, others = set[str](), set[str]()
    for label in labels:
        for text in (label, label.partition(":")[2]):
            if (found := _competition(text)) is not None:
                is_certain = "_" in text or _parts(text)[1] is not None
                (certain if is_certain else others).add(found)
                break
    return certain or others


def _competition(label: str) -> str | None:
    text, country, words = _parts(label)
    table = _table()
    if (found := table.get(label)) is not None or not words:
        return found
    if (found := table.get(f"{country}:{words}")) is not None or country is not None:
        return found
    region = _REGION.match(text)
    rest = text[region.end() :] if region else text
    for shorter in (text, rest, f"{rest} {region[0]}" if region else text):
        if (found := table.get(f"None:{_words(_STAGE.sub('', shorter.strip()))}")) is not None:
            return found
    return None


def league_stated(text: str) -> str | None:
    """Return the key of a league from its key, or from a label with only one meaning; otherwise None."""
    if text in _countries() or _KEY(text) is not None:
        return text
    return _competition(text)


def country_named(text: str) -> str | None:
    """Return the country that a word or adjective means in labels; None if it means none."""
    return _country_words()[0].get(_text(text))


def load() -> None:
    """Read all tables now, so that no later call is slowed by reading."""
    load_clubs()
    _country_words()
    _table()
    _countries()


@lru_cache(maxsize=1 << 14)
def _league(
    key: str,
    competition: str | None,
    country: str | None,
    team: TeamClass,
    words: str,
    *,
    own: str | None,
    is_labelled: bool,
    may_be_friendly: bool,
    is_concluded: bool = False,
) -> League:
    return League(key, competition, country, team, words, own, is_labelled, may_be_friendly, is_concluded)


def _parts(label: str) -> tuple[str, str | None, str]:
    """Return the plain label, its country, and its other words, joined."""
    text = _text(label)
    by_word, pattern = _country_words()
    named = {by_word[word] for word in pattern.findall(text)}
    rest = pattern.sub(" ", text) if named else text
    return text, named.pop() if len(named) == 1 else None, _words(rest)  # several countries count as none


def _words(text: str) -> str:
    """Return the distinctive words of a label, joined, without small words and the season."""
    parts = _SEASON.sub(" ", text).split()
    return "".join([_SHORT.get(word, word) for word in parts if word not in _SMALL])


def _text(label: str) -> str:
    """Return the plain words of a label."""
    return " ".join(re.findall("[a-z0-9]+", plain(label)))


@lru_cache(maxsize=1)
def _country_words() -> tuple[dict[str, str], re.Pattern[str]]:
    """Return the countries by each word for them, and a pattern that finds these words."""
    by_word = {word: country for country, names, adjectives in countries() for word in names + adjectives}
    return by_word, re.compile(rf"\b(?:{'|'.join(sorted(by_word, key=len, reverse=True))})\b")


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Return the competitions by label, and by country and words."""
    table: dict[str, str] = {}
    for competition, country, *labels, others in rows("leagues_seed.tsv"):
        for label in labels:
            if not country or "_" in label or _parts(label)[1] is not None:
                table[label] = competition
        for label in others.split("|"):
            if label.startswith("=") and _parts(label)[1] is None:  # the label means only this competition
                table.setdefault(f"None:{_parts(label)[2]}", competition)
        for label in (*labels, *others.split("|")):
            if words := _parts(label)[2]:
                table.setdefault(f"{country or None}:{words}", competition)
    table.pop("", None)
    return table


@lru_cache(maxsize=1)
def _countries() -> dict[str, str | None]:
    return {row[0]: row[1] or None for row in rows("leagues_seed.tsv")}
