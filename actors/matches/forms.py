"""Forms of fixtures: restricted to some bookmakers, with a bookmaker's fair odds, with doubted surebets.

Pure. The surebet of some bookmakers is evaluated here, for the version that last changed its fixture.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from actors.core.messages import BookmakerId, Prices
from actors.markets.returns import may_gain
from actors.matches.candidates import Books, Companies, Evaluation, holds_until
from actors.matches.model import Fixture, FixtureSettings, FixtureState
from actors.matches.surebets import Doubt, FoundSurebet, Surebet
from actors.matching.event import FixtureId


class Form(Struct, frozen=True):
    """How to show fixtures: with the fair odds of the bookmaker `reference`, if given.

    With `doubted`, surebets that are not believed are shown with their doubts. `bookmakers` limits prices
    and surebets to these; `overdue` fixtures then have no surebet. With a `total` in cents surebets have
    stakes in whole steps of `step` cents.
    """

    reference: BookmakerId | None = None
    doubted: bool = False
    bookmakers: tuple[BookmakerId, ...] = ()
    overdue: tuple[FixtureId, ...] = ()
    total: int = 0
    step: int = 1


USUAL = Form()


class Shown(Struct, frozen=True, gc=False):
    """A fixture in a form: its bookmakers and its surebet, which is not believed if there are `doubts`."""

    fixture: Fixture
    bookmakers: tuple[BookmakerId, ...]
    surebet: Surebet | None
    doubts: tuple[Doubt, ...] = ()


def whole(fixture: Fixture, *, weak: bool = False) -> Shown:
    """Return a fixture in the usual form, with `weak` including its weak surebet."""
    return Shown(fixture, fixture.bookmakers, fixture.standing if weak else fixture.surebet)


def shown(fixture: Fixture, form: Form, state: FixtureState, *, weak: bool = False) -> Shown | None:
    """Return a fixture in that form, None if the form excludes it; weak surebets only with `weak`.

    A surebet of some bookmakers is shown only while a surebet of all bookmakers is shown, which has lasted
    long enough.
    """
    names, among = fixture.bookmakers, form.bookmakers
    if among and not (names := tuple([name for name in names if name in among])):
        return None
    if not (weak or may_gain(fixture.market)):
        return Shown(fixture, names, None)
    if not among and (fixture.standing is not None or not form.doubted):
        return whole(fixture, weak=weak)
    return Shown(fixture, names, *_surebet_of(fixture, form, state))


def _surebet_of(
    fixture: Fixture, form: Form, state: FixtureState
) -> tuple[Surebet | None, tuple[Doubt, ...]]:
    """Return the surebet of a fixture in a form, and its doubts."""
    found = evaluated(fixture, form, state)
    if found is None or fixture.id in form.overdue:
        return None, ()
    evaluation, surebet = found
    doubts, standing = surebet.doubts, fixture.standing
    if standing is not None and not doubts:
        return evaluation.published(surebet, standing.since), ()
    if not doubts and (of_all := evaluation.found(state.terms.surebets)) is not None:
        doubts = of_all.doubts  # a surebet that is too good among all bookmakers is not believed among some
    if not (form.doubted and doubts):
        return None, ()
    return evaluation.published(surebet, evaluation.at.wall), doubts


def evaluated(fixture: Fixture, form: Form, state: FixtureState) -> tuple[Evaluation, FoundSurebet] | None:
    """Return the surebet that a form's bookmakers make of a fixture in this version, or None."""
    candidate = state.candidates.by_fixture.get(fixture.id)
    if candidate is None or candidate.seen is None or (fixture.standing is None and not form.doubted):
        return None
    found = candidate.seen.found(state.terms.surebets, form.bookmakers or None)
    return None if found is None else (candidate.seen, found)


def overdue(
    form: Form, state: FixtureState, books: Books, holds: Callable[[float], bool], *, weak: bool = False
) -> Form:
    """Return a form with the fixtures whose surebet of the form's bookmakers ended since this version.

    Weak surebets count only with `weak`. The surebets of all bookmakers end in a version of their own.
    `holds` says whether a monotonic second is still to come.
    """
    if not form.bookmakers:
        return form
    ended = []
    for fixture_id in state.candidates.by_fixture:
        if (fixture := state.get(fixture_id)) is None or whole(fixture, weak=weak).surebet is None:
            continue
        found = evaluated(fixture, form, state)
        if found is not None and not found[1].doubts:
            companies = _companies(fixture, form, state.terms)
            until = holds_until(found[1], companies, fixture.entries, books, state.terms.surebets)
            if not holds(until):
                ended.append(fixture_id)
    return replace(form, overdue=tuple(ended))


def _companies(fixture: Fixture, form: Form, terms: FixtureSettings) -> Companies:
    """Return the company of each bookmaker in a form with live prices of a fixture."""
    listed = {name: terms.roster[name] for name in fixture.bookmakers if name in form.bookmakers}
    return {name: info.company for name, info in listed.items() if info.prices is Prices.LIVE}
