"""Labelled pairs of real lists, and ways to make them harder: linking is measured on them.

The labels were made from results, never from names (`links/README.md` of the recordings).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec
from msgspec import Struct

from actors.core.cooperative import run_now
from actors.core.messages import Scope, SourceMatchId, SourceName
from actors.matching.event import Chances, Event, EventKey
from actors.matching.matcher import Group, Matcher
from actors.matching.overrides import Overrides
from actors.naming.names import parse, plain
from actors.naming.tables import countries
from actors.naming.team_class import FIRST, of_league
from tests.support.recordings import FOLDER

T = TypeVar("T", bound=Struct)
WEEKS = ("2022-09-14", "2023-01-18", "2023-03-08")
LINKS = FOLDER / "links"
SPELLINGS = Path(__file__).parent / "links"
HOUR = 3600
SATURDAY = 1_772_895_600  # 2026-03-07T15:00:00Z


class Labelled(Struct, frozen=True):
    """Events of several sources, and the pairs that are the same match, keys ascending.

    Any other pair is wrong, but not with an event that is `unsure`: it may have a partner without a label.
    """

    events: tuple[Event, ...]
    pairs: frozenset[tuple[EventKey, EventKey]]
    unsure: frozenset[EventKey]


def week(name: str, others: str = "") -> Labelled:
    """Return both lists of a week; `others` names the second source, the week's own by default."""
    a = _events(name, "a", SourceName("football_data"))
    b = _events(name, "b", SourceName(others or ("openfootball" if name == "2023-01-18" else "footystats")))
    keys = {event.key.source_match_id: event.key for event in (*a, *b)}
    with (LINKS / f"{name}_links.csv").open(encoding="utf-8") as lines:
        pairs = frozenset(
            (keys[SourceMatchId(row["a"])], keys[SourceMatchId(row["b"])]) for row in csv.DictReader(lines)
        )
    sure = {a for a, _ in pairs}
    return Labelled((*a, *b), pairs, frozenset(event.key for event in a if event.key not in sure))


def spellings(
    random: Random, table: str = "spellings", *, is_plain: bool = False, is_labelled: bool = True
) -> Labelled:
    """Return matches of leagues all over the world in two bookmakers' spellings, at about equal prices.

    They are written by hand: `spellings` before the tables of clubs, so new names may have a lower recall;
    `more_spellings` after them. With `is_plain` the second source's labels have no country.
    """
    events = list[Event]()
    with (SPELLINGS / f"{table}.tsv").open(encoding="utf-8") as lines:
        for number, row in enumerate(csv.DictReader(lines, delimiter="\t")):
            plain_label = row["league"] if is_labelled else None
            label = f"{row['country']} - {row['league']}" if is_labelled else None
            start = SATURDAY + random.choice((0, 0, 0, 1800, 3600, 7200, 86_400))
            home = random.uniform(0.2, 0.6)
            first, other = (
                Event(
                    EventKey(SourceName(source), SourceMatchId(str(number))),
                    *(row[f"{which}home"], row[f"{which}away"], league, Scope("all"), start),
                    (home + moved, 0.25, 0.75 - home - moved),
                )
                for source, which, league, moved in (
                    ("football_data", "", label, 0.0),
                    ("other", "other ", plain_label if is_plain else label, random.uniform(-0.02, 0.02)),
                )
            )
            events += [first, other]
    pairs = frozenset((a.key, b.key) for a, b in zip(events[::2], events[1::2], strict=True))
    return Labelled(tuple(events), pairs, frozenset())


def _events(name: str, side: str, source: SourceName) -> list[Event]:
    with (LINKS / f"{name}_{side}.csv").open(encoding="utf-8") as lines:
        return [_event(row, source) for row in csv.DictReader(lines)]


def event_of(row: dict[str, str], side: str) -> Event:
    """Return the event of one side, a or b, of a case; the side is its source."""
    mine = {name.removeprefix(f"{side}_"): value for name, value in row.items()}
    prices = {f"odds_{text}": mine[text] for text in "1X2"}
    return _event({**mine, **prices, "key": row["case"]}, SourceName(side))


