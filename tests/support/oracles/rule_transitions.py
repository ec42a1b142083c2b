"""The true transitions of rules, from the answers of HTTP at each version, by their definition in words.

It shares only the definition with `actors/alerts/rules`. It looks at the whole past of a subject.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, nextafter
from typing import Any

Json = dict[str, Any]
Told = tuple[str, str, str, int]
"""Rule, subject, "firing" or "resolved", version."""


@dataclass(frozen=True)
class Frame:
    """The answers of HTTP from a version on: the time in seconds, fixtures by id, and values.

    The keys of the values are references, "" for the consensus.
    """

    version: int
    at: float
    fixtures: dict[str, Json]
    values: dict[str, list[Json]] = field(default_factory=dict)


@dataclass
class _State:
    """A subject at a frame: its value, its basis, and the prices that the value is made of."""

    value: float | None
    basis: Any = None
    made_of: tuple[tuple[str, str], ...] | None = None
    path: Any = None


def transitions(frames: list[Frame], rule: Json, ends_at: float) -> list[Told]:
    """Return all transitions that a rule has to report in a life that ends at a time."""
    if rule["when"] == "kickoff":
        return [*_kickoffs(frames, rule, ends_at)]
    subjects = _subjects(frames, rule)
    return [
        told
        for subject, states in sorted(subjects.items())
        for told in _Subject(rule, subject, states, frames, ends_at).tell()
    ]


def _subjects(frames: list[Frame], rule: Json) -> dict[str, list[_State | None]]:
    """Return the state of each subject at each frame; None where the filters exclude the subject."""
    found: dict[str, list[_State | None]] = {}
    paths: dict[str, _Path] = {}
    in_play: dict[str, bool] = {}
    for place, frame in enumerate(frames):
        for name, fixture in frame.fixtures.items():
            is_changed = place == 0 or fixture != frames[place - 1].fixtures.get(name)
            if is_changed:
                in_play[name] = fixture.get("in_play", (fixture["start_time"] or inf) <= frame.at)
            for subject, state in _states(rule, fixture, frame, paths):
                if rule.get("in_play") not in {None, in_play[name]}:
                    continue
                states = found.setdefault(subject, [None] * len(frames))
                is_kept = rule["when"] == "value" and not is_changed and states[place - 1] is not None
                states[place] = states[place - 1] if is_kept else state
        for gone in [name for name in paths if not _is_watched(rule, frame.fixtures.get(name))]:
            del paths[gone]
    return found


def _states(
    rule: Json, fixture: Json, frame: Frame, paths: dict[str, _Path]
) -> Iterator[tuple[str, _State]]:
    if not _is_watched(rule, fixture):
        return
    path = paths.setdefault(fixture["id"], _Path(frame.version)) if rule["when"] == "move" else None
    if path is not None:
        path.take(fixture, frame)
    if rule["when"] == "surebet":
        yield fixture["id"], _surebet(rule, fixture)
    elif rule["when"] == "value":
        yield from _values(rule, fixture, frame)
    elif path is not None:
        for outcome in ("1", "X", "2"):
            if rule.get("outcome") in {None, outcome}:
                yield f"{fixture['id']} {outcome}", _State(None, path.number, path=path)
    else:
        for entry, outcome in _priced(rule, fixture):
            yield f"{entry['id']} {outcome}", _State(entry["odds"][outcome])


def _is_watched(rule: Json, fixture: Json | None) -> bool:
    if fixture is None:
        return False
    listed = [fixture, *fixture["entries"]]
    names = {each[side] for each in listed for side in ("home", "away") if side in each}
    leagues = {each["league"] for each in listed if "league" in each}
    return rule.get("team") in {None, *names} and rule.get("league") in {None, *leagues}


def _values(rule: Json, fixture: Json, frame: Frame) -> Iterator[tuple[str, _State]]:
    """Yield each price of a fixture with its expected value, if the value is believed."""
    basis = sorted((entry["id"], entry["link"]) for entry in fixture["entries"])
    ids = {entry["bookmaker"]: entry["id"] for entry in fixture["entries"]}
    believed = {
        (value["id"], value["outcome"]): value
        for value in frame.values[rule.get("reference", "")]
        if value["fixture"] == fixture["id"] and "doubts" not in value
    }
    for entry, outcome in _priced(rule, fixture):
        if (value := believed.get((entry["id"], outcome))) is None:
            yield f"{entry['id']} {outcome}", _State(None, basis, ())
        else:
            others = [(ids[name], of) for name in value["reference"] for of in ("1", "X", "2")]
            made_of = ((entry["id"], outcome), *others)
            yield f"{entry['id']} {outcome}", _State(value["ev"], basis, made_of)


def _priced(rule: Json, fixture: Json) -> Iterator[tuple[Json, str]]:
    for entry in fixture["entries"]:
        for outcome in entry["odds"]:
            is_of_bookmaker = rule.get("bookmaker") in {None, entry["bookmaker"]}
            if is_of_bookmaker and rule.get("outcome") in {None, outcome}:
                yield entry, outcome


def _surebet(rule: Json, fixture: Json) -> _State:
    basis = sorted((entry["id"], entry["link"]) for entry in fixture["entries"])
    surebet = fixture["surebet"]
    if surebet is not None and rule.get("bookmaker") in {
        None,
        *[leg["bookmaker"] for leg in surebet["legs"]],
    }:
        legs = tuple((leg["id"], leg["outcome"]) for leg in surebet["legs"])
        return _State(surebet["profit"], basis, legs)
    return _State(None, basis)


@dataclass
class _Path:
    """The fair probabilities moved by prices alone: positions with the time at which each began."""

    number: int
    fixture: Json | None = None
    points: dict[str, list[tuple[int, float, float]]] = field(
        default_factory=lambda: {outcome: [(0, -inf, 0.0)] for outcome in ("1", "X", "2")}
    )

    def take(self, fixture: Json, frame: Frame) -> None:
        before, self.fixture = self.fixture, fixture
        if before is None or _counted(before) != _counted(fixture):
            return
        if before["fair"] is None or fixture["fair"] is None:
            return
        for outcome, points in self.points.items():
            change = fixture["fair"][outcome] - before["fair"][outcome]
            if change:
                points.append((frame.version, frame.at, points[-1][2] + change))

    def moved(self, outcome: str, version: int, at: float, window_s: float) -> float:
        """Return the largest distance from the position at a version to any in the window before `at`."""
        points = [point for point in self.points[outcome] if point[0] <= version]
        ends = [*[begun for _, begun, _ in points[1:]], inf]
        inside = [point[2] for point, end in zip(points, ends, strict=True) if end > at - window_s]
        return max(abs(points[-1][2] - where) for where in inside)


def _counted(fixture: Json) -> list[str]:
    return [
        entry["id"]
        for entry in fixture["entries"]
        if entry["prices"] == "live" and "superseded" not in entry
    ]


@dataclass
class _Subject:
    """The past of a subject of a rule."""

    rule: Json
    name: str
    states: list[_State | None]
    frames: list[Frame]
    ends_at: float

    def tell(self) -> Iterator[Told]:
        last_told = -inf
        for at, place in [*self._transitions()]:
            if at - last_told < self.rule.get("cooldown_s", 0.0):
                continue
            last_told = at
            yield self.rule["name"], self.name, "firing", self.frames[place].version
            if self.rule["when"] == "move":
                continue
            for frame, state in [*zip(self.frames, self.states, strict=True)][place + 1 :]:
                if state is None or self._is_off(state.value):
                    yield self.rule["name"], self.name, "resolved", frame.version
                    break

    def _transitions(self) -> Iterator[tuple[float, int]]:
        """Yield the time of each transition, and the newest frame at that time."""
        for first, last in self._stretches():
            yield from self._transitions_in(first, last)

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Yield first and last frame of each span in which the filters accept a subject at one basis."""
        first: int | None = None
        for place, (state, after) in enumerate(zip(self.states, [*self.states[1:], None], strict=True)):
            if state is not None and first is None:
                first = place
            if first is not None and (after is None or state is None or after.basis != state.basis):
                yield first, place
                first = None

    def _transitions_in(self, first: int, last: int) -> Iterator[tuple[float, int]]:
        looks = [*self._looks(first, last)]
        off: int | None = (
            None  # the first frame without the condition since the last transition, or since the begin
        )
        for number, (place, value) in enumerate(looks):
            if off is None or number == 0:
                off = place if self._is_off(value) else None
            elif self._holds(value) and not self._holds(looks[number - 1][1]):
                if not self._has_changed(off, place):
                    off = None
                    continue
                wait_s = self.rule.get("for_s", 0.0)
                at = self.frames[place].at + wait_s
                newest = self._newest(at) if wait_s else place
                fails = [later for later, value in looks[number:] if not self._holds(value)]
                ends = [self.frames[later].at for later in fails]
                outside = self.frames[last + 1].at if last + 1 < len(self.frames) else inf
                is_held = not wait_s or (
                    at < min([*ends, outside]) and self._holds(self._value_at(newest, at))
                )
                if is_held and at <= self.ends_at:
                    yield at, newest
                    off = None

    def _newest(self, at: float) -> int:
        return max(number for number, frame in enumerate(self.frames) if frame.at <= at)

    def _looks(self, first: int, last: int) -> Iterator[tuple[int, float | None]]:
        """Yield the frames and values; a move also has a value just before each frame, as time went on."""
        for place in range(first, last + 1):
            if self.rule["when"] == "move" and place > first:
                yield place, self._value_at(place - 1, self.frames[place].at)
            yield place, self._value_at(place, self.frames[place].at)

    def _value_at(self, place: int, at: float) -> float | None:
        """Return the value at a time, without commits after a frame."""
        state, version = self.states[place], self.frames[place].version
        assert state is not None
        if self.rule["when"] != "move":
            return state.value
        return float(state.path.moved(self.name.rpartition(" ")[2], version, at, self.rule["window_s"]))

    def _has_changed(self, since: int, place: int) -> bool:
        """Return whether one of the prices at a frame changed after an earlier one."""
        state = self.states[place]
        assert state is not None
        if state.made_of is None:
            return True
        for entry, outcome in state.made_of:
            prices = [self._price(number, entry, outcome) for number in range(since, place + 1)]
            if any(old != new for old, new in pairwise(prices)):
                return True
        return False

    def _price(self, place: int, entry_id: str, outcome: str) -> float | None:
        for fixture in self.frames[place].fixtures.values():
            for entry in fixture["entries"]:
                if entry["id"] == entry_id:
                    price: float = entry["odds"][outcome]
                    return price
        return None

    def _holds(self, value: float | None) -> bool:
        if value is None:
            return False
        return value <= self._on if "below" in self.rule else value >= self._on

    def _is_off(self, value: float | None) -> bool:
        if value is None:
            return True
        if "below" in self.rule:
            return value > self._on + self._by(100)
        return value < self._on - self._by(
            {"price": 100, "move": 2, "surebet": 10, "value": 10}[self.rule["when"]]
        )

    @property
    def _on(self) -> float:
        rule = self.rule
        of_price = "below" if "below" in rule else "above"
        key = {"price": of_price, "move": "min_move", "surebet": "min_profit", "value": "min_ev"}
        return float(rule[key[rule["when"]]] / (100 if rule["when"] == "move" else 1))

    def _by(self, share: int) -> float:
        if "hysteresis" in self.rule:
            return float(self.rule["hysteresis"] / (100 if self.rule["when"] == "move" else 1))
        return self._on / share


