"""The readings of a rule about a fixture: its subjects, and the value of each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from actors.alerts.rules.rule import (
    KickoffRule,
    MatchRule,
    MoveRule,
    PriceRule,
    SurebetRule,
    ValueRule,
)
from actors.alerts.rules.transitions import Reading
from actors.core.messages import BookmakerId
from actors.matches.entries import sure_legs
from actors.matches.model import Fixture, Roster
from actors.value.values import Value

Changed = Mapping[tuple[str, int], int]
"""The order of the last commit that changed a price, by entry id and outcome; a first price has none."""
Ignores = Callable[[str, float | None], bool]
"""Whether the reading of a subject with this value may be left out."""
_NO_VALUE: Final = Reading(None)


def never(subject: str, value: float | None) -> bool:
    """Leave out no reading."""
    del subject, value
    return False


class About(Struct, frozen=True, gc=False):
    """The fixture of a subject, and its bookmaker and outcome; `before` is the former price."""

    fixture: Fixture
    bookmaker: BookmakerId | None = None
    outcome: int | None = None
    before: float | None = None


def is_in_play(fixture: Fixture, wall: float) -> bool:
    """Return whether a source calls a match live; if none says, whether its kick-off is past at `wall`."""
    said = [said for entry in fixture.listed if (said := entry.match.in_play) is not None]
    if fixture.head is not None and fixture.head.in_play is not None:
        said.append(fixture.head.in_play)
    return any(said) if said else fixture.place.start <= wall


def prices(
    rule: PriceRule, fixture: Fixture, before: Fixture | None, ignores: Ignores = never
) -> Iterator[tuple[str, Reading, About]]:
    """Yield the readings of a price rule that differ from those `before`; all without a `before`."""
    old = {} if before is None else before.entries
    outcomes = fixture.market.outcomes
    for name, entry in zip(fixture.bookmakers, fixture.listed, strict=True):
        known = old.get(name)
        if (rule.bookmaker is not None and name != rule.bookmaker) or known is entry:
            continue
        was = None if known is None or known.id != entry.id else known.match.prices
        for at, (outcome, price) in enumerate(zip(outcomes, entry.match.prices, strict=True)):
            if rule.outcome in {None, outcome} and not ignores(subject := f"{entry.id} {outcome}", price):
                yield subject, Reading(price), About(fixture, name, at, None if was is None else was[at])


def subjects(rule: MatchRule, fixture: Fixture) -> Iterator[tuple[str, About]]:
    """Yield the subjects of a rule in a fixture; subjects of prices begin with the ids of their entries."""
    match rule:
        case PriceRule():
            for subject, reading, about in prices(rule, fixture, None):
                yield subject, About(fixture, about.bookmaker, about.outcome, reading.value)
        case ValueRule():
            for subject, _, about in values(rule, fixture, (), {}):
                yield subject, about
        case MoveRule():
            for at, outcome in enumerate(fixture.market.outcomes):
                if rule.outcome in {None, outcome}:
                    yield f"{fixture.id} {outcome}", About(fixture, None, at)
        case SurebetRule() | KickoffRule():
            yield fixture.id, About(fixture)


def profit(rule: SurebetRule, fixture: Fixture, changed: Changed) -> Reading:
    """Return the reading of a surebet rule."""
    surebet = fixture.surebet
    if surebet is None:
        return Reading(None)
    if rule.bookmaker is not None and all(leg.bookmaker != rule.bookmaker for leg in surebet.legs):
        return Reading(None)
    outcomes, entries = fixture.market.outcomes, fixture.entries
    legs = [(entries[leg.bookmaker].id, outcomes.index(leg.outcome)) for leg in surebet.legs]
    return Reading(surebet.profit, max([changed.get(leg, 0) for leg in legs]))


def values(
    rule: ValueRule, fixture: Fixture, found: Iterable[Value], changed: Changed, ignores: Ignores = never
) -> Iterator[tuple[str, Reading, About]]:
    """Yield the readings of a value rule, from the values of a fixture.

    A value is made of its price, and of all prices of the bookmakers in the reference.
    """
    believed = {(value.bookmaker, value.outcome): value for value in found if not value.doubts}
    outcomes, entries = fixture.market.outcomes, fixture.entries

    def latest(member: BookmakerId) -> int:
        entry_id = entries[member].id
        return max([changed.get((entry_id, at), 0) for at in range(len(outcomes))])

    for name, entry in entries.items():
        if rule.bookmaker not in {None, name}:
            continue
        for at, outcome in enumerate(outcomes):
            if rule.outcome not in {None, outcome}:
                continue
            subject, reading, value = f"{entry.id} {outcome}", _NO_VALUE, believed.get((name, outcome))
            if ignores(subject, None if value is None else value.expected):
                continue
            if value is not None:
                made_of = [latest(member) for member in value.members if member in entries]
                reading = Reading(value.expected, max([changed.get((entry.id, at), 0), *made_of]))
            yield subject, reading, About(fixture, name, at)


def has_basis_of(before: Fixture, after: Fixture, roster: Roster) -> bool:
    """Return whether two states of a fixture have the same entries, as surely linked."""
    if before.bookmakers != after.bookmakers:
        return False
    pairs = zip(before.listed, after.listed, strict=True)
    if any(old is not new and old.id != new.id for old, new in pairs):
        return False
    return before.members is after.members or sure_legs(before, roster) == sure_legs(after, roster)


def note_changes(changed: dict[tuple[str, int], int], before: Fixture, after: Fixture, order: int) -> None:
    """Note the prices that a commit changed, and forget the prices of entries that left."""
    if before.bookmakers == after.bookmakers:
        pairs = [*zip(before.listed, after.listed, strict=True)]
    else:
        now = after.entries
        pairs = [(old, now[name]) for name, old in before.entries.items() if name in now]
        forget_changes(changed, before, {entry.id for entry in after.listed})
    for old, new in pairs:
        if old is new:
            continue
        if old.id != new.id:
            for at in range(len(old.match.prices)):
                changed.pop((old.id, at), None)
            continue
        for at, (was, price) in enumerate(zip(old.match.prices, new.match.prices, strict=True)):
            if was != price:
                changed[new.id, at] = order


def forget_changes(changed: dict[tuple[str, int], int], gone: Fixture, kept: set[str]) -> None:
    """Forget the prices of a fixture's entries, besides those kept."""
    for entry in gone.listed:
        if entry.id not in kept:
            for at in range(len(entry.match.prices)):
                changed.pop((entry.id, at), None)