def _event(row: dict[str, str], source: SourceName) -> Event:
    start = datetime.fromisoformat(row["kickoff"])
    prices = [row[f"odds_{name}"] for name in "1X2"]
    return Event(
        EventKey(source, SourceMatchId(row["key"])),
        row["home"],
        row["away"],
        row["league"] or None,
        Scope("all"),
        int(start.timestamp()),
        chances_of(*map(float, prices)) if all(prices) else None,
    )


def chances_of(home: float, draw: float, away: float) -> Chances:
    """Return the probabilities in three prices, their margin taken out in proportion."""
    total = 1 / home + 1 / draw + 1 / away
    return 1 / home / total, 1 / draw / total, 1 / away / total


def replaced(value: T, **changes: object) -> T:
    """Return a struct with other values."""
    return msgspec.structs.replace(value, **changes)


def without_partners(labelled: Labelled, random: Random, share: float = 0.5) -> Labelled:
    """Take out a share of the second events of the pairs."""
    out = {b for _, b in sorted(labelled.pairs) if random.random() < share}
    events = tuple(event for event in labelled.events if event.key not in out)
    return replaced(
        labelled, events=events, pairs=frozenset(pair for pair in labelled.pairs if pair[1] not in out)
    )


_IN_NAMES = (
    *("{} W", "{} (W)", "{} Women", "{} Ladies", "{} Femenino", "{} Frauen", "{} Fem", "{} WFC"),
    *("{} U19", "{} U21", "{} Under 23", "{} U-23", "{} Sub 20", "{} Primavera", "{} Youth"),
    *("{} (U18)", "{} U 20"),
    *("{} II", "{} B", "{} Res.", "{} Reserves", "{} (A)", "Jong {}", "{} 2", "{} (Res)", "{} Am"),
    *("{} Naiset", "{} Xyz"),
)
_IN_LEAGUES = (
    *("{} Women", "{} Femenina", "Women's {}", "{} Reserves", "{} U21", "{} U19"),
    *("Frauen {}", "{} Youth League"),
    *("Premier League 2", "FA WSL", "Primavera 1", "Junioren", "Reserve League", "Under 23 {}", "Liga F"),
)


def with_twins(labelled: Labelled, random: Random, share: float = 1.0) -> Labelled:
    """Add matches of the same clubs' women, youth and reserves, marked in names or only in league names."""
    twins = []
    for event in labelled.events:
        if random.random() >= share or event.source == "football_data" or _is_marked(event):
            continue
        start = (event.start_time or 0) + random.choice((0, 0, 0, 60, -300, 900, -3600, 7200, 86_400))
        chances = (
            None if event.chances is None or random.random() < 0.2 else _near(event.chances, random, 0.1)
        )
        changes: dict[str, object] = {"start_time": start, "chances": chances}
        if random.random() < 0.6:
            mark = random.choice(_IN_NAMES)
            changes |= {"home": mark.format(event.home), "away": mark.format(event.away)}
        else:
            changes["league"] = random.choice(_IN_LEAGUES).format(event.league)
        key = EventKey(event.source, SourceMatchId(f"{event.source_match_id}-twin"))
        twins.append(replaced(event, key=key, **changes))
    return replaced(labelled, events=(*labelled.events, *twins))


def _is_twin(event: Event) -> bool:
    return event.key.source_match_id.endswith("-twin")  # perhaps only the label of the league marks it


def _is_marked(event: Event) -> bool:
    """Return whether the event is already no match of first teams."""
    marked = {parse(event.home).team, parse(event.away).team, of_league(plain(event.league or ""))}
    return marked != {FIRST}


def _near(chances: Chances, random: Random, width: float) -> Chances:
    moved = [max(0.01, chance + random.uniform(-width, width)) for chance in chances]
    return moved[0] / sum(moved), moved[1] / sum(moved), moved[2] / sum(moved)


