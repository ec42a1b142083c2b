"""Random lives of a small board that the real matcher links, watched by the oracle of surebets.

Five bookmakers list a match, and some of them another one that looks like it. Lists fail, are suspect,
late, moved, crossed; prices are exchanged under the right names, or far too high; two bookmakers are of one
company.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from random import Random

from msgspec import Struct, field
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.messages import Batch, BookmakerId, Match, SourceMatchId, SourceName
from actors.matches.linking import Linking
from actors.matches.model import BookmakerInfo, Fixture, FixtureSettings, roster_of
from actors.matches.surebets import SurebetRules
from actors.matching.event import Chances, Event, EventKey
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides, Pair
from actors.matching.rules import DAY, Certainty
from tests.support.adversary import Game, games_of, pair_of
from tests.support.builders.events import SATURDAY
from tests.support.builders.fixtures import LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.lookalikes import KINDS, lookalike
from tests.support.oracles.offers import RESULTS, Bet, Mistake, Offer, Results, Shop, Truth
from tests.support.time.virtual import WALL_0

NAMES = ("alder", "birch", "cedar", "dogwood", "elm")
COMPANIES = {"birch": "acme", "cedar": "acme"}
COMMISSIONS = {"dogwood": 0.02}
MAX_AGE_S = 20.0
_CROSSED = ("crossed", "nations")  # the other match may have home and away crossed
_UNPROVEN = frozenset({*KINDS, "lookalike", "two placeholders", "two countries"})
STEPS = 10
LOOKALIKES = 0.3  # the share of lives with two matches that are made without a look at the linker
SAY_COUNTRY = 0.9  # the share of bookmakers whose labels have the country, as most real lists have
STALE_AFTER_S = 30.0
NOISE = 0.02  # how far the chances of a bookmaker are from the true ones
QUIET = 0.004  # the noise in lives with exchanged prices, which more noise would hide
TELLING = 0.1  # exchanged prices are a mistake if home and away differ by more
FILLERS = 24
"""Matches of the bookmaker whose list may lose nearly all; a list that lost more than 20 is suspect."""

TERMS = FixtureSettings(
    roster_of(
        {
            BookmakerId(name): BookmakerInfo(
                SourceName(name), commission=COMMISSIONS.get(name, 0.0), company=COMPANIES.get(name, "")
            )
            for name in NAMES
        }
    ),
    surebets=SurebetRules(max_age_s=MAX_AGE_S, min_life_s=0.0),
)
_FILLERS = [
    match(f"f{number}", home=f"Qw{number}", away=f"Zx{number}", start_time=int(WALL_0) + 1_000_000 * number)
    for number in range(2, 2 + FILLERS)
]


class Told(Struct):
    """The results of some lives: surebets that could lose, shown, true and withheld surebets.

    True and withheld ones leave out lives in which nothing can prove a link: lookalikes, namesakes, teams
    that are not known yet.
    """

    losing: list[str] = []
    shown: int = 0
    true: int = 0
    withheld: Counter[str] = field(default_factory=Counter)


class _Listed(Struct, frozen=True):
    """A match in a bookmaker's list; `moved_s` is the error of its kick-off."""

    event: Event
    results: Results
    chances: Chances
    moved_s: int = 0


