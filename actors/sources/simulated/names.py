"""The names of leagues and teams, in several spellings. The leagues are real, the teams invented."""

from __future__ import annotations

from enum import StrEnum
from random import Random


class Spelling(StrEnum):
    """A source's way to write names; real sources differ too."""

    PLAIN = "plain"  # Atlético Fuenvares, Arkmere United, La Liga
    SHORT = "short"  # Atl Fuenvares, Arkmere Utd, La Liga
    FORMAL = "formal"  # Club Atlético Fuenvares, Arkmere United FC, Spain - La Liga


_EUROPE, _AMERICAS, _ASIA = 16, 22, 9
LEAGUES = (
    (_EUROPE, "English", "England: Premier League,England: Championship,England: League One"),
    (_EUROPE, "English", "Scottish Premiership"),
    (_EUROPE, "Latin", "Spain - La Liga,Spain: Segunda División,Primeira Liga"),
    (_EUROPE, "Italian", "Italy: Serie A,Italy: Serie B"),
    (_EUROPE, "German", "Germany: Bundesliga,Germany - 2. Bundesliga"),
    (_EUROPE, "German", "Austrian Bundesliga,Swiss Super League"),
    (_EUROPE, "French", "France: Ligue 1,France: Ligue 2,Belgian Pro League"),
    (_EUROPE, "Dutch", "Netherlands - Eredivisie,Netherlands - Eerste Divisie"),
    (_EUROPE, "Nordic", "Sweden - Allsvenskan,Danish Superliga,Norway - Eliteserien"),
    (_AMERICAS, "American", "USA - MLS,USA - USL Championship"),
    (_AMERICAS, "Latin", "Liga MX,Argentina - Liga Profesional Argentina"),
    (_AMERICAS, "Latin", "Chile - Primera División de Chile,Categoría Primera A"),
    (_AMERICAS, "Latin", "Brazil - Brasileirão Série A,Brazil - Brasileirão Série B"),
    (_ASIA, "Asian", "Japan - J1 League,Japan - J2 League,K League 1,Chinese Super League,Thai League 1"),
    (_ASIA, "English", "Australia - A-League Men,Australia - NPL Victoria"),
)
"""The hour (UTC) around which leagues kick off, the style of their teams' names, and their formal names.

Other spellings leave out a country before " - ". A country before ": " stays, because leagues of several
countries have the same name, and invented teams do not show the country.
"""

CLUBS = {
    "English": "Ark Brin Cor Dray Elver Fen Gorse Harl Kest Oxen Pen Stel Wex/combe garth holt marsh mere"
    " wold/{} Albion,{} Athletic,{} Rovers,{} Town,{} United,{} Wanderers",
    "Latin": "Alme Bra Cala Dora Esta Fuen Gua Luce Mira Olma Pera Sarra Torre/dora lida mora nera rosa"
    " salva vares zuela/Atlético {},CD {},Deportivo {},Real {},Unión {},{} FC",
    "Italian": "Cora Dolce Fia Gala Lira Mela Ora Piave Sera Tiva Vela/gliano mare nza rello sco tina vento"
    "/AC {},Pro {},US {},Virtus {},{} Calcio",
    "German": "Ardels Brunels Dornels Eschels Falkels Grünels Haldels Lindels Rüdels/bach brück feld"
    " furt horst moor tal/FC {},SV {},TSV {},VfL {},{} 09",
    "French": "Aube Bel Chante Fleur Grand Mont Pierre Roche Val/bois champ lac mer pré rive val"
    "/AS {},FC {},Olympique {},Racing {},Stade {}",
    "Dutch": "Aal Brem Dool Hoeve Klaver Meer Polder Wilden/dam dijk loo stede veen zand/FC {},VV {},{}",
    "Nordic": "Bjørk Fjell Grans Hav Lind Myr Ørn Skog Tind/bukt dal heim nes sund vik ås/{} BK,{} IF",
    "American": "Cedar_ Copper_ Granite_ Harbor_ Juniper_ Maple_ Timber_/Bay Falls Point Ridge Springs"
    "/{} City,{} FC,{} SC",
    "Asian": "Haru Kiri Mina Natsu Sora Tsuki Umi Yume/gata hata iwa mori nami shima tani/{} Blaze,{} FC",
}
"""Starts and ends of place names ("_" is a space), and forms of clubs' names, by style."""


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split(","))


# Words and letters that a spelling replaces.
_WORDS = {
    Spelling.SHORT: _pairs(
        "Albion=Alb,Athletic=Ath,Atlético=Atl,Championship=Ch'ship,Deportivo=Dep,Division=Div,"
        "División=Div,League=Lge,Olympique=Ol,Rovers=Rov,United=Utd,Wanderers=Wand"
    ),
    Spelling.FORMAL: _pairs(
        "Atlético=Club Atlético,Deportivo=Club Deportivo,Olympique=Olympique de,Albion=Albion FC,"
        "Athletic=Athletic FC,Rovers=Rovers FC,Town=Town FC,United=United FC,Wanderers=Wanderers FC"
    ),
}
_LETTERS = {
    Spelling.SHORT: str.maketrans(dict(zip("Øãåéíóøü", "Oaaeioou", strict=True))),
    Spelling.FORMAL: str.maketrans({"ü": "ue", "ø": "oe", "Ø": "Oe", "å": "aa"}),
}


def club_names(style: str, random: Random) -> list[str]:
    """Return all names of clubs of a style, in random order."""
    starts, ends, forms = CLUBS[style].split("/")
    places = [(start + end).replace("_", " ") for start in starts.split() for end in ends.split()]
    clubs = [form.format(place) for place in places for form in forms.split(",")]
    random.shuffle(clubs)
    return clubs


def spelled(name: str, spelling: Spelling) -> str:
    """Return the name of a team, or a league's formal name, in a spelling."""
    if spelling is Spelling.FORMAL:
        name = name.replace(": ", " - ")
    if spelling is Spelling.PLAIN:
        return name.rpartition(" - ")[2]
    if spelling is Spelling.SHORT:
        name = name.rpartition(" - ")[2].removesuffix(" FC")
    words = _WORDS[spelling]
    return " ".join(words.get(word, word) for word in name.split(" ")).translate(_LETTERS[spelling])