def with_jitter(labelled: Labelled, random: Random, share: float = 0.2) -> Labelled:
    """Move kick-offs of a share of the events of all sources except the first source."""
    steps = (-60, 60, 300, -900, 1800, -3600, 3600, 7200, -10_800, 86_400, -93_600)
    events = tuple(
        replaced(event, start_time=(event.start_time or 0) + random.choice(steps))
        if event.source != "football_data" and random.random() < share
        else event
        for event in labelled.events
    )
    return replaced(labelled, events=events)


def without_leagues(labelled: Labelled, random: Random, share: float = 0.3) -> Labelled:
    """Take the league from a share of the events, but not from twins that only the league marks."""
    events = tuple(
        replaced(event, league=None) if random.random() < share and not _is_twin(event) else event
        for event in labelled.events
    )
    return replaced(labelled, events=events)


@lru_cache(maxsize=1)
def _countries() -> re.Pattern[str]:
    words = [word for _, names, adjectives in countries() for word in (*names, *adjectives)]
    return re.compile(rf"\b(?:{'|'.join(sorted(words, key=len, reverse=True))})\b")


def with_plain_labels(labelled: Labelled) -> Labelled:
    """Take the country from the labels of all sources except the first source."""
    events = tuple(
        replaced(event, league=" ".join(_countries().sub(" ", plain(event.league)).split()) or None)
        if event.source != "football_data" and event.league
        else event
        for event in labelled.events
    )
    return replaced(labelled, events=events)


def at_one_minute(labelled: Labelled) -> Labelled:
    """Let all matches begin at one minute, at equal prices: only names and labels tell them apart."""
    events = tuple(
        replaced(event, start_time=SATURDAY, chances=(0.4, 0.3, 0.3)) for event in labelled.events
    )
    return replaced(labelled, events=events)


def with_double_headers(labelled: Labelled, random: Random, share: float = 0.1) -> Labelled:
    """Add the same two teams once more within days, in another competition or the other way round."""
    more = []
    for event in labelled.events:
        if event.source == "football_data" or random.random() >= share:
            continue
        start = (event.start_time or 0) + random.choice((-3, 3, 2, 4)) * 24 * HOUR
        key = EventKey(event.source, SourceMatchId(f"{event.source_match_id}-again"))
        if random.random() < 0.5:
            more.append(replaced(event, key=key, start_time=start, league="League Cup"))
        else:
            more.append(
                replaced(
                    event,
                    key=key,
                    start_time=start,
                    home=event.away,
                    away=event.home,
                    chances=event.chances and event.chances[::-1],
                )
            )
    return replaced(labelled, events=(*labelled.events, *more))


def with_sources(labelled: Labelled, random: Random, count: int) -> Labelled:
    """Add `count` sources: the second source's events respelled, moved by minutes, with other prices."""
    partners = {b: a for a, b in labelled.pairs}
    events, pairs = list(labelled.events), set(labelled.pairs)
    first = {event.key for event in labelled.events if event.source == "football_data"}
    for number in range(count):
        source = SourceName(f"source{number}")
        for event in labelled.events:
            if event.key in first or random.random() < 0.1:
                continue
            copy = replaced(
                event,
                key=EventKey(source, event.source_match_id),
                home=respelled(event.home, random),
                away=respelled(event.away, random),
                league=event.league if _is_twin(event) else respelled_league(event.league, random),
                start_time=(event.start_time or 0) + random.choice((0, 0, 0, 0, 60, -60, 300)),
                chances=event.chances and _near(event.chances, random, 0.02),
            )
            events.append(copy)
            pairs.add((event.key, copy.key))
            if event.key in partners:
                pairs.add((partners[event.key], copy.key))
    return replaced(labelled, events=tuple(events), pairs=_closed(pairs))