class Life:
    """One board over some steps."""

    def __init__(self, random: Random, seed: str, told: Told) -> None:
        self._random, self._seed, self._told = random, seed, told
        self._board = LinkedBoard(TERMS)
        self._reusing = random.choice(
            (*NAMES, *[""] * 15)
        )  # this bookmaker will use a hand-linked id again
        self._board.linking = Linking(Matcher(_by_hand(self._reusing)), TERMS.roster)
        shops = {name: Shop(COMPANIES.get(name, name), COMMISSIONS.get(name, 0.0)) for name in NAMES}
        self._truth = Truth(shops, MAX_AGE_S)
        self._kick_off = int(WALL_0) + random.choice((20, 86_400, 86_400, 86_400))
        self._kind, game, other = pair_of(random)
        if random.random() < LOOKALIKES:
            pair = lookalike(random)
            self._kind, chances = pair.kind, game.chances
            game, other = (replace(shown, chances=chances) for shown in games_of(pair))
        self._says_country = {name: random.random() < SAY_COUNTRY for name in NAMES}
        self._lists = {name: self._list(name, game, other) for name in NAMES}
        self._is_full = random.random() < 0.1
        self._crossing = random.choice((*NAMES, *[""] * 15))  # the bookmaker with crossed prices
        self._ids: dict[str, str] = {}
        self._confirmed: dict[str, float] = {}  # the time of each list that can be confirmed again
        self._renewed: set[str] = set()  # bookmakers whose prices are new after a confirmation

    def run(self) -> None:
        """Let every bookmaker list its matches, then let anything happen."""
        for name in NAMES:
            self._refresh(name)
        self._settle()
        for _ in range(STEPS):
            for _ in range(self._random.choice((1, 1, 2, 4, 9))):
                self._pass()
            name = self._random.choice(NAMES)
            action = self._random.choices(
                (
                    *(self._refresh, self._fail, self._confirm),
                    *(self._drop, self._cut_off, self._move, self._reuse),
                ),
                (50, 12, 10, 8, 8, 6, 6),
            )[0]
            action(name)
            self._check()
            if self._random.random() < 0.8:
                self._settle()

    def _list(self, name: str, game: Game, other: Game) -> dict[str, _Listed]:
        found = {}
        for match_id, listed, chance in (("match", game, 0.9), ("other", other, 0.4)):
            if self._random.random() < chance:
                says_country = self._says_country[name]
                event = listed.listed(self._random, name, match_id, says_country=says_country)
                results = _results(match_id)
                found[match_id] = _Listed(event, results, listed.chances)
                if (
                    self._kind not in _CROSSED and self._random.random() < 0.05
                ):  # home and away are crossed by mistake, with their prices
                    crossed = replace(event, home=event.away, away=event.home)
                    found[match_id] = _Listed(crossed, results[::-1], listed.chances[::-1])
        return found

    def _pass(self) -> None:
        """Let a second pass; readers have the last version until it ends by itself."""
        now = self._board.now
        self._board.now = now = Instant(now.mono + 1.0, now.wall + 1.0)
        if now.mono < self._board.snapshot.valid_until and now.wall < self._board.state.kick_off:
            self._check()
        self._board.expire()
        self._check()

    def _refresh(self, name: str) -> None:
        """List the matches at other prices; perhaps the source says how old each price is."""
        late_s = self._random.choice((None, None, 0.0, 5.0, 30.0))
        in_play = self._random.random() < 0.02
        now, shop = self._board.now, self._truth.shops[name]
        shop.offers, matches = {}, []
        for match_id, listed in self._lists[name].items():
            start = self._kick_off + (listed.event.start_time or SATURDAY) - SATURDAY + listed.moved_s
            mistake, prices = self._listed_prices(name, listed.chances)
            vouched = now.mono - (late_s or 0.0)
            shop.offers[match_id] = Offer(listed.results, prices, start, vouched, in_play, mistake)
            matches.append(
                match(
                    match_id,
                    home=listed.event.home,
                    away=listed.event.away,
                    league=listed.event.league,
                    prices=prices,
                    start_time=start,
                    source_time=None if late_s is None else now.wall - late_s,
                    in_play=in_play or None,
                )
            )
        self._take(name, matches)
        if late_s is None:
            self._renewed.add(name)
        else:
            self._renewed.discard(name)

    def _take(self, name: str, matches: list[Match]) -> None:
        now = self._board.now
        if self._is_full and name == NAMES[0]:
            matches = [*matches, *_FILLERS]
        self._ids[name] = f"{name} {now.mono}"
        made = self._batch(name, matches)
        self._board.apply(replace(made, answered_at=now.wall))
        self._truth.shops[name].is_known = True
        self._confirmed[name] = now.mono

    def _batch(self, name: str, matches: list[Match], *, complete: bool = True) -> Batch:
        return batch(
            matches,
            bookmaker=name,
            list_id=self._ids[name],
            received_mono=self._board.now.mono,
            complete=complete,
            stale_after_s=STALE_AFTER_S,
        )

    def _listed_prices(self, name: str, chances: Chances) -> tuple[Mistake | None, Chances]:
        """Return the prices in a list, perhaps wrong."""
        prices, is_wrong = self._prices(chances), self._random.random() < 0.3
        if self._crossing:
            is_crossed = is_wrong and name == self._crossing and abs(chances[0] - chances[2]) > TELLING
            return (Mistake.CROSSED, prices[::-1]) if is_crossed else (None, prices)
        if not is_wrong or self._random.random() < 0.8:
            return None, prices
        times = [1.0, 1.0, self._random.uniform(2.2, 4.0)]
        self._random.shuffle(times)
        home, draw, away = (round(price * by, 2) for price, by in zip(prices, times, strict=True))
        return Mistake.HIGH, (home, draw, away)

    def _prices(self, chances: Chances) -> Chances:
        """Return prices with a small margin, or none, that differ from the true chances."""
        margin, noise = self._random.uniform(1.0, 1.05), QUIET if self._crossing else NOISE
        a, b = self._random.uniform(-noise, noise), self._random.uniform(-noise, noise)
        home, draw, away = chances[0] + a, chances[1] - a + b, chances[2] - b
        return round(1 / margin / home, 2), round(1 / margin / draw, 2), round(1 / margin / away, 2)

    def _fail(self, name: str) -> None:
        """Get no answer: the bookmaker's present offers are unknown."""
        self._board.fail(name, self._board.now.mono)
        self._truth.shops[name].is_known = False

    def _confirm(self, name: str) -> None:
        """Confirm the last list, unless the list was doubted."""
        shop, now = self._truth.shops[name], self._board.now
        if now.mono >= self._confirmed.get(name, -inf) + STALE_AFTER_S:
            return  # no answer can confirm a list that is doubted, or no longer on the board
        self._board.apply(self._batch(name, [], complete=False))
        shop.is_known, shop.renewed_mono, self._confirmed[name] = True, now.mono, now.mono
        if name in self._renewed:
            shop.offers = {key: replace(offer, vouched_mono=now.mono) for key, offer in shop.offers.items()}

    def _drop(self, name: str) -> None:
        """List one match less."""
        kept = dict(self._lists[name])
        if kept:
            kept.pop(self._random.choice([*kept]))
        every, self._lists[name] = self._lists[name], kept
        self._refresh(name)
        if self._random.random() < 0.5:
            self._lists[name] = every

    def _cut_off(self, name: str) -> None:
        """Take back nearly all matches of a full list: the short list is suspect, but true."""
        matches = _FILLERS[:2] if self._is_full and name == NAMES[0] else []
        self._ids[name] = f"{name} {self._board.now.mono}"
        self._board.apply(self._batch(name, matches))
        self._truth.shops[name].offers = {}
        self._confirmed.pop(name, None)

    def _move(self, name: str) -> None:
        """List all matches at other kick-offs, but not at the kick-off of the other match."""
        moved_s = self._random.choice((-300, 240, 300, 900, 1800))
        self._lists[name] = {
            match_id: replace(listed, moved_s=moved_s) for match_id, listed in self._lists[name].items()
        }
        self._refresh(name)

    def _reuse(self, _: str) -> None:
        """List another match under the id that is linked by hand: weeks later, or of the women's teams."""
        if (listed := self._lists.get(self._reusing, {}).get("match")) is None:
            return
        event = listed.event
        if self._random.random() < 0.5:
            event = replace(event, home=f"{event.home} W", away=f"{event.away} W")
        else:
            names = {"home": "Bologna", "away": "Torino", "start_time": (event.start_time or 0) + 38 * DAY}
            event = replace(event, **names)
        again = _Listed(event, _results("again"), listed.chances)
        self._lists[self._reusing] = self._lists[self._reusing] | {"match": again}
        self._refresh(self._reusing)

    def _settle(self) -> None:
        """Link all events, evaluate, and count withheld surebets."""
        self._board.link()
        self._board.expire()
        self._check()
        now, linked, sure, shown = self._board.now, set[str](), set[str](), set[str]()
        for fixture in self._board.state:
            there = {
                key: self._truth.profits(now.mono, now.wall, among)
                for key, among in _places(fixture).items()
            }
            linked |= there[False].keys()
            sure |= there[True].keys()
            if fixture.surebet is not None:
                shown |= {
                    result.partition(":")[0] for bet in self._bets(fixture) for result in self._results(bet)
                }
        for real, profit in self._truth.profits(now.mono, now.wall).items():
            if profit <= TERMS.surebets.max_profit and self._kind not in _UNPROVEN:
                self._told.true += 1
                self._told.withheld["not linked"] += real not in shown and real not in linked
                self._told.withheld["likely"] += real not in shown and real in linked - sure
                self._told.withheld["doubted"] += real not in shown and real in sure

    def _results(self, bet: Bet) -> Results | tuple[()]:
        offer = self._truth.shops[bet.shop].offers.get(bet.match_id)
        return () if offer is None else offer.results

    def _check(self) -> None:
        """Note each surebet that could lose."""
        now = self._board.now
        for fixture in self._board.state:
            if fixture.surebet is None:
                continue
            self._told.shown += 1
            if fault := self._truth.fault(self._bets(fixture), _places(fixture)[False], now.mono, now.wall):
                self._told.losing.append(
                    f"{self._seed}, {self._kind}, {now.mono} s: {fault}; {_shown(fixture)}"
                )

    def _bets(self, fixture: Fixture) -> list[Bet]:
        assert fixture.surebet is not None
        return [
            Bet(
                leg.bookmaker,
                fixture.entries[leg.bookmaker].match.source_match_id,
                outcome,
                leg.odds,
                leg.stake,
            )
            for outcome, leg in enumerate(fixture.surebet.legs)
        ]


