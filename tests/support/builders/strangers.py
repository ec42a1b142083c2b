"""Tables as strangers send them, each in a form of its own: their bytes, and the prices shown from them."""

from __future__ import annotations

import json
from typing import NamedTuple


class Sent(NamedTuple):
    """A table: its file's name, its bytes, the options that it does not say, and what is shown of it.

    Shown are home, away, start (Unix seconds) and the prices of each match of each bookmaker.
    """

    name: str
    body: bytes
    asked: dict[str, str]
    shown: dict[str, list[tuple[str, str, int, tuple[float, float, float]]]]


def _lines(*lines: str, end: str = "\n") -> str:
    return "".join(line + end for line in lines)


GERMAN = Sent(
    "Quoten.csv",
    _lines(
        "Datum;Anstoß;Liga;Heim;Gast;Nord 1;Nord X;Nord 2;Süd 1;Süd X;Süd 2;Max 1;Max X;Max 2",
        "05.12.2096;15:30;Bundesliga;1. FC Köln;Mainz 05;2,10;3,40;3,60;2,05;3,50;3,70;9,9;9,9;9,9",
        "13.12.2096;18:30;2. Bundesliga;VfL Osnabrück;Fürth;1,20;7,50;13;;;;9,9;9,9;9,9",
        end="\r\n",
    ).encode("cp1252"),
    {"timezone": "Europe/Berlin"},
    {
        "nord": [
            ("1. FC Köln", "Mainz 05", 4_005_556_200, (2.1, 3.4, 3.6)),
            ("VfL Osnabrück", "Fürth", 4_006_258_200, (1.2, 7.5, 13.0)),
        ],
        "sud": [("1. FC Köln", "Mainz 05", 4_005_556_200, (2.05, 3.5, 3.7))],
    },
)
OFFSETS = Sent(
    "odds.csv",
    _lines(
        "match_id,kickoff,competition,home_team,away_team,bookmaker,odds_home,odds_draw,odds_away",
        'm1,2096-12-05T15:00:00+00:00,Premier League,Leeds,"Hull, City",alpha,2.1,3.4,3.6',
        'm1,2096-12-05T15:00:00+00:00,Premier League,Leeds,"Hull, City",Beta Bets,2.15,3.3,3.55',
        "m2,2096-12-05T18:30:00+01:00,Serie A,Torino,Lecce,alpha,1.8,3.5,4.75",
    ).encode(),
    {},
    {
        "alpha": [
            ("Leeds", "Hull, City", 4_005_558_000, (2.1, 3.4, 3.6)),
            ("Torino", "Lecce", 4_005_567_000, (1.8, 3.5, 4.75)),
        ],
        "beta-bets": [("Leeds", "Hull, City", 4_005_558_000, (2.15, 3.3, 3.55))],
    },
)
AMERICAN = Sent(
    "lines.tsv",
    _lines(
        "Date\tTime\tHome Team\tAway Team\tLeague\tHome\tDraw\tAway",
        "12/05/2096\t3:00 PM\tLA Galaxy\tAustin FC\tMLS\t+120\t+250\t+210",
        "12/13/2096\t7:30 PM\tSeattle\tPortland\tMLS\t-160\t+290\t+400",
    ).encode(),
    {"timezone": "America/New_York"},
    {
        "lines": [
            ("LA Galaxy", "Austin FC", 4_005_576_000, (2.2, 3.5, 3.1)),
            ("Seattle", "Portland", 4_006_283_400, (1.625, 3.9, 5.0)),
        ]
    },
)
OBJECTS = Sent(
    "feed.jsonl",
    "\n".join(
        json.dumps(
            {
                "id": f"x{number}",
                "home": home,
                "away": away,
                "start": 4_005_558_000,
                "odds": {"1": on_home, "X": 3.5, "2": on_away},
            }
        )
        for number, (home, away, on_home, on_away) in enumerate(
            (("Porto", "Braga", 1.9, 4.2), ("Faro", "Rio", 3, 2.25))
        )
    ).encode(),
    {},
    {
        "feed": [
            ("Porto", "Braga", 4_005_558_000, (1.9, 3.5, 4.2)),
            ("Faro", "Rio", 4_005_558_000, (3.0, 3.5, 2.25)),
        ]
    },
)
NAMELESS = Sent(
    "plain.txt",
    _lines(
        "2096-12-05 15:00|Primera|Betis|Cádiz|1.90|3.50|4.20",
        "2096-12-05 17:00|Primera|Elche|Soria|2.90|3.10|2.60",
    ).encode(),
    {"timezone": "Europe/Madrid"},
    {
        "plain": [
            ("Betis", "Cádiz", 4_005_554_400, (1.9, 3.5, 4.2)),
            ("Elche", "Soria", 4_005_561_600, (2.9, 3.1, 2.6)),
        ]
    },
)
EVERY = (GERMAN, OFFSETS, AMERICAN, OBJECTS, NAMELESS)