def _closed(pairs: set[tuple[EventKey, EventKey]]) -> frozenset[tuple[EventKey, EventKey]]:
    """Return the pairs and the pairs that follow from them, in the order of keys."""
    of: dict[EventKey, set[EventKey]] = {}
    for a, b in pairs:
        joined = of.get(a, {a}) | of.get(b, {b})
        for key in joined:
            of[key] = joined
    return frozenset((a, b) for group in of.values() for a in group for b in group if a < b)


def respelled(name: str, random: Random) -> str:
    """Return a team's name as another source might spell it."""
    spellings = [
        *(f"{name} FC", f"FC {name}", name.upper(), name.replace("-", " ").replace(".", "")),
        name.replace("United", "Utd").replace("City", "C.").replace("Saint", "St."),
        name[:-1] if len(name) > len("Hannover") and name.isalpha() else name,
    ]
    return random.choice((*spellings, name, name))


_FIRST_WORDS = frozenset({"Northern", "South", "Republic", "Saudi", "Fyr", "Bosnia", "Faroe", "Czech"})


def respelled_league(league: str | None, random: Random) -> str | None:
    """Return a league's label as another source might spell it, or no label."""
    if league is None or random.random() < 0.1:
        return None
    country, _, rest = league.partition(" ")
    if not rest or country in _FIRST_WORDS:
        return random.choice((league, league.upper()))
    return random.choice((league, f"{rest} - {country}", f"{country} / {rest}", league.upper()))


def _halved(labelled: Labelled, random: Random) -> Labelled:
    return without_partners(labelled, random)


def _everything(labelled: Labelled, random: Random) -> Labelled:
    harder = with_jitter(with_twins(_halved(labelled, random), random), random)
    return without_leagues(with_double_headers(harder, random), random)


HARDER: dict[str, Callable[[Labelled, Random], Labelled]] = {
    "twins, half of the partners gone": lambda labelled, random: with_twins(
        _halved(labelled, random), random
    ),
    "kick-offs moved, half gone": lambda labelled, random: with_jitter(
        _halved(labelled, random), random, 0.9
    ),
    "leagues dropped, half gone": lambda labelled, random: without_leagues(
        _halved(labelled, random), random
    ),
    "plain labels on one side": lambda labelled, _: with_plain_labels(labelled),
    "plain labels on one side, twins, half gone": lambda labelled, random: with_plain_labels(
        with_twins(_halved(labelled, random), random)
    ),
    "no labels": lambda labelled, random: without_leagues(labelled, random, 1.0),
    "all at one minute and price, twins, half gone": lambda labelled, random: at_one_minute(
        with_twins(_halved(labelled, random), random)
    ),
    "double headers, half gone": lambda labelled, random: with_double_headers(
        _halved(labelled, random), random
    ),
    "five sources": lambda labelled, random: with_sources(labelled, random, 3),
    "all of that, four sources": lambda labelled, random: with_sources(
        _everything(labelled, random), random, 2
    ),
}
"""Ways to make a week harder."""


class Measured(Struct, frozen=True):
    """A linker's result for labelled events: the pairs that it found, missed, and linked wrongly."""

    labelled: Labelled
    linker: Matcher
    groups: tuple[Group, ...]
    found: frozenset[tuple[EventKey, EventKey]]

    @property
    def right(self) -> int:
        """The number of labelled pairs that the linker found."""
        return len(self.found & self.labelled.pairs)

    @property
    def recall(self) -> float:
        """The share of the labelled pairs that the linker found."""
        return self.right / max(1, len(self.labelled.pairs))

    @property
    def wrong(self) -> list[tuple[EventKey, EventKey]]:
        """The found pairs that are not one match, in order."""
        unsure = self.labelled.unsure
        return sorted(pair for pair in self.found - self.labelled.pairs if unsure.isdisjoint(pair))


def measured(labelled: Labelled) -> Measured:
    """Link the events with a new linker."""
    linker = Matcher(Overrides())
    groups = run_now(linker.update(labelled.events)).groups
    found = frozenset(
        pair for group in groups for pair in combinations((member.key for member in group), 2)
    )
    return Measured(labelled, linker, groups, found)
