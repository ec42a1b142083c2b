"""Forms of fixtures: of some bookmakers only, with a bookmaker's fair odds, with doubted surebets.

Pure. The surebet of some bookmakers is evaluated here, for the version that changed its fixture last.
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
    """How fixtures are shown: with the fair odds of the bookmaker `reference`, or without.

    With `doubted`, surebets that are not believed are shown with their doubts. With `bookmakers` prices and
    surebets are of these bookmakers alone; fixtures that are `overdue` have no surebet then. With a `total`
    in cents surebets have stakes in whole steps of `step` cents.
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
    """Return a fixture in the usual form, or (`weak`) with its weak surebet, too."""
    return Shown(fixture, fixture.bookmakers, fixture.standing if weak else fixture.surebet)


def shown(fixture: Fixture, form: Form, state: FixtureState, *, weak: bool = False) -> Shown | None:
    """Return a fixture in that form, None if the form has nothing of it; weak surebets only with `weak`.

    A surebet of some bookmakers is shown only with that of all, which has stood for long enough.
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
    """Return the surebet that a form shows of a fixture, and its doubts."""
    found = evaluated(fixture, form, state)
    if found is None or fixture.id in form.overdue:
        return None, ()
    evaluation, surebet = found
    doubts, standing = surebet.doubts, fixture.standing
    if standing is not None and not doubts:
        return evaluation.published(surebet, standing.since), ()
    if not doubts and (of_all := evaluation.found(state.terms.surebets)) is not None:
        doubts = of_all.doubts  # what is too good with others is no better without them
    if not (form.doubted and doubts):
        return None, ()
    return evaluation.published(surebet, evaluation.at.wall), doubts


def evaluated(fixture: Fixture, form: Form, state: FixtureState) -> tuple[Evaluation, FoundSurebet] | None:
    """Return the surebet that a fixture's bookmakers of a form make in this version, None for none."""
    candidate = state.candidates.by_fixture.get(fixture.id)
    if candidate is None or candidate.seen is None or (fixture.standing is None and not form.doubted):
        return None
    found = candidate.seen.found(state.terms.surebets, form.bookmakers or None)
    return None if found is None else (candidate.seen, found)


def overdue(
    form: Form, state: FixtureState, books: Books, holds: Callable[[float], bool], *, weak: bool = False
) -> Form:
    """Return a form with the fixtures whose surebet ended since this version, of some bookmakers only.

    Weak ones count only with `weak`. Surebets of all bookmakers end in a version of their own. `holds` says
    whether a monotonic second is still to come.
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
    """Return the company of each bookmaker of a form that has live prices of a fixture."""
    listed = {name: terms.roster[name] for name in fixture.bookmakers if name in form.bookmakers}
    return {name: info.company for name, info in listed.items() if info.prices is Prices.LIVE}
