"""Lives of the boards of all kinds of market, beside the same life of the 1X2 board alone, with oracles.

Several bookmakers of two sources list matches in lists of their own: of a league, of an event, whole and
changes, late, stale, doubted, withdrawn. Matches are renamed, moved, listed under another id; markets come
and go; links lag; the aggregator crashes before, between and after commits. All by one seed.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from msgspec.structs import replace

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, ListId, Match, Removal, Scope, SourceMatchId, market_id
from actors.market_fixtures.boards import Drafts
from actors.markets.market import ONE_X_TWO, Kind, Market, parsed
from actors.matches.model import Fixture, FixtureChanges
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ROSTER
from tests.support.builders.markets import KINDS, MarketBoard
from tests.support.builders.messages import match
from tests.support.oracles.naive_board import NaiveBook
from tests.support.oracles.naive_markets import check_changes, check_fixtures, check_sides, homes_of
from tests.support.time.virtual import WALL_0

RULES = BoardRules(expire_after_kickoff_s=1800.0, in_play_max_age_s=45.0)
OTHERS = tuple(map(parsed, ("over_under:2.5", "over_under:3.5", "asian_handicap:-0.5", "btts")))
SCOPES = {
    Scope("league"): KINDS,
    Scope("cup"): KINDS,
    Scope("event"): (Kind.BTTS,),
    Scope("odds"): (Kind.ONE_X_TWO, Kind.OVER_UNDER),
}
"""The lists of a bookmaker, and the kinds of market for which each list was asked."""
MATCHES = 5
MANY = 45
"""The number of matches in a list that may be doubted."""


class MarketLife:
    """One life: `step` it, then `end` it. Raises: AssertionError if a board shows a forbidden state."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seen = Counter[str]()
        self.board, self.alone = MarketBoard(RULES), MarketBoard(RULES, kinds=(Kind.ONE_X_TWO,))
        self._names = {
            ALDER: MATCHES,
            BIRCH: MATCHES,
            CEDAR: MANY if self.random.random() < 0.2 else MATCHES,
        }
        self._naive = {kind: {name: _naive() for name in ROSTER} for kind in KINDS}
        self._doubts = Counter[tuple[Kind, BookmakerId, Scope]]()
        self._list_ids: dict[tuple[BookmakerId, Scope], ListId] = {}
        self._last = {kind: self.board.board(kind).newest for kind in KINDS}
        self._beside = Beside(self.board, self.alone)

    def step(self) -> None:
        """Let something happen, commit, and check what the boards show."""
        self._wait(self.random.choice([0.0, 0.0, 0.0, 1.0, 4.0, 10.0, 30.0]))
        what = self.random.random()
        if what < 0.15:
            self._link()
        elif what < 0.2:
            self._fail()
        else:
            self._take([self._batch() for _ in range(self.random.choice([1, 1, 2, 3]))])

    def end(self) -> None:
        """Link all events, and check that each event is in its match."""
        self._link()
        boards = {kind: self._newest(kind) for kind in KINDS[1:]}
        homes = homes_of(self.board.state, boards, ROSTER)
        self.seen["sides joined"] += check_sides(homes, self.board.state, boards, ROSTER)
        self.seen["sides"] += len(homes.keys() - self.board.state.by_event.keys())

    def _newest(self, kind: Kind) -> Snapshot:
        return self.board.board(kind).newest

    def _wait(self, seconds: float) -> None:
        for board in (self.board, self.alone):
            board.clock.mono += seconds

    def _take(self, batches: list[Batch]) -> None:
        """Apply batches on both boards; the aggregator may crash, and then applies all of them again."""
        crash = self.random.random()
        if crash < 0.06:
            self._crash(batches, published=0 if crash < 0.02 else self.random.randrange(1, len(KINDS)))
        self._expire()
        draft, alone = self.board.draft(), self.alone.draft()
        now = self.board.clock.now()
        for each in (draft, alone):
            run_now(each.expire(now))
        for change in batches:
            applied = run_now(draft.apply(change, now))
            run_now(alone.apply(change, now))
            for kind in applied:
                verdict = self._applied(kind, change)
                assert verdict == applied[kind].verdict, f"{kind}: {applied[kind].verdict}, not {verdict}"
                self.seen[verdict] += 1
        self._expire()
        for each in (draft, alone):
            run_now(each.expire(now))
        self._commit(draft, alone)

    def _crash(self, batches: list[Batch], published: int) -> None:
        """Let a commit end after only some boards have it."""
        now = self.board.clock.now()
        for board in (self.board, self.alone):
            draft = board.draft()
            run_now(draft.expire(now))
            for change in batches:
                run_now(draft.apply(change, now))
            run_now(draft.finish(now))
            made = [*draft._made.items()]
            for kind, snapshot in made[:published]:
                board.board(kind).publish(snapshot)
        self.seen["crash between"] += published > 0
        if not published:
            return
        self.seen["1x2 commits"] += self._beside.check()
        self._expire()
        for change in batches:  # the state of the boards that were published
            for kind in KINDS[:published]:
                if kind in change.kinds:
                    self._applied(kind, change)
        self._expire()
        for kind in KINDS[:published]:
            for naive in self._naive[kind].values():
                naive.commit()
            self._last[kind] = self._newest(kind)

    def _commit(self, draft: Drafts, alone: Drafts) -> None:
        self.board.commit(draft)
        self.alone.commit(alone)
        self._check()

    def _fail(self) -> None:
        bookmaker, scope = self.random.choice([*ROSTER]), self.random.choice([*SCOPES])
        self._expire()
        drafts = self.board.draft(), self.alone.draft()
        for draft in drafts:
            run_now(draft.expire(self.board.clock.now()))
            draft.fail(bookmaker, scope, self.board.clock.mono)
        self._commit(*drafts)

    def _link(self) -> None:
        self._expire()
        for draft, board in ((it.draft(), it) for it in (self.board, self.alone)):
            run_now(draft.expire(self.board.clock.now()))
            board.commit(draft)
        self._check()
        self.board.link()
        self.alone.link()
        self._check(is_one_commit=False)

    def _expire(self) -> None:
        now = self.board.clock.now()
        for books in self._naive.values():
            for naive in books.values():
                naive.go_stale(now)
                naive.expire(now)

    def _applied(self, kind: Kind, change: Batch) -> str:
        """Apply the part of a batch to the naive board of a kind, and return its verdict."""
        of_kind = [it for it in change.matches if it.market.kind is kind]
        gone = [it for it in change.removals if _kind_of(it) is kind]
        part = replace(change, matches=tuple(of_kind), removals=tuple(gone))
        naive, key = self._naive[kind][change.bookmaker], (kind, change.bookmaker, change.scope)
        if change.withdrawn:
            naive.withdraw(change.scope)
            self._doubts[key] = 0
            return "withdrawn"
        now, known = self.board.clock.now(), naive.lists.get(change.scope)
        is_refused = now.mono >= change.received_mono + change.stale_after_s or (
            known is not None and change.received_mono < known.confirmed
        )
        if known is None or known.withdrawn:
            self._doubts[key] = 0
        if known is not None and change.complete and not is_refused and self._doubts[key] < 2:
            ahead = {
                row.match.event_id
                for row in naive.rows.values()
                if row.scope == change.scope and (row.begun_by is None or row.begun_by > now.wall)
            }
            lost = ahead - {it.event_id for it in of_kind}
            lost -= {SourceMatchId(it.source_match_id.partition(" ")[0]) for it in gone}
            if len(lost) > 20 and 2 * len(lost) > len(ahead):
                self._doubts[key] += 1
                return "suspect"
        verdict = naive.take(part, now)
        if verdict in {"accepted", "confirmed"}:
            self._doubts[key] = 0
        if verdict == "late":
            self._doubts[key] *= (
                self._naive[kind][change.bookmaker].lists.get(change.scope, known) is not known
            )
        return verdict

    def _check(self, *, is_one_commit: bool = True) -> None:
        """Check all boards after a commit."""
        boards = {kind: self._newest(kind) for kind in KINDS[1:]}
        for kind in KINDS:
            for name, naive in self._naive[kind].items():
                naive.commit()
                shown = [*entries_of(self._newest(kind).books[name].chunks)]
                assert naive.view(is_v2=False) == [_shown(entry) for entry in shown], f"{kind}, {name}"
        homes = homes_of(self.board.state, boards, ROSTER)
        for kind, board in boards.items():
            check_fixtures(kind, board, self.board.state, homes, ROSTER)
            last = self._last[kind]
            if is_one_commit:
                with_changes = last if board is last else self.board.commits[kind][-1]
                check_changes(last, with_changes, homes, self.board.state)
            self._last[kind] = board
        assert len({self._newest(kind).epoch for kind in KINDS}) == 1
        self.seen["1x2 commits"] += self._beside.check()

    def _batch(self) -> Batch:
        """Return a list, or a change of a list."""
        random, bookmaker = self.random, self.random.choice([*ROSTER])
        scope = random.choice([*SCOPES])
        key, mono = (
            (bookmaker, scope),
            self.board.clock.mono - random.choice([0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 40.0]),
        )
        complete = random.random() < 0.6 or key not in self._list_ids
        if complete:
            self._list_ids[key] = ListId(f"list-{random.randrange(10**6)}")
        list_id = self._list_ids[key] if random.random() < 0.95 else ListId("other")
        matches, removals = self._content(bookmaker, SCOPES[scope], complete=complete)
        is_withdrawn = not complete and random.random() < 0.05
        return Batch(
            *(bookmaker, scope, list_id, complete),
            () if is_withdrawn else matches,
            () if is_withdrawn else removals,
            WALL_0 + mono,
            mono,
            random.choice([30.0, 90.0, 300.0]),
            withdrawn=is_withdrawn,
            is_image=complete and random.random() < 0.1,
            kinds=SCOPES[scope],
        )

    def _content(
        self, bookmaker: BookmakerId, kinds: tuple[Kind, ...], *, complete: bool
    ) -> tuple[tuple[Match, ...], tuple[Removal, ...]]:
        random = self.random
        if not complete and random.random() < 0.3:
            return (), ()  # a confirmation
        matches: dict[SourceMatchId, Match] = {}
        removals: dict[SourceMatchId, Removal] = {}
        share = random.choice([1.0, 0.9, 0.5, 0.1]) if complete else 0.3
        for number in range(self._names[bookmaker]):
            base = self._base(bookmaker, number)
            for market in (ONE_X_TWO, *OTHERS):
                name = market_id(base.source_match_id, market)
                if market.kind not in kinds:
                    continue
                if random.random() < (0.75 if complete else 1.0) * share:
                    matches[name] = self._priced(base, market)
                elif random.random() < 0.2:
                    removals[name] = Removal(name, random.choice(["suspended", "price", "closed"]))
        return tuple(matches.values()), tuple(removals.values())

    def _base(self, bookmaker: BookmakerId, number: int) -> Match:
        """Return a match as a source lists it: now and then renamed, moved, or under another id."""
        random, source = self.random, ROSTER[bookmaker].source
        other = random.random()
        about = number if other > 0.04 else random.randrange(MATCHES)
        name = "" if 0.04 < other < 0.06 else f"Home {about}"
        start = (
            int(WALL_0) + (300, 900, 4000, 90_000, 90_000)[about % 5] + (60 if 0.1 < other < 0.13 else 0)
        )
        event = f"{source}-{number}{'x' if 0.2 < other < 0.25 else ''}"
        in_play = None if random.random() < 0.8 else random.random() < 0.5
        return match(event, home=name, away=f"Away {about}", start_time=start, in_play=in_play)

    def _priced(self, base: Match, market: Market) -> Match:
        """Return a market at prices from which no two bookmakers make a surebet."""
        random = self.random
        if market == ONE_X_TWO:
            prices = [round(low + random.choice([0.0, 0.1, 0.2]), 2) for low in (2.0, 3.2, 3.3)]
            return replace(base, home_price=prices[0], draw_price=prices[1], away_price=prices[2])
        return base.of_market(market, (random.choice([1.75, 1.8, 1.9]), random.choice([1.7, 1.85, 1.95])))