def _by_hand(name: str) -> Overrides:
    """Return a decision by ids for each bookmaker: its match is the match of the given bookmaker."""
    keys = {other: EventKey(SourceName(other), SourceMatchId("match")) for other in NAMES}
    others = [key for other, key in keys.items() if other != name]
    return Overrides(must=tuple(Pair(keys[name], key) for key in others) if name else ())


def _places(fixture: Fixture) -> dict[bool, set[tuple[str, str]]]:
    """Return the places that list a fixture: the shops and ids, and the places that are sure."""
    every = {(str(name), str(entry.source_match_id)) for name, entry in fixture.entries.items()}
    likely = {
        (str(member.key.source), str(member.key.source_match_id))
        for member in fixture.members
        if member.certainty is Certainty.LIKELY
    }
    return {False: every, True: every - likely}


def _results(real: str) -> Results:
    home, draw, away = (f"{real}:{result}" for result in RESULTS)
    return home, draw, away


def _shown(fixture: Fixture) -> str:
    return " | ".join(
        f"{name}: {entry.match.home} v {entry.match.away}, {entry.match.league}, {entry.match.start_time}"
        for name, entry in fixture.entries.items()
    )


def lives(seed: str, count: int) -> Told:
    """Return the results of `count` lives."""
    told = Told()
    for number in range(count):
        Life(Random(f"{seed} {number}"), f"{seed} {number}", told).run()
    return told
