"""Follows commits for the rules about matches, and offers an alert for each transition. Pure, in slices.

A commit costs what the rules watch in it: its changed fixtures that no rule watches cost a look-up each.
`engine.py` is the actor around it. `transitions.py` defines a transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from math import inf, nextafter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.alerts.alert import Alert, State
from actors.alerts.rules.index import Index, is_named_alike
from actors.alerts.rules.path import Consensus, Path
from actors.alerts.rules.readings import (
    About,
    Ignores,
    forget_changes,
    has_basis_of,
    is_in_play,
    never,
    note_changes,
    prices,
    profit,
    subjects,
    values,
)
from actors.alerts.rules.rule import (
    KickoffRule,
    Limit,
    MatchRule,
    MoveRule,
    PriceRule,
    SurebetRule,
    ValueRule,
    waits_s,
)
from actors.alerts.rules.transitions import Moment, Reading, Transitions
from actors.alerts.rules.wording import MatchTransition, Names, match_alert
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import Fixture, FixtureChange, fixtures_of
from actors.matching.event import FixtureId
from actors.value.kept import KeptValues
from actors.value.values import ValueTerms

_BEFORE_KICK_OFF: Final = Limit(0.0, 0.0)
_READY: Final = 32  # fixtures handled between two yields


class Commit(Struct, frozen=True, eq=False):
    """The changes that a commit made on the board of a kind of market, and the board afterwards."""

    kind: Kind
    changes: tuple[FixtureChange, ...]
    board: Snapshot
    now: Moment


class _Watched(Struct, frozen=True, eq=False, gc=False):
    rules: tuple[MatchRule, ...]
    fixture: Fixture


class _Came(Struct, frozen=True, eq=False, gc=False):
    """A change of a fixture, the rules that watched it before, and those that watch it now."""

    change: FixtureChange
    before: tuple[MatchRule, ...]
    rules: tuple[MatchRule, ...]


class _Moves:
    """The consensus of a fixture, and its path for each rule."""

    def __init__(self) -> None:
        self.consensus = Consensus()
        self.paths: dict[str, Path] = {}


class Watcher:
    """The rules about matches, the fixtures that they watch, and the states of their subjects.

    `names` are the bookmakers' display names. `offer` gets each alert; it must not wait. Owned by one
    caller, which passes each commit in order, and says how time passes.
    """

    def __init__(self, rules: Iterable[MatchRule], names: Names, offer: Callable[[Alert], None]) -> None:
        self._names, self._offer = names, offer
        self._rules: dict[str, MatchRule] = {}
        self._transitions: dict[str, Transitions] = {}
        self._watched: dict[FixtureId, _Watched] = {}
        self._changed: dict[tuple[str, int], int] = {}
        self._moves: dict[FixtureId, _Moves] = {}
        self._about: dict[tuple[str, str], About] = {}
        self._starts: list[tuple[float, str, FixtureId]] = []
        self._values: dict[tuple[Kind, str | None], KeptValues] = {}
        self._reminded: dict[tuple[str, FixtureId], float] = {}
        self._now = Moment(0, 0, -inf, -inf)
        self._adopt(rules)

    def _adopt(self, rules: Iterable[MatchRule]) -> None:
        """Take these rules; forget the states of those that are gone or different."""
        new = {rule.name: rule for rule in rules}
        for name in [name for name, rule in self._rules.items() if new.get(name) != rule]:
            del self._transitions[name]
            self._about = {key: about for key, about in self._about.items() if key[0] != name}
            for moves in self._moves.values():
                moves.paths.pop(name, None)
        for name, rule in new.items():
            if name not in self._transitions:
                self._transitions[name] = Transitions(_limit(rule), waits_s(rule), rule.cooldown_s)
        self._rules, self._index = new, Index(new.values())

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of market that some rule is about."""
        return self._index.kinds

    def next_due(self) -> tuple[float, float]:
        """Return the monotonic second, and the Unix second, at which something may happen."""
        waits = min([each.next_due for each in self._transitions.values()], default=inf)
        return waits, self._starts[0][0] if self._starts else inf

    def replace(
        self, rules: Iterable[MatchRule], boards: Mapping[Kind, Snapshot], now: Moment
    ) -> Sliced[None]:
        """Take other rules; unchanged rules keep their states, and what holds for the new ones is noted."""
        self._adopt(rules)
        self._watched.clear()
        yield from self.compare(boards, now, is_known=True)

    def compare(
        self, boards: Mapping[Kind, Snapshot], now: Moment, *, is_known: bool = False
    ) -> Sliced[None]:
        """Note the present boards, because commits are not known one by one, or the rules were replaced.

        With `is_known` subjects that are known already stay as they are. Otherwise a condition that had
        fired and does not hold any more has ended; a kick-off passes without a commit, so its rules go on.
        """
        self._now, seen = now, set[tuple[str, str]]()
        if not is_known:
            self._watched.clear()
            for known in (self._changed, self._moves, self._starts, self._reminded):
                known.clear()
        for kind in self.kinds & boards.keys():
            for count, fixture in enumerate(fixtures_of(boards[kind]), 1):
                if rules := self._index.watching(fixture):
                    self._watched[fixture.id] = _Watched(rules, fixture)
                    seen.update(self._note(self._watched[fixture.id], boards[kind], is_known=is_known))
                if count % _READY == 0:
                    yield
        for name, transitions in self._transitions.items():
            for subject in transitions:
                if (name, subject) not in seen:
                    self._leave(name, subject, self._about.get((name, subject)))
        yield

    def _note(self, watched: _Watched, board: Snapshot, *, is_known: bool) -> Iterator[tuple[str, str]]:
        """Note the conditions that hold in a fixture, and yield its subjects, each with its rule."""
        for rule in watched.rules:
            is_about_time = isinstance(rule, KickoffRule)
            for subject, reading, about in self._readings(rule, watched.fixture, None, board):
                if not (is_known and subject in self._transitions[rule.name]):
                    self._read(rule, subject, reading, about, is_same=is_about_time)
                yield rule.name, subject

    def take(self, commit: Commit) -> Sliced[None]:
        """Take the next commit."""
        now = commit.now
        self.pass_time(nextafter(now.mono, -inf), nextafter(now.wall, -inf))
        self._now = now
        if commit.kind not in self.kinds:
            return
        left: dict[tuple[str, str], About] = {}
        came = list[_Came]()
        for count, change in enumerate(commit.changes, 1):
            before, rules = self._rules_of(change)
            if before or rules:
                came.append(_Came(change, before, rules))
                self._collect(left, came[-1])
            if count % _READY == 0:
                yield
        for count, each in enumerate(came, 1):
            if each.change.after is not None:
                self._change(each, each.change.after, commit.board, left)
            if count % _READY == 0:
                yield
        for (name, subject), about in left.items():
            self._leave(name, subject, about)

    def _rules_of(self, change: FixtureChange) -> tuple[tuple[MatchRule, ...], tuple[MatchRule, ...]]:
        """Return the rules that watched a fixture, and those that watch it now; note the latter."""
        known, after = self._watched.get(change.id), change.after
        before = () if known is None else known.rules
        if after is None:
            self._watched.pop(change.id, None)
            return before, ()
        if change.before is not None and is_named_alike(change.before, after):
            rules = before
        else:
            rules = self._index.watching(after)
        if rules:
            self._watched[change.id] = _Watched(rules, after)
        elif before:
            del self._watched[change.id]
        return before, rules

    def _collect(self, left: dict[tuple[str, str], About], came: _Came) -> None:
        """Collect the subjects of a fixture before a commit, unless they are certainly inside after it."""
        old, new, rules = came.change.before, came.change.after, came.rules
        if old is None:
            return
        for rule in came.before:
            stays = new if rule in rules else None
            if stays is not None and not _may_leave(rule, old, stays):
                continue
            is_kept = stays is not None and isinstance(rule, PriceRule) and rule.in_play is None
            kept = {entry.id for entry in stays.listed} if stays is not None and is_kept else set()
            for subject, about in subjects(rule, old):
                if subject.rpartition(" ")[0] not in kept:
                    left[rule.name, subject] = about
        self._forget(came, old)

    def _forget(self, came: _Came, old: Fixture) -> None:
        """Forget the prices and paths of a fixture that no rule needs after a commit."""
        if not any(isinstance(rule, SurebetRule | ValueRule) for rule in came.rules):
            forget_changes(self._changed, old, set())
        if not any(isinstance(rule, MoveRule) for rule in came.rules):
            self._moves.pop(old.id, None)
        elif moves := self._moves.get(old.id):
            for rule in came.before:
                if rule not in came.rules:
                    moves.paths.pop(rule.name, None)

    def _change(
        self, came: _Came, after: Fixture, board: Snapshot, left: dict[tuple[str, str], About]
    ) -> None:
        """Take the state of a fixture after a commit."""
        before, rules = came.change.before, came.rules
        is_same = before is not None and has_basis_of(before, after, fixtures_of(board).terms.roster)
        if before is not None and any(isinstance(rule, SurebetRule | ValueRule) for rule in rules):
            note_changes(self._changed, before, after, self._now.order)
        if any(isinstance(rule, MoveRule) for rule in rules):
            self._lapse(after.id, rules)
        for rule in rules:
            of_changed = before if rule in came.before else None
            is_alike = is_same or not isinstance(rule, SurebetRule | ValueRule)
            may_ignore = is_alike and not left  # a reading keeps its subject from leaving
            readings = self._readings(rule, after, of_changed, board, may_ignore=may_ignore)
            for subject, reading, about in readings:
                left.pop((rule.name, subject), None)
                self._read(rule, subject, reading, about, is_same=is_alike)

    def _readings(
        self,
        rule: MatchRule,
        fixture: Fixture,
        before: Fixture | None,
        board: Snapshot,
        *,
        may_ignore: bool = False,
    ) -> Iterator[tuple[str, Reading, About]]:
        """Yield the readings of a rule; readings of prices that are as `before` may be missing.

        With `may_ignore` readings with the same basis as before are left out where they change nothing.
        """
        wall, ignores = self._now.wall, self._transitions[rule.name].ignores if may_ignore else never
        match rule:
            case PriceRule(in_play=None):
                yield from prices(rule, fixture, before, ignores)
            case PriceRule():
                if rule.in_play == is_in_play(fixture, wall):
                    yield from prices(rule, fixture, None)
            case SurebetRule():
                yield fixture.id, profit(rule, fixture, self._changed), About(fixture)
            case MoveRule():
                yield from self._moved(rule, fixture, board, ignores)
            case ValueRule():
                now, kept = Instant(self._now.mono, wall), self._values_by(rule, board)
                found = kept.values(fixture, board.books, now)
                yield from values(rule, fixture, found, self._changed, ignores)
            case KickoffRule():
                self._remind(rule, fixture)
                yield fixture.id, _begins(rule, fixture, wall), About(fixture)

    def _values_by(self, rule: ValueRule, board: Snapshot) -> KeptValues:
        """Return the values by a rule's reference; the board's settings may have changed."""
        key, state = (rule.kind, rule.reference), fixtures_of(board)
        kept = self._values.get(key)
        if kept is None or kept.terms.fixtures is not state.terms:
            reference = None if rule.reference is None else BookmakerId(rule.reference)
            kept = self._values[key] = KeptValues(ValueTerms(state.terms, reference))
        kept.fit(state)
        return kept

    def _remind(self, rule: KickoffRule, fixture: Fixture) -> None:
        """Have the rule read when the time before the kick-off begins."""
        key, at_wall = (rule.name, fixture.id), fixture.place.start - rule.before_s
        if self._now.wall < at_wall < inf and self._reminded.get(key) != at_wall:
            self._reminded[key] = at_wall
            heappush(self._starts, (at_wall, *key))

    def _moved(
        self, rule: MoveRule, fixture: Fixture, board: Snapshot, ignores: Ignores
    ) -> Iterator[tuple[str, Reading, About]]:
        moves = self._moves.setdefault(fixture.id, _Moves())
        outcomes, mono = fixture.market.outcomes, self._now.mono
        path = moves.paths.setdefault(rule.name, Path(rule.window_s, len(outcomes)))
        path.take(*moves.consensus.of(fixture, fixtures_of(board).terms), mono)
        if rule.in_play is not None and rule.in_play != is_in_play(fixture, self._now.wall):
            return
        for at, outcome in enumerate(outcomes):
            if rule.outcome in {None, outcome}:
                subject, moved = f"{fixture.id} {outcome}", abs(path.moved(at, mono))
                if not ignores(subject, moved):
                    yield subject, Reading(moved), About(fixture, None, at)

    def _lapse(self, fixture_id: FixtureId, rules: tuple[MatchRule, ...]) -> None:
        """Note which moves had left their windows just before this commit."""
        if (moves := self._moves.get(fixture_id)) is None:
            return
        for rule in rules:
            if isinstance(rule, MoveRule) and (path := moves.paths.get(rule.name)) is not None:
                transitions = self._transitions[rule.name]
                for at, outcome in enumerate(self._watched[fixture_id].fixture.market.outcomes):
                    if (subject := f"{fixture_id} {outcome}") in transitions:
                        transitions.read(subject, Reading(abs(path.moved(at, self._now.mono))), self._now)

    def pass_time(self, mono: float, wall: float) -> None:
        """Let time pass without a commit, up to a monotonic second and a Unix second."""
        for name, transitions in self._transitions.items():
            rule = self._rules[name]
            for subject, at in transitions.due(mono, self._moved_at(rule)):
                about = self._about[name, subject]
                at_wall = self._now.wall + (at - self._now.mono)
                now = Moment(self._now.order, self._now.version, at, at_wall)
                self._tell(MatchTransition(rule, subject, State.FIRING, now, about))
        while self._starts and self._starts[0][0] <= wall:
            at_wall, name, fixture_id = heappop(self._starts)
            begins, watched = self._rules.get(name), self._watched.get(fixture_id)
            if self._reminded.get((name, fixture_id)) == at_wall:
                del self._reminded[name, fixture_id]
            if not isinstance(begins, KickoffRule) or watched is None or begins not in watched.rules:
                continue
            if watched.fixture.place.start > wall:  # otherwise this comes too late, as after a suspension
                now = Moment(self._now.order, self._now.version, mono - (wall - at_wall), at_wall)
                reading = _begins(begins, watched.fixture, at_wall)
                if self._transitions[name].read(fixture_id, reading, now) is State.FIRING:
                    self._tell(
                        MatchTransition(begins, fixture_id, State.FIRING, now, About(watched.fixture))
                    )

    def _moved_at(self, rule: MatchRule) -> Callable[[str, float], float | None] | None:
        if not isinstance(rule, MoveRule):
            return None

        def moved(subject: str, mono: float) -> float | None:
            about = self._about[rule.name, subject]
            path = self._moves[about.fixture.id].paths[rule.name]
            return None if about.outcome is None else abs(path.moved(about.outcome, mono))

        return moved

    def _read(
        self, rule: MatchRule, subject: str, reading: Reading, about: About, *, is_same: bool
    ) -> None:
        transitions = self._transitions[rule.name]
        told = transitions.read(subject, reading, self._now, is_same=is_same)
        if told is not None and (told is State.FIRING or rule.can_end):
            self._tell(MatchTransition(rule, subject, told, self._now, about, reading.value))
        if transitions.is_open(subject):
            self._about[rule.name, subject] = about
        else:
            self._about.pop((rule.name, subject), None)

    def _leave(self, name: str, subject: str, about: About | None) -> None:
        about = self._about.pop((name, subject), about)
        self._reminded.pop((name, FixtureId(subject)), None)
        rule = self._rules[name]
        told = self._transitions[name].leave(subject)
        if told is not None and rule.can_end and about is not None:
            self._tell(MatchTransition(rule, subject, told, self._now, about))

    def _tell(self, told: MatchTransition) -> None:
        if told.state is State.FIRING:
            told = replace(told, value=self._value(told))
        self._offer(match_alert(told, self._names))

    def _value(self, told: MatchTransition) -> float | None:
        """Return the value to report: a move with its sign; after a wait, the present value."""
        about = told.about
        match rule := told.rule:
            case MoveRule() if about.outcome is not None:
                path = self._moves[about.fixture.id].paths[rule.name]
                return path.moved(about.outcome, told.now.mono)
            case PriceRule() if about.bookmaker is not None and about.outcome is not None:
                return about.fixture.entries[about.bookmaker].match.prices[about.outcome]
            case SurebetRule():
                return None if about.fixture.surebet is None else about.fixture.surebet.profit
        return told.value


def _limit(rule: MatchRule) -> Limit:
    return _BEFORE_KICK_OFF if isinstance(rule, KickoffRule) else rule.limit


def _may_leave(rule: MatchRule, old: Fixture, new: Fixture) -> bool:
    """Return whether a rule that watches both states of a fixture may have subjects in the first alone."""
    if isinstance(rule, PriceRule | MoveRule) and rule.in_play is not None:
        return True
    if not isinstance(rule, PriceRule | ValueRule):
        return False
    return [entry.id for entry in old.listed] != [entry.id for entry in new.listed]


def _begins(rule: KickoffRule, fixture: Fixture, wall: float) -> Reading:
    """Return for how many seconds the time before the kick-off has lasted; none after the kick-off."""
    start = fixture.place.start
    return Reading(wall - (start - rule.before_s) if wall < start < inf else None)