class Beside:
    """A board with other markets and a board without them; their 1X2 must be equal."""

    def __init__(self, board: MarketBoard, alone: MarketBoard) -> None:
        self._board, self._alone = board, alone
        self._alike = {board.main.newest.version: alone.main.newest.version}
        self._compared = 0

    def check(self) -> int:
        """Check the commits since the last check; return their number. Raises: AssertionError."""
        ours, theirs = self._board.commits[Kind.ONE_X_TWO], self._alone.commits[Kind.ONE_X_TWO]
        assert len(ours) == len(theirs), "the 1X2 board was published for another market"
        new = len(ours) - self._compared
        for own, other in zip(ours[self._compared :], theirs[self._compared :], strict=True):
            assert self._alike.setdefault(own.version, other.version) == other.version
            assert facts(own, self._alike) == facts(other, _Same())
        self._compared = len(ours)
        assert len(self._alike) == len({*self._alike.values()}), "1X2 moved for another market"
        return new


def facts(snapshot: Snapshot, versions: dict[int, int]) -> object:
    """Return all that a 1X2 commit shows and keeps, with its versions replaced by a mapping."""

    def fixture(it: Fixture | None) -> object:
        if it is None:
            return None
        return (
            *(it.id, versions[it.created], it.members, it.bookmakers, [*map(_entry, it.listed)]),
            *(it.lead, it.place, it.highest, it.surebet, it.outdone, it.market, it.head),
        )

    state, changes = snapshot.fixtures, snapshot.fixture_changes
    noted = changes.changes if isinstance(changes, FixtureChanges) else ()
    books = [
        (
            *(versions[it.v1_version], versions[it.v2_version], dict(it.lists), it.count, it.deadline),
            *(it.first_start, it.is_serving, it.in_play_until, it.next_start),
            [*map(_entry, entries_of(it.chunks))],
        )
        for it in snapshot.books.values()
    ]
    return (
        books,
        [*map(fixture, state)] if state is not None else None,  # type: ignore[call-overload]
        [(it.id, fixture(it.before), fixture(it.after), it.reason, it.into, it.apart) for it in noted],
        (changes.events, changes.views) if isinstance(changes, FixtureChanges) else None,
        {
            name: (_entries(it.before), _entries(it.after), it.reasons)
            for name, it in snapshot.differences.items()
        },
        (snapshot.valid_until, snapshot.first_start, snapshot.next_start, snapshot.made_at),
    )


class _Same(dict[int, int]):
    def __missing__(self, key: int) -> int:
        return key


def _entry(entry: Entry | None) -> object:
    return None if entry is None else (entry.id, entry.scope, entry.match, entry.updated, entry.received_at)


def _entries(some: object) -> object:
    assert isinstance(some, dict)
    return {name: _entry(entry) for name, entry in some.items()}


def _shown(entry: Entry) -> object:
    it = entry.match
    return it.source_match_id, it.home, it.away, it.league, it.prices, it.start_time, entry.updated


def _kind_of(removal: Removal) -> Kind:
    _, _, market = removal.source_match_id.partition(" ")
    return parsed(market).kind if market else Kind.ONE_X_TWO


def _naive() -> NaiveBook:
    return NaiveBook(RULES.expire_after_kickoff_s, RULES.in_play_max_age_s)
