"""How a simulated source writes what it lists: ids, names of teams and of leagues.

Real sources agree on none of these. A spelling is stable: the same match is always written the same way.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from actors.core.messages import SourceMatchId
from actors.sources.simulated.world import Fixture


class Spelling(StrEnum):
    """The ways of writing that a source can have."""

    PLAIN = "plain"  # Atlético Fuenvares, Arkmere United, Premier League
    SHORT = "short"  # Atl Fuenvares, Arkmere Utd, Premier Lge
    FORMAL = "formal"  # Club Atlético Fuenvares, Arkmere United FC, England - Premier League


_LISTING_MS = 300_000  # kick-offs, and so the moments of listing, are multiples of five minutes

# First letter of the ids, and the bits in which the number of a slot is changed.
_IDS = {Spelling.PLAIN: ("s", 0), Spelling.SHORT: ("x", 173_561), Spelling.FORMAL: ("m", 94_207)}

_ABBREVIATIONS = (
    "Albion=Alb Athletic=Ath Atlético=Atl Championship=Ch'ship Deportivo=Dep Division=Div División=Div"
    " League=Lge Olympique=Ol Rovers=Rov United=Utd Unión=U Wanderers=Wand"
)
_SHORT_WORDS = dict(pair.split("=") for pair in _ABBREVIATIONS.split())
_FORMAL_STARTS = {"Atlético": "Club Atlético", "Deportivo": "RC Deportivo", "Olympique": "Olympique de"}
_FORMAL_ENDS = {"Albion", "Athletic", "Rovers", "Town", "United", "Wanderers"}
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "Ø": "Oe", "å": "aa"})
_FOLDED = str.maketrans({"ø": "o", "Ø": "O"})
_COUNTRIES = (
    "Argentina:Liga Profesional Argentina/Australia:A-League Men,NPL Victoria"
    "/Brazil:Brasileirão Série A,Brasileirão Série B/Chile:Primera División de Chile"
    "/England:Premier League,Championship,League One/France:Ligue 1,Ligue 2"
    "/Germany:Bundesliga,2. Bundesliga/Italy:Serie A,Serie B/Japan:J1 League,J2 League"
    "/Netherlands:Eredivisie,Eerste Divisie/Norway:Eliteserien/Spain:La Liga,Segunda División"
    "/Sweden:Allsvenskan/USA:MLS,USL Championship"
)
_COUNTRY_OF = {
    league: country
    for country, leagues in (entry.split(":") for entry in _COUNTRIES.split("/"))
    for league in leagues.split(",")
}


def match_id(fixture: Fixture, spelling: Spelling) -> SourceMatchId:
    """Return the id of a match, never used for another; ids of a source rise in order of appearance."""
    first, changed_bits = _IDS[spelling]
    return SourceMatchId(
        f"{first}{fixture.listed_at // _LISTING_MS:07d}{fixture.slot.number ^ changed_bits:06d}"
    )


def team_name(name: str, spelling: Spelling) -> str:
    """Return the name of a team in a spelling."""
    match spelling:
        case Spelling.PLAIN:
            return name
        case Spelling.SHORT:
            return _shortened(name.removesuffix(" FC"))
        case Spelling.FORMAL:
            first, _, rest = name.partition(" ")
            ending = " FC" if name.rpartition(" ")[2] in _FORMAL_ENDS else ""
            return f"{_FORMAL_STARTS.get(first, first)} {rest}{ending}".rstrip().translate(_TRANSCRIBED)


def league_name(name: str, spelling: Spelling) -> str:
    """Return the name of a league in a spelling."""
    match spelling:
        case Spelling.PLAIN:
            return name
        case Spelling.SHORT:
            return _shortened(name)
        case Spelling.FORMAL:
            country = _COUNTRY_OF.get(name.partition(", Division")[0])
            return f"{country} - {name}" if country else name


def _shortened(name: str) -> str:
    words = " ".join(_SHORT_WORDS.get(word, word) for word in name.split(" ")).translate(_FOLDED)
    return "".join(one for one in unicodedata.normalize("NFKD", words) if not unicodedata.combining(one))