def _kickoffs(frames: list[Frame], rule: Json, ends_at: float) -> Iterator[Told]:
    """Yield the kick-offs to report: each is checked when its fixture changes, and `before_s` before it."""
    names = sorted({name for frame in frames for name in frame.fixtures})
    for name in names:
        looks: list[tuple[float, int, bool | None]] = []
        known: Json | None = None
        for place, frame in enumerate(frames):
            fixture = frame.fixtures.get(name)
            if fixture is None or not _is_watched(rule, fixture):
                known = None
                looks.append((frame.at, place, None))
                continue
            start, begins = fixture["start_time"], inf
            if start is not None:
                begins = start - rule["before_s"]
            if fixture != known:
                looks.append((frame.at, place, start is not None and begins <= frame.at < start))
            known = fixture
            until = frames[place + 1].at if place + 1 < len(frames) else nextafter(ends_at, inf)
            if frame.at <= begins < until and begins < (start or 0):
                looks.append((begins, place, True))
        yield from _told_kickoffs(looks, name, rule, frames)


def _told_kickoffs(
    looks: list[tuple[float, int, bool | None]], name: str, rule: Json, frames: list[Frame]
) -> Iterator[Told]:
    last_told, before = -inf, None
    for at, place, holds in looks:
        if holds and before is False and at - last_told >= rule.get("cooldown_s", 0.0):
            last_told = at
            yield rule["name"], name, "firing", frames[place].version
        before = holds
