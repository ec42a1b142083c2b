"""Lives of boards whose prices, kick-offs, links and service come and go, for tests of lines."""

from __future__ import annotations

from pathlib import Path
from random import Random

from msgspec.structs import replace

from actors.archive.archive import Archive, open_archive
from actors.archive.folder import ArchiveSettings
from actors.archive.restart import Configured, Machine
from actors.core.messages import BookmakerId, Match, Prices, Removal, SourceMatchId, SourceName
from actors.markets.market import parsed
from actors.matches.linking import Linking
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.monitoring.status import ArchiveStatus
from tests.support.archive.boards import archived_boards
from tests.support.builders.messages import batch, match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock

SOURCES = {"alder": "one", "birch": "one", "cedar": "two", "dill": "two", "elm": "three", "fern": "files"}
NAMES = {BookmakerId(name): name.title() for name in SOURCES}
MARKETS = ("1x2", "over_under:2.5", "asian_handicap:-0.5")
_OTHERS = [parsed(name) for name in MARKETS[1:]]
KINDS = [market.kind for market in _OTHERS]
TEAMS = (("Unión Calavares", "Grandrive"), ("Racing Fleurmer", "Eschelstal"), ("Ardelsbach", "Almemora"))


def terms() -> FixtureSettings:
    """Return bookmakers of four sources, one of which has collected prices."""
    infos = {
        BookmakerId(name): BookmakerInfo(
            SourceName(source), Prices.COLLECTED if source == "files" else Prices.LIVE
        )
        for name, source in SOURCES.items()
    }
    return FixtureSettings(roster_of(infos))


class Moving:
    """Boards of one folder over several lives."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random, self.clock = folder, Random(seed), ManualClock()
        self.terms = terms()
        self.starts = [round(self.clock.wall) + 1_800 * (1 + number) for number in range(len(TEAMS))]
        self._lists: dict[str, str] = {}
        self.archive: Archive
        self.board: Committing
        self.begin()

    def begin(self) -> None:
        """Begin a life."""
        self.archive = open_archive(
            ArchiveSettings(str(self.folder)),
            ArchiveStatus(),
            self.clock,
            terms=self.terms,
            configured={name: Configured("same", title) for name, title in NAMES.items()},
            names=lambda _: NAMES,
            kinds=KINDS,
            look_again_s=0.0,
            on_machine=lambda: Machine("boot", self.clock.mono),
        )
        self.board = archived_boards(self.archive, self.clock, self.terms, KINDS)
        self._linking = Linking(Matcher(Overrides()), self.terms.roster)

    def end(self, *, is_orderly: bool) -> None:
        """End the life, in order or not."""
        self.archive.close(is_orderly=is_orderly)

    def act(self) -> None:
        """Change something, or let time pass."""
        draw = self.random.random()
        self.clock.pass_(self.random.choice((0.5, 5.0, 20.0, 60.0, 300.0)))
        if draw < 0.04:
            self.clock.pass_(self.random.choice((7_000.0, 40_000.0)))
        elif draw < 0.08:
            self.end(is_orderly=self.random.random() < 0.5)
            self.clock.pass_(self.random.choice((5.0, 400.0, 4_000.0)))
            self.begin()
        elif draw < 0.095:
            self.archive.writer.max_waiting = 0  # the archive loses this commit
        elif draw < 0.18:
            self.archive.writer.max_waiting = 10**9
        elif draw < 0.24:  # a kick-off is moved
            number = self.random.randrange(len(TEAMS))
            self.starts[number] += self.random.choice((-600, 300, 3_600, 90_000))
        self.board.current()
        if draw > 0.2:
            self._list(self.random.choice([*NAMES]))
        if self.random.random() < 0.8:
            self.board.link(self._linking)
        for _ in range(3):
            self.archive.writer.step()

    def relist(self, name: BookmakerId) -> None:
        """List matches of a bookmaker, or suspend them, and link all events that can be linked."""
        self.clock.pass_(1)
        self._list(name)
        self.board.link(self._linking)

    def _list(self, name: BookmakerId) -> None:
        if self.random.random() < 0.15:
            numbers = range(len(TEAMS))
            removals = [
                Removal(SourceMatchId(f"{SOURCES[name]}{number}"), "suspended") for number in numbers
            ]
            of_list = self._lists.get(name, "none")
            mono = self.clock.mono
            self.board.apply(
                batch(
                    bookmaker=name, removals=removals, complete=False, list_id=of_list, received_mono=mono
                )
            )
            return
        shown = [self._match(name, number) for number in range(len(TEAMS)) if self.random.random() < 0.85]
        others = [
            of.of_market(market, self.random.choice(((1.9, 1.95), (2.05, 1.8), (1.85, 2.0 + 1e-9))))
            for of in shown
            for market in _OTHERS
            if self.random.random() < 0.6
        ]
        self._lists[name] = f"list-{self.board.lists + 1}"
        self.board.put(
            name, *shown, *others, stale_after_s=self.random.choice((60.0, 2_000.0, 9_000.0, 20_000.0))
        )

    def _match(self, name: BookmakerId, number: int) -> Match:
        home, away = TEAMS[number]
        if self.random.random() < 0.06:  # another match, with other links
            home = "Somebody Else"
        prices = self.random.choice(((2.0, 3.5, 4.0), (2.1, 3.4, 3.9), (1.95, 3.6, 4.1 + 1e-9)))
        of_all = match(home=home, away=away, league="France - Ligue 1", prices=prices)
        return replace(
            of_all,
            source_match_id=SourceMatchId(f"{SOURCES[name]}{number}"),
            start_time=self.starts[number],
        )
